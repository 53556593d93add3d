"""The published Wishart mechanism as a negative control; `verification.exact.wishart` shows why it is not private."""

from covassay.verification.audit.negative_controls.negative_control import vectorised
from covassay.verification.exact.wishart import draw_wishart

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
