"""Make the data sets of the panels from the setting, a random generator and the user's files."""

from collections.abc import Callable

import numpy as np

from covassay.reference.domain import Matrix, second_moment
from covassay.verification.claims.checks.dly22.zipf_data import SKEW, zipf_rows
from covassay.verification.claims.rates.accuracy import rows_of
from covassay.verification.experiments.experiment import Files, Sample, Setting

Draw = Callable[[Setting, np.random.Generator, Files], Sample]


def of_rows(rows: Matrix) -> Sample:
    """Make a sample from rows. The quantity to estimate is the second moment of the rows."""
    return Sample(rows, second_moment(rows))


def zipf(setting: Setting, rng: np.random.Generator, files: Files) -> Sample:
    """Return the synthetic data of DLY22 §7.1, with `buckets` buckets of norms."""
    return of_rows(zipf_rows(int(setting["n"]), int(setting["d"]), rng, SKEW, int(setting["buckets"])))


def standing(rows: Callable[[Files], Matrix]) -> Draw:
    """Return a function that gives the same data set for every setting and every generator."""
    return lambda setting, rng, files: of_rows(rows(files))


def subset(rows: Callable[[Files], Matrix]) -> Draw:
    """Return a function that draws n rows without replacement; if there are at most n rows, the function returns all of
    them in order.
    """

    def drawn(setting: Setting, rng: np.random.Generator, files: Files) -> Sample:
        everything = rows(files)
        n = int(setting["n"])
        return of_rows(rng.permutation(everything)[:n] if n < len(everything) else everything)

    return drawn


def of_trace(setting: Setting, rng: np.random.Generator, files: Files) -> Sample:
    """Make rows along the coordinate axes. Their second moment has `rank` equal eigenvalues, whose sum is `trace` up to
    rounding to whole rows.
    """
    n, d, rank = int(setting["n"]), int(setting["d"]), int(setting["rank"])
    return of_rows(rows_of(np.full(rank, setting["trace"] / rank), n, d))


def normal(setting: Setting, rng: np.random.Generator, files: Files) -> Sample:
    """Draw rows from N(0, Σ), where Σ is I or has eigenvalues from 1 to κ in a geometric series; the quantity to
    estimate is Σ.
    """
    n, d = int(setting["n"]), int(setting["d"])
    variances = np.geomspace(1.0, setting.get("kappa", 1.0), d)
    return Sample(rng.standard_normal((n, d)) * np.sqrt(variances), np.diag(variances))


def normal_mean(setting: Setting, rng: np.random.Generator, files: Files) -> Sample:
    """Draw rows from N(μ, I), where μ has norm 1 and a random direction; the quantity to estimate is μ."""
    n, d = int(setting["n"]), int(setting["d"])
    direction = rng.standard_normal(d)
    mean = direction / np.linalg.norm(direction)
    return Sample(rng.standard_normal((n, d)) + mean, mean)
