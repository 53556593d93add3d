"""proofs/rocq.lock.json: the audit that somebody has read and accepted.

Per tag the statement, as a person reads it and as a digest of its fully explicit form, the axioms and the definitions
beneath it; every such definition, in the same two forms; the witnesses; and the digests of the sources. The digests let
a machine without Rocq see that the sources are those that were audited.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from covassay.verification.claims.kernel import sources
from covassay.verification.claims.kernel.audit import ALLOWED, Audit
from covassay.verification.claims.kernel.terms import establishes
from covassay.verification.claims.kernel.vectors import KernelVector
from covassay.verification.claims.kernel.vectors import path_of as path_of_vectors

RULES = {  # what the gate holds against the proofs
    "token": "a token, or an option of the compiler, that would let a theorem through unproved",
    "compile": "a file does not compile",
    "axioms": "a theorem rests on more than the three axioms of the library, or on others than locked",
    "statement": "a theorem does not say what is locked",
    "definition": "a definition beneath a theorem is not what is locked",
    "witness": "nothing shows that a premise can be met",
    "link": "a tag and a claim, or a tag and the lock, do not find one another",
    "source": "a file is not the one that was audited",
    "vector": "an exported number is not what the kernel evaluates",
}
Lock = dict[str, Any]


@dataclass(frozen=True)
class Discrepancy:
    """Something that the gate refuses."""

    rule: str  # a key of RULES
    text: str
    tags: tuple[str, ...] = ()  # the theorems that it touches

    def __str__(self) -> str:
        return f"{self.rule}: {self.text}"


def record(audit: Audit, folder: Path, tools: Mapping[str, str], exported: str = "") -> Lock:
    """An audit, and the text of the exported vectors, as they are locked."""
    theorems, beneath = {}, set()
    for tagged, said in audit.theorems.items():
        names = audit.beneath(said)
        beneath |= set(names)
        theorems[tagged.tag] = {
            "file": tagged.file, "theorem": tagged.name, "statement": said.text, "explicit": said.digest,
            "axioms": list(said.axioms), "definitions": names, "premises": audit.asked(said),
        }  # fmt: skip
    shown: dict[str, dict[str, object]] = {}
    for predicate, witness in audit.table.items():
        if witness.assumption:
            shown[predicate] = {"assumption": witness.assumption}
        elif witness.lemma in audit.witnesses:
            lemma = audit.witnesses[witness.lemma]
            shown[predicate] = {"lemma": lemma.name, "statement": lemma.text, "premises": audit.premises(lemma)}
    others: dict[str, dict[str, object]] = {}
    for name, said in audit.others.items():
        beneath |= set(audit.beneath(said))
        others[name] = {"statement": said.text, "explicit": said.digest, "axioms": list(said.axioms)}
    definitions = {n: {"text": audit.definitions[n].text, "explicit": audit.definitions[n].digest} for n in beneath}
    return {
        "generated": "covassay claims accept --rocq",
        "tools": dict(tools),
        "theorems": theorems,
        "witnesses": shown,
        "vectors": {"exported": sources.sha256(exported), "lemmas": others},
        "definitions": definitions,
        "sources": sources.digests(folder),
    }


def path_of(proofs: Path) -> Path:
    """Where the lock is."""
    return proofs / "rocq.lock.json"


def read(proofs: Path) -> Lock:
    """The lock; empty if there is none."""
    path = path_of(proofs)
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}


def as_text(lock: Lock) -> str:
    """The same bytes for the same audit."""
    return json.dumps(lock, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def differences(lock: Lock, now: Lock) -> list[Discrepancy]:
    """What an audit, of all tags or of some, says differently from the lock."""
    found = []
    for tag, entry in now["theorems"].items():
        old = lock.get("theorems", {}).get(tag)
        if old is None:
            found.append(Discrepancy("link", f"{tag} is not in the lock", (tag,)))
            continue
        if any(old[key] != entry[key] for key in ("file", "theorem", "statement", "explicit")):
            found.append(Discrepancy("statement", f"{tag} says something else", (tag,)))
        if old["axioms"] != entry["axioms"]:
            found.append(Discrepancy("axioms", f"{tag} rests on {entry['axioms']}, locked {old['axioms']}", (tag,)))
        changed = set(old["definitions"]) ^ set(entry["definitions"])
        changed |= {n for n in entry["definitions"] if lock["definitions"].get(n) != now["definitions"][n]}
        if changed:
            found.append(Discrepancy("definition", f"beneath {tag}: {', '.join(sorted(changed))}", (tag,)))
    for predicate, entry in now["witnesses"].items():
        if lock.get("witnesses", {}).get(predicate) != entry:
            found.append(Discrepancy("witness", f"{predicate}: another witness than is locked"))
    old_vectors, vectors = lock.get("vectors", {"lemmas": {}}), now["vectors"]
    return found + [
        Discrepancy("vector", f"the lemma {name} says something else")
        for name, entry in vectors["lemmas"].items()
        if old_vectors["lemmas"].get(name) != entry
    ]


def forbidden_axioms(audit: Audit) -> list[Discrepancy]:
    """Theorems, and lemmas of vectors, that rest on more than the library's three axioms."""
    asked = {tagged.tag: said for tagged, said in audit.theorems.items()} | dict(audit.others)
    return [
        Discrepancy("axioms", f"{name} rests on {axiom}", (name,))
        for name, said in asked.items()
        for axiom in said.axioms
        if axiom not in ALLOWED
    ]


