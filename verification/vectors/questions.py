"""Make questions about single steps, laws, budgets and exact releases. Each question comes with a comment and a flag,
which names the mistake that the question detects.
"""

from collections.abc import Iterator
from inspect import signature
from itertools import product
from typing import Any

from covassay.reference.mechanisms.mechanism import Mechanism
from covassay.reference.mechanisms.registry import MECHANISMS

AnyMechanism = Mechanism[Any, ..., Any]
Flagged = tuple[dict[str, Any], str, str]

BAD = ((0.0, "zero"), (-1.0, "negative"), ("nan", "not a number"))
ROWS = [[0.5, -0.25], [0.0, 0.75], [-0.125, 0.5], [0.0, 0.0]]  # there are four rows, so that dividing by n is exact
# the lengths of some of these rows are powers of two
LENGTHS = [[1.0, 0.0], [0.5, 0.0], [0.0, 0.5625], [0.0, -0.25], [0.0, 0.0], [0.03125, 0.0]]
LONG = [[3.0, 4.0], [0.75, -0.75], [-1.0, 1.0], [0.6875, 0.3125]]
CLIPPED_FIRST = [
    [1.0, 0.359375],
    [0.0, 0.5],
]  # with 3 bits, rounding the long row before clipping it gives (7, 1) in place of (7, 2)
# The questions about these mechanisms come last. Questions are numbered in their order, and new questions must not
# change the numbers of the others.
LATER = ("l2-approximate", "block-tridiagonal")
# For d = 1 these mechanisms spend no budget, so that 0 and every upper bound on the spent budget are right answers.
NOTHING = ("bingham", "exponential")
QUERIES = [-2.0, 1.5, 0.25]
NOISE: dict[str, Any] = {"threshold": 0.5, "queries": [0.25, -1.5, 2.0]}


def choices_of(declared: AnyMechanism) -> dict[str, tuple[str, ...]]:
    """Return the choices of a mechanism that the questions use.

    The choice `adjacency` is left out if the mechanism has a variant for neighbours that add or remove a row, and if
    this variant releases sums and a noisy number of rows.
    """
    left_out = () if declared.counted is None else ("adjacency",)
    return {name: words for name, words in declared.choices.items() if name not in left_out}


def _question(kind: str, name: str, parameters: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"kind": kind, "mechanism": name, **fields, "parameters": parameters}


def _bad_budgets(question: dict[str, Any], *keys: str) -> Iterator[Flagged]:
    for key, (value, word) in product(keys, BAD):
        yield {**question, "parameters": {**question["parameters"], key: value}}, "BadBudget", f"{key} is {word}"


def searches() -> Iterator[Flagged]:
    """Yield transcripts of the sparse vector technique."""
    for calibration in ("paper", "tight"):
        own = {"epsilon": 0.5, "calibration": calibration}
        for flag, comment, queries, noise in (
            ("SearchNoise", "stops at the last", QUERIES, NOISE),
            ("SearchNoise", "stops at the first", [12.0, 0.0, 0.0], NOISE),
            ("NoStop", "no query is above", [-40.0, -40.0, -40.0], NOISE),
            ("Tie", "equal to the threshold", [2.0, 2.0, 3.0], {"threshold": 0.25, "queries": [-0.5, 0.0, 0.0]}),
        ):
            given = {"queries": queries, "threshold": 1.0, "noise": noise}
            yield _question("transcript", "above-threshold", own, step="search", given=given), flag, comment
    given = {"queries": QUERIES, "threshold": 1.0, "noise": NOISE}
    plain = _question("transcript", "above-threshold", own, step="search", given=given)
    yield from _bad_budgets(plain, "epsilon")
    for flag, comment, noise in (
        ("NoiseShape", "one number too few", {**NOISE, "queries": NOISE["queries"][:2]}),
        ("NotFinite", "noise is not a number", {**NOISE, "threshold": "nan"}),
    ):
        yield {**plain, "given": {**given, "noise": noise}}, flag, comment


def radius_searches() -> Iterator[Flagged]:
    """Yield transcripts of the search for a private radius."""
    noise = {"threshold": 0.5, "queries": [0.0, -1.0, 8.0, 0.25, 0.5]}
    for calibration in ("paper", "tight"):
        own = {"epsilon": 32.0, "calibration": calibration, "precision": 0.0625, "beta": 0.125}
        given = {"x": LENGTHS, "noise": noise}
        yield _question("transcript", "private-radius", own, step="search", given=given), "RadiusSearch", calibration


