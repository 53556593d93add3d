"""Read news commentary in the published format, where an empty line separates articles and each paragraph is one line.

As the authors' code for DLY22 does, the module drops articles of fewer than 20 tokens, and hashes words into d columns.
The rows are either scaled to norm 1 or divided by the largest norm of a row. The largest norm is read from the data, so
no privacy guarantee covers the division by it.
"""

import re
from functools import cache
from pathlib import Path

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.errors import InvalidInput
from covassay.verification.experiments.data.files import SCIKIT_LEARN, missing
from covassay.verification.experiments.data.idx import read_bytes
from covassay.verification.experiments.data.scaling import by_largest_norm

SEPARATORS = re.compile(r'[ ,;:!\n"?-]')
FEWEST_TOKENS = 20


@cache
def articles(path: Path) -> list[str]:
    """Return the articles that have at least 20 tokens."""
    try:
        text = read_bytes(path).decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidInput(f"{path}: is not text: must be articles separated by empty lines") from None
    found = [article for article in text.split("\n\n") if len(SEPARATORS.split(article)) >= FEWEST_TOKENS]
    if len(found) < 2:
        raise InvalidInput(
            f"{path}: has {len(found)} articles of at least {FEWEST_TOKENS} words: must have 2 or more, "
            "separated by empty lines"
        )
    return found


@cache
def counts(path: Path, d: int, unit: bool) -> Matrix:
    """Return the articles as hashed word counts in d columns, scaled to norm 1 if `unit`, and otherwise divided by the
    largest norm.
    """
    reason = missing(SCIKIT_LEARN, {})
    if reason:
        raise InvalidInput(f"data = 'news': {reason}")
    from sklearn.feature_extraction.text import HashingVectorizer

    hashed = HashingVectorizer(n_features=d, norm="l2" if unit else None, alternate_sign=False)
    rows = np.asarray(hashed.transform(articles(path)).toarray(), dtype=np.float64)
    return rows if unit else by_largest_norm(rows)
