"""Check whether a target gives outputs on the user's own data set.

The data are scaled into the unit ball by their smallest and largest values. Scaling by the extremes of the data is not
differentially private. An audit may scale the data in this way, because it does not publish the scaled data.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.errors import InvalidInput
from covassay.reference.release.tables.reading import read_table
from covassay.verification.audit.engine.facts import OwnData
from covassay.verification.audit.engine.finding import Finding, Status
from covassay.verification.audit.engine.sampling import Setting, draw

DATA_SETS = ("wine", "digits", "breast-cancer")  # shipped with scikit-learn
DRAWS = 3


@dataclass(frozen=True)
class UserData:
    """A data set in the unit ball, made by scaling every feature to [−1, 1] and dividing the rows by √d."""

    name: str
    x: Matrix


def scaled(values: Matrix) -> Matrix:
    """Map every feature to [−1, 1] by its minimum and maximum (to 0 if the feature is constant), and divide the rows by
    √d."""
    low, high = values.min(axis=0), values.max(axis=0)
    width = np.where(high > low, high - low, 1.0)
    unit: Matrix = (2 * (values - low) / width - (high > low)) / np.sqrt(values.shape[1])
    return unit


def load_user_data(name: str) -> UserData:
    """Return a data set of scikit-learn that is given by its name, or the table in a file."""
    if name in DATA_SETS:
        try:
            from sklearn import datasets
        except ImportError:
            raise InvalidInput(f"data = {name!r}: needs scikit-learn; install the extra covassay[peers]") from None
        values = getattr(datasets, f"load_{name.replace('-', '_')}")().data
        return UserData(name, scaled(np.asarray(values, dtype=np.float64)))
    if not Path(name).exists():
        raise InvalidInput(f"data = {name!r}: must be a file or one of {', '.join(DATA_SETS)}")
    return UserData(name, scaled(read_table(Path(name)).rows))


def user_checks(setting: Setting, data: UserData) -> list[Finding]:
    """Make a few draws on the user's data, and note failures, which refute nothing because the data may lie outside of
    the domain.
    """
    draws = draw(setting, data.x, DRAWS, f"data/{data.name}")
    n, d = data.x.shape
    facts = OwnData(n, d, len(draws.outputs), dict(draws.failures))
    if draws.failures:
        text = ", ".join(f"{count} × {what}" for what, count in draws.failures.items())
        return [Finding("contract", f"on {data.name}", Status.NOTED, f"n = {n}, d = {d}: {text}", facts=facts)]
    text = f"n = {n}, d = {d}: {len(draws.outputs)} outputs"
    return [Finding("contract", f"on {data.name}", Status.NOT_REFUTED, text, facts=facts)]
