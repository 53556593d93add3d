"""Write formulas as MathML for browsers, from the Python functions in the section FORMULAS of a mechanism.

The module only reads the functions that it typesets, and never runs them. Each formula is the code of a function, in
the notation of mathematics.
"""

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from types import ModuleType
from typing import Any

SECTION = re.compile(r"^# FORMULAS.*?\n(.*?)^# MECHANISM", re.MULTILINE | re.DOTALL)

NOT_MATHEMATICS = (ast.List, ast.ListComp, ast.Or, ast.Lambda, ast.Slice)


def formulas_of(module: ModuleType) -> Iterator[Callable[..., Any]]:
    """Yield the functions in the section FORMULAS of a mechanism file, in their order."""
    section = SECTION.search(inspect.getsource(module))
    for node in ast.parse(section[1]).body if section else ():
        if isinstance(node, ast.FunctionDef):
            yield inspect.unwrap(getattr(module, node.name))


def as_mathml(function: Callable[..., Any]) -> str | None:
    """Return the function in the notation of mathematics, or None if its code (a list, a loop) has no mathematical
    notation."""
    from latex2mathml.converter import convert
    from latexify import get_latex
    from latexify.exceptions import LatexifyError

    code = ast.parse(inspect.getsource(function))
    if any(isinstance(node, NOT_MATHEMATICS) for node in ast.walk(code)):
        return None
    try:
        latex = get_latex(function, use_math_symbols=True, reduce_assignments=True)
    except LatexifyError:
        return None
    return str(convert(_readable(latex), display="block"))


def _readable(latex: str) -> str:
    """Set words upright, write decimal exponents as fractions, and omit arguments that are functions, such as log."""
    latex = re.sub(r", \\mathrm\{(log|sqrt|exp|ceil)\}", "", latex)
    latex = re.sub(r"\^\{(\d*\.\d+)\}", lambda power: f"^{{{Fraction(power[1])}}}", latex)
    for spelled, shown in ((r"\mathopen{}", ""), (r"\mathclose{}", ""), (r"\_", " "), (r"\mathrm{", r"\text{")):
        latex = latex.replace(spelled, shown)
    return latex


def section_of(module: ModuleType) -> str:
    """Return a section of Markdown with every formula and the sentence about it.

    Each formula is typeset, or shown as code if it has no mathematical notation.
    """
    parts = []
    for function in formulas_of(module):
        sentence = inspect.getdoc(function) or ""
        shown = as_mathml(function) or f"```python\n{inspect.getsource(function).rstrip()}\n```"
        parts.append(f"**`{function.__name__}`**: {sentence}\n\n{shown}\n")
    return "\n".join(parts)
