"""Deliberate mistakes in `from_the_pages.py`. A flag of a test vector names a mistake that the test vector detects. The
table has a mistake for every flag, and names the flags whose tests must fail because of this mistake.
"""

import tomllib
from pathlib import Path

SOURCE = Path(__file__).with_name("from_the_pages.py").read_text(encoding="utf-8")
_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
# For every flag: a passage of the code, the wrong text that replaces it, and the other flags whose tests fail then.
OF_THE_PAGES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    flag: (mutant["old"], mutant["new"], tuple(mutant["fails"])) for flag, mutant in _TABLE["mutant"].items()
}
# For every flag: a passage of the code, and a text that replaces it, so that a result is wrong by 3 %.
THREE_PERCENT: dict[str, tuple[str, str]] = {
    flag: (mutant["old"], mutant["new"]) for flag, mutant in _TABLE["three_percent"].items()
}