def untied_vectors(audit: Audit, wanted: Iterable[KernelVector]) -> list[Discrepancy]:
    """Vectors whose lemmas do not speak of what computes the rows."""
    return [
        Discrepancy("vector", f"{v.name}: {lemma} says nothing of what computes {v.rows}")
        for v in wanted
        for lemma in v.lemmas
        if not audit.definitions[v.rows].mentions & audit.others[lemma].mentions
    ]


def witness_findings(audit: Audit, assumptions: Mapping[str, str], whole: bool) -> list[Discrepancy]:
    """Premises that nothing shows to be possible. `whole`: all tags were audited, so that no witness is idle."""
    asking: dict[str, list[str]] = {}
    for tagged, said in audit.theorems.items():
        for predicate in audit.asked(said):
            asking.setdefault(predicate, []).append(tagged.tag)
    found = []
    for predicate in sorted(audit.needed(asking)):
        text = _unmet(audit, predicate, assumptions)
        if text:
            found.append(Discrepancy("witness", f"{predicate}: {text}", tuple(asking.get(predicate, ()))))
    if whole:
        idle = sorted(audit.table.keys() - audit.needed(asking))
        found += [Discrepancy("witness", f"{predicate}: no premise needs this witness") for predicate in idle]
    return found


def _unmet(audit: Audit, predicate: str, assumptions: Mapping[str, str]) -> str:
    """Why nothing shows that a predicate is not empty; nothing if something does."""
    witness = audit.table.get(predicate)
    if witness is None:
        return "has no witness in witnesses.toml"
    if bool(witness.lemma) == bool(witness.assumption):
        return "give a lemma or an assumption"
    if witness.assumption:
        return "" if witness.assumption in assumptions else f"the assumption {witness.assumption} is not defined"
    if witness.lemma not in audit.witnesses:
        return f"there is no lemma {witness.lemma}"
    lemma = audit.witnesses[witness.lemma]
    if set(lemma.axioms) - set(ALLOWED):
        return f"{lemma.name} rests on {', '.join(sorted(set(lemma.axioms) - set(ALLOWED)))}"
    if not establishes(lemma.conclusion, predicate):
        return f"{lemma.name} does not conclude it"
    if predicate in audit.needed(audit.premises(lemma)):
        return f"{lemma.name} needs it: circular"
    return ""


def face_findings(folder: Path) -> list[Discrepancy]:
    """Without Rocq: what is wrong with the sources on their face."""
    texts = sources.files(folder)
    found = [Discrepancy("token", text) for text in sources.project_problems(folder)]
    found += [Discrepancy("token", told) for file, text in texts.items() for told in sources.banned(file, text)]
    return found + [Discrepancy("link", text) for text in sources.tagged(texts)[1]]


def stale(lock: Lock, now: Lock) -> list[Discrepancy]:
    """Whatever else in the lock is not what an audit of all theorems writes; the tools may be others."""
    same = {**lock, "tools": {}} == {**now, "tools": {}}
    return [] if same else [Discrepancy("source", "proofs/rocq.lock.json is not what the audit writes")]


def source_findings(proofs: Path) -> list[Discrepancy]:
    """Without Rocq: are the sources, and their tags, those that were audited?"""
    lock, folder = read(proofs), proofs / "rocq"
    now, then = sources.digests(folder), lock.get("sources", {})
    found = [
        Discrepancy("source", f"proofs/rocq/{name} is not what was audited")
        for name in sorted(now.keys() | then.keys())
        if now.get(name) != then.get(name)
    ]
    if sources.sha256(_exported(proofs)) != lock.get("vectors", {}).get("exported"):
        found.append(Discrepancy("vector", "proofs/vectors.json is not what the kernel evaluated"))
    tags, locked = sources.tagged(sources.files(folder))[0], lock.get("theorems", {})
    found += [Discrepancy("link", f"{tag} is not in the lock", (tag,)) for tag in tags if tag not in locked]
    return found + [Discrepancy("link", f"{tag} is in the lock, but no longer in the proofs", (tag,))
                    for tag in locked if tag not in tags]  # fmt: skip


def _exported(proofs: Path) -> str:
    path = path_of_vectors(proofs)
    return path.read_text(encoding="utf-8") if path.exists() else ""


def changes(old: Lock, new: Lock) -> list[str]:
    """What a person has to read before a new lock is accepted, as lines."""
    lines = []
    for kind, text in (("theorems", "statement"), ("definitions", "text"), ("witnesses", "lemma")):
        then, now = old.get(kind, {}), new[kind]
        for name in sorted(then.keys() | now.keys()):
            if then.get(name) != now.get(name):
                lines.append(f"{kind.removesuffix('s').replace('witnesse', 'witness')} {name}")
                lines += [f"  - {then[name].get(text, then[name])}"] if name in then else []
                lines += [f"  + {now[name].get(text, now[name])}"] if name in now else []
    return lines
