"""Every experiment, by name."""

from covassay.reference.errors import InvalidInput, guess
from covassay.verification.experiments.catalogue import adk19, bdku20, dly22, dn25, klsu19
from covassay.verification.experiments.experiment import Experiment

EXPERIMENTS: dict[str, Experiment] = {
    one.name: one for paper in (adk19, dly22, bdku20, dn25, klsu19) for one in paper.EXPERIMENTS
}


def experiment(name: str) -> Experiment:
    """Return the experiment with this name."""
    if name not in EXPERIMENTS:
        raise InvalidInput(f"experiment = {name!r}: {guess(name, EXPERIMENTS)}must be one of {', '.join(EXPERIMENTS)}")
    return EXPERIMENTS[name]
