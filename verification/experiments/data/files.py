"""List the data sets that an experiment may need, and check whether they exist."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from covassay.reference.errors import InvalidInput

SCIKIT_LEARN = "scikit-learn"
FORMATS = {  # the user's data sets may have these formats
    "adult": "the folder with adult.data and adult.test of the UCI repository, or one of the two files",
    "airfoil": "airfoil_self_noise.dat of the UCI repository",
    "mnist": "the folder with train-images-idx3-ubyte and train-labels-idx1-ubyte, plain or .gz",
    "news": "news-commentary-v16.en of the WMT21 translation task, plain or .gz",
}


def missing(needs: str, files: Mapping[str, Path]) -> str:
    """Return the reason why a needed data set is missing, or an empty text if none is missing."""
    if needs == SCIKIT_LEARN and find_spec("sklearn") is None:
        return "needs scikit-learn: install the extra covassay[peers]"
    if needs in FORMATS and needs not in files:
        return f"needs --data {needs}=PATH"
    return ""


def given(items: Sequence[str]) -> dict[str, Path]:
    """Read arguments of the form NAME=PATH, and return the paths keyed by name."""
    found: dict[str, Path] = {}
    for item in items:
        name, equals, path = item.partition("=")
        if not equals or name not in FORMATS:
            raise InvalidInput(f"--data {item}: must be NAME=PATH, with NAME one of {', '.join(FORMATS)}")
        if not Path(path).exists():
            raise InvalidInput(f"--data {item}: there is no such file; must be {FORMATS[name]}")
        found[name] = Path(path)
    return found
