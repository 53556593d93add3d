"""The declared budgets compared with a table typed by hand: paper, number, notion, and the proven budget.

At ε = 1, ρ = ½, (ε, δ) = (1, 1e-6), d = 4. A mechanism need not be in it: what every `spend` says is compared with the
ledger (`own.spends:every_spend`). Numbers are from the derivations, not from the code: 1/4 + (d − 1)/(32 d)
for em-cov, and so on. A pair is the range over the other choices.
"""

import math

import pytest

from covassay.reference.mechanisms.registry import MECHANISMS

D = 4
COUNT = 1 / (1 + 4 ** (4 / 3))  # the share of the number of rows under add-remove, for noise of scale D on the sum
BUDGETS = {"pure": {"epsilon": 1.0}, "zcdp": {"rho": 0.5}, "approximate": {"epsilon": 1.0, "delta": 1e-6}}
S_TRI = 3.6055512754639896  # √13, the ℓ1 sensitivity of the upper triangle at d = 4

# name -> (paper, notion, {calibration: proven share of the budget's first number}); "" where there is one calibration
TABLE: dict[str, tuple[str, str, dict[str, float | tuple[float, float]]]] = {
    "nuclear-laplace": ("DN25", "pure", {"": 1.0}),
    "nuclear-laplace-symmetric": ("DN25", "pure", {"": 1.0}),
    "nuclear-ball-projection": ("DN25", "pure", {"paper": 0.5, "tight": 1.0}),
    "centred-covariance": ("DN25", "pure", {"": 1.0}),
    "k-norm": ("DN25", "pure", {"": 1.0}),
    "entrywise-laplace": ("ADK19", "pure", {"paper": (S_TRI / 8, 1.0), "tight": 1.0}),  # 1 under add-remove
    "bingham": ("ADK19", "pure", {"paper": 0.5, "tight": 1.0}),
    "matrix-bingham": ("CSS13", "pure", {"": 1.0}),
    "iterative-eigenvectors": ("ADK19", "pure", {"paper": (0.625, 0.75), "tight": 1.0}),
    "kapralov-talwar": ("ADK19", "pure", {"": 1.0}),
    "lap-cov": ("DLY22", "pure", {"paper": (S_TRI / (4 * math.sqrt(2)), COUNT + (1 - COUNT) * 5 / 8), "tight": 1.0}),
    "discrete-laplace-covariance": ("CKS20", "pure", {"": 1.0}),
    "separate-cov-pure": ("DLY22", "pure", {"paper": 0.5 + S_TRI / (8 * math.sqrt(2)), "tight": 1.0}),
    "adaptive-cov-pure": ("DLY22", "pure", {"paper": (0.5, 0.9), "tight": 1.0}),
    "gauss-cov": ("DTTZ14", "zcdp", {"": 1.0}),
    "discrete-gaussian-covariance": ("CKS20", "zcdp", {"": 1.0}),
    "separate-cov": ("DLY22", "zcdp", {"": 1.0}),
    "em-cov": ("DLY22", "zcdp", {"reconstructed": 1 / 4 + 3 / 4 / 32, "tight": 1.0}),
    "clipped-cov": ("DLY22", "zcdp", {"paper": (0.8, 1.0), "tight": 1.0}),
    "adaptive-cov": ("DLY22", "zcdp", {"paper": (0.8, 0.91), "tight": 1.0}),
    "projection-mechanism": ("DLY22", "zcdp", {"": 1.0}),
    "gauss-cov-approximate": ("DTTZ14", "approximate", {"paper": 1.0, "tight": 1.0}),
    "box-laplace": ("ours", "pure", {"": 1.0}),
    "box-gauss": ("ours", "zcdp", {"": 1.0}),
    "box-gauss-approximate": ("ours", "approximate", {"paper": 1.0, "tight": 1.0}),
    "laplace": ("ADK19", "pure", {"": 1.0}),
    "gaussian": ("DLY22", "zcdp", {"": 1.0}),
    "gaussian-approximate": ("ADK19", "approximate", {"paper": 1.0, "tight": 1.0}),
    "exponential": ("ADK19", "pure", {"": 1.0}),
    "above-threshold": ("DLY22", "pure", {"paper": 0.5, "tight": 1.0}),
    "private-radius": ("DLY22", "pure", {"paper": 0.75, "tight": 1.0}),
    "private-trace": ("DLY22", "pure", {"": 1.0}),
    "johnson-lindenstrauss": ("Nikolov 2023", "pure", {"": 1.0}),
    "johnson-lindenstrauss-image": ("Nikolov 2023", "pure", {"": 1.0}),
    "output-perturbation": ("CMS11", "pure", {"paper": 1.0, "tight": 1.0}),
    "adassp": ("Wang 2018", "zcdp", {"paper": 2 / 3, "tight": 1.0}),
    "joint-moments": ("Kalinin, Upadhyay, Lampert 2025", "zcdp", {"": 1.0}),
    "recursive-moment": ("Mahpud, Sheffet 2025", "zcdp", {"reconstructed": 0.125, "tight": 1.0}),
    "coinpress-mean": ("BDKU20", "zcdp", {"": 1.0}),
    "coinpress-covariance": ("BDKU20", "zcdp", {"": 1.0}),
    **dict.fromkeys(("naive-pce", "weak-ppc", "ppc", "pgce"), ("KLSU19", "zcdp", {"reconstructed": 0.5, "tight": 1.0})),
    **dict.fromkeys(("kv-mean", "naive-pme"), ("KLSU19", "zcdp", {"": 1.0})),
    "pme": ("KLSU19", "zcdp", {"reconstructed": 0.75, "tight": 1.0}),
    "gaussian-learner": ("KLSU19", "zcdp", {"reconstructed": 0.625, "tight": 1.0}),
    "ppde": ("KLSU19", "zcdp", {"reconstructed": 1.0, "tight": 1.0}),
}


def test_nothing_is_unknown() -> None:
    assert set(TABLE) <= set(MECHANISMS)


@pytest.mark.parametrize("name", TABLE)
def test_paper_notion_and_proven_spend_are_those_of_the_table(name: str) -> None:
    paper, notion, proven = TABLE[name]
    declared = MECHANISMS[name]
    assert declared.about.paper == paper
    assert declared.notion.name == notion
    assert declared.about.number
    assert declared.adjacency == "replace-one"
    assert set(declared.choices.get("calibration", ("",))) == set(proven)
    budget = BUDGETS[notion]
    key, unit = next(iter(budget.items()))
    others = {choice: values for choice, values in declared.choices.items() if choice != "calibration"}
    for calibration, share in proven.items():
        combinations: list[dict[str, str]] = [{}]
        for choice, values in others.items():
            combinations = [{**c, choice: v} for c in combinations for v in values]
        shares = []
        for options in combinations:
            chosen = {**options, "calibration": calibration} if calibration else options
            spend = declared.spend(**budget, dimension=D, **chosen)
            assert spend.claimed.keywords() == budget
            shares.append(getattr(spend.proven, key) / unit)
        low, high = share if isinstance(share, tuple) else (share, share)
        assert min(shares) >= low * (1 - 1e-9), shares
        assert max(shares) <= high * (1 + 1e-9), shares