def adaptive_steps() -> Iterator[Flagged]:
    """Yield questions about the steps that find a clipping length."""
    given = {"x": LENGTHS, "last": 6}
    yield _question("transcript", "clipped-cov", {}, step="bias", given=given), "BiasBound", "norms on powers of two"
    levels = {"queries": [-4.0, 1.375, 3.5, 0.5], "noise": {"threshold": 0.25, "queries": [0.5, -1.0, 0.75, -2.0]}}
    none = {**levels, "queries": [-80.0] * 4}
    budgets: dict[str, list[dict[str, Any]]] = {
        "clipped-cov": [{"rho": 0.5}],
        "adaptive-cov": [{"rho": 1.0}],
        "adaptive-cov-pure": [{"epsilon": 8.0, "calibration": word} for word in ("paper", "tight")],
    }
    for name, choices in budgets.items():
        for own in choices:
            for flag, noisy in (("LevelSearch", levels), ("NoStop", none)):
                yield _question("transcript", name, own, step="search", given=noisy), flag, "queries on the bias"
    for name, own in (("adaptive-cov", {"rho": 0.5}), ("adaptive-cov-pure", {"epsilon": 0.5})):
        known = {"n": 64, **own, "beta": 0.125}
        for trace, noise in ((0.25, -1.5), (0.5, 40.0), (0.0, -40.0)):
            given = {"trace": trace, "noise": noise}
            yield _question("transcript", name, known, step="trace", given=given), "TraceBound", f"noise {noise:g}"
    given = {"g": 4.0, "a": 0.75, "e": 0.5, "last": 6}
    yield _question("transcript", "adaptive-cov-pure", {}, step="noise", given=given), "NoiseLevel", "both bounds occur"


def samplers() -> Iterator[Flagged]:
    """Yield questions about the laws from which a mechanism draws random directions."""
    for calibration in ("paper", "tight"):
        own = {"epsilon": 0.5, "calibration": calibration}
        question = _question("transcript", "bingham", own, step="sampler", given={"x": ROWS})
        yield question, "SamplerMatrix", calibration
    yield from _bad_budgets(question, "epsilon")
    three = [[0.5, -0.25, 0.0], [0.0, 0.75, 0.5], [-0.125, 0.5, 0.25]]
    for rank, x in ((1, three), (2, three), (5, three), (2, ROWS)):
        own = {"epsilon": 0.5, "rank": rank}
        question = _question("transcript", "matrix-bingham", own, step="sampler", given={"x": x})
        yield question, "SamplerMatrix", f"rank {rank}, d = {len(x[0])}"
    noise = {"values": [0.25, -0.5], "directions": [[0.6, -0.8], [0.0, 1.0]]}
    own = {"epsilon": 2.0, "rank": 2}
    question = _question("transcript", "kapralov-talwar", own, step="rounds", given={"x": ROWS, "noise": noise})
    yield question, "SamplerMatrix", "two rounds"
    long = {**noise, "directions": [[0.6, -0.7], [0.0, 1.0]]}
    yield {**question, "given": {"x": ROWS, "noise": long}}, "NoUnitVector", "a direction of another length"
    noise = {"eigenvalues": [0.25, -0.5], "directions": [[0.6, -0.8]]}
    for name, key, words in (
        ("iterative-eigenvectors", "epsilon", ("paper", "tight")),
        ("em-cov", "rho", ("reconstructed", "tight")),
    ):
        for word in words:
            own = {key: 2.0, "calibration": word}
            question = _question("transcript", name, own, step="rounds", given={"x": ROWS, "noise": noise})
            yield question, "SamplerMatrix", f"d = 2, {word}"


def lattices() -> Iterator[Flagged]:
    """Yield questions about rows of integers."""
    for name in ("discrete-laplace-covariance", "discrete-gaussian-covariance"):
        for rows, comment in (
            (ROWS, "short rows"),
            ([[-0.6875, 0.3125], [0.9375, -0.1875]], "rounded"),
            (LONG, "long"),
            (CLIPPED_FIRST, "clipped before it is rounded"),
        ):
            for own in ({"input_bits": 3}, {"input_bits": 20}, {"input_bits": 3, "row_bound": 2.0}):
                yield _question("transcript", name, own, step="lattice", given={"x": rows}), "Lattice", comment
        bad = [["inf", 0.0], *ROWS]
        yield _question("transcript", name, {"input_bits": 4}, step="lattice", given={"x": bad}), "NotFinite", "inf"


