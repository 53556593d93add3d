"""Implement the command `covassay mechanisms`."""

import argparse
import inspect
import re
import sys
import textwrap
from itertools import product
from types import ModuleType
from typing import Any

from rich.table import Table

from covassay.reference.mechanisms.mechanism import DOMAINS, PROVENANCES, Mechanism
from covassay.reference.mechanisms.registry import MECHANISMS, mechanism
from covassay.verification.cli.screen import console, print_json
from covassay.verification.declared import by_origin

AnyMechanism = Mechanism[Any, ..., Any]
# this pattern matches a step of a numbered list
STEP = re.compile(r"^(\d+\. .*?)(?=^\d+\. |\n\n)", re.MULTILINE | re.DOTALL)
SCALES = re.compile("scale|exponent")  # a formula is listed if its name contains one of these words
SYMBOLS = {"epsilon": "ε", "rho": "ρ", "delta": "δ"}
PARSER = {
    "description": "List every mechanism with what it claims and what is proven, or show one mechanism.",
    "epilog": "example: covassay mechanisms nuclear-laplace",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command to the parser."""
    parser.add_argument("name", nargs="?", help="show only this mechanism: what it releases, its parameters, its proof")
    parser.add_argument(
        "--dimension", type=int, default=10, help="number of columns for which the spend is shown (default 10)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON (covassay schema mechanisms)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the list of mechanisms, or one mechanism in full."""
    if options.name is None and not options.json:
        _print_list(options.dimension)
        return 0
    chosen = list(MECHANISMS.values()) if options.name is None else [mechanism(options.name)]
    rows = [row for declared in chosen for row in variants(declared, options.dimension)]
    if options.json:
        print_json(rows)
    else:
        _print_one(chosen[0], rows, max(options.dimension, chosen[0].smallest_dimension))
    return 0


def variants(declared: AnyMechanism, dimension: int) -> list[dict[str, Any]]:
    """Return one record for every combination of options of a mechanism.

    A record has the claimed and the proven privacy loss at the default budget.
    """
    budget = declared.notion.default.keywords()
    rows = []
    for values in product(*declared.choices.values()):
        choices = dict(zip(declared.choices, values, strict=True))
        spend = declared.spend(**budget, dimension=max(dimension, declared.smallest_dimension), **choices)
        rows.append(
            {
                "name": declared.name,
                "title": declared.title,
                "paper": declared.about.paper,
                "algorithm": declared.about.number,
                "provenance": declared.about.provenance,
                "notion": declared.notion.name,
                "adjacency": declared.adjacency,
                "choices": choices,
                "parameters": dict(declared.parameters),
                "domain": declared.domain,
                "releases": declared.output.kind,
                "unit": declared.output.unit,
                "steps": steps(declared),
                "laws": laws(declared),
                "scales": scales(declared),
                "symmetric": declared.output.symmetric,
                "sampler": declared.sampler,
                "claimed": spend.claimed.keywords(),
                "proven": spend.proven.keywords(),
                "attained": spend.attained,
                "remark": spend.remark,
                "page": declared.page,
                "claim": declared.claim,
            }
        )
    return rows


def _module(declared: AnyMechanism) -> ModuleType:
    return sys.modules[inspect.unwrap(declared.release).__module__]


def _first_line(documented: Any) -> str:
    return (inspect.getdoc(documented) or "").partition("\n")[0]


def steps(declared: AnyMechanism) -> list[str]:
    """Return the steps of a mechanism, read from the docstring of its file."""
    return [" ".join(step.split()) for step in STEP.findall(inspect.getdoc(_module(declared)) or "")]


def laws(declared: AnyMechanism) -> dict[str, str]:
    """Return the laws in the reference from which the noise is drawn, each with the first line of its file."""
    used = [value for value in vars(_module(declared)).values() if inspect.ismodule(value)]
    return {m.__name__: _first_line(m) for m in used if m.__name__.startswith("covassay.reference.laws.")}


def scales(declared: AnyMechanism) -> dict[str, str]:
    """Return the formulas for scales and exponents of the noise, with their docstrings in the file of the mechanism."""
    found = {name: value for name, value in vars(_module(declared)).items() if inspect.isfunction(value)}
    return {
        name: _first_line(function)
        for name, function in found.items()
        if SCALES.search(name) and function.__module__.startswith("covassay.reference.mechanisms.")
    }


def _print_list(dimension: int) -> None:
    for heading, group in by_origin().items():
        table = Table("mechanism", "choices", "source", "claimed", "proven", "attained", "releases")
        for row in (row for declared in group for row in variants(declared, dimension)):
            table.add_row(
                row["name"], " ".join(row["choices"].values()), f"{row['paper']} {row['algorithm']}",
                budget_text(row["claimed"]), budget_text(row["proven"]), "yes" if row["attained"] else "no",
                row["releases"],
            )  # fmt: skip
        print(f"\n{heading}")
        console().print(table)
    print(f"\n{PROVENANCES['reconstructed']}")


def _print_one(declared: AnyMechanism, rows: list[dict[str, Any]], dimension: int) -> None:
    shape = f"{declared.output.layout}, {'symmetric, ' if declared.output.symmetric else ''}in {declared.output.unit}"
    facts = {
        declared.name: declared.title,
        "source": f"{declared.source}; {PROVENANCES[declared.about.provenance]}",
        "guarantee": f"{declared.notion.label}, {declared.adjacency}, n public, {declared.arithmetic}",
        "data": DOMAINS[declared.domain],
        "releases": f"{declared.output.kind} {shape}",
        **{f"scale{' ' * i}": f"{name}: {line}" for i, (name, line) in enumerate(scales(declared).items())},
        **{f"law{' ' * i}": line for i, line in enumerate(laws(declared).values())},
        "noise": "drawn exactly" if declared.sampler == "exact" else "drawn by a Markov chain, so only approximately",
        "proof": declared.page,
        "claim": f"{declared.claim} (covassay claims show {declared.claim})",
        "code": inspect.unwrap(declared.release).__module__,
    }
    width = max(map(len, facts))
    for key, value in facts.items():
        _print_wrapped(f"{key:{width}}  {value}", width + 2)
    print("\nsteps")
    for step in steps(declared):
        _print_wrapped(f"  {step}", 5)
    print("\noptions")
    for parameter in declared.declared.values():
        default = "" if parameter.default is inspect.Parameter.empty else f" (default {parameter.default})"
        _print_wrapped(f"  {parameter.name}{default}: {parameter.meaning}", 6)
    print(f"\nspend (d = {dimension})")
    for row in rows:
        words = " ".join(row["choices"].values()) or "always"
        proven = budget_text(row["proven"])
        proven = f"{proven}, attained" if row["attained"] else f"at most {proven}"
        remark = f"; {row['remark']}" if row["remark"] else ""
        _print_wrapped(f"  {words}: claimed {budget_text(row['claimed'])}, proven {proven}{remark}", 6)


def _print_wrapped(line: str, indent: int) -> None:
    """Print a text wrapped at 80 columns, with all lines but the first indented."""
    print(textwrap.fill(line, 80, subsequent_indent=" " * indent, break_on_hyphens=False))


def budget_text(budget: dict[str, float]) -> str:
    """Return a budget such as ε = 1, δ = 1e-06."""
    return ", ".join(f"{SYMBOLS[key]} = {value:.4g}" for key, value in budget.items())
