"""Evaluate numbers by the kernel and export them to proofs/vectors.json.

A vector is a list of rows of rational numbers. The kernel computes the numbers by vm_compute. It uses the definitions
in the theorems, or copies of these definitions over the rationals. The entry of each vector names lemmas which prove
that the copies agree with the definitions.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from covassay.verification.claims.kernel import kernel
from covassay.verification.claims.kernel.sources import ACCEPT, read_table

ROW = re.compile(r"\[\s+((?:\"[^\"\s]*\",?\s*)+)\]")  # a JSON list of words is written on one line
NUMBER = re.compile(r"\((true|false), (\d+), (\d+)\)")  # the sign (true if negative), the numerator and the denominator
PREAMBLE = [
    *kernel.UNABRIDGED,
    "Definition negative (m : int) := if m is Posz _ then false else true.",
    "Definition parts (x : rat) := (negative (numq x), absz (numq x), absz (denq x)).",
]
Rows = list[list[Fraction]]


@dataclass(frozen=True)
class KernelVector:
    """One entry of the file vectors.toml."""

    name: str
    rows: str  # the definition that computes the rows
    columns: tuple[str, ...]
    lemmas: tuple[str, ...]

    @property
    def module(self) -> str:
        """Return the module of the definition that computes the vector's rows."""
        return self.rows.split(".")[0]


def read(folder: Path) -> list[KernelVector]:
    """Return the vectors in the hand-written file vectors.toml."""
    table = read_table(folder / "vectors.toml")
    return [KernelVector(name, e["rows"], tuple(e["columns"]), tuple(e["lemmas"])) for name, e in table.items()]


def path_of(proofs: Path) -> Path:
    """Return the path of the exported vectors."""
    return proofs / "vectors.json"


def exported(proofs: Path) -> str:
    """Return the text of the exported file, or an empty text if there is none."""
    path = path_of(proofs)
    return path.read_text(encoding="utf-8") if path.exists() else ""


def evaluate(build: Path, vectors: list[KernelVector]) -> dict[str, Rows]:
    """Ask the kernel to evaluate the numbers of the given vectors, and return the rows of each vector, keyed by its
    name.
    """
    if not vectors:
        return {}
    modules = sorted({v.module for v in vectors})
    preamble = [
        "From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint rat.",
        f"From covassay Require {' '.join(modules)}.",
        *PREAMBLE,
    ]
    answers = kernel.ask(build, preamble, {v.name: f"Eval vm_compute in map (map parts) {v.rows}." for v in vectors})
    return {v.name: _rows(v, answers[v.name]) for v in vectors}


def _rows(vector: KernelVector, answer: str) -> Rows:
    """Return the rows of numbers in the kernel's answer, which prints each number as a triple such as (false, 1, 2)."""
    shown = answer.rpartition(" : ")[0]
    rows = [
        [Fraction(-int(m) if negative == "true" else int(m), int(n)) for negative, m, n in NUMBER.findall(row)]
        for row in shown.split("[::")[2:]
    ]
    if not rows or any(len(row) != len(vector.columns) for row in rows):
        raise kernel.KernelError(f"{vector.rows}: not rows of {len(vector.columns)} rational numbers")
    return rows


def as_text(vectors: list[KernelVector], values: Mapping[str, Rows]) -> str:
    """Return the text of the exported file with the given vectors."""
    shown = {
        v.name: {
            "columns": list(v.columns),
            "rows": [[str(value) for value in row] for row in values[v.name]],
            "lemmas": list(v.lemmas),
        }
        for v in vectors
    }
    text = json.dumps({"generated": ACCEPT, "vectors": shown}, indent=1)
    return ROW.sub(lambda row: f"[{' '.join(row[1].split())}]", text) + "\n"