def acceptances() -> Iterator[Flagged]:
    """Yield questions about the probabilities with which samplers accept a proposal."""
    for values, b, u in (
        ([2.0, 0.5], 1.5, [0.6, 0.8]),
        ([3.0, 1.0, -0.5], 1.25, [0.6, 0.0, 0.8]),
        ([1.0, 1.0, 0.0, -4.0], 2.0, [0.5, 0.5, 0.5, 0.5]),
    ):
        given = {"eigenvalues": values, "b": b, "u": u}
        yield _question("acceptance", "bingham", {}, given=given), "Acceptance", f"d = {len(values)}"
    for diagonal in ([1.0, -0.5], [0.75, 0.25, -0.5], [1.0, 0.5]):
        rows = [[v if i == j else 0.0 for j in range(len(diagonal))] for i, v in enumerate(diagonal)]
        question = _question("acceptance", "k-norm", {"body": "covariance"}, given={"matrix": rows})
        yield question, "Acceptance", f"d = {len(rows)}"
    name = "discrete-gaussian-covariance"
    for variance, proposal in ((0.75, -2), (2.0, 0), (6.5, 4)):
        given = {"variance": variance, "proposal": proposal}
        yield _question("acceptance", name, {}, given=given), "Acceptance", f"variance {variance:g}"
    for value, word in BAD:
        given = {"variance": value, "proposal": 1}
        yield _question("acceptance", name, {}, given=given), "BadLaw", f"a variance that is {word}"


def norms() -> Iterator[Flagged]:
    """Yield questions about the exact laws of the norms of the noise."""
    for name, tables in (
        ("nuclear-laplace", ((0.5, 2.0), (1.5, 6.0), (5.0, 12.0), (9.0, 18.0))),
        ("nuclear-laplace-symmetric", ((0.5, 2.0), (1.0, 4.5), (2.5, 7.0), (4.0, 10.0))),
    ):
        for d, (low, high) in enumerate(tables, 1):
            for at in (low, (low + high) / 2, high):
                question = _question("probability", name, {"d": d}, law="spectral-norm", at=at)
                yield question, "SpectralNorm", f"d = {d}, at {at:g}"
            yield _question("probability", name, {"d": d}, law="norm", at=float(d * d)), "NoiseNorm", f"d = {d}"
        yield _question("probability", name, {"d": 2}, law="spectral-norm", at="nan"), "BadLaw", "at nan"
    for body, d in product(("schatten1", "covariance", "l1", "l2", "linf"), (2, 3)):
        question = _question("probability", "k-norm", {"d": d, "body": body}, law="norm", at=float(d * d))
        yield question, "NoiseNorm", f"{body}, d = {d}"


def marginals() -> Iterator[Flagged]:
    """Yield questions about the exact laws of single released numbers, or of a function of several released numbers."""
    for n, d, rank, at in ((6, 2, 1, 0.75), (6, 5, 1, 0.75), (6, 5, 2, 0.75), (6, 5, 2, 0.25), (1, 4, 3, 0.5)):
        public = {"n": n, "d": d, "epsilon": 1.5, "rank": rank}
        question = _question("probability", "matrix-bingham", public, law="share", at=at)
        yield question, "Marginal", f"n = {n}, d = {d}, rank {rank}, at {at:g}"
    yield from _bad_budgets(question, "epsilon")
    laplace: list[tuple[str, dict[str, Any]]] = [("laplace", {}), ("private-trace", {})]
    laplace += [("lap-cov", {"calibration": word}) for word in ("paper", "tight")]
    words = product(("full", "triangle"), ("paper", "tight"))
    laplace += [("entrywise-laplace", {"entries": e, "calibration": c}) for e, c in words]
    for name, own in laplace:
        known = {"n": 4, "d": 3, "epsilon": 0.5, **own}
        for at in (-0.25, 1.5):
            question = _question("probability", name, {**known, "where": "diagonal"}, law="entry", at=at)
            yield question, "Marginal", f"at {at:g}"
        yield from _bad_budgets(question, "epsilon")
    for name, where, ensemble in (
        ("gaussian", "diagonal", "wigner"),
        *product(("gauss-cov",), ("diagonal", "off-diagonal"), ("wigner", "goe")),
    ):
        own = {"ensemble": ensemble} if name == "gauss-cov" else {}
        for at in (-0.25, 0.5):
            known = {"n": 4, "d": 3, "rho": 0.5, **own, "where": where}
            yield _question("probability", name, known, law="entry", at=at), "Marginal", f"{where}, at {at:g}"
    for name, key in (("discrete-laplace-covariance", "epsilon"), ("discrete-gaussian-covariance", "rho")):
        for d, bits, at in ((1, 1, 0), (1, 1, 3), (2, 1, -2), (3, 1, 1), (4, 2, 5)):
            own = {"d": d, "input_bits": bits, key: 2.0}
            yield _question("probability", name, own, law="integer", at=at), "IntegerLaw", f"d = {d}, at {at}"


