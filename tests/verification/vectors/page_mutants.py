"""Mutants of `from_the_pages.py`: for every flag, a mistake in the code and the flags whose tests must fail."""

import tomllib
from pathlib import Path

SOURCE = Path(__file__).with_name("from_the_pages.py").read_text(encoding="utf-8")
_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
# Each flag names a mistake: (text of from_the_pages.py, its wrong replacement, other flags whose tests fail too)
OF_THE_PAGES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    flag: (mutant["old"], mutant["new"], tuple(mutant["fails"])) for flag, mutant in _TABLE["mutant"].items()
}
# Each flag names a mistake of 3 %: (text of from_the_pages.py, its wrong replacement)
THREE_PERCENT: dict[str, tuple[str, str]] = {
    flag: (mutant["old"], mutant["new"]) for flag, mutant in _TABLE["three_percent"].items()
}
