"""The published Wishart mechanism as a negative control; `verification.exact.wishart` proves that it is not private."""

from covassay.verification.exact.wishart import draw_wishart
from tests.negative_controls.negative_control import vectorised

NEGATIVE_CONTROLS = (
    vectorised(
        "wishart",
        "Adds noise that is always positive definite, so that no output lies below Σ.",
        (("privacy", "event"),),
        draw_wishart,
        mechanism="nuclear-laplace-symmetric",
        seen_in="Jiang, Xie and Zhang 2016",
    ),
)