def indices() -> Iterator[Flagged]:
    """Yield questions about the exact laws of discrete outcomes."""
    for at in (1, 2):
        question = _question("probability", "exponential", {"epsilon": 2.0}, law="index", given={"x": ROWS}, at=at)
        yield question, "IndexLaw", f"outcome {at}"
    yield from _bad_budgets(question, "epsilon")
    for calibration, at in product(("paper", "tight"), (1, 2, 3)):
        own, given = {"epsilon": 0.5, "calibration": calibration}, {"queries": [1.0, 4.0], "threshold": 2.5}
        question = _question("probability", "above-threshold", own, law="index", given=given, at=at)
        yield question, "IndexLaw", f"{calibration}, outcome {at}"


def spends() -> Iterator[Flagged]:
    """Yield questions about the cost of one release, for every choice that changes it.

    The function `bounded_columns` yields these questions for mechanisms whose columns have bounds, and the function
    `later` yields them for the mechanisms in `LATER`.
    """
    for declared in MECHANISMS.values():
        if declared.domain != "box" and declared.name not in LATER:
            yield from _spends(declared)


def later() -> Iterator[Flagged]:
    """Yield questions about the costs of the mechanisms in `LATER`, and about releases of block-tridiagonal and
    recursive-moment with valid and invalid options.
    """
    for name in LATER:
        yield from _spends(MECHANISMS[name])
    rows = [[0.5, -0.25, 2.0], [0.0, 0.75, -0.5], [-3.0, 4.0, 0.25]]
    noise = [[0.5, -0.75, 0.25], [-0.75, 1.0, -0.5], [0.25, -0.5, 0.125]]
    for own in ({"block": 1}, {"block": 2}, {"block": 3}, {"block": 1, "block_bound": 2.0}):
        question = _question("release", "block-tridiagonal", {"rho": 0.5, **own}, x=rows, noise=noise)
        yield question, "Release", ", ".join(f"{key} = {value:g}" for key, value in own.items())
    for key, bad in (("block", 0), ("block", 1.5), ("block_bound", 0.0), ("block_bound", "nan")):
        question = _question("release", "block-tridiagonal", {"rho": 0.5, key: bad}, x=rows, noise=noise)
        yield question, "BadOption", f"{key} = {bad}"
    yield from recursive_moments()


def _spends(declared: AnyMechanism) -> Iterator[Flagged]:
    taken = signature(declared.spend).parameters
    choices = {key: words for key, words in choices_of(declared).items() if key in taken}
    base = {"epsilon": 0.5, "rho": 0.5, "delta": 2.0**-20}
    base = {key: base[key] for key in declared.notion.default.keywords()}
    for d, words in product((1, 4), product(*choices.values())):
        if d >= (2 if declared.name in NOTHING else declared.smallest_dimension):
            own = {**base, "d": d, **dict(zip(choices, words, strict=True))}
            yield _question("budget", declared.name, own), "Spend", ", ".join((f"d = {d}", *words))
    first = {key: words[0] for key, words in choices.items()}
    yield from _bad_budgets(_question("budget", declared.name, {**base, "d": 4, **first}), *base)


