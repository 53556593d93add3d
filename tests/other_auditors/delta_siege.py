"""Audit a function with Delta-Siege (Lokna, Paradis, Dimitrov and Vechev, 2023), with the authors' code.

Delta-Siege learns a classifier, chooses a threshold, and tests whether the two probabilities of the resulting event
break the claim. A claim is a level curve of a function ρ(ε, δ), and every pair (ε, δ) on the curve is tested. For pure
DP the curve is a single point. For the Gaussian mechanism, ρ is the classical formula for the standard deviation.
"""

import importlib.util
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.privacy import PureDP
from tests.other_auditors.cases import Case
from tests.other_auditors.tool import LEVELS, Attempt, Finding, Findings, drawn, module, quiet

SIEGE = "Delta-Siege"
# shares of the draws that train the classifier and choose the event; the other draws test the event
SHARES = {"n_train": 0.25, "n_init": 0.25, "n_check": 0.1}
SMALL = 1e-6  # smaller differences may be rounding errors, because Delta-Siege computes in single precision


def _library() -> Any:
    """Import the package, but not its folder of mechanisms, which would import the libraries that it audits."""
    found = None if "deltasiege" in sys.modules else importlib.util.find_spec("deltasiege")
    if found is not None:
        folder = types.ModuleType("deltasiege.mechanism")
        folder.__path__ = [str(Path((found.submodule_search_locations or [""])[0]) / "mechanism")]
        folder.__getattr__ = lambda name: module("deltasiege.mechanism.mechanism").Mechanism  # type: ignore[method-assign]
        sys.modules["deltasiege.mechanism"] = folder
    return module("deltasiege")


def by_siege(features: str) -> Attempt:
    """Return a function that audits a case with one of Delta-Siege's classifiers: "logistic" or "MLP" on the numbers,
    or "bits" on their bits."""

    def attempt(case: Case, draws: int, seed: int) -> Findings:
        with quiet():
            siege, attack, classifiers = _library(), module("deltasiege.attack"), module("deltasiege.classifiers")
            claims = module("deltasiege.mechanism.gauss_mechanism")
            if features == "MLP":
                learner = module("sklearn.neural_network").MLPClassifier((10, 5), max_iter=50, random_state=seed)
            else:
                learner = module("sklearn.linear_model").LogisticRegression(max_iter=1000)
            scaler, bits = module("sklearn.preprocessing").StandardScaler(), classifiers.BitPatternFeatureTransformer()
            pipeline = module("sklearn.pipeline").make_pipeline(bits if features == "bits" else scaler, learner)
            budget, sizes = case.claim.keywords(), {name: int(share * draws) for name, share in SHARES.items()}
            sizes["n_final"] = draws - sum(sizes.values())
            sides = dict(zip((0.0, 1.0), drawn(case, draws, seed, SIEGE), strict=True))

            class Claim(claims.GaussMechanismClassic):  # type: ignore[misc, name-defined]
                def get_batches(self, a: float, n: int, size: int | None = None, start: int | None = None) -> Any:
                    yield sides[a][:n]

                def __call__(self, a: float, n: int) -> Matrix:
                    raise NotImplementedError

            class Classifier(classifiers.SklearnClassifier):  # type: ignore[misc, name-defined]
                def get_batches(self, a: float, n: int, size: int, start: int) -> Any:
                    yield self._predict_probabilities(sides[a][sizes["n_train"] + start :][:n])

            if isinstance(case.claim, PureDP):
                Claim.constraint = lambda self, epsilon, delta: epsilon > 0
                Claim.guarantee_ = lambda self, epsilon, delta: 1 / max(epsilon, SMALL)
                Claim.perturb_delta = lambda self, delta: None if delta > 0 else self.epsilon
            findings = []
            for level in LEVELS:
                config = siege.Config(**sizes, batch_size=draws, confidence=1 - level, n_jobs=1, n_experiments=1)
                np.random.seed(seed)  # noqa: NPY002 - Delta-Siege draws from this state
                claim = Claim(epsilon=budget["epsilon"], delta=budget.get("delta", 0.0), sensitivity=1.0)
                classifier = Classifier(classifier=pipeline, data_source=claim, config=config)
                classifier.train((0.0, 1.0))
                common = {"classifier": classifier, "config": config, "mechanism": claim}
                witnesses = [
                    attack.WitnessOptimization(a1=a, a2=1 - a, estimator=attack.LinesearchEstimator(), **common)
                    for a in (0.0, 1.0)
                ]
                for witness in witnesses:
                    witness.state = attack.Witness.State.Check
                    witness.compute_estimate()
                best = min(witnesses)
                best.state = attack.Witness.State.Final
                best.compute_estimate()
                ratio = float(best.estimate_c)
                bound = min(budget["epsilon"] / ratio, np.inf) if isinstance(case.claim, PureDP) else None
                findings.append(Finding(bound, ratio < 1 - SMALL))
        return tuple(findings)

    return attempt
