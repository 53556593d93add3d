"""Make targets from OpenDP 0.16.0 for eigenvectors, eigenvalues and principal components.

The target `private-eigenvector` calls `opendp.extras.sklearn._make_eigenvector.make_private_eigenvector`. The adapter
passes ε as `unit_epsilon` and requires that OpenDP's own privacy map gives `.map(2) = ε`. The argument of the map is 2
because replacing one row is one removal and one addition. The target `private-eigenvector` has the exponent ε/4 of
ADK19, as covassay's mechanism `bingham` has with the calibration "paper". OpenDP draws from the operating system. So
that a run can be replayed, the adapter replaces the generator that OpenDP's Python code calls by the seeded generator
of the audit. In every draw, OpenDP searches again for the parameter of the proposal, which takes most of the time. The
parameter of the proposal is determined by the data and ε, so the adapter stores it while these stay the same. The
proposals and their acceptance are computed by OpenDP's own code, without changes.

The target `eigendecomposition` calls `make_private_np_eigendecomposition`. The adapter puts the eigenvalues w and
eigenvectors V of the output together as V diag(w) Vᵀ/n. The budget is split evenly between the eigenvalues and the d −
1 eigenvectors. OpenDP's Rust library draws the Laplace noise, so the audit cannot seed the target `eigendecomposition`.
The target `eigendecomposition-about-origin` uses the input domain `array2_domain(norm=1, origin=(3, …, 3))`. The
adapter clips the rows to the unit ball and adds 3 to every entry, so that the rows lie in this domain.

The target `eigenvalues` calls `make_private_eigenvalues` with Laplace noise, at the scale for which the privacy map
gives `.map(2) = ε`, and returns the eigenvalues of XᵀX. The adapter calls the two parts of the chain
`make_private_eigenvalues` one after the other, so that the noise is recorded. The target `pca` calls
`sklearn.decomposition.PCA(epsilon, row_norm=1, n_samples, n_features).fit(X)`. The documentation of the class says
"epsilon: the privacy budget", for neighbours that differ by `n_changes` changed rows. By default, `n_changes` is 1. The
target `pca` returns `mean_`, with Vᵀ diag(singular_values_²/n) V below it. In every draw, the class searches again for
its noise scales, which are functions of n, d and ε, so the adapter stores them from draw to draw.
"""

import os
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, Vector, unit_rows
from covassay.reference.privacy import PureDP
from covassay.verification.audit.adapters import declared_noise, opendp_numbers, opendp_statistics
from covassay.verification.audit.adapters.declared_noise import PRIMITIVES
from covassay.verification.audit.adapters.numbers import UNSEEDED
from covassay.verification.audit.adapters.opendp_package import PACKAGE
from covassay.verification.audit.targets.package import told_version
from covassay.verification.audit.targets.target import Target

ORIGIN = 3.0  # each coordinate of the centre of a domain that is not centred at 0


class _Seeded:
    """A replacement for OpenDP's generator that draws from the generator of the current draw.

    A rejection sampler draws from the same normal law many times, so the factor of its covariance is stored.
    """

    def __init__(self) -> None:
        self.rng = np.random.default_rng(0)
        self._covariance: Any = None
        self._factor = np.eye(1)

    def multivariate_normal(self, mean: Any, cov: Any) -> Any:
        if cov is not self._covariance:
            self._covariance, self._factor = cov, np.linalg.cholesky(cov)
        return mean + self._factor @ self.rng.standard_normal(len(mean))

    def random(self) -> float:
        return self.rng.random()


_GENERATOR = _Seeded()


class _Kept:
    """OpenDP's binary search, whose result is cached while `data` does not change; without `data`, nothing is
    cached.
    """

    def __init__(self, search: Callable[..., Any]) -> None:
        self.search = search
        self.data: tuple[Any, ...] | None = None
        self._answered: tuple[Any, ...] | None = None
        self._answer: Any = None

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if self.data is None or self.data != self._answered:
            self._answer = self.search(*arguments, **named)
            self._answered = self.data
        return self._answer


