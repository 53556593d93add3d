"""Compare the released code of DLY22 with the reference on the same data, and explain differences.

The released code (github.com/hkustDB/PrivateCovariance) is not part of this project. The user gives the path of a copy
of the released code, which needs torch. The released code draws its own noise from a seed that is derived from the seed
of the cell. The comparison includes versions of our methods that have mistakes of the released code. If the code agrees
with a version that has a mistake, but not with the method without the mistake, the mistake explains the difference.
"""

import importlib
import math
import sys
from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, second_moment, total_square, unit_rows
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.building_blocks import private_trace
from covassay.reference.mechanisms.concentrated import adaptive_cov
from covassay.reference.mechanisms.concentrated.clipped_cov import (
    bin_counts,
    clip_level,
    clipped,
    first_level,
    last_level,
)
from covassay.reference.mechanisms.pure import adaptive_cov_pure, lap_cov, separate_cov_pure
from covassay.reference.projections import spectral_interval
from covassay.verification.experiments.catalogue import experiment
from covassay.verification.experiments.catalogue.dly22 import DELTA, released_separate
from covassay.verification.experiments.experiment import Experiment, Files, Method, Panel, Setting
from covassay.verification.experiments.findings import PaperClaim, agrees

NAME = "released-code"  # the name under which the user gives the path of the released code
THEIRS = "{}, their code"
LARGEST = {"EMCov": 50}  # the method of the released code is slow, and is not run above this dimension


def require(path: Path) -> Path:
    """Return the path if it leads to a copy of the released code and torch is installed; raise an error otherwise."""
    if not (path / "adaptive" / "algos.py").is_file() or not (path / "exponential" / "algos.py").is_file():
        raise InvalidInput(f"--released-code {path}: must be a copy of hkustDB/PrivateCovariance")
    if find_spec("torch") is None:
        raise InvalidInput(f"--released-code {path}: needs torch, which is not installed")
    return path


@cache
def _modules(path: Path) -> tuple[Any, Any, Any]:
    """Return the module torch and the two modules of the released code, and let torch use one thread."""
    sys.path.insert(0, str(path.absolute()))
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)
    return torch, importlib.import_module("adaptive.algos"), importlib.import_module("exponential.algos")


def _called(path: Path, call: Callable[[Any, Any, Any, Namespace], Any]) -> Callable[..., Matrix]:
    """Make a method that calls the released code with rows in single precision, as the authors do."""

    def called(rows: Matrix, setting: Setting, rng: np.random.Generator) -> Matrix:
        torch, adaptive, exponential = _modules(path)
        seed = int(rng.integers(2**31))
        torch.manual_seed(seed)
        np.random.seed(seed)  # noqa: NPY002, the released code draws from it
        rho = setting.get("rho", setting.get("epsilon", 0.0) ** 2 / 2)
        n, d = rows.shape
        delta = DELTA if "rho" in setting else 0.0
        arguments = Namespace(total_budget=rho, n=n, d=d, beta=setting["beta"], delta=delta)
        try:
            output = call(torch.tensor(rows, dtype=torch.float32), adaptive, exponential, arguments)
        except Exception as error:
            raise InvalidInput(f"the released code failed: {type(error).__name__}: {error}") from None
        return np.asarray(output.detach().numpy(), dtype=np.float64)

    return called


Call = Callable[[Any, Any, Any, Namespace], Any]
CALLS: dict[str, dict[str, Call]] = {
    "rho": {
        "GaussCov": lambda x, a, e, s: a.GaussCov(x, s.n, s.d, s.total_budget, b_fleig=True),
        "EMCov": lambda x, a, e, s: e.EMCov(x, s, b_budget=False, b_fleig=True),
        "SeparateCov": lambda x, a, e, s: a.SeparateCov(x, s.n, s.d, s.total_budget, b_fleig=True),
        "AdaptiveCov": lambda x, a, e, s: a.AdaptiveCov(x, s),
    },
    "epsilon": {
        "LapCov": lambda x, a, e, s: a.LapCov(x, s.n, s.d, (2 * s.total_budget) ** 0.5, b_fleig=True),
        "EMCov": lambda x, a, e, s: e.EMCov(x, s, b_budget=True, b_fleig=True),
        "SeparateCov": lambda x, a, e, s: a.SeparateLapCov(x, s.n, s.d, (2 * s.total_budget) ** 0.5, b_fleig=True),
        "AdaptiveCov": lambda x, a, e, s: a.AdaptiveLapCov(x, s),
    },
}


