"""Deliberate mistakes in `from_the_pages.py`. The table has one mistake for every flag of the test vectors, and names
the flags whose tests must fail.
"""

import tomllib
from pathlib import Path

SOURCE = Path(__file__).with_name("from_the_pages.py").read_text(encoding="utf-8")
_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
# maps a flag to a passage of the code, its wrong version, and the other flags whose tests fail too
OF_THE_PAGES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    flag: (mutant["old"], mutant["new"], tuple(mutant["fails"])) for flag, mutant in _TABLE["mutant"].items()
}
# maps a flag to a passage of the code, and to a version that is wrong by 3 %
THREE_PERCENT: dict[str, tuple[str, str]] = {
    flag: (mutant["old"], mutant["new"]) for flag, mutant in _TABLE["three_percent"].items()
}