def compositions() -> Iterator[Flagged]:
    """Yield questions about the total cost of several releases."""
    pure, zcdp, approximate = {"epsilon": 0.5}, {"rho": 0.25}, {"epsilon": 0.25, "delta": 2.0**-24}
    delta = {"delta": 2.0**-20}

    def ask(budgets: list[dict[str, Any]], to: str, parameters: dict[str, Any] | None = None) -> dict[str, Any]:
        return {"kind": "composition", "budgets": budgets, "to": to, "parameters": parameters or {}}

    yield ask([pure, {"epsilon": 0.125}, pure], "epsilon"), "Composition", "pure releases"
    yield ask([zcdp, {"rho": 0.0625}], "rho"), "Composition", "zCDP releases"
    yield ask([approximate, approximate], "epsilon, delta", delta), "Composition", "(ε, δ) releases"
    yield ask([pure], "rho"), "Conversion", "pure to zCDP"
    yield ask([zcdp], "epsilon, delta", delta), "Conversion", "zCDP to (ε, δ)"
    yield ask([{"rho": 0.001953125}], "epsilon, delta", delta), "Conversion", "a small ρ to (ε, δ)"
    yield ask([pure, zcdp], "rho"), "Conversion", "pure and zCDP to zCDP"
    yield ask([pure, zcdp, approximate], "epsilon, delta", delta), "Conversion", "all notions to (ε, δ)"
    yield ask([zcdp], "epsilon"), "NoConversion", "zCDP says nothing of pure DP"
    yield ask([approximate], "rho"), "NoConversion", "(ε, δ) says nothing of zCDP"
    yield (
        ask([approximate, zcdp], "epsilon, delta", {"delta": 2.0**-24}),
        "NoConversion",
        "no δ is left to convert with",
    )
    yield ask([], "epsilon"), "NoConversion", "nothing was released"
    for value, word in BAD:
        yield ask([pure, {"epsilon": value}], "epsilon"), "BadBudget", f"epsilon is {word}"
        yield ask([zcdp], "epsilon, delta", {"delta": value}), "BadBudget", f"delta is {word}"
    yield ask([zcdp], "epsilon, delta", {"delta": 1.0}), "BadBudget", "delta is 1"


def exact_releases() -> Iterator[Flagged]:
    """Yield releases in which nothing is rounded, because n, the budget and the scale make every step exact."""
    full, vector = [[1.5, -0.75], [2.25, 0.5]], [1.5, -0.75]
    symmetric = [[1.5, -0.75], [-0.75, 0.5]]
    cases: list[tuple[str, dict[str, Any], Any]] = [
        ("nuclear-laplace", {"epsilon": 0.5}, full),
        ("nuclear-laplace-symmetric", {"epsilon": 0.5}, symmetric),
        ("entrywise-laplace", {"epsilon": 0.5, "calibration": "paper"}, full),
        *(("k-norm", {"epsilon": 0.5, "body": body}, symmetric) for body in ("schatten1", "covariance", "linf")),
        ("gauss-cov", {"rho": 0.25}, symmetric),
        ("laplace", {"epsilon": 0.5}, vector),
        ("private-trace", {"epsilon": 0.5}, -0.75),
    ]
    for name, own, noise in cases:
        for bound in (1.0, 2.0):
            rows = [[bound * v for v in row] for row in ROWS]
            question = _question("release", name, {**own, "row_bound": bound}, x=rows, noise=noise)
            yield question, "Exact", f"row bound {bound:g}"


def subspaces() -> Iterator[Flagged]:
    """Yield releases of a subspace for rows of three columns, also with an invalid rank and with noise that is not a
    projection of the given rank.
    """
    x = [[0.5, 0.25, 0.5], [-0.25, 0.75, 0.25]]
    line = [[0.36, 0.48, 0.0], [0.48, 0.64, 0.0], [0.0, 0.0, 0.0]]
    plane = [[0.64, -0.48, 0.0], [-0.48, 0.36, 0.0], [0.0, 0.0, 1.0]]
    half = [[0.5 * entry for entry in row] for row in plane]
    for rank, noise, flag, comment in (
        (1, line, "Release", "rank 1"),
        (2, plane, "Release", "rank 2"),
        (9, plane, "Release", "a rank above d"),
        (1, plane, "NoProjection", "another rank"),
        (2, half, "NoProjection", "half a projection"),
    ):
        own = {"epsilon": 0.5, "rank": rank}
        yield _question("release", "matrix-bingham", own, x=x, noise=noise), flag, comment
    for rank in (0, -1):
        question = _question("release", "matrix-bingham", {"epsilon": 0.5, "rank": rank}, x=x, noise=line)
        yield question, "BadOption", f"rank = {rank}"


