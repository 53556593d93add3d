"""Make targets from the metrics of PipelineDP 0.3.1 (OpenMined), which are ε-DP with Laplace noise.

The function `combiners.create_compound_combiner(AggregateParams(…), NaiveBudgetAccountant(ε, …))` chooses how the
metrics of a partition are computed, and splits the budget. In the adapter every row is the one contribution of one user
to one partition, so that neighbours differ by a row that is added or removed. The metrics `count`, `sum`, `mean` and
`variance` are those of the first column, with its bounds.

- The targets `count` and `sum` return the metrics count and sum. The target `vector-sum` returns the sum of the rows,
  whose entries are at most 1 in absolute value (`NormKind.Linf`).

- The target `mean` uses the metrics count and mean, and `variance` uses count, mean and variance. Let m be the middle
  of the range and c = max(1, count). The targets return the numbers from which the metrics are computed: count, (mean
  − m) c, and (variance + (mean − m)²) c. The returned numbers determine the metrics, and the metrics determine the
  returned numbers.

The C++ library of python-dp draws the noise.
"""

from collections.abc import Callable
from functools import lru_cache, partial, reduce
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.verification.audit.adapters.numbers import PURE, UNSEEDED
from covassay.verification.audit.recorded.primitives import Primitive
from covassay.verification.audit.targets.package import Package, told_version
from covassay.verification.audit.targets.target import Target

PACKAGE = Package(requirements=("pipeline-dp==0.3.1", "python-dp==1.1.5"), modules=("pipeline_dp.combiners",))
RANGE = (-1.0, 1.0)
VECTOR = ("VECTOR_SUM",)
NEIGHBOURS = "a row is the one contribution of one user; neighbours differ by one user"


def _value(mechanism: Any, value: float) -> float:
    return float(value)


def _diversity(mechanism: Any, value: float) -> float:
    return float(mechanism.noise_parameter)


def _given_value(value: float, eps: float, l1_sensitivity: float) -> float:
    return float(value)


def _given_scale(value: float, eps: float, l1_sensitivity: float) -> float:
    return l1_sensitivity / eps


_MODULE = "pipeline_dp.dp_computations"
PRIMITIVES = (
    Primitive(_MODULE, "AdditiveMechanism.add_noise", "laplace", _value, _diversity),
    Primitive(_MODULE, "apply_laplace_mechanism", "laplace", _given_value, _given_scale),
)


@lru_cache(maxsize=64)
def _combiner(metrics: tuple[str, ...], epsilon: float, low: float, high: float, columns: int) -> Any:
    """Return the combiner that the package chooses for these metrics, with the whole budget."""
    import pipeline_dp
    from pipeline_dp import aggregate_params, combiners

    vector = {"vector_size": columns, "vector_max_norm": 1.0, "vector_norm_kind": aggregate_params.NormKind.Linf}
    scalar = {"min_value": low, "max_value": high}
    parameters = pipeline_dp.AggregateParams(
        metrics=[getattr(pipeline_dp.Metrics, metric) for metric in metrics],
        noise_kind=pipeline_dp.NoiseKind.LAPLACE,
        max_partitions_contributed=1,
        max_contributions_per_partition=1,
        **(vector if metrics == VECTOR else scalar),
    )
    accountant = pipeline_dp.NaiveBudgetAccountant(epsilon, 1e-12)
    combiner = combiners.create_compound_combiner(parameters, accountant)
    accountant.compute_budgets()
    return combiner


def _metrics(x: Matrix, metrics: tuple[str, ...], epsilon: float, bounds: Any) -> Any:
    low, high = map(float, bounds[0])
    combiner = _combiner(metrics, epsilon, low, high, x.shape[1])
    contributions = ([row] for row in (x if metrics == VECTOR else x[:, 0]))
    accumulators = [combiner.create_accumulator(one) for one in contributions]
    return combiner.compute_metrics(reduce(combiner.merge_accumulators, accumulators))


def _moments(x: Matrix, *, epsilon: float, rng: np.random.Generator, bounds: Any, metrics: tuple[str, ...]) -> Vector:
    """Return the numbers from which the package computed the metrics."""
    found = _metrics(x, metrics, epsilon, bounds)
    count, mean = found.count, found.mean - np.mean(bounds[0])
    put_out = [count, mean * max(1.0, count)]
    if "VARIANCE" in metrics:
        return np.array([*put_out, (found.variance + mean**2) * max(1.0, count)])
    return np.array(put_out)[:, None]


def _vector_sum(x: Matrix, *, epsilon: float, rng: np.random.Generator, bounds: Any) -> Vector:
    return np.asarray(_metrics(x, VECTOR, epsilon, bounds).vector_sum)


def _number(x: Matrix, *, epsilon: float, rng: np.random.Generator, bounds: Any, metric: str) -> float:
    return float(getattr(_metrics(x, (metric,), epsilon, bounds), metric.lower()))


def _target(name: str, draw: Callable[..., Any], released: str, columns: int = 1) -> Target:
    return Target(
        f"pipeline-dp:{name}", draw, version=told_version(PACKAGE, f"combiners, {name}"), released=released, claim=PURE,
        bounds=(RANGE,) * columns, adjacency="add-remove", seeded=False, notes=(NEIGHBOURS, UNSEEDED),
        primitives=PRIMITIVES,
    )  # fmt: skip


_MEAN = partial(_moments, metrics=("COUNT", "MEAN"))
_VARIANCE = partial(_moments, metrics=("COUNT", "MEAN", "VARIANCE"))
TARGETS: dict[str, Callable[[], Target]] = {
    "count": partial(_target, "count", partial(_number, metric="COUNT"), "number"),
    "sum": partial(_target, "sum", partial(_number, metric="SUM"), "number"),
    "mean": partial(_target, "mean", _MEAN, "gaussian"),
    "variance": partial(_target, "variance", _VARIANCE, "triangle", 2),
    "vector-sum": partial(_target, "vector-sum", _vector_sum, "vector", 2),
}
