"""Correctly rounded releases: the theorem covers every released bit.

`rounded_release` returns exactly what the ideal mechanism, a function of infinitely many fair bits, gives after
rounding to a public grid. Rounding is post-processing, so the guarantee of the ideal mechanism holds for what is
released. The argument is on one page, proofs/paper/rounded-releases.md. This needs python-flint: `pip install
'covassay[exact]'`.

    bits.py          uniform numbers whose bits are read as they are needed
    balls.py         decisions that are certain, and the loop that refines
    noise.py         the laws of the noise, as functions of uniform numbers
    spectrum.py, bingham.py, eigenvalues.py
                     the spectrum of nuclear-Laplace noise, the Bingham law, enclosures of eigenvalues
    mechanisms.py    the ideal output of every mechanism
    releasing.py     data in, integers and their grid out
"""

import importlib.util
from typing import TYPE_CHECKING, Any

from covassay.reference.errors import InvalidInput

__all__ = ["DEFAULT_GRID", "WITH_ROUNDED_FORM", "require_flint", "require_rounded_form", "rounded_release"]

if TYPE_CHECKING:
    from fractions import Fraction

    from covassay.reference.domain import DataSet
    from covassay.reference.rounded.releasing import RoundedRelease

DEFAULT_GRID = "2^-30"
WITH_ROUNDED_FORM = (
    "laplace",
    "gaussian",
    "private-trace",
    "entrywise-laplace",
    "lap-cov",
    "gauss-cov",
    "nuclear-laplace",
    "nuclear-laplace-symmetric",
    "centred-covariance",
    "k-norm",
    "exponential",
    "above-threshold",
    "nuclear-ball-projection",
    "projection-mechanism",
    "separate-cov",
    "separate-cov-pure",
    "bingham",
    "iterative-eigenvectors",
)


def require_flint() -> None:
    """Raise `InvalidInput` unless python-flint is installed."""
    if importlib.util.find_spec("flint") is None:
        raise InvalidInput("a rounded release needs python-flint: pip install 'covassay[exact]'")


def rounded_release(mechanism_name: str, data: "DataSet", **keywords: Any) -> "RoundedRelease":
    """Release by a mechanism, rounded correctly to a grid; the parameters are those of `rounded_release.release`.

    >>> rounded_release("laplace", [[1.0, 0.0], [0.0, 1.0]], epsilon="0.5").values.shape
    (2,)
    """
    require_flint()
    from covassay.reference.rounded.releasing import release

    return release(mechanism_name, data, **keywords)


def require_rounded_form(mechanism_name: str, grid: str) -> "Fraction":
    """The grid; raise `InvalidInput` unless it is one, and there is a rounded form of the mechanism."""
    require_flint()
    from covassay.reference.rounded import releasing

    return releasing.require_rounded_form(mechanism_name, grid)
