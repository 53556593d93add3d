"""Read Adult and Airfoil in the published formats of the UCI repository, and scale them by public bounds.

Adult has lines of 15 fields separated by commas, of which the last one, the income, is left out. A categorical field of
Adult becomes one column for each published category, and "?" gives zeros in all these columns. The 6 numerical fields
and the 99 categories together give 105 columns. A number in Adult is mapped from its bounds onto [−1, 1]. Every one of
the 14 fields of Adult contributes at most 1 to the squared norm, so rows are divided by √14.

Airfoil has lines of 6 numbers separated by blanks.
"""

import csv
import math
from functools import cache
from pathlib import Path

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.errors import InvalidInput
from covassay.verification.experiments.data.scaling import to_unit_ball

# the bounds of frequency (Hz), angle (degrees), lengths (m), speed (m/s), thickness (m) and sound level (dB)
AIRFOIL = ((0, 20_000), (0, 25), (0, 0.5), (0, 100), (0, 0.1), (0, 160))

UNKNOWN = "?"
# a numerical field has its lower and upper bound, and a categorical field has its published categories
ADULT: dict[str, tuple[float, float] | str] = {
    "age": (0, 100),
    "workclass": "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay Never-worked",
    "fnlwgt": (0, 1_500_000),
    "education": "Bachelors Some-college 11th HS-grad Prof-school Assoc-acdm Assoc-voc 9th 7th-8th 12th Masters "
    "1st-4th 10th Doctorate 5th-6th Preschool",
    "education-num": (0, 16),
    "marital-status": "Married-civ-spouse Divorced Never-married Separated Widowed Married-spouse-absent "
    "Married-AF-spouse",
    "occupation": "Tech-support Craft-repair Other-service Sales Exec-managerial Prof-specialty Handlers-cleaners "
    "Machine-op-inspct Adm-clerical Farming-fishing Transport-moving Priv-house-serv Protective-serv Armed-Forces",
    "relationship": "Wife Own-child Husband Not-in-family Other-relative Unmarried",
    "race": "White Asian-Pac-Islander Amer-Indian-Eskimo Other Black",
    "sex": "Female Male",
    "capital-gain": (0, 100_000),
    "capital-loss": (0, 5000),
    "hours-per-week": (0, 100),
    "native-country": "United-States Cambodia England Puerto-Rico Canada Germany Outlying-US(Guam-USVI-etc) India "
    "Japan Greece South China Cuba Iran Honduras Philippines Italy Poland Jamaica Vietnam Mexico Portugal Ireland "
    "France Dominican-Republic Laos Ecuador Taiwan Haiti Columbia Hungary Guatemala Nicaragua Scotland Thailand "
    "Yugoslavia El-Salvador Trinadad&Tobago Peru Hong Holand-Netherlands",
}
INCOMES = "<=50K", ">50K"  # the file adult.test writes incomes with a full stop
HEADING = "|1x3 Cross validator"  # the file adult.test begins with this line


@cache
def adult(path: Path) -> Matrix:
    """Return the records of one Adult file, or of both files in a folder, scaled to the unit ball.

    Raises
    ------
    InvalidInput : there is no such file, or a line is not of the published format.
    """
    files = [path / name for name in ("adult.data", "adult.test")] if path.is_dir() else [path]
    return np.vstack([_adult_file(file) for file in files])


def _adult_file(path: Path) -> Matrix:
    rows = []
    for number, fields in enumerate(csv.reader(text_of(path).splitlines(), skipinitialspace=True), start=1):
        where = f"{path}, line {number}"
        if not fields or fields[0].strip() == HEADING:
            continue
        if len(fields) != len(ADULT) + 1:
            raise InvalidInput(f"{where} has {len(fields)} fields: must have {len(ADULT) + 1}")
        if fields[-1].strip().removesuffix(".") not in INCOMES:
            raise InvalidInput(f"{where} ends in {fields[-1]!r}: must end in {' or '.join(INCOMES)}")
        columns: list[float] = []
        for (name, kind), field in zip(ADULT.items(), fields, strict=False):
            columns += _columns(f"{where}, {name}", kind, field.strip())
        rows.append(columns)
    return _stacked(path, rows) / math.sqrt(len(ADULT))


def _columns(where: str, kind: tuple[float, float] | str, field: str) -> list[float]:
    """Convert one field to columns. A numerical field gives one column in [−1, 1], and a categorical field gives one
    column for each category.
    """
    if isinstance(kind, str):
        categories = kind.split()
        if field not in (*categories, UNKNOWN):
            raise InvalidInput(f"{where} is {field!r}: must be one of the published categories or {UNKNOWN}")
        return [float(field == category) for category in categories]
    low, high = kind
    return [2 * (min(max(number(where, field), low), high) - low) / (high - low) - 1]


@cache
def airfoil(path: Path) -> Matrix:
    """Return the records of airfoil_self_noise.dat, scaled by public bounds.

    Raises
    ------
    InvalidInput : there is no such file, or a line is not of the published format.
    """
    rows = []
    for line, text in enumerate(text_of(path).splitlines(), start=1):
        fields = text.split()
        if not fields:
            continue
        if len(fields) != len(AIRFOIL):
            raise InvalidInput(f"{path}, line {line} has {len(fields)} fields: must have {len(AIRFOIL)}")
        rows.append([number(f"{path}, line {line}", field) for field in fields])
    return to_unit_ball(_stacked(path, rows), AIRFOIL)


def text_of(path: Path) -> str:
    """Return the text of a file of the user."""
    if not path.is_file():
        raise InvalidInput(f"{path}: there is no such file")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InvalidInput(f"{path}: is not text: must be of the published format") from None


def number(where: str, field: str) -> float:
    """Return the finite number in a field of the file."""
    try:
        value = float(field)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InvalidInput(f"{where}: {field!r} must be a finite number")
    return value


def _stacked(path: Path, rows: list[list[float]]) -> Matrix:
    if not rows:
        raise InvalidInput(f"{path}: holds no records")
    return np.array(rows)
