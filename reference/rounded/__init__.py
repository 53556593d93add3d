"""This package rounds releases correctly, so that the privacy theorem covers every released bit.

The function `rounded_release` returns exactly the output of the ideal mechanism, a function of infinitely many fair
bits, after rounding to a public grid. Rounding is post-processing, so the guarantee of the ideal mechanism holds for
the rounded output. The page proofs/paper/rounded-releases.md has the argument. The package needs python-flint, which
`pip install 'covassay[exact]'` installs.

    bits.py          uniform numbers whose bits are read as they are needed
    balls.py         decisions that are certain, and the loop that refines
    noise.py         the laws of the noise, as functions of uniform numbers
    spectrum.py, bingham.py, eigenvalues.py
                     the spectrum of nuclear-Laplace noise, the Bingham law, enclosures of eigenvalues
    mechanisms.py    the ideal output of every mechanism
    arguments.py, releasing.py
                     arguments as fractions; data in, integers and their grid out

The module `lattice.py` releases by the mechanisms of `ON_A_LATTICE`, whose noise is whole numbers. The mechanisms on a
lattice are not rounded forms of mechanisms in real arithmetic: these mechanisms are exact by themselves, and do not
need python-flint.
"""

import importlib.util
from typing import TYPE_CHECKING, Any

from covassay.reference.errors import InvalidInput

__all__ = [
    "DEFAULT_GRID",
    "ON_A_LATTICE",
    "WITH_ROUNDED_FORM",
    "exact_release",
    "require_exact_form",
    "require_flint",
    "rounded_release",
]

if TYPE_CHECKING:
    from covassay.reference.domain import DataSet
    from covassay.reference.domain.exact_data import ExactData
    from covassay.reference.rounded.lattice import LatticeRelease
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
    "box-gauss",
    "box-laplace",
)
ON_A_LATTICE = ("discrete-laplace-covariance", "discrete-gaussian-covariance")


def require_flint() -> None:
    """Raise `InvalidInput` unless python-flint is installed."""
    if importlib.util.find_spec("flint") is None:
        raise InvalidInput("a rounded release needs python-flint: pip install 'covassay[exact]'")


def rounded_release(mechanism_name: str, data: "DataSet | ExactData", **keywords: Any) -> "RoundedRelease":
    """Release by a mechanism, rounded correctly to a grid. The parameters are those of `releasing.release`.

    >>> rounded_release("laplace", [[1.0, 0.0], [0.0, 1.0]], epsilon="0.5").values.shape
    (2,)
    """
    require_flint()
    from covassay.reference.rounded.releasing import release

    return release(mechanism_name, data, **keywords)


def exact_release(
    mechanism_name: str, data: "DataSet | ExactData", *, grid: str | None = None, **keywords: Any
) -> "RoundedRelease | LatticeRelease":
    """Make a release every bit of which the theorem covers.

    The output of a mechanism on a lattice is released unchanged. The output of any other mechanism is rounded to the
    grid.
    """
    if mechanism_name not in ON_A_LATTICE:
        return rounded_release(mechanism_name, data, grid=DEFAULT_GRID if grid is None else grid, **keywords)
    from covassay.reference.rounded.lattice import release

    require_exact_form(mechanism_name, grid)
    return release(mechanism_name, data, **keywords)


def require_exact_form(mechanism_name: str, grid: str | None) -> None:
    """Raise `InvalidInput` unless the mechanism has an exact form, and the grid, if given, is valid for it."""
    if mechanism_name in ON_A_LATTICE:
        if grid is not None:
            raise InvalidInput(
                f"grid = {grid!r}: {mechanism_name} takes no grid, because for rows in the unit ball its outputs "
                "are multiples of 1/(n 4^b), or of 1/4^b under add-remove, where b is input_bits"
            )
        return
    require_flint()
    from covassay.reference.rounded import releasing

    releasing.require_rounded_form(mechanism_name, DEFAULT_GRID if grid is None else grid)
