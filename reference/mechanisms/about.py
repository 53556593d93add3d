"""What every mechanism says about itself, in one form."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from covassay.reference.privacy import Spend

Calibration = Literal["paper", "tight"]


@dataclass(frozen=True)
class About:
    """The entry of one mechanism in the table of contents.

    `release`, `sample` and `spend` are the functions of the mechanism's file. `released` says what comes out:
    a "matrix" of shape (d, d), an estimate of the second moment, or a "direction", a unit vector of
    shape (d,). `calibrations` is empty where the paper leaves no slack.
    """

    name: str
    title: str
    source: str
    notion: Literal["pure", "zcdp", "approximate"]
    released: Literal["matrix", "direction"]
    symmetric: bool
    calibrations: tuple[Calibration, ...]
    release: Callable[..., Any]
    sample: Callable[..., Any]
    spend: Callable[..., Spend]
    adjacency: str = "replace-one"
    variants: tuple[str, ...] = ()
