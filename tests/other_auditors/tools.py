"""Define the auditors, which all have the same task: a function, two inputs, a number of draws on each input and a
level.

A package with an auditor by other authors is imported only if it is installed. The auditor is called through the
interface of this package, with the settings of the examples in the package. If several settings were reasonable, all
are tried, and the best result counts.
"""

import importlib
import importlib.util
import math
import os
import sys
import tempfile
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.reference.mechanisms.output import Output, VectorOutput
from covassay.reference.privacy import PureDP
from covassay.verification.audit.budget import decide
from covassay.verification.audit.engine.events import Pair, generic_statistics
from covassay.verification.audit.engine.facts import TestedEvent
from covassay.verification.audit.engine.features import Feature, contrasts
from covassay.verification.audit.engine.finding import Finding as Check
from covassay.verification.audit.engine.finding import Look, Status
from covassay.verification.audit.engine.pair_draws import PROBE
from covassay.verification.audit.engine.privacy import TESTS, run_pair
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.targets.target import Target
from covassay.verification.statistics.ratio import EventCounts, log_ratio_lower
from tests.other_auditors.cases import ABORTED, AUDITORIUM, RECORDER, SNIPER, Case, Function
from tests.other_auditors.delta_siege import SIEGE, by_siege
from tests.other_auditors.f_dp import FIXED, FOUND, GENERAL, by_general
from tests.other_auditors.kernel import KERNEL, by_kernel
from tests.other_auditors.sequential_f_dp import SEQUENTIAL, by_sequential
from tests.other_auditors.statdp import STATDP, absent, by_statdp
from tests.other_auditors.tool import (
    LEVELS,
    Attempt,
    Finding,
    Findings,
    Tool,
    generator,
    module,
    padded,
    pure_only,
    quiet,
)

COVASSAY = "covassay"
TRAINING = 0.25  # share of the draws that train DP-Sniper's classifier; as many other draws choose its threshold
BATCHES = 1  # DP-Sniper's default of 107 training batches of 100 000 draws needs more draws than there are
EPOCHS = 300  # number of epochs on this batch; DP-Sniper's default is 10 epochs on each of 107 batches
COMPOSITION_DELTA = 1e-5  # the tests of dp-recorder use this δ when they compute the ε of a composition


@dataclass(frozen=True)
class FixedLength(Output):
    """The output type of functions that return a number, or a vector of fixed length."""

    length: int = 0

    def shape(self, dimension: int) -> tuple[int, ...]:
        """Return the shape of an output, which does not depend on the dimension of the data."""
        return (self.length,) if self.length else ()


@contrasts.register
def _(output: FixedLength, first: Matrix, second: Matrix) -> Mapping[str, Feature]:
    if not output.length:
        return {"value": lambda y: y}
    if output.length == first.shape[1]:
        return contrasts(VectorOutput(), first, second)
    return {f"entry {i + 1}": partial(_entry, i) for i in range(output.length)}


def _entry(index: int, outputs: Matrix) -> Vector:
    return outputs[:, index]


def audited(case: Case, seed: int) -> tuple[Setting, Pair, list[int]]:
    """Return the setting and the pair of inputs with which covassay audits a case. Return also a list. Every call of
    the sampler appends its number of draws to the list.
    """
    made: list[int] = []

    def one(x: Matrix, *, rng: np.random.Generator, **budget: float) -> Any:
        return case.sample(x, 1, rng)[0]

    def many(x: Matrix, size: int, *, rng: np.random.Generator, **budget: float) -> Any:
        made.append(size)
        # every output becomes an array, because covassay validates arrays faster than single numbers
        return [np.asarray(output) for output in case.sample(x, size, rng)]

    output = FixedLength(length=case.length)
    setting = Setting(Target(case.name, one, draw_many=many), case.claim.keywords(), output, seed)
    pair = Pair(case.name, case.first, case.second, generic_statistics(case.first, case.second, output))
    return setting, pair, made