def adaptive_with(power: bool, svd: bool, rows: Matrix, setting: Setting, rng: np.random.Generator) -> Matrix:
    """Run AdaptiveCov with the error bounds of the authors' code. Each of the arguments `power` and `svd` switches on a
    mistake of that code.

    power : whether the search uses a wrong error bound for GaussCov on rows clipped to norm 2^{−k}. The wrong bound is
        2^{−k} g, and the right bound is 4^{−k} g.
    svd : whether SeparateCov takes the singular vectors of an indefinite matrix instead of its eigenvectors.
    """
    rho, beta = setting["rho"], setting["beta"]
    n, d = rows.shape
    short = unit_rows(rows, 1.0)
    noise = adaptive_cov.draw_noise(d, rng, rows=n)
    final = float(adaptive_cov.final_budget(rho, "none", "paper"))
    trace = adaptive_cov.trace_bound(short, noise.trace, rho, beta)
    found = adaptive_cov.errors(n, d, final, trace, 3 * beta / 4, "wigner", "code")
    last = last_level(n, d)
    smaller = []
    for k in range(last + 1):
        bounds = adaptive_cov.error_bounds(found, k)
        smaller.append(min(bounds["gauss"] * (2**k if power else 1), bounds["separate"]))
    level = first_level(bin_counts(short, last), smaller, n, noise.search, adaptive_cov.search_epsilon(rho))
    at_level = adaptive_cov.error_bounds(found, level)
    tau = float(clip_level(level))
    if at_level["gauss"] <= at_level["separate"]:
        output = clipped(short, noise.base, final, tau, "gauss", "wigner")
    elif svd:
        return tau**2 * released_separate(unit_rows(short, tau), {"rho": final}, rng)
    else:
        output = clipped(short, noise.base, final, tau, "separate", "wigner")
    return spectral_interval(output / tau**2, 0.0, 1.0) * tau**2


