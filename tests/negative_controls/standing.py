"""List the negative controls that an audit with the default options does not refute, with the reason.

A test fails if the list lacks such a negative control, or contains another one.
"""

from collections.abc import Mapping

ROUNDED = (
    "each row is rounded on its own, so the output is still private; the law changes little, and nobody measured how "
    "many draws would show this"
)
NOTED = "the audit reports the mistake, but does not count it as a refutation of the claim"
WRONG_CALL = "the output has a wrong shape, perhaps because the call is wrong, so the audit makes no further checks"
STEERS = "the step affects a choice that is almost certain on the data of the audit"

STANDING: Mapping[str, str] = {
    "gaussian-redrawn-at-six": "P(|N| > 6) = 2e-9 for normal noise N, far below δ; about 10¹⁰ draws would show it",
    "uniforms-of-16-bits": "values repeat no more often than the audit allows for outputs that were rounded to float32",
    "adaptive-pure-trace-bare": f"{STEERS}; for up to 256 columns, the noise of the trace has an effect only for some "
    "clipping lengths, and the search chooses one of these with a probability below 1e-3",
    "em-cov-in-16-bits": ROUNDED,
    "matrix-bingham-in-16-bits": ROUNDED,
    "learner-noise-shared": f"{STEERS}; on data for which this choice is uncertain, the mean alone and the covariance "
    "alone have the correct law, so only a test of both together would show the mistake",
    "upper-triangle-only": f"INCONCLUSIVE, exit 3: {WRONG_CALL}",
    "accepts-anything": NOTED,
    "silences-numpy": NOTED,
    "keeps-the-rows": NOTED,
    "tells-the-mean": NOTED,
    "overflows-at-six": "the target raises an exception only for noise beyond 6.5 standard deviations, which has "
    f"probability 1e-10; an audit can replace the random numbers by such noise, and then {NOTED}",
    "slow-in-high-dimension": f"the number of columns is public: {NOTED}",
    "error-tells-the-norm": "a release may refuse long rows, and the audit does not read the words of an exception",
}
