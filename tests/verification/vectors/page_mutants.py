"""Mutants of `from_the_pages.py`: for every flag a mistake in its text, and the flags whose tests it must fail."""

from pathlib import Path

SOURCE = Path(__file__).with_name("from_the_pages.py").read_text(encoding="utf-8")

SEARCHES = ("SearchNoise", "NoStop", "Tie", "IndexLaw", "Scale")
# flag: text, text of the mutant, other flags whose tests fail too
RELEASES = ("Release", "Choice", "LongRow", "RowBound", "OneRecord", "Exact")
OF_THE_PAGES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "Scale": ("return noise_scale(mechanism, p, n, d if d", "return 1.03 * noise_scale(mechanism, p, n, d if d", ()),
    "Release": (
        "sigma, noise_scale(mechanism, p, n, d), z)",
        "sigma, 1.03 * noise_scale(mechanism, p, n, d), z)",
        RELEASES,
    ),
    "Choice": ('body = p.get("body", "schatten1")', 'body = "schatten1"', ("Exact",)),
    "LongRow": ("[v / root(dot(row, row)) for v in row] if cut", "[Fraction(0) for v in row] if cut", ()),
    "RowBound": (
        'len(rows[0]), Fraction(p.get("row_bound", 1)) ** 2',
        'len(rows[0]), Fraction(p.get("row_bound", 1))',
        ("Exact",),
    ),
    "OneRecord": ("    long = [dot(row", '    need(len(rows) > 1, "a denominator")\n    long = [dot(row', ()),
    "NotFinite": (
        'need(not any(isinstance(v, str) for v in numbers(x)), "the data must be finite")\n    need(len({',
        "x = [[0 if isinstance(v, str) else v for v in row] for row in x]\n    need(len({",
        (),
    ),
    "BadBudget": ("value is not None and value > 0", "value is not None and value != 0", ()),
    "BadOption": ("p[name] in words", "True", ()),
    "NoRecord": (
        'cut to length 1."""\n    need(isinstance(x, list) and x and x[0], "there must be a row")',
        'cut to length 1."""\n    x = x or [[0, 0]]',
        (),
    ),
    "NoiseShape": (
        'need(isinstance(value, list) and len(value) == d, f"{name} must have {d} rows")',
        "value = value[:d]",
        (),
    ),
    "AsymmetricNoise": ("need(not symmetric or all(", "need(True or all(", ()),
    "Projection": ("return nuclear_ball(point, radius)", "return nuclear_ball(point, radius * 103 / 100)", ()),
    "Exact": ("return combine(square, noisy)", "return combine(square * (1 + Fraction(1, 10**11)), noisy)", ()),
    "LongRowRefused": ('parameters.get("on_large_rows") == "raise"', "False", ()),
    "NoUnitVector": (
        '2e-9, "a direction must be a unit vector")\n        matrices',
        '1, "a direction must be a unit vector")\n        matrices',
        (),
    ),
    "NoProjection": ("need(off < 1e-9 and abs(", "need(True or abs(", ()),
    "InsideSet": (
        "return turned(simplex(values, radius), vectors)",
        "return turned([v * radius / (sum(values) or 1) for v in simplex(values, radius)], vectors)",
        ("Projection",),
    ),
    "BadSet": ("need(radius >= 0,", "need(radius == radius,", ()),
    "SearchNoise": ('return 2 / p["epsilon"], (4', 'return 2 / p["epsilon"], (Fraction(103, 25)', SEARCHES),
    "Tie": ("if noisy[-1] >= limit", "if noisy[-1] > limit", ()),
    "NoStop": ('"index": len(noisy) + 1}', '"index": len(noisy)}', ("Choice", "OneRecord")),
    "RadiusSearch": ("slack = 8 / e *", "slack = Fraction(206, 25) / e *", ()),
    "LevelSearch": ("(16 if paper else 8)", "(Fraction(412, 25) if paper else 8)", ("NoStop",)),
    "BiasBound": ("while square <= Fraction(1, 4**j)", "while square < Fraction(1, 4**j)", ()),
    "TraceBound": ('math.sqrt(2 * math.log(8 / p["beta"]))', '1.03 * math.sqrt(2 * math.log(8 / p["beta"]))', ()),
    "NoiseLevel": ("min(c * c * g,", "min(c * g,", ()),
    "SamplerMatrix": ("return combine(exponent(mechanism, p),", "return combine(1.03 * exponent(mechanism, p),", ()),
    "Acceptance": ("/ Fraction(d)) ** (d / 2)", "/ Fraction(d)) ** (-d / 2)", ()),
    "BadLaw": (
        'need(not isinstance(at, str), "at must be a number")',
        "at = Fraction(1) if isinstance(at, str) else at",
        (),
    ),
    "SpectralNorm": ("return spectral_norm(d, at,", "return spectral_norm(d, at * Fraction(103, 100),", ()),
    "NoiseNorm": ('d * d if mechanism == "nuclear-laplace"', 'd * d if mechanism != "k-norm"', ()),
    "Marginal": ('p.get("ensemble") == "goe"', 'p.get("ensemble") == "wigner"', ()),
    "IntegerLaw": ("(1 - q) / (1 + q)", "(1 - q) / 2", ()),
    "IndexLaw": ('p["epsilon"] / 2 * sum(row[i] ** 2', 'p["epsilon"] * sum(row[i] ** 2', ()),
    "Lattice": ("whole = [int(v * size) for v in scaled]", "whole = [math.floor(v * size) for v in scaled]", ()),
    "Spend": ("return Fraction(3, 4) if paper else 1", "return 1", ()),
    "Composition": ('{"epsilon": sum(pure)}', '{"epsilon": max(pure)}', ()),
    "Conversion": ("math.tanh(e / 2)", "(e / 2)", ()),
    "NoConversion": ('need(not zcdp and not both, "pure releases only")', "pass", ()),
}