def regressions() -> Iterator[Flagged]:
    """Yield releases of AdaSSP with two features, in which the penalty is at either of its limits or between them."""
    x = [[0.5, 0.25, 0.5], [-0.25, 0.75, 0.25], [0.5, -0.5, -0.125], [0.0, 0.5, 0.5]]
    noise = {"matrix": [[0.25, -0.5], [-0.5, 1.0]], "vector": [0.5, -0.75]}
    for calibration, (eigenvalue, comment) in product(
        ("paper", "tight"), ((-1.0, "the whole penalty"), (3.0, "a part of the penalty"), (9.0, "no penalty"))
    ):
        own = {"rho": 0.5, "calibration": calibration, "beta": 0.05}
        question = _question("release", "adassp", own, x=x, noise={"eigenvalue": eigenvalue, **noise})
        yield question, "Release", f"{calibration}, two features, {comment}"


def joint_moments() -> Iterator[Flagged]:
    """Yield questions about noise scales and releases of joint moments. Some weights are at most 1 and others exceed 1.
    Some data have one column and others several.
    """
    for d, weight, formula in product((1, 3), (0.5, 1.0, 4.0), ("change_squared", "mean_scale", "moment_scale")):
        own = {"d": d, "weight": weight}
        own |= {} if formula == "change_squared" else {"n": 7, "rho": 0.375}
        yield _question("scale", "joint-moments", own, formula=formula), "Scale", f"{formula}, d = {d}, w = {weight:g}"
    noise = {"mean": [0.5, -0.75], "moment": [[0.25, -0.5], [-0.5, 1.0]]}
    for value, flag in ((0.25, "Release"), (2.0, "Release"), *((bad, "BadOption") for bad, _ in BAD)):
        given: dict[str, Any] = {"rho": 0.5, "weight": value}
        yield _question("release", "joint-moments", given, x=ROWS, noise=noise), flag, f"weight = {value}"
    one = {"mean": [0.5], "moment": [[-0.75]]}
    question = _question("release", "joint-moments", {"rho": 0.5, "weight": 3.0}, x=[[0.5], [-0.25]], noise=one)
    yield question, "Release", "one column, a weight above 1"
    skewed = {**noise, "moment": [[0.25, -0.5], [0.5, 1.0]]}
    question = _question("release", "joint-moments", {"rho": 0.5}, x=ROWS, noise=skewed)
    yield question, "AsymmetricNoise", "one entry differs from its mirror image"


def recursive_moments() -> Iterator[Flagged]:
    """Yield questions about releases of the recursive moment, in one round and in several. The mechanism shortens rows
    between the rounds in some of these releases only.
    """
    rounds = [[[0.25, -0.5], [-0.5, 1.0]], [[-0.75, 0.125], [0.125, 0.5]], [[0.5, 0.25], [0.25, -1.0]]]
    axes = [[1.0, 0.0], *([[0.0, 0.03125]] * 3)]
    for kappa, subsample, count in ((320.0, 1, 1), (512.0, 1, 2), (3072.0, 2, 3)):
        for calibration, rows in product(("reconstructed", "tight"), (ROWS, axes)):
            given: dict[str, Any] = {"rho": 64.0**2, "kappa": kappa, "subsample": subsample, "calibration": calibration}
            question = _question("release", "recursive-moment", given, x=rows, noise=rounds[:count])
            yield question, "Release", f"K = {count}, {calibration}"
    for name, value in product(("kappa", "subsample"), (0, -1, "nan")):
        given = {"rho": 0.5, "calibration": "tight", "kappa": 320.0, "subsample": 1, name: value}
        question = _question("release", "recursive-moment", given, x=ROWS, noise=rounds[:1])
        yield question, "BadOption", f"{name} = {value}"
    skewed = [[[0.25, -0.5], [0.5, 1.0]]]
    given = {"rho": 0.5, "calibration": "tight", "kappa": 320.0, "subsample": 1}
    question = _question("release", "recursive-moment", given, x=ROWS, noise=skewed)
    yield question, "AsymmetricNoise", "one entry differs from its mirror image"


