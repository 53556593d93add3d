"""Define an auditor of the comparison, its findings, and code that its adapters share."""

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
from tests.peers.cases import ABORTED, Case

LEVELS = 0.05, 1e-9  # the default level of the other auditors, and the default level of `covassay audit`


@dataclass(frozen=True)
class Finding:
    """The result of a tool at one level: a lower bound on ε, if it gives one, and whether it refuted the claim."""

    bound: float | None
    refuted: bool


Findings = tuple[Finding, ...]  # one finding for every level
Attempt = Callable[[Case, int, int], Findings]  # the arguments: a case, the number of draws on each input, and a seed


@dataclass(frozen=True)
class Tool:
    """An auditor. `settings` are the settings that are tried; `absent` says why the auditor does not apply to a case.

    package : what must be importable; empty if the auditor is written anew here, from its published definition.
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
        """Return the version of the installed package, or the version in the stored comparison if the package states
        none.
        """
        if not self.package:
            return "written anew"
        try:
            return version(self.package.replace("_", "-"))
        except PackageNotFoundError:
            return "unstated"


def generator(case: Case, seed: int, tool: str) -> np.random.Generator:
    """Make the generator for one run."""
    return np.random.default_rng(stream(seed, case.name, tool))


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Hide what another auditor prints in the `with` block."""
    os.environ.setdefault("TQDM_DISABLE", "1")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


def module(name: str) -> Any:
    """Import a module of another auditor; its types are not checked."""
    return importlib.import_module(name)


def padded(case: Case) -> Callable[[Matrix, int, np.random.Generator], Matrix]:
    """Make the sampler whose outputs all have one length, because the other tools stack outputs."""

    def sample(x: Matrix, size: int, rng: np.random.Generator) -> Matrix:
        outputs = case.sample(x, size, rng)
        if not case.length or outputs.shape[1] == case.length:
            return outputs
        return np.pad(outputs, ((0, 0), (0, case.length - outputs.shape[1])), constant_values=ABORTED)

    return sample


def drawn(case: Case, draws: int, seed: int, tool: str) -> tuple[Matrix, Matrix]:
    """Draw outputs on both inputs, one output in each row."""
    rng, sample = generator(case, seed, tool), padded(case)
    first, second = (np.asarray(sample(x, draws, rng), dtype=np.float64) for x in (case.first, case.second))
    return first.reshape(draws, -1), second.reshape(draws, -1)


def pure_only(case: Case) -> str:
    """Return the reason why a tool that bounds the ε of pure DP does not apply to a case, or "" if it applies."""
    return "" if isinstance(case.claim, PureDP) else "bounds pure ε only"