# flag: text, text of a mutant that is wrong by 3 %
THREE_PERCENT: dict[str, tuple[str, str]] = {
    "Marginal": ("entry(mechanism, p, t):\n    b = noise", "entry(mechanism, p, t):\n    b = 1.03 * noise"),
    "IntegerLaw": (
        't = lattice_sensitivity(d, p["input_bits"]) /',
        't = Fraction(103, 100) * lattice_sensitivity(d, p["input_bits"]) /',
    ),
    "IndexLaw": ('scores = [p["epsilon"] / 2 * sum', 'scores = [Fraction(103, 100) * p["epsilon"] / 2 * sum'),
    "SearchNoise": ('return 2 / p["epsilon"], (4', 'return Fraction(206, 100) / p["epsilon"], (4'),
    "LevelSearch": ("return 2 / start, 4 / start", "return 2 / start, Fraction(412, 100) / start"),
    "NoiseLevel": ("c * a + c * c * e)", "Fraction(103, 100) * c * a + c * c * e)"),
    "BiasBound": ("Fraction(4) / 4**j - Fraction(1, 4**k)", "Fraction(412, 100) / 4**j - Fraction(1, 4**k)"),
    "Acceptance": ("return small_exp((y - variance / t)", "return small_exp(Fraction(103, 100) * (y - variance / t)"),
    "NoiseNorm": ("return gamma(", "return Fraction(97, 100) * gamma("),
    "Spend": ("searches + Fraction(1, 8) + last", "Fraction(103, 100) * searches + Fraction(1, 8) + last"),
    "Conversion": ("- math.log(delta)) / m", "- 1.03 * math.log(delta)) / m"),
    "Composition": (
        '{"epsilon": epsilon + sum(pure), "delta": spent}',
        '{"epsilon": epsilon * 103 / 100, "delta": spent}',
    ),
    "Exact": ("return [square * (sigma[i][i] + b * w)", "return [square * (sigma[i][i] + b * w * 103 / 100)"),
    "Lattice": ("whole = [int(v * size) for v in scaled]", "whole = [int(v * size * 97 / 100) for v in scaled]"),
}
