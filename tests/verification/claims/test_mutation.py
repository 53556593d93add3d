"""Test the program that changes formulas and checks at random: which places it changes, how, and that it undoes every
change.
"""

import ast
import textwrap

import pytest

from covassay.reference.mechanisms.pure import nuclear_laplace
from covassay.verification.claims import mutation

NOISE_SCALE = "reference.mechanisms.pure.nuclear_laplace:noise_scale"

SOURCE = '''
def formula(x, n):
    """Words with 3 numbers."""
    values = [Fraction(1, 3) * k for k in range(7)]
    if x <= 1e-9:
        raise ValueError(f"{x} is below {5}")
    return 2 * x + values[0]
'''


def changed(source: str) -> list[str]:
    """Return the source of the function after each possible change of one place."""
    node = ast.parse(textwrap.dedent(source)).body[0]
    assert isinstance(node, ast.FunctionDef)
    count = len(list(mutation.places(node)))
    found = []
    for number in range(count):
        fresh = ast.parse(textwrap.dedent(source)).body[0]
        assert isinstance(fresh, ast.FunctionDef)
        place, how, _ = list(mutation.places(fresh))[number]
        found.append(ast.unparse(ast.fix_missing_locations(mutation.Change(place, how).visit(fresh))))
    return found


def test_constants_comparisons_and_terms_are_changed_and_words_counts_and_tolerances_are_not() -> None:
    """The mutation test changes the source code of a formula in one place at a time. It must change every constant,
    every comparison and every term, but no text, no count and no tolerance.
    """
    kept = ast.unparse(ast.parse(SOURCE)).split("\n")
    lines = [line for text in changed(SOURCE) for line in text.split("\n") if line not in kept]
    assert sorted(line.strip() for line in lines) == sorted(
        [
            "values = [Fraction(1, 3) * 1.03 * k for k in range(7)]",
            "values = [Fraction(1, 3) * 0.97 * k for k in range(7)]",
            "if x > 1e-09:",
            "return 2 * 1.03 * x + values[0]",
            "return 2 * 0.97 * x + values[0]",
            "return 2 * x",
            "return values[0]",
        ]
    )


@pytest.mark.slow
def test_the_draw_has_both_parts_and_is_that_of_its_seed() -> None:
    """The test fails if two runs with the same seed draw different changes, because their results could not be
    compared.
    """
    seed = 1
    drawn = mutation.draw(20, seed)
    assert [m.part for m in drawn] == ["check"] * 10 + ["formula"] * 10
    assert drawn == mutation.draw(20, seed)
    assert drawn != mutation.draw(20, seed + 1)


@pytest.mark.thorough
def test_a_scale_smaller_by_3_percent_is_rejected_and_put_back() -> None:
    """The test fails if a formula of the reference stays changed after the run."""
    before = nuclear_laplace.noise_scale(10, 1)
    mutants = [m for m in mutation.population() if m.name == NOISE_SCALE and "2 −" in m.change]
    judged = mutation.Mutant(NOISE_SCALE, mutants[0].change, mutants[0].number, ("own.spends:every_spend",))
    assert mutation.outcome(judged) == "rejected"
    assert nuclear_laplace.noise_scale(10, 1) == before
