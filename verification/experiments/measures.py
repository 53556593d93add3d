"""Measure errors by functions of an output and the true value."""

from functools import partial

import numpy as np

from covassay.reference.domain import Matrix
from covassay.verification.experiments.experiment import Measure, Sample


def frobenius(output: Matrix, sample: Sample) -> float:
    """Return the error ‖output − Σ‖_F in Frobenius norm."""
    return float(np.linalg.norm(output - sample.truth))


def relative_frobenius(output: Matrix, sample: Sample) -> float:
    """Return the relative error ‖output − Σ‖_F/‖Σ‖_F in Frobenius norm."""
    return frobenius(output, sample) / float(np.linalg.norm(sample.truth))


def schatten(p: float, output: Matrix, sample: Sample) -> float:
    """Return the error ‖output − Σ‖_{S_p}, which is the ℓp norm of the singular values of the difference."""
    return float(np.linalg.norm(np.linalg.svd(output - sample.truth, compute_uv=False), p))


def mahalanobis(output: Matrix, sample: Sample) -> float:
    """Return the error ‖Σ^{−1/2}(output − Σ)Σ^{−1/2}‖_F for a diagonal Σ."""
    roots = 1 / np.sqrt(np.diag(sample.truth))
    return float(np.linalg.norm((output - sample.truth) * roots * roots[:, None]))


FROBENIUS: dict[str, Measure] = {"Frobenius error": frobenius}
RELATIVE: dict[str, Measure] = {"relative Frobenius error": relative_frobenius}
MAHALANOBIS: dict[str, Measure] = {"Mahalanobis error": mahalanobis}
EUCLIDEAN: dict[str, Measure] = {"Euclidean error": frobenius}
ORDERS = {f"Schatten {p} error": float(p.replace("∞", "inf")) for p in ("1", "2", "4", "∞")}
SCHATTEN: dict[str, Measure] = {name: partial(schatten, p) for name, p in ORDERS.items()}