class _KeptScales:
    """OpenDP's search for a noise scale, with a store of results, which is used only while `public` is set.

    One draw may need several searches. Their results depend only on the public numbers in `public`, such as the number
    of rows and ε, and every draw makes its searches in the same order. The searches of a draw are numbered 1, 2, …, and
    the key of a stored result consists of `public` and the number of the search.
    """

    def __init__(self, search: Callable[..., Any]) -> None:
        self.search = search
        self.public: tuple[Any, ...] | None = None
        self.count = 0
        self._scales: dict[tuple[Any, ...], Any] = {}

    def __call__(self, make_chain: Callable[[Any], Any], d_in: Any, d_out: Any, **named: Any) -> Any:
        if self.public is None:
            return make_chain(self.search(make_chain, d_in, d_out, **named))
        self.count += 1
        place = *self.public, self.count
        if place not in self._scales:
            self._scales[place] = self.search(make_chain, d_in, d_out, **named)
        return make_chain(self._scales[place])


def _library() -> Any:
    # if a draw fails in Rust, a stack trace would take a hundred times as long as the draw, and no report shows it
    os.environ.setdefault("RUST_LIB_BACKTRACE", "0")
    import opendp.prelude as dp

    dp.enable_features("contrib", "honest-but-curious", "idealized-numerics")
    from opendp.extras.sklearn import _make_eigenvector

    vars(_make_eigenvector)["get_np_csprng"] = lambda: _GENERATOR
    if not isinstance(dp.binary_search, _Kept):
        vars(dp)["binary_search"] = _Kept(dp.binary_search)
        vars(dp)["binary_search_chain"] = _KeptScales(dp.binary_search_param)
    return dp


@lru_cache(maxsize=64)
def _eigenvector_measurement(n: int, d: int, epsilon: float) -> Any:
    dp = _library()
    from opendp.extras.numpy import _sscp_domain
    from opendp.extras.sklearn._make_eigenvector import make_private_eigenvector

    domain = _sscp_domain(num_features=d, norm=1.0, p=2, size=n, T=float)
    measurement: Any = make_private_eigenvector(domain, dp.symmetric_distance(), epsilon)
    if measurement.map(2) != epsilon:
        raise ValueError(f"OpenDP's map(2) is {measurement.map(2)}, but must be {epsilon}")
    return measurement


