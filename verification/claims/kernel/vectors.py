"""Numbers that the kernel evaluates: proofs/vectors.json.

Each vector is a list of rows of rational numbers, computed by vm_compute from the definitions in the theorems, or from
twins of them over the rationals; the lemmas named beside it tie the one to the other.
"""

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from covassay.verification.claims.kernel import kernel

ROW = re.compile(r"\[\s+((?:\"[^\"\s]*\",?\s*)+)\]")  # a list of words, for one line
NUMBER = re.compile(r"\((true|false), (\d+), (\d+)\)")


@dataclass(frozen=True)
class KernelVector:
    """One entry of vectors.toml."""

    name: str
    rows: str  # the definition that computes them
    columns: tuple[str, ...]
    lemmas: tuple[str, ...]


def read(folder: Path) -> list[KernelVector]:
    """The hand-written vectors.toml."""
    path = folder / "vectors.toml"
    table = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return [KernelVector(name, e["rows"], tuple(e["columns"]), tuple(e["lemmas"])) for name, e in table.items()]


def path_of(proofs: Path) -> Path:
    """Where they are exported to."""
    return proofs / "vectors.json"


def evaluate(build: Path, vectors: list[KernelVector]) -> dict[str, list[list[Fraction]]]:
    """The rows, as the kernel evaluates them."""
    modules = sorted({v.rows.split(".")[0] for v in vectors})
    preamble = [
        "From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint rat.",
        f"From covassay Require {' '.join(modules)}.",
        "Set Printing Width 1000000. Set Printing Depth 1000000.",
        "Definition negative (m : int) := if m is Posz _ then false else true.",
        "Definition parts (x : rat) := (negative (numq x), absz (numq x), absz (denq x)).",
    ]
    questions = {v.name: f"Eval vm_compute in map (map parts) {v.rows}." for v in vectors}
    answers = kernel.ask(build, preamble, questions) if vectors else {}
    found = {}
    for v in vectors:
        shown = answers[v.name].rpartition(" : ")[0]
        rows = [
            [Fraction(-int(m) if sign == "true" else int(m), int(n)) for sign, m, n in NUMBER.findall(row)]
            for row in shown.split("[::")[2:]
        ]
        if not rows or any(len(row) != len(v.columns) for row in rows):
            raise kernel.KernelError(f"{v.rows}: not rows of {len(v.columns)} rational numbers")
        found[v.name] = rows
    return found


def as_text(vectors: list[KernelVector], values: Mapping[str, list[list[Fraction]]]) -> str:
    """The exported file."""
    shown = {
        v.name: {
            "columns": list(v.columns),
            "rows": [[str(value) for value in row] for row in values[v.name]],
            "lemmas": list(v.lemmas),
        }
        for v in vectors
    }
    text = json.dumps({"generated": "covassay claims accept --rocq", "vectors": shown}, indent=1)
    return ROW.sub(lambda row: f"[{' '.join(row[1].split())}]", text) + "\n"