def _projection(name: str, point: list[Any], **own: Any) -> dict[str, Any]:
    return {"kind": "projection", "projection": name, "point": point, "parameters": own}


def sets() -> Iterator[Flagged]:
    """Yield projections of points inside the set, projections that are exact, and invalid sets."""
    inside, outside = [[0.25, 0.125], [0.125, 0.5]], [[3.0, 0.0], [0.0, -1.0]]
    for question in (
        _projection("nuclear_ball", inside, radius=1.0),
        _projection("psd_cone", inside),
        _projection("psd_trace_ball", inside, radius=1.0),
        _projection("spectral_interval", inside, low=0.0, high=1.0),
        _projection("simplex", [0.25, 0.5], radius=1.0),
    ):
        yield question, "InsideSet", question["projection"]
    for question in (
        _projection("nuclear_ball", outside, radius=3.0),
        _projection("psd_cone", outside),
        _projection("psd_trace_ball", outside, radius=2.0),
        _projection("spectral_interval", outside, low=-0.5, high=2.0),
        _projection("simplex", [2.0, -1.0, 1.25], radius=1.5),
    ):
        yield question, "Projection", "a simple point"
    for name, radius in product(("simplex", "nuclear_ball", "psd_trace_ball"), (-1.0, "nan", "inf")):
        point: list[Any] = [1.0, 0.5] if name == "simplex" else inside
        yield _projection(name, point, radius=radius), "BadSet", f"radius {radius}"
    yield _projection("spectral_interval", inside, low=1.0, high=0.0), "BadSet", "empty"


def bounded_columns() -> Iterator[Flagged]:
    """Yield releases of columns with bounds: unequal bounds, values outside and on a bound, one row, and a small
    count.
    """
    bounds = [[0.0, 2.0], [-1.0, 3.0]]
    rows = [[0.5, -0.25], [2.0, 0.75], [1.125, 3.0], [0.0, 0.0]]
    outside = [[-0.5, 0.25], [7.0, 0.75], [1.125, -4.0], [0.0, 0.0]]
    noise = [[0.5, -0.75, 0.25], [-0.75, 1.0, -0.5], [0.25, -0.5, 0.125]]
    small = [[-64.0, *noise[0][1:]], *noise[1:]]
    for name, budget in (
        ("box-gauss", {"rho": 0.5}),
        ("box-gauss-approximate", {"epsilon": 0.5, "delta": 2.0**-20, "calibration": "paper"}),
        ("box-laplace", {"epsilon": 0.5}),
    ):
        for adjacency in ("replace-one", "add-remove"):
            own: dict[str, Any] = {**budget, "bounds": bounds, "adjacency": adjacency}
            for x, flag, comment in (
                (rows, "Bounds", "two columns, unequal bounds, values on a bound"),
                (outside, "OutsideBounds", "values outside their bounds"),
                (rows[:1], "OneRecord", "n = 1"),
            ):
                yield _question("release", name, own, x=x, noise=noise), flag, f"{comment}, {adjacency}"
            yield (
                _question("release", name, {**own, "on_outside": "raise"}, x=rows, noise=noise),
                "Bounds",
                "raise, inside",
            )
            refused = {**own, "on_outside": "raise"}
            yield _question("release", name, refused, x=outside, noise=noise), "OutsideRefused", "raise, outside"
            yield _question("release", name, own, x=rows, noise=small), "SmallCount", f"noise of −64, {adjacency}"
        yield from _spends(MECHANISMS[name])
        for bad in ([[0.0, 2.0]], [[0.0, 2.0], [3.0, 3.0]], [[0.0, 2.0], [-1.0, "inf"]]):
            yield _question("release", name, {**own, "bounds": bad}, x=rows, noise=noise), "BadOption", "bad bounds"


def more() -> Iterator[Flagged]:
    """Yield all questions of this file."""
    for made in (
        exact_releases, sets, searches, radius_searches, adaptive_steps, samplers, lattices, acceptances, norms,
        marginals, indices, spends, compositions, regressions, joint_moments, subspaces,
    ):  # fmt: skip
        yield from made()
