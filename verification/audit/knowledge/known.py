"""Read what the audit knows of a mechanism from its file, and derive from it what an audit expects of a target."""

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from covassay.reference.domain import Matrix
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.counted import RowsAndSumOutput
from covassay.reference.mechanisms.mechanism import Mechanism
from covassay.reference.mechanisms.registry import mechanism
from covassay.reference.privacy import Guarantee
from covassay.verification.audit.engine.contract import Form
from covassay.verification.audit.engine.kinds_of_data import Beside
from covassay.verification.audit.engine.same_noise import DataPath
from covassay.verification.audit.knowledge.shared import reference_draws
from covassay.verification.audit.knowledge.shared.data_paths import NotAdditive, QueryPlusNoise
from covassay.verification.audit.knowledge.shared.near_choices import Choices
from covassay.verification.audit.knowledge.shared.noise_entries import with_entries
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw, Profile, View
from covassay.verification.declared import default_claim

# a package registers its mechanism in this group of entry points; the entry point names a module that defines KNOWN
GROUP = "covassay.knowledge"
COARSE = 1e-3  # draws may be equal by chance if some value has at least this probability
Path = QueryPlusNoise | NotAdditive
Many = Callable[..., list[Matrix] | Matrix]
UNKNOWN = NotAdditive("it is not known that the output is a query plus noise")


@dataclass(frozen=True)
class Known:
    """All that the audit knows of one mechanism.

    `law` takes a claim and returns what is known of the law of the output: data sets with tests of the law, the wrong
    laws that plausible mistakes cause, neighbours, and tests on data of other shapes. By default, draws of the target
    are compared with draws of the reference. `path` describes how the output depends on the data; it may also be a
    function that takes a claim and returns this description. If the output is a query plus noise, `profile` adds tests
    of the entries of the noise to the tests of `law`. `many` takes x, size, rng and the parameters of `sample`, and
    draws many outputs of the reference at once.

    The noise scale for adding or removing a row is `add_remove` times the scale for replacing a row, if n is public and
    d ≥ 2; `add_remove` is None if the factor is unknown. `nuclear` says whether the noise is nuclear-Laplace, so that a
    report shows the tail of its spectral norm. `view` computes the tested quantity from an output under a claim; if
    `view` is None, the output itself is tested. `choices` takes a claim and returns data sets near a point where a
    choice of the mechanism changes, such as a threshold. On these data sets draws of the target are compared with draws
    of the reference. `no_choices` is the reason why `choices` returns no data sets for a mechanism whose output is not
    a query plus noise. If the check of low-order bits finds no loss above the claim in floating-point releases,
    `bits_unseen` is the reason, and otherwise `bits_unseen` is empty.

    The audit also compares draws at other privacy budgets with the reference. This comparison needs no attribute of
    its own.
    """

    law: Callable[[ClaimUnderAudit], KnownLaw] = reference_draws.law
    path: Path | Callable[[ClaimUnderAudit], Path] = UNKNOWN
    many: Many | None = None
    add_remove: float | None = None
    nuclear: bool = False
    view: Callable[[ClaimUnderAudit], View] | None = None
    choices: Callable[[ClaimUnderAudit], Choices] = lambda claim: ()
    no_choices: str = ""
    bits_unseen: str = ""

    def path_of(self, claim: ClaimUnderAudit) -> Path:
        """Return how the output depends on the data for the options of this claim."""
        return self.path if isinstance(self.path, Path) else self.path(claim)


@cache
def known(name: str) -> Known:
    """Return what the audit knows of a mechanism, from the file with its name or from another package.

    Return an empty `Known` if no file and no other package knows the mechanism.

    Raises
    ------
    InvalidInput : the file, or the module that another package registers for the mechanism, does not define an object
        `KNOWN` of the class `Known`.
    """
    own = f"{__package__}.{name.replace('-', '_')}"
    if importlib.util.find_spec(own) is not None:
        return _declared(own, importlib.import_module(own))
    for point in entry_points(group=GROUP, name=name):
        return _declared(f"{GROUP}: {name} = {point.value}", point.load())
    return Known()


def _declared(where: str, module: Any) -> Known:
    found = getattr(module, "KNOWN", None)
    if not isinstance(found, Known):
        raise InvalidInput(f"{where}: KNOWN = {found!r}: must be an object of the class Known")
    return found


def profile(name: str, guarantee: Guarantee, options: dict[str, Any], samples: float, seed: int) -> Profile:
    """Return all that an audit expects of this mechanism under this claim; `options` has a value for every option."""
    declared: Mechanism[Any, ..., Any] = mechanism(name)
    expected = default_claim(name)
    if type(guarantee) is not type(expected):
        asked, given = (" and ".join(f"--{key}" for key in g.keywords()) for g in (expected, guarantee))
        raise InvalidInput(f"{name} is {declared.notion.label}: give {asked} instead of {given}")
    knowledge = known(name)
    claim = ClaimUnderAudit(declared, guarantee, options, samples, seed, many=knowledge.many)
    if knowledge.view is not None:
        claim = replace(claim, view=knowledge.view(claim))
    path, law = knowledge.path_of(claim), knowledge.law(claim)
    data_path, scenarios = path.data_path(claim), law.scenarios
    independent = isinstance(path, QueryPlusNoise) and path.independent
    # the vector of a `RowsAndSumOutput` may contain the entries (i, j) and (j, i) of a symmetric sum, which are equal
    listed = isinstance(claim.output, RowsAndSumOutput)
    if data_path.query is not None and (independent or not listed):
        scenarios = tuple(with_entries(s, data_path.query(s.x), data_path.symmetric, independent) for s in scenarios)

    @cache
    def at_budget(other: Guarantee) -> tuple[DataPath, Beside]:
        same = replace(claim, guarantee=other)
        return knowledge.path_of(same).data_path(same), reference_draws.beside(same)

    return Profile(
        Form(
            claim.output,
            declared.ordered,
            declared.repeats or data_path.atom > COARSE,
            declared.smallest_dimension,
            symmetric=reference_draws.promises_symmetry(claim),
        ),
        scenarios,
        law.aimed_pairs,
        data_path,
        declared.domain,
        law.shapes,
        replace(reference_draws.beside(claim), choices=knowledge.choices(claim), unsure=data_path.rounds_visibly),
        at_budget,
        independent,
        claim.view,
    )
