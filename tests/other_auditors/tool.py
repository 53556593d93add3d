"""Define the classes for an auditor and for its result, and functions that several auditors use."""

import contextlib
import importlib
import importlib.util
import io
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.privacy import PureDP
from covassay.verification.statistics.streams import stream
from tests.other_auditors.cases import ABORTED, Case

LEVELS = 0.05, 1e-9  # the default level of the other auditors, and the default level of `covassay audit`


@dataclass(frozen=True)
class Finding:
    """The result of an auditor at one level: its lower bound on ε, or None, and whether it refuted the claim."""

    bound: float | None
    refuted: bool


Findings = tuple[Finding, ...]  # one finding for every level
Attempt = Callable[[Case, int, int], Findings]  # takes a case, the number of draws on each input, and a seed


@dataclass(frozen=True)
class Tool:
    """An auditor. The dictionary `settings` has a function for every setting that is tried. The function `absent`
    returns the reason why the auditor does not apply to a case, or "".

    package : the package that must be installed; empty if we wrote the auditor ourselves from its published definition.
    """

    name: str
    package: str
    home: str
    settings: Mapping[str, Attempt]
    absent: Callable[[Case], str]

    @property
    def installed(self) -> bool:
        """Return whether the package can be imported."""
        return not self.package or self.package in sys.modules or importlib.util.find_spec(self.package) is not None

    @property
    def version(self) -> str:
        """Return the version of the installed package, "unstated" if it has none, or "written anew" if there is no
        package.
        """
        if not self.package:
            return "written anew"
        try:
            return version(self.package.replace("_", "-"))
        except PackageNotFoundError:
            return "unstated"


def generator(case: Case, seed: int, tool: str) -> np.random.Generator:
    """Return the random generator for one run."""
    return np.random.default_rng(stream(seed, case.name, tool))


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Hide what an auditor prints in the `with` block."""
    os.environ.setdefault("TQDM_DISABLE", "1")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


def module(name: str) -> Any:
    """Import a module of another auditor; its types are not checked."""
    return importlib.import_module(name)


def padded(case: Case) -> Callable[[Matrix, int, np.random.Generator], Matrix]:
    """Return a sampler that pads all outputs to the same length, because the other auditors stack outputs."""

    def sample(x: Matrix, size: int, rng: np.random.Generator) -> Matrix:
        outputs = case.sample(x, size, rng)
        if not case.length or outputs.shape[1] == case.length:
            return outputs
        return np.pad(outputs, ((0, 0), (0, case.length - outputs.shape[1])), constant_values=ABORTED)

    return sample


def drawn(case: Case, draws: int, seed: int, tool: str) -> tuple[Matrix, Matrix]:
    """Return the outputs on the two inputs as two arrays with an output in each row."""
    rng, sample = generator(case, seed, tool), padded(case)
    first, second = (np.asarray(sample(x, draws, rng), dtype=np.float64) for x in (case.first, case.second))
    return first.reshape(draws, -1), second.reshape(draws, -1)


def pure_only(case: Case) -> str:
    """Return the reason why an auditor of pure DP does not apply to a case, or "" if it does."""
    return "" if isinstance(case.claim, PureDP) else "bounds pure ε only"