def refutes(checks: list[Check], level: float) -> bool:
    """Return whether an audit with these checks would refute the claim at this level."""
    return any(check.status is Status.REFUTED for check in decide(checks, Look(level=level, tests=TESTS)))


def by_covassay(case: Case, draws: int, seed: int) -> Findings:
    """Audit a case with `run_pair`, the part of covassay's audit that tests one pair of inputs."""
    setting, pair, _ = audited(case, seed)
    findings = []
    for level in LEVELS:
        look = Look(samples=draws - PROBE, level=level, tests=TESTS)
        checks = run_pair(setting, pair, case.claim, look, error=level)
        bounds = []
        for check in checks:
            # the level of “failures” is halved below, because `run_pair` doubles the p-value of “failures”
            looks = 2 if check.name == "failures" else 1
            facts = check.fact(TestedEvent)
            if facts is None:
                continue
            seen, sizes = facts.counts, facts.draws
            counts = EventCounts(seen[0], seen[1], sizes[0], sizes[1], draws)
            bounds.append(log_ratio_lower(counts, 1 - level / (looks * len(checks))))
        findings.append(Finding(max(bounds) if isinstance(case.claim, PureDP) else None, refutes(checks, level)))
    return tuple(findings)


def by_sniper(classifier: str, rarest: float) -> Attempt:
    """Return a function that audits a case with DP-Sniper, with one of its two classifiers and with `rarest` as the
    smallest probability of an event.
    """

    def attempt(case: Case, draws: int, seed: int) -> Findings:
        with quiet(), tempfile.TemporaryDirectory() as folder:
            torch, sniper = module("torch"), module("dpsniper.attack.dpsniper").DPSniper
            factories = module("dpsniper.classifiers.classifier_factory")
            optimizers = module("dpsniper.classifiers.torch_optimizer_factory")
            transformer = module("dpsniper.classifiers.feature_transformer").FlagsFeatureTransformer
            mechanism_class = module("dpsniper.mechanisms.abstract").Mechanism
            estimators = module("dpsniper.probability.estimators")
            config_class = module("dpsniper.search.ddconfig").DDConfig

            torch.manual_seed(seed)
            torch.set_num_threads(1)
            module("dpsniper.utils.paths").set_output_directory(folder)  # a folder for log files, which are not used
            rng, sample = generator(case, seed, SNIPER), padded(case)

            class Wrapped(mechanism_class):  # type: ignore[misc, valid-type]
                def m(self, a: Matrix, n_samples: int = 1) -> Matrix:
                    return sample(a, n_samples, rng)

            flags = [*case.flags, *([ABORTED] if case.name == "inferred-domain" else [])]
            common = {
                "in_dimensions": max(case.length, 1) * (1 + len(flags)),
                "feature_transform": transformer(flags) if flags else None,
                "epochs": EPOCHS,
            }
            if classifier == "MLP":
                optimizer = optimizers.AdamOptimizerFactory(learning_rate=0.1, step_size=500)
                factory = factories.MultiLayerPerceptronFactory(
                    optimizer_factory=optimizer, hidden_sizes=(10, 5), regularization_weight=0.0001, **common
                )
            else:
                optimizer = optimizers.SGDOptimizerFactory(learning_rate=0.3, momentum=0.3, step_size=500)
                factory = factories.LogisticRegressionFactory(
                    optimizer_factory=optimizer, regularization_weight=0.001, **common
                )
            train = int(TRAINING * draws)
            configs = [
                config_class(
                    c=rarest, n_train=train, n=train, n_check=1, n_final=draws - 2 * train, n_processes=1,
                    training_batch_size=max(train // BATCHES, 1), confidence=1 - level,
                )
                for level in LEVELS
            ]  # fmt: skip
            mechanism = Wrapped()
            attack = sniper(mechanism, factory, configs[0]).best_attack(case.first, case.second)
            shares = [estimators.PrEstimator(mechanism, config.n_final, config) for config in configs]
            p, q = (shares[0].compute_pr_estimate(x, attack) for x in (case.first, case.second))
            bounds = [float(estimators.EpsEstimator(estimator)._compute_lcb(p, q)) for estimator in shares]
        return tuple(Finding(bound, bound > case.claim.keywords()["epsilon"]) for bound in bounds)

    return attempt


def _hockey_stick() -> tuple[Any, Any, Any]:
    """Return the modules of dp_auditorium that the tester needs. The whole package is not imported, because its import
    would need a further package, a search service.
    """
    found = None if "dp_auditorium" in sys.modules else importlib.util.find_spec("dp_auditorium")
    if found is not None:
        root = (found.submodule_search_locations or [""])[0]
        for name in ("dp_auditorium", "dp_auditorium.testers", "dp_auditorium.configs"):
            module = types.ModuleType(name)
            module.__path__ = [os.path.join(root, *name.split(".")[1:])]
            sys.modules[name] = module
    names = "testers.hockey_stick_tester", "configs.privacy_property", "configs.property_tester_config"
    one, two, three = (importlib.import_module(f"dp_auditorium.{name}") for name in names)
    return one, two, three


def by_auditorium(case: Case, draws: int, seed: int) -> Findings:
    """Audit a case with dp_auditorium's hockey-stick tester, with the model of its example, in both directions with
    half the level each."""
    with quiet():
        tester, properties, configs = _hockey_stick()
        tf = module("tensorflow")
        tf.keras.backend.clear_session()
        tf.random.set_seed(seed)
        budget = case.claim.keywords()
        config = configs.HockeyStickPropertyTesterConfig(
            training_config=tester.make_default_hs_training_config(),
            approximate_dp=properties.ApproximateDp(epsilon=budget["epsilon"], delta=budget.get("delta", 0.0)),
        )
        rng, sample = generator(case, seed, AUDITORIUM), padded(case)
        sides = [sample(x, draws, rng) for x in (case.first, case.second)]
        refuted = [False] * len(LEVELS)
        for one, two in (sides, sides[::-1]):
            audited = tester.HockeyStickPropertyTester(config, tester.make_default_hs_base_model())
            bound = audited.estimate_lower_bound(one, two, LEVELS[0] / 2)
            tested = draws - draws // 2  # the tester trains on the first half of the draws
            for k, level in enumerate(LEVELS):
                margins = [tester._get_accuracy_confidence_bound(1.0, tested, 1 - a / 2) for a in (LEVELS[0], level)]
                moved = bound + (1 + math.exp(budget["epsilon"])) * (margins[0] - margins[1])
                refuted[k] |= bool(audited.reject_property(moved))
    return tuple(Finding(None, found) for found in refuted)


@dataclass(frozen=True)
class _Recorded:
    """Functions whose calls dp-recorder observes."""

    noise: Callable[..., Vector]
    equal: Callable[..., Any]

    def laplace(self, values: Vector, sensitivity: float, epsilon: float) -> Vector:
        return self.noise(values=values, sensitivity=sensitivity, epsilon=epsilon)

    def public(self, **values: float) -> None:
        self.equal(**values)


def _distance(one: Vector, two: Vector) -> float:
    change = float(np.abs(one - two).sum()) if one.shape == two.shape else math.inf
    return math.inf if math.isnan(change) else change


def replayed(case: Case, function: Function, draws: int, seed: int) -> Findings:
    """Audit a case by dp-recorder's record and replay. If the function passes, audit every noise call by sampling."""
    with quiet():
        recorder = module("dp_recorder.auditing.audit_primitives")
        np.random.seed(seed)  # noqa: NPY002 - dp-recorder restores this state

        def noise(values: Vector, sensitivity: float, epsilon: float) -> Vector:
            scale = sensitivity / epsilon
            return np.asarray(values + np.random.laplace(scale=scale, size=np.shape(values)))  # noqa: NPY002

        watched = recorder.audit_spec(
            kind="laplace", input_arg="values", sensitivity_arg="sensitivity", metric_fn=_distance
        )
        epsilon, use = case.claim.keywords()["epsilon"], _Recorded(watched(noise), recorder.ensure_equality)
        auditor = recorder.Auditor()
        try:
            with auditor:
                function(case.first, epsilon, use)
            auditor.set_replay()
            with auditor:
                function(case.second, epsilon, use)
            auditor.validate_records()
        except AssertionError:
            return tuple(Finding(None, True) for _ in LEVELS)
        findings = []
        for level in LEVELS:
            auditor.run_distributional_audit(n_samples=2 * draws, alpha=level / len(auditor.log))
            auditor.compute_overall_pld()
            found = auditor.get_overall_current_guarantee(delta=COMPOSITION_DELTA)
            findings.append(Finding(None, bool(found > epsilon)))
    return tuple(findings)


def sampled(case: Case, draws: int, seed: int) -> Findings:
    """Audit a case by dp-recorder's sampling audit, with the whole function as one primitive."""
    with quiet():
        recorder = module("dp_recorder.auditing.audit_primitives")
        rng, sample = generator(case, seed, RECORDER), padded(case)

        def no_distance(one: Vector, two: Vector) -> float:
            return 0.0

        def primitive(data: Matrix, sensitivity: float) -> Any:
            return sample(data, 1, rng)[0]

        watched = recorder.audit_spec(
            kind="case", input_arg="data", sensitivity_arg="sensitivity", metric_fn=no_distance
        )(primitive)
        auditor = recorder.Auditor()
        with auditor:
            watched(data=case.first, sensitivity=1.0)
        auditor.set_replay()
        with auditor:
            watched(data=case.second, sensitivity=1.0)
        bounds = []
        for level in LEVELS:
            auditor.run_distributional_audit(n_samples=2 * draws, alpha=level)
            bounds.append(float(getattr(auditor.log[0], "empirical_epsilon_lb", 0.0)))
    return tuple(Finding(bound, bound > case.claim.keywords()["epsilon"]) for bound in bounds)


def by_recorder(case: Case, draws: int, seed: int) -> Findings:
    """Audit a case with dp-recorder, by replay if the function calls `Instruments`, and otherwise by sampling."""
    return sampled(case, draws, seed) if case.function is None else replayed(case, case.function, draws, seed)


TOOLS = {
    tool.name: tool
    for tool in (
        Tool(COVASSAY, "covassay", "this package", {"": by_covassay}, lambda case: ""),
        Tool(
            SNIPER,
            "dpsniper",
            "github.com/eth-sri/dp-sniper at ee087b2, with PyTorch and scikit-learn",
            {f"{c}, c = {p:g}": by_sniper(c, p) for c, p in (("logistic", 0.01), ("logistic", 0.1), ("MLP", 0.1))},
            pure_only,
        ),
        Tool(
            AUDITORIUM,
            "dp_auditorium",
            "github.com/google/differential-privacy, folder python/dp_auditorium, at b5b0286, with TensorFlow 2.15",
            {"hockey-stick": by_auditorium},
            lambda case: "",
        ),
        Tool(
            RECORDER,
            "dp_recorder",
            "github.com/ObliviousAI/dp-recorder at 85d189e, with dp-accounting 0.4.4",
            {"": by_recorder},
            pure_only,
        ),
        Tool(STATDP, "statdp", "github.com/cmla-psu/statdp at d1f1e8f, with numba", {"": by_statdp}, absent),
        Tool(
            SIEGE,
            "deltasiege",
            "github.com/eth-sri/Delta-Siege at 358377f, with the packages that its README names",
            {name: by_siege(name) for name in ("logistic", "MLP")},
            lambda case: "",
        ),
        Tool(KERNEL, "", "arXiv 2509.07055", {"": by_kernel}, lambda case: ""),
        Tool(GENERAL, "", "arXiv 2502.07066", {name: by_general(name) for name in (FOUND, FIXED)}, lambda case: ""),
        Tool(
            SEQUENTIAL,
            "",
            "arXiv 2602.06518",
            {"": by_sequential},
            lambda case: "needs outputs that are one number" if case.length > 1 else "",
        ),
    )
}
