"""List the negative controls that an audit with the default options does not refute, with the reason.

A test fails if the list lacks such a negative control, or contains another one.
"""

from collections.abc import Mapping

ROUNDED = "each row is rounded alone, which is private and changes the law little; the draws needed were not measured"
NOTED = "the audit reports the mistake, but does not refute the claim because of it"
WRONG_CALL = "the wrong shape may be due to a wrong call, so that no question is asked"
STEERS = "the step affects a choice that is almost certain on the data of the audit"

STANDING: Mapping[str, str] = {
    "gaussian-redrawn-at-six": "P(|N| > 6) = 2e-9 for normal noise N, far below δ; about 10¹⁰ draws would show it",
    "uniforms-of-16-bits": "numbers of 16 bits repeat no more often than the audit allows for float32",
    "adaptive-pure-trace-bare": f"{STEERS}; where the noise of the trace matters, the "
    "search ends with a probability below 1e-3, for up to 256 columns",
    "em-cov-in-16-bits": ROUNDED,
    "matrix-bingham-in-16-bits": ROUNDED,
    "learner-noise-shared": f"{STEERS}; also where the choice is close, the mean and "
    "the covariance each have the correct law, and only a joint statistic would show the mistake",
    "naive-pce-two-decimals": "each row is rounded alone, which is private and moves the law by at most 0.005",
    "upper-triangle-only": f"INCONCLUSIVE, exit 3: {WRONG_CALL}",
    "accepts-anything": NOTED,
    "silences-numpy": NOTED,
    "keeps-the-rows": NOTED,
    "tells-the-mean": NOTED,
    "overflows-at-six": f"a draw beyond 6.5 standard deviations has probability 1e-10, and must be forced: {NOTED}",
    "slow-in-high-dimension": f"the number of columns is public: {NOTED}",
    "image-image-90": "to see 10 % less noise behind a fitted matrix, more than 10⁴ draws are needed",
    "error-tells-the-norm": "a release may refuse long rows, and the audit does not read the words of an exception",
}
