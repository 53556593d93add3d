"""Predict the accuracy of a release from public numbers and from the released values, without reading the data.

The expected error is the root mean square of the Frobenius norm of the noise, from its exact law, in the unit of the
released values. The expected error is known if a mechanism adds noise of a fixed law to the statistic. The expected
error does not include the effects of clipping rows and of rounding to a grid. The module warns if the noise of a
release is too large for the release to be useful.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from scipy.special import ndtri

from covassay.reference.box_moments import Weights, error_bound, gauss_weights, laplace_weights, spreads
from covassay.reference.domain import Adjacency, Box, Matrix
from covassay.reference.domain.exact_data import INPUT_BITS
from covassay.reference.domain.types import Array, Vector
from covassay.reference.laws import entry_variances
from covassay.reference.mechanisms import (
    box_gauss,
    box_laplace,
    centred_covariance,
    discrete_gaussian_covariance,
    discrete_laplace_covariance,
    entrywise_laplace,
    gauss_cov,
    gauss_cov_approximate,
    gaussian,
    gaussian_approximate,
    johnson_lindenstrauss,
    k_norm,
    l2_approximate,
    lap_cov,
    laplace,
    nuclear_laplace,
    private_trace,
)
from covassay.reference.mechanisms.counted import RowsAndSumOutput, gaussian_share, pure_share
from covassay.reference.mechanisms.mechanism import Mechanism
from covassay.reference.mechanisms.output import Output
from covassay.reference.privacy import ZCDP, Guarantee
from covassay.reference.release.scaling import Scaling

# a function of n, d and the arguments that returns the variances for rows in the unit ball
Variances = Callable[[int, int, Mapping[str, Any]], Array | None]

ROUNDING = 1e-12  # negative eigenvalues above this share of the norm are not rounding errors
MEANING = "root mean square of the Frobenius norm of the noise, from its exact law; clipping and rounding not counted"


def _nuclear(scale: Callable[..., Any], symmetric: bool, needs_d: bool = False) -> Variances:
    def variances(n: int, d: int, a: Mapping[str, Any]) -> Array:
        factor = float(scale(n, d, a["epsilon"]) if needs_d else scale(n, a["epsilon"]))
        return factor**2 * entry_variances.of_nuclear_laplace(d, symmetric)

    return variances


def _entrywise(n: int, d: int, a: Mapping[str, Any]) -> Array:
    scale = entrywise_laplace.noise_scale(n, d, a["epsilon"], a["entries"], a["calibration"])
    return entry_variances.uniform(2 * float(scale) ** 2, d)


def _lap_cov(n: int, d: int, a: Mapping[str, Any]) -> Array:
    return entry_variances.uniform(2 * float(lap_cov.noise_scale(n, d, a["epsilon"], a["calibration"])) ** 2, d)


def _k_norm(n: int, d: int, a: Mapping[str, Any]) -> Array | None:
    of_body = entry_variances.of_k_norm(a["body"], d)
    scale = float(k_norm.noise_scale(k_norm.sensitivity(a["body"], n, d), a["epsilon"]))
    return None if of_body is None else scale**2 * of_body


def _l2_approximate(n: int, d: int, a: Mapping[str, Any]) -> Array | None:
    q = l2_approximate.largest_move(a["epsilon"], a["delta"], d)
    scale = float(l2_approximate.noise_scale(l2_approximate.sensitivity(n, d), q))
    of_body = entry_variances.of_k_norm("l2", d)
    return None if of_body is None else scale**2 * of_body


def _gauss_cov(n: int, d: int, a: Mapping[str, Any]) -> Array:
    return float(gauss_cov.noise_scale(n, a["rho"])) ** 2 * entry_variances.of_gaussian(a["ensemble"], d)


def _gauss_cov_approximate(n: int, d: int, a: Mapping[str, Any]) -> Array:
    standard = gaussian_approximate.multiplier(a["epsilon"], a["delta"], a["calibration"])
    scale = gauss_cov_approximate.sensitivity(n) * standard
    return float(scale) ** 2 * entry_variances.of_gaussian(a["ensemble"], d)


def _discrete_laplace(n: int, d: int, a: Mapping[str, Any]) -> Array:
    bits = a.get("input_bits", INPUT_BITS)
    scale = float(discrete_laplace_covariance.sensitivity(d, bits)) / a["epsilon"]
    return entry_variances.uniform(entry_variances.discrete_laplace_variance(scale) / (n * 4.0**bits) ** 2, d)


def _discrete_gaussian(n: int, d: int, a: Mapping[str, Any]) -> Array:
    bits = a.get("input_bits", INPUT_BITS)
    squared = float(discrete_gaussian_covariance.sensitivity_squared(d, bits)) / (2 * a["rho"])
    return entry_variances.uniform(entry_variances.discrete_gaussian_variance(squared) / (n * 4.0**bits) ** 2, d)


def _laplace(n: int, d: int, a: Mapping[str, Any]) -> Array:
    scale = laplace.noise_scale(laplace.second_moments_sensitivity(n, d), a["epsilon"])
    return np.full(d, 2 * float(scale) ** 2)


def _gaussian(n: int, d: int, a: Mapping[str, Any]) -> Array:
    return np.full(d, float(gaussian.noise_scale(gaussian.second_moments_sensitivity(n, d), a["rho"])) ** 2)


def _gaussian_approximate(n: int, d: int, a: Mapping[str, Any]) -> Array:
    standard = gaussian_approximate.multiplier(a["epsilon"], a["delta"], a["calibration"])
    return np.full(d, float(gaussian.second_moments_sensitivity(n, d) * standard) ** 2)


def _trace(n: int, d: int, a: Mapping[str, Any]) -> Array:
    return np.array(2 * float(private_trace.laplace_scale(n, a["epsilon"])) ** 2)


LAWS: dict[str, Variances] = {
    "entrywise-laplace": _entrywise,
    "lap-cov": _lap_cov,
    "discrete-laplace-covariance": _discrete_laplace,
    "nuclear-laplace": _nuclear(nuclear_laplace.noise_scale, symmetric=False),
    "nuclear-laplace-symmetric": _nuclear(nuclear_laplace.noise_scale, symmetric=True),
    "centred-covariance": _nuclear(centred_covariance.noise_scale, symmetric=True, needs_d=True),
    "k-norm": _k_norm,
    "gauss-cov": _gauss_cov,
    "discrete-gaussian-covariance": _discrete_gaussian,
    "gauss-cov-approximate": _gauss_cov_approximate,
    "l2-approximate": _l2_approximate,
    "laplace": _laplace,
    "gaussian": _gaussian,
    "gaussian-approximate": _gaussian_approximate,
    "private-trace": _trace,
}


def _entrywise_of_sum(d: int, a: Mapping[str, Any]) -> Array:
    words = (a.get("entries", "triangle"), a["calibration"])
    share = entrywise_laplace.count_share(d, *words)
    scale = entrywise_laplace.scale_of_sum(d, (1 - float(share)) * a["epsilon"], *words)
    return entry_variances.uniform(2 * float(scale) ** 2, d)


def _nuclear_of_sum(symmetric: bool) -> Callable[[int, Mapping[str, Any]], Array]:
    def variances(d: int, a: Mapping[str, Any]) -> Array:
        share = nuclear_laplace.count_share(d, d * (d + 1) / 2 if symmetric else d**2)
        scale = float(nuclear_laplace.scale_of_sum(a["epsilon"], share))
        return scale**2 * entry_variances.of_nuclear_laplace(d, symmetric)

    return variances


def _gauss_cov_of_sum(d: int, a: Mapping[str, Any]) -> Array:
    scale = float(gauss_cov.scale_of_sum(d, a["rho"], a["ensemble"]))
    return scale**2 * entry_variances.of_gaussian(a["ensemble"], d)


def _discrete_laplace_of_sum(d: int, a: Mapping[str, Any]) -> Array:
    bits, share = a.get("input_bits", INPUT_BITS), float(discrete_laplace_covariance.count_share(d))
    scale = discrete_laplace_covariance.sensitivity_of_sum(d, bits) / ((1 - share) * a["epsilon"])
    return entry_variances.uniform(entry_variances.discrete_laplace_variance(scale) / 16.0**bits, d)


def _discrete_gaussian_of_sum(d: int, a: Mapping[str, Any]) -> Array:
    bits, share = a.get("input_bits", INPUT_BITS), float(discrete_gaussian_covariance.count_share(d))
    squared = discrete_gaussian_covariance.sum_squared(bits) / (2 * (1 - share) * a["rho"])
    return entry_variances.uniform(entry_variances.discrete_gaussian_variance(squared) / 16.0**bits, d)


def _laplace_of_sum(d: int, a: Mapping[str, Any]) -> Array:
    return np.full(d, 2 / ((1 - float(pure_share(2 * d))) * a["epsilon"]) ** 2)


def _gaussian_of_sum(d: int, a: Mapping[str, Any]) -> Array:
    return np.full(d, 1 / (2 * (1 - float(gaussian_share(d))) * a["rho"]))


# functions of d and the arguments that return the variances for rows in the unit ball
SUMS: dict[str, Callable[[int, Mapping[str, Any]], Array]] = {
    "entrywise-laplace": _entrywise_of_sum,
    "lap-cov": _entrywise_of_sum,
    "discrete-laplace-covariance": _discrete_laplace_of_sum,
    "nuclear-laplace": _nuclear_of_sum(symmetric=False),
    "nuclear-laplace-symmetric": _nuclear_of_sum(symmetric=True),
    "gauss-cov": _gauss_cov_of_sum,
    "discrete-gaussian-covariance": _discrete_gaussian_of_sum,
    "laplace": _laplace_of_sum,
    "gaussian": _gaussian_of_sum,
}


@dataclass(frozen=True)
class Accuracy:
    """The predicted error of a release.

    in_the_ball : the expected error for rows in the unit ball, or None if no exact law of the noise is known.
    expected : the expected error in the unit of the released values.
    out_of_range : the reason why the mechanism is of little use for these public numbers; empty if there is none.
    part : the part of the release to which the expected error refers, if it is not the whole release.
    """

    in_the_ball: float | None
    expected: float | None
    out_of_range: tuple[str, ...]
    entries: Matrix | None = None
    part: str = ""

    def note(self) -> str:
        """Return a sentence for the user on the expected error of the release."""
        if self.entries is not None:
            return (
                f"bound on the error of every entry of the covariance: {self.entries.max():.3g} or less ({BOX_MEANING})"
            )
        if self.expected is None:
            return "no expected error is stated: it depends on the data, or the law of the noise is not known exactly"
        return f"expected error {f'of the {self.part} ' if self.part else ''}{self.expected:.3g} ({MEANING})"

    def provenance(self) -> dict[str, Any]:
        """Return the entries that describe the expected error in an output file."""
        if self.entries is not None:
            return {"error_bound": {"covariance": self.entries, "failure": BOX_FAILURE, "meaning": BOX_MEANING}}
        if self.expected is None:
            return {}
        of = {"of": self.part} if self.part else {}
        return {"expected_error": {"frobenius": self.expected, **of, "meaning": MEANING}}

    def warnings(self, output: Output, values: Any, projected: bool = False) -> list[str]:
        """Return the reasons why a release is of little use; `values` are the released values, which are public too.

        The argument `projected` says whether the values are also projected, so that no warning about negative
        eigenvalues is needed.
        """
        found = list(self.out_of_range)
        norm = float(np.linalg.norm(output.parts(values)[self.part] if self.part else values))
        if self.expected is not None and self.expected >= norm:
            found.append(
                f"noise dominates the release: the expected error, {self.expected:.3g}, is not below the norm of what "
                f"was released, {norm:.3g}"
            )
        least = math.inf if projected else _least_eigenvalue(output, values)
        if least < -ROUNDING * norm:
            found.append(
                f"what was released is not positive semidefinite, its least eigenvalue is {least:.3g}: --project psd "
                "gives the nearest matrix that is"
            )
        return found


def accuracy(
    declared: Mechanism[Any, ..., Any],
    budget: Guarantee,
    arguments: Mapping[str, Any],
    n: int,
    d: int,
    row_bound: float,
    scaled: Scaling | None,
) -> Accuracy:
    """Return the predicted error of a release from n rows of d columns; every argument is public."""
    known = {**arguments, **budget.keywords()}
    variances = LAWS[declared.name](n, d, known) if declared.name in LAWS else None
    ranges = list(_sketch_without_gain(declared.name, d, known))
    if variances is None:
        return Accuracy(None, None, (*ranges, *_little_information(budget, n)))
    deviations = np.sqrt(variances)
    in_the_ball = float(np.linalg.norm(deviations))
    in_unit = deviations * row_bound**declared.output.power
    if in_the_ball >= 1:
        ranges.append(
            f"n = {n} rows of d = {d} columns are too few for this budget: the expected error is {in_the_ball:.3g} "
            "times the largest norm that the exact statistic can have"
        )
    restored = in_unit if scaled is None else scaled.restore(in_unit, declared.output)
    return Accuracy(in_the_ball, float(np.linalg.norm(restored)), tuple(ranges))


def accuracy_of_sum(
    declared: Mechanism[Any, ..., Any],
    budget: Guarantee,
    arguments: Mapping[str, Any],
    raw: Vector,
    d: int,
    row_bound: float,
    scaled: Scaling | None,
) -> Accuracy:
    """Return the predicted error of a noisy sum that is released with a noisy number of rows.

    The argument `raw` has the released values as the mechanism returns them. The function does not use the true number
    of rows.
    """
    output = cast(RowsAndSumOutput, declared.output_of(arguments))
    deviations = np.sqrt(SUMS[declared.name](d, {**arguments, **budget.keywords()}))
    packed = output.packed(0.0, deviations)
    restored = output.times_bound(packed, row_bound) if scaled is None else scaled.restore(packed, output)
    expected = float(np.linalg.norm(output.unpacked(restored[1:])))
    rows = max(1.0, float(raw[0]))
    in_the_ball = float(np.linalg.norm(deviations)) / rows
    ranges = list(_little_information(budget, rows))
    if in_the_ball >= 1:
        ranges.append(
            f"the released number of rows, {float(raw[0]):.6g}, is small for this budget: the expected error of the "
            f"second moment is {in_the_ball:.3g} times the largest norm that the exact one can have"
        )
    return Accuracy(in_the_ball, expected, tuple(ranges), part="sum")


BOX_FAILURE = 1e-3
BOX_MEANING = (
    "with probability 0.999 over the noise, no entry of the released covariance differs by more than its bound from "
    "the covariance of the n clipped records with the divisor n"
)


def box_accuracy(name: str, arguments: Mapping[str, Any], adjacency: Adjacency, rows: float, box: Box) -> Accuracy:
    """Return the predicted error of a release of bounded columns, based on the released number of rows."""
    entries = box_bound(name, arguments, adjacency, rows, box)
    if entries is None:
        return Accuracy(None, None, ("there are too few rows for this budget: no bound on the error can be stated",))
    useless = (entries >= 2 * np.outer(box.half_widths, box.half_widths)).all()
    few = ("the bound on the error is not below the largest covariance that the bounds allow",) if useless else ()
    return Accuracy(None, None, few, entries)


def box_bound(name: str, arguments: Mapping[str, Any], adjacency: Adjacency, rows: float, box: Box) -> Matrix | None:
    """Return a bound on the error of every entry of the released covariance, or None if there are too few rows for a
    bound.

    arguments : the budget and the options.
    rows : the released number of rows.

    Except with probability at most `BOX_FAILURE`, the absolute noise on every sum is at most its quantile, and the
    number of rows is at least `rows` minus the quantile for the count.
    """
    d = box.dimension
    law = BOX[name](d, arguments, adjacency)
    entries = d + d * (d + 1) // 2 + 1
    spread = law.quantile(BOX_FAILURE / entries) * spreads(law.scale, law.weights, d)
    count = float(spread[0, 0])
    fewest = rows - count
    if fewest - count < 1:
        return None
    largest = float(np.maximum(spread[1:, 1:].max(), spread[0, 1:].max()))
    bound: Matrix = error_bound(fewest, largest, count) * np.outer(box.half_widths, box.half_widths)
    return bound


@dataclass(frozen=True)
class BoxLaw:
    """The noise of a mechanism for bounded columns, given by its scale, its weights, and its (1 − β)-quantile as a
    function of β.

    The field `deviation` is the standard deviation of the noise at scale 1.
    """

    scale: float
    weights: Weights
    quantile: Callable[[float], float]
    deviation: float = 1.0


def _normal_quantile(beta: float) -> float:
    return float(-ndtri(beta / 2))


BOX: dict[str, Callable[[int, Mapping[str, Any], Adjacency], BoxLaw]] = {
    "box-gauss": lambda d, b, adjacency: BoxLaw(
        float(box_gauss.noise_scale(d, b["rho"], adjacency)), gauss_weights(d, adjacency), _normal_quantile
    ),
    "box-gauss-approximate": lambda d, b, adjacency: BoxLaw(
        float(
            box_gauss.sensitivity(d, adjacency)
            * gaussian_approximate.multiplier(b["epsilon"], b["delta"], b["calibration"])
        ),
        gauss_weights(d, adjacency),
        _normal_quantile,
    ),
    "box-laplace": lambda d, b, adjacency: BoxLaw(
        float(box_laplace.noise_scale(d, b["epsilon"], adjacency)),
        laplace_weights(d, adjacency),
        lambda beta: math.log(1 / beta),
        2**0.5,
    ),
}


def _little_information(budget: Guarantee, n: float) -> list[str]:
    """Return a warning, in a list, if group privacy shows that the release says little about the data. The list is
    empty if group privacy does not show this.

    For two data sets that differ in all n rows, the budget is nε in place of ε, or n²ρ in place of ρ.
    """
    keywords = budget.keywords()
    name, changed = ("n²ρ", n**2 * keywords["rho"]) if isinstance(budget, ZCDP) else ("nε", n * keywords["epsilon"])
    if changed > 1:
        return []
    return [
        f"{name} = {changed:.3g} is at most 1: by group privacy the output has nearly the same law on any two data "
        "sets of this size, so it says little about the data"
    ]


def _sketch_without_gain(name: str, d: int, arguments: Mapping[str, Any]) -> list[str]:
    if not name.startswith("johnson-lindenstrauss"):
        return []
    defaults = johnson_lindenstrauss.MECHANISM.parameters
    alpha, beta = (float(arguments.get(key, defaults[key])) for key in ("alpha", "beta"))
    if johnson_lindenstrauss.sketch_rows(d, alpha, beta) < johnson_lindenstrauss.entries(d):
        return []
    return [f"d = {d} columns are too few for {name}: its projection does not reduce the number of dimensions"]


def _least_eigenvalue(output: Output, values: Any) -> float:
    """Return the least eigenvalue of the symmetric part of a released second moment or covariance.

    For other outputs the function returns infinity.
    """
    if not output.restorable or output.kind == "moments":
        return math.inf
    parts = output.parts(values)
    matrix = parts.get("covariance", parts.get("second_moment"))
    return math.inf if matrix is None or matrix.ndim < 2 else float(np.linalg.eigvalsh((matrix + matrix.T) / 2)[0])
