"""Run the checks that are meant to catch a negative control."""

from covassay.reference.mechanisms.registry import default_claim, mechanism
from covassay.reference.privacy import Guarantee
from covassay.verification.audit.engine import coincidences, equal_laws, other_budgets, symmetry
from covassay.verification.audit.engine.checks import CheckResult, Status
from covassay.verification.audit.engine.contract import contract
from covassay.verification.audit.engine.kinds_of_data import NAMES as KINDS_OF_DATA
from covassay.verification.audit.engine.kinds_of_data import run_kinds
from covassay.verification.audit.engine.law import ANSWERS, run_scenario
from covassay.verification.audit.engine.privacy import run_pair
from covassay.verification.audit.engine.same_noise import same_noise
from covassay.verification.audit.engine.sampling import Setting, draw
from covassay.verification.audit.engine.shapes import NAMES, run_shapes
from covassay.verification.audit.engine.tails import RARE_BRANCHES, TAILS, rare_branches
from covassay.verification.audit.negative_controls.negative_control import NegativeControl
from covassay.verification.audit.profiles.by_mechanism import profile
from covassay.verification.audit.profiles.profile import Profile
from covassay.verification.audit.run import ESCALATION, decide
from covassay.verification.audit.targets.target import TargetReference

ALPHA = 1e-9
SAMPLES = 2000  # a side


def claim_of(control: NegativeControl) -> Guarantee:
    """The claim that a control is audited against."""
    return control.claim or default_claim(control.mechanism)


def checks_of(control: NegativeControl, kind: str, name: str) -> list[CheckResult]:
    """The checks of that kind and name on a control, decided, up to the first that refutes it."""
    declared, claim = mechanism(control.mechanism), claim_of(control)
    knowledge = profile(declared.name, claim, declared.resolve(dict(control.options)), SAMPLES, 0)
    target = TargetReference(f"mutant:{control.name}", ".")
    setting = Setting(target, claim.keywords(), declared.output, seed=0, seconds=1.0)
    if kind == "contract":
        return [check for check in contract(setting, knowledge.form) if check.name == name]
    if kind == "data path":
        return _data_path_checks(setting, knowledge, claim, name)
    checks: list[CheckResult] = []
    if name in KINDS_OF_DATA.values() and knowledge.beside is not None:
        checks += run_kinds(setting, knowledge.beside, ESCALATION * SAMPLES, "second look")
    elif kind == "law":
        if name in NAMES.values() and knowledge.shapes is not None:
            checks += run_shapes(setting, knowledge.shapes, SAMPLES, "first look")
        anywhere = name in (ANSWERS, TAILS, RARE_BRANCHES)  # checks of every scenario
        for scenario in (scenario for scenario in knowledge.scenarios if anywhere or name in scenario.tests):
            checks += run_scenario(setting, scenario, SAMPLES, "first look")[0]
            if any(check.status is Status.REFUTED and check.name == name for check in decide(checks, ALPHA)):
                break
    else:
        for pair in knowledge.pairs(frozenset()):
            checks += run_pair(setting, pair, claim, SAMPLES, "first look")
            if any(check.status is Status.REFUTED for check in decide(checks, ALPHA)):
                break
    checks += rare_branches(checks) if name == RARE_BRANCHES else []
    return [check for check in decide(checks, ALPHA) if check.name == name]


def _data_path_checks(setting: Setting, knowledge: Profile, claim: Guarantee, name: str) -> list[CheckResult]:
    """The check of that name; each of them has draws of its own."""
    path = knowledge.data_path
    if name == equal_laws.NAME:
        return equal_laws.equal_laws(setting, path, ALPHA)
    if name == other_budgets.NAME:
        return other_budgets.other_budgets(setting, claim, knowledge.at_budget, path, ALPHA)
    if name == coincidences.NAME:
        return coincidences.coincidences(setting, path, ALPHA)
    if name in (coincidences.NAME_SEEN, symmetry.NAME_SEEN):
        drawn = [(s.name, s.x, draw(setting, s.x, SAMPLES, f"law/{s.name}").outputs) for s in knowledge.scenarios]
        if name == symmetry.NAME_SEEN:
            return symmetry.symmetry_seen(setting.output, drawn)
        return coincidences.coincidences_seen(path, [(x, outputs) for _, x, outputs in drawn], ALPHA)
    return [check for check in same_noise(setting, path, ALPHA)[0] if check.name == name]


def caught(control: NegativeControl, kind: str, name: str) -> bool:
    """Whether that check rejects the control."""
    return any(check.status in (Status.REFUTED, Status.NOTED) for check in checks_of(control, kind, name))
