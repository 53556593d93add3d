"""Make targets from `snsynth.models.dp_covariance.DPcovariance` of smartnoise-synth 1.0.8 (OpenDP) and from its
regression.

The target `covariance` makes `DPcovariance(n, columns, bounds, epsilon)` and returns
`make_covar_symmetric(release(data))`. The method `get_linear_regression` of `DPcovariance` uses the released matrix,
and so does the class `DPLinearRegression`. The target `covariance-values` returns the released values of the covariance
in the lower triangle of a matrix, in the order in which `release` computes and lists them. The targets `covariance` and
`covariance-values` need the bounds of the columns, and are audited with unequal bounds unless others are given. The
target `linear-regression` returns `snsynth.models.linear_regression.DPLinearRegression().fit(X, y, bounds,
budget).coef_`, where y is the last column. The class raises an exception if its noisy covariance is not positive
definite, in which case the adapter returns zeros. The class `DPcovariance` splits `epsilon` evenly over the entries of
the covariance matrix. The class does not say which data sets are neighbours; n is an argument, so the class is audited
for neighbours in which one row is replaced.

The package smartnoise-synth requires opacus 0.14 and other large libraries, which the audited classes do not use. An
extra of covassay (`pip install covassay[…]`) would install these libraries as well, so no extra includes the package.
The command `covassay adapters install smartnoise` installs the package without its large requirements in an
environment. The following command installs the package in the present environment.

    pip install --no-deps smartnoise-synth==1.0.8 && pip install pandas scikit-learn

The adapter loads the modules of the audited classes, which need pandas, numpy and scikit-learn, but does not load the
rest of the package. The classes draw from NumPy's global generator. So that a run can be replayed, the adapter seeds
NumPy's generator for each draw from the generator of the audit, and restores its state afterwards.
"""

import importlib
import importlib.util
import sys
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.reference.privacy import PureDP
from covassay.verification.audit.adapters.seeding import numpy_seeded
from covassay.verification.audit.targets.package import Package, told_version
from covassay.verification.audit.targets.target import CannotRun, Target

FOLDER = "models"
NOT_POSITIVE = "Matrix is not positive definite"
INSTALL = "pip install --no-deps smartnoise-synth==1.0.8 && pip install pandas scikit-learn"
PACKAGE = Package(
    requirements=("pandas==3.1.1", "scikit-learn==1.6.1"),
    modules=("pandas",),
    without_dependencies=("smartnoise-synth==1.0.8",),
)
UNEQUAL = (0.0, 1.0), (0.0, 100.0), (0.0, 1.0)  # the columns have different units, as in a typical table

Bounds = tuple[tuple[float, float], ...]


@lru_cache(maxsize=2)
def _module(name: str = "dp_covariance") -> Any:
    """Import one module of `snsynth.models` without the rest of `snsynth`. For this purpose, covassay makes an empty
    package `smartnoise_models` whose folder is that of `snsynth.models`.
    """
    package = importlib.util.find_spec("snsynth")
    folders = [] if package is None else list(package.submodule_search_locations or ())
    folder = next((Path(one) / FOLDER for one in folders if (Path(one) / FOLDER / f"{name}.py").is_file()), None)
    if folder is None or importlib.util.find_spec("pandas") is None:
        raise CannotRun(f"smartnoise: smartnoise-synth and pandas must be installed: {INSTALL}")
    around = ModuleType("smartnoise_models")
    around.__path__ = [str(folder)]
    sys.modules.setdefault(around.__name__, around)
    return importlib.import_module(f"{around.__name__}.{name}")


def _released(x: Matrix, epsilon: float, rng: np.random.Generator, bounds: Bounds) -> tuple[Any, list[float]]:
    """Return the object of the library and the values that it releases."""
    import pandas as pd

    names = [f"column {j + 1}" for j in range(x.shape[1])]
    made = _module().DPcovariance(len(x), names, pd.DataFrame(np.array(bounds).T), epsilon)
    with numpy_seeded(rng):
        return made, made.release(pd.DataFrame(x, columns=names))


def _covariance(x: Matrix, *, epsilon: float, rng: np.random.Generator, bounds: Bounds) -> Matrix:
    made, values = _released(x, epsilon, rng, bounds)
    return np.asarray(made.make_covar_symmetric(values), dtype=np.float64)


def _covariance_values(x: Matrix, *, epsilon: float, rng: np.random.Generator, bounds: Bounds) -> Matrix:
    _, values = _released(x, epsilon, rng, bounds)
    lower = np.zeros((x.shape[1],) * 2)
    lower[np.tril_indices(x.shape[1])] = values
    mirrored: Matrix = lower + np.tril(lower, -1).T
    return mirrored


def _regression(x: Matrix, *, epsilon: float, rng: np.random.Generator, bounds: Bounds) -> Vector:
    import pandas as pd

    frame = pd.DataFrame(x, columns=[f"column {j + 1}" for j in range(x.shape[1])])
    model = _module("linear_regression").DPLinearRegression()
    with numpy_seeded(rng), np.errstate(all="ignore"):
        try:
            model.fit(frame.iloc[:, :-1], frame.iloc[:, -1:], pd.DataFrame(np.array(bounds).T), epsilon)
        except ValueError as error:
            if str(error) != NOT_POSITIVE:
                raise
            return np.zeros(x.shape[1] - 1)
    return np.asarray(model.coef_, dtype=np.float64)


def _target(
    name: str, draw: Callable[..., Any], note: str, part: str = "dp_covariance.DPcovariance", **more: Any
) -> Target:
    _module()
    return Target(
        f"smartnoise:{name}",
        draw,
        bounds=UNEQUAL,
        version=told_version(PACKAGE, f"snsynth.models.{part}"),
        notes=(
            note,
            "its draws come from NumPy's global generator, which the adapter seeds for each draw",
            "it states no adjacency; n is an argument",
        ),
        **more,
    )


def covariance() -> Target:
    """Return the matrix that `DPcovariance` computes from its released values."""
    return _target("covariance", _covariance, "the output is the matrix make_covar_symmetric(release(data))")


def covariance_values() -> Target:
    """Return the values that `DPcovariance` releases, in the order in which it computes them."""
    note = "the values of its release(data) fill the lower triangle, in the order in which they are computed"
    return _target("covariance-values", _covariance_values, note)


def linear_regression() -> Target:
    """Return the coefficients that the package's regression computes from the released values."""
    note = "y is the last column; if it reports that its noisy covariance is not positive definite, zeros are output"
    return _target(
        "linear-regression", _regression, note, "linear_regression.DPLinearRegression", released="coefficients",
        claim=PureDP(1.0),
    )  # fmt: skip


TARGETS: dict[str, Callable[[], Target]] = {
    "covariance": covariance,
    "covariance-values": covariance_values,
    "linear-regression": linear_regression,
}