def separate_pure_with(rows: Matrix, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Run SeparateCov under pure DP with the singular vectors of an indefinite matrix in place of its eigenvectors."""
    n, d = rows.shape
    moment = second_moment(rows)
    noise = separate_cov_pure.draw_noise(d, rng)
    u, _, vt = np.linalg.svd(moment + separate_cov_pure.matrix_scale(n, d, epsilon, "paper") * noise.matrix)
    values = np.linalg.eigvalsh(moment)[::-1] + separate_cov_pure.eigenvalue_scale(n, epsilon) * noise.eigenvalues
    released: Matrix = (u * np.clip(values, 0.0, 1.0)) @ vt
    return released


def adaptive_pure_with(mistakes: bool, rows: Matrix, setting: Setting, rng: np.random.Generator) -> Matrix:
    """Run AdaptiveCov under pure DP, with or without the mistakes of the released code.

    If `mistakes` is true, the run has all of the following mistakes. The bound of LapCov lacks the factor 1/ε₁, and
    enters the search as 2^{−k} g instead of 4^{−k} g. The trace term in the bound of SeparateCov is divided by 14.
    SeparateCov takes the singular vectors of an indefinite matrix instead of its eigenvectors.
    """
    epsilon, beta = setting["epsilon"], setting["beta"]
    n, d = rows.shape
    short = unit_rows(rows, 1.0)
    noise = adaptive_cov_pure.draw_noise(d, rng, n)
    share, final = adaptive_cov_pure.step_epsilon(epsilon), float(adaptive_cov_pure.final_epsilon(epsilon, "none"))
    scale, margin = private_trace.laplace_scale(n, share), private_trace.laplace_margin(beta / 8)
    upper = private_trace.upper_bound(total_square(short) / n, noise.trace, scale, margin)
    g = adaptive_cov_pure.lap_bound(n, d, final, 3 * beta / 4, "paper") * (final if mistakes else 1)
    a, e = adaptive_cov_pure.separate_bounds(n, d, final, upper, 3 * beta / 4, "paper")
    a = a / 14 if mistakes else a
    last = last_level(n, d)
    smaller = [
        float(min(adaptive_cov.gauss_noise(k, g) * (2**k if mistakes else 1), adaptive_cov.separate_noise(k, a, e)))
        for k in range(last + 1)
    ]
    search = adaptive_cov_pure.search_epsilon(epsilon, "paper")
    level = first_level(bin_counts(short, last), smaller, n, noise.search, search)
    tau = float(clip_level(level))
    inside = unit_rows(short, tau)
    if adaptive_cov.gauss_noise(level, g) <= adaptive_cov.separate_noise(level, a, e):
        output = lap_cov.release(inside, noise.matrix, epsilon=final)
    elif mistakes:
        return separate_pure_with(inside, final, rng) * tau**2
    else:
        both = separate_cov_pure.SeparateCovPureNoise(noise.matrix, noise.eigenvalues)
        output = separate_cov_pure.release(inside, both, epsilon=final)
    return spectral_interval(output, 0.0, 1.0) * tau**2


def _separate_pure(rows: Matrix, setting: Setting, rng: np.random.Generator) -> Matrix:
    return separate_pure_with(rows, setting["epsilon"], rng)


@dataclass(frozen=True)
class Explanation:
    """A mistake of the released code that may explain why a method of this code differs from ours.

    label : the name of the method of the released code.
    without, with_mistake : the names of our versions of this method, without and with the mistake.
    mistake : a description of the mistake.
    entry : the entry of the ledger about the mistake.
    """

    label: str
    without: str
    with_mistake: str
    mistake: str
    entry: str


SWITCHED = {
    "rho": (
        Method("AdaptiveCov with 2^(−k) g", function=partial(adaptive_with, True, False)),
        Method("AdaptiveCov with singular vectors", function=partial(adaptive_with, False, True)),
        Method("AdaptiveCov with both", function=partial(adaptive_with, True, True)),
    ),
    "epsilon": (
        Method("SeparateCov with singular vectors", function=_separate_pure),
        Method("AdaptiveCov with the mistakes", function=partial(adaptive_pure_with, True)),
    ),
}
_SVD = "singular vectors of an indefinite matrix"
EXPLAINED = {
    "rho": (
        Explanation("EMCov", "EMCov", "EMCov, released code", "a larger budget", "DLY22.Experiments"),
        Explanation("SeparateCov", "SeparateCov", "SeparateCov, released code", _SVD, "DLY22.Eq5"),
        Explanation(
            "AdaptiveCov", "AdaptiveCov", "AdaptiveCov with both",
            f"2^(−k) g instead of 4^(−k) g as error bound in the search, and {_SVD}", "DLY22.Eq5",
        ),
    ),
    "epsilon": (
        Explanation("SeparateCov", "SeparateCov", "SeparateCov with singular vectors", _SVD, "DLY22.Eq5"),
        Explanation(
            "AdaptiveCov", "AdaptiveCov", "AdaptiveCov with the mistakes", "its error bounds and " + _SVD,
            "DLY22.Experiments",
        ),
    ),
}  # fmt: skip
SAME = {"rho": "GaussCov", "epsilon": "LapCov"}  # for these methods the released code has no mistake


def _budget(panel: Panel) -> str:
    return "rho" if "rho" in {panel.varied, *panel.fixed["paper"]} else "epsilon"


def _beside(panel: Panel, path: Path) -> Panel:
    budget = _budget(panel)
    theirs = [
        Method(THEIRS.format(label), function=_called(path, call), largest_dimension=LARGEST.get(label, math.inf))
        for label, call in CALLS[budget].items()
    ]
    return replace(panel, methods=(*panel.methods, *theirs, *SWITCHED[budget]))


def arranged(name: str, files: Files) -> Experiment:
    """Return the experiment `name`, with the methods of the released code added if the user has given that code.

    Raises
    ------
    InvalidInput : the released code is not used in this experiment.
    """
    found = experiment(name)
    if NAME not in files:
        return found
    if not name.startswith("dly22-"):
        raise InvalidInput(f"--released-code: is the code of DLY22, and {name} is no experiment of this paper")
    budget = _budget(found.panels[0])
    same = SAME[budget]
    claims = [PaperClaim(f"their {same} agrees with ours", "", agrees(THEIRS.format(same), same))]
    for one in EXPLAINED[budget]:
        theirs = THEIRS.format(one.label)
        for ours, how in ((one.without, "without"), (one.with_mistake, "with")):
            text = f"their {one.label} agrees with our version {how} this mistake: {one.mistake}"
            claims.append(PaperClaim(text, one.entry, agrees(theirs, ours)))
    panels = tuple(_beside(panel, files[NAME]) for panel in found.panels)
    return replace(found, panels=panels, claims=(*found.claims, *claims))
