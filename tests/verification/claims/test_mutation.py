"""Test the program that draws mutants: the places and kinds of its changes, and that it undoes every change."""

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
    """Return the function after each change of one place."""
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
    """This test catches a mutation program that changes too little, or changes words."""
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
    """This test catches runs whose shares of rejected mutants cannot be compared, because each run draws different
    mutants.
    """
    seed = 1
    drawn = mutation.draw(20, seed)
    assert [m.part for m in drawn] == ["check"] * 10 + ["formula"] * 10
    assert drawn == mutation.draw(20, seed)
    assert drawn != mutation.draw(20, seed + 1)


@pytest.mark.thorough
def test_a_scale_smaller_by_3_percent_is_rejected_and_put_back() -> None:
    """This test catches a mutant that stays in the reference after its run."""
    before = nuclear_laplace.noise_scale(10, 1)
    mutants = [m for m in mutation.population() if m.name == NOISE_SCALE and "2 −" in m.change]
    judged = mutation.Mutant(NOISE_SCALE, mutants[0].change, mutants[0].number, ("own.spends:every_spend",))
    assert mutation.outcome(judged) == "rejected"
    assert nuclear_laplace.noise_scale(10, 1) == before