def _private_eigenvector(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    measurement = _eigenvector_measurement(len(x), x.shape[1], float(epsilon))
    _GENERATOR.rng = rng
    rows = unit_rows(x)
    scatter = rows.T @ rows
    search = _library().binary_search
    search.data = float(epsilon), scatter.shape, scatter.tobytes()
    try:
        return np.ravel(measurement(scatter))
    finally:
        search.data = None


@lru_cache(maxsize=64)
def _decomposition_measurement(n: int, d: int, epsilon: float, origin: float) -> Any:
    dp = _library()
    from opendp.extras.numpy import array2_domain
    from opendp.extras.sklearn._make_eigendecomposition import make_private_np_eigendecomposition

    centre = np.full(d, origin) if origin else 0.0
    domain = array2_domain(norm=1.0, p=2, origin=centre, size=n, num_columns=d, nan=False, T=float)
    measurement = make_private_np_eigendecomposition(
        domain, dp.symmetric_distance(), epsilon / d, [epsilon / d] * (d - 1)
    )
    return measurement


def _eigendecomposition(x: Matrix, *, epsilon: float, rng: np.random.Generator, origin: float = 0.0) -> Matrix:
    measurement = _decomposition_measurement(len(x), x.shape[1], float(epsilon), origin)
    _GENERATOR.rng = rng
    values, vectors = measurement(unit_rows(x) + origin)
    # OpenDP returns the eigenvalues in ascending order, and the eigenvectors in descending order
    w, v = np.asarray(values)[::-1], np.asarray(vectors)
    matrix: Matrix = (v * w) @ v.T / len(x)
    return matrix


@lru_cache(maxsize=64)
def _eigenvalues_parts(n: int, d: int, epsilon: float) -> tuple[Any, Any, float]:
    """Return the function that computes the eigenvalues, the function that adds Laplace noise to them, and the scale of
    this noise.
    """
    dp = _library()
    from opendp.extras.numpy import _sscp_domain
    from opendp.extras.sklearn._make_eigenvalues import make_eigenvalues

    domain = _sscp_domain(num_features=d, norm=1.0, p=2, size=n, T=float)
    values = make_eigenvalues(domain, dp.symmetric_distance())
    scale = dp.binary_search_param(lambda s: values >> dp.m.then_laplace(s), d_in=2, d_out=epsilon)
    return values, dp.m.make_laplace(*values.output_space, scale), scale


def _eigenvalues_measurement(n: int, d: int, epsilon: float) -> Any:
    values, noise, _ = _eigenvalues_parts(n, d, epsilon)
    return values >> noise


def _eigenvalues(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Vector:
    rows = unit_rows(x)
    values, noise, scale = _eigenvalues_parts(len(x), x.shape[1], float(epsilon))
    return np.asarray(declared_noise.laplace_noise(noise, values(rows.T @ rows), scale))


def _by_map(made: Callable[..., Any], x: Matrix, *, epsilon: float) -> float:
    """Return the privacy loss by OpenDP's privacy map for one replaced row, which is one removal and one addition."""
    return float(made(n=len(x), d=x.shape[1], epsilon=float(epsilon)).map(2))


def _pca_measurement(n: int, d: int, epsilon: float) -> Any:
    model = _library().sklearn.decomposition.PCA(epsilon=epsilon, row_norm=1.0, n_samples=n, n_features=d)
    return model.measurement()


def _pca(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    dp = _library()
    _GENERATOR.rng = rng
    n, d = x.shape
    model = dp.sklearn.decomposition.PCA(epsilon=float(epsilon), row_norm=1.0, n_samples=n, n_features=d)
    scales = dp.binary_search_chain
    scales.public, scales.count = (n, d, float(epsilon)), 0
    try:
        model.fit(unit_rows(x))
    finally:
        scales.public = None
    matrix = model.components_.T @ np.diag(model.singular_values_**2 / n) @ model.components_
    return np.vstack([model.mean_, matrix])


def private_eigenvector() -> Target:
    """Return a private leading eigenvector by the exponential mechanism."""
    _library()
    return Target(
        "opendp:private-eigenvector",
        _private_eigenvector,
        mechanism="bingham",
        options=(("calibration", "paper"),),
        accounting=partial(_by_map, _eigenvector_measurement),
        version=told_version(PACKAGE, "make_private_eigenvector"),
        notes=(
            "the adapter replaces OpenDP's generator by a seeded one; the sampler is OpenDP's own code",
            "it takes XᵀX: its caller must validate and clip the rows, which the adapter does here",
        ),
    )


def _unseeded(name: str, draw: Callable[..., Any], part: str, *notes: str, **more: Any) -> Target:
    """Return a target whose noise is drawn by OpenDP's Rust library."""
    _library()
    notes = (UNSEEDED, *notes)
    return Target(f"opendp:{name}", draw, seeded=False, version=told_version(PACKAGE, part), notes=notes, **more)


KEPT = "its input domain promises rows of norm at most 1; the adapter keeps this promise"
DECOMPOSITION = "make_private_np_eigendecomposition"
TARGETS: dict[str, Callable[[], Target]] = {
    "private-eigenvector": private_eigenvector,
    "eigendecomposition": partial(
        _unseeded, "eigendecomposition", _eigendecomposition, DECOMPOSITION, KEPT,
        accounting=partial(_by_map, partial(_decomposition_measurement, origin=0.0)),
    ),
    "eigendecomposition-about-origin": partial(
        _unseeded, "eigendecomposition-about-origin", partial(_eigendecomposition, origin=ORIGIN), DECOMPOSITION,
        f"its input domain is the ball of radius 1 about ({ORIGIN:g}, …); the adapter moves the rows into this ball",
        accounting=partial(_by_map, partial(_decomposition_measurement, origin=ORIGIN)),
    ),
    "eigenvalues": partial(
        _unseeded, "eigenvalues", _eigenvalues, "make_private_eigenvalues", KEPT, released="vector", claim=PureDP(1.0),
        accounting=partial(_by_map, _eigenvalues_measurement), primitives=PRIMITIVES,
    ),
    "pca": partial(
        _unseeded, "pca", _pca, "sklearn.decomposition.PCA", "the adapter clips the rows to row_norm = 1",
        released="gaussian", claim=PureDP(1.0), accounting=partial(_by_map, _pca_measurement),
    ),
    **opendp_numbers.TARGETS,
    **opendp_statistics.TARGETS,
}  # fmt: skip
