"""Bad arguments that both CoinPress mechanisms refuse, given noise for three steps."""

from typing import Any

BAD_ARGUMENTS: list[tuple[dict[str, Any], str]] = [
    ({"steps": 0}, "steps = "),
    ({"steps": 2.5}, "steps = "),
    ({"beta": 1.0}, "beta = "),
    ({"constants": "Code"}, "constants = "),
    ({"steps": 2}, "noise of shape"),
]
