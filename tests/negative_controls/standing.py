"""List the negative controls that an audit with the defaults does not refute: the reason, and what would refute them.

A test requires that the list has all controls that are not refuted, and no others. A control that a new check refutes
is removed from the list.
"""

from collections.abc import Mapping

ROUNDED = (
    "each row is rounded by itself, which keeps the claim and moves the law little; the draws needed: not measured"
)
NOTED = "it is noted and does not turn the verdict"
WRONG_CALL = "another shape in every dimension may come from a wrong call, so that no question is asked"
STEERS = "the step steers a choice that the data decide clearly"

STANDING: Mapping[str, str] = {
    "gaussian-redrawn-at-six": "P(|N| > 6) = 2e-9, far below the δ of its claim; about 10¹⁰ draws would show it",
    "uniforms-of-16-bits": "16 bits repeat as often as float32 is allowed to: a finer allowance would do",
    "adaptive-pure-trace-bare": f"{STEERS}; where the noise on the trace has a part in it, the search ends with a "
    "probability below 1e-3, for up to 256 columns",
    "em-cov-in-16-bits": ROUNDED,
    "matrix-bingham-in-16-bits": ROUNDED,
    "learner-noise-shared": f"{STEERS}; mean and covariance have the right laws near it too, each alone: a joint "
    "statistic would do",
    "naive-pce-two-decimals": "each row is rounded by itself, which keeps the claim and moves the law by 0.005 at most",
    "upper-triangle-only": f"INCONCLUSIVE, exit 3: {WRONG_CALL}",
    "accepts-anything": NOTED,
    "silences-numpy": NOTED,
    "keeps-the-rows": NOTED,
    "tells-the-mean": NOTED,
    "overflows-at-six": f"it needs a draw of probability 1e-10, which a forced draw shows: {NOTED}",
    "slow-in-high-dimension": f"the dimension is public: {NOTED}",
    "image-image-90": "10 % of a scale behind a fitted matrix: more than 10⁴ draws",
    "error-tells-the-norm": "refusing long rows is a public precondition; the words of an exception are not read",
}
