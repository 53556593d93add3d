"""Negative controls whose noise is too small or too large by 3 % to a factor of 2.

A relative error r of the scale is detected in N independent numbers if N r² is about 100. An error of 3 % in a scale
therefore needs 10⁵ numbers to be detected, and an error of 10 % needs 10⁴. If an audit makes fewer draws, the control
is not refuted (see `standing`).
"""

from tests.negative_controls.broken import broken, other_noise, part, times


def _scaled(name: str, mechanism: str, factor: float, why: str) -> object:
    return other_noise(name, mechanism, f"Has {factor:.3g} times the noise: {why}.", times(factor))


NEGATIVE_CONTROLS = (
    _scaled("laplace-97", "laplace", 0.97, "a constant was rounded"),
    _scaled("laplace-n-minus-one", "laplace", 0.9, "nine folds of ten are counted"),
    _scaled("gaussian-97", "gaussian", 0.97, "a constant was rounded"),
    _scaled("gaussian-110", "gaussian", 1.1, "a safety margin that nobody documented"),
    _scaled("gaussian-approximate-95", "gaussian-approximate", 0.95, "an approximation of the quantile"),
    _scaled("gauss-cov-97", "gauss-cov", 0.97, "a constant was rounded"),
    _scaled("gauss-cov-root-two", "gauss-cov", 2**0.5, "the budget is halved twice"),
    _scaled("gauss-cov-approximate-103", "gauss-cov-approximate", 1.03, "a constant was rounded"),
    _scaled("lap-cov-97", "lap-cov", 0.97, "a constant was rounded"),
    _scaled("entrywise-95", "entrywise-laplace", 0.95, "the sensitivity is fitted to the data at hand"),
    _scaled("nuclear-97", "nuclear-laplace", 0.97, "a constant was rounded"),
    _scaled("nuclear-symmetric-103", "nuclear-laplace-symmetric", 1.03, "a constant was rounded"),
    _scaled("k-norm-95", "k-norm", 0.95, "the radius is that of dimension D − ½"),
    _scaled("centred-95", "centred-covariance", 0.95, "n + 1 is used in the sensitivity at n = 20"),
    _scaled("centred-70", "centred-covariance", 0.7, "the factor 1 − 1/n of the centred sensitivity is squared away"),
    _scaled("trace-95", "private-trace", 0.95, "a constant was rounded"),
    _scaled("trace-two", "private-trace", 2.0, "the trace is given half of its budget"),
    _scaled("ridge-90", "output-perturbation", 0.9, "α is added to the gradient bound"),
    _scaled("separate-90", "separate-cov", 0.9, "the budget is split 60 : 60"),
    _scaled("separate-pure-80", "separate-cov-pure", 0.8, "the budget is split 60 : 60"),
    _scaled("projection-90", "projection-mechanism", 0.9, "the projection is said to save noise"),
    _scaled("ball-projection-80", "nuclear-ball-projection", 0.8, "the budget is split 60 : 60"),
    _scaled("image-90", "johnson-lindenstrauss", 0.9, "the norm of the image is taken for that of the row"),
    _scaled("naive-pce-90", "naive-pce", 0.9, "r² lacks its last term"),
    _scaled("coinpress-mean-70", "coinpress-mean", 0.7, "the radius stands for the diameter, nearly"),
    _scaled("coinpress-covariance-70", "coinpress-covariance", 0.7, "the radius stands for the diameter, nearly"),
    _scaled("kv-mean-80", "kv-mean", 0.8, "w is too narrow"),
    _scaled("ppc-half", "ppc", 0.5, "every round spends the whole budget"),
    _scaled("weak-ppc-half", "weak-ppc", 0.5, "the sensitivity is halved"),
    _scaled("pgce-half", "pgce", 0.5, "the budget is spent twice"),
    _scaled("naive-pme-half", "naive-pme", 0.5, "the budget is spent twice"),
    _scaled("pme-half", "pme", 0.5, "the budget is spent twice"),
    _scaled("gaussian-learner-half", "gaussian-learner", 0.5, "the budget is spent twice"),
    _scaled("ppde-half", "ppde", 0.5, "the cube's diameter is halved"),
    _scaled("em-cov-half", "em-cov", 0.5, "the eigenvalues get the whole budget"),
    _scaled("clipped-cov-80", "clipped-cov", 0.8, "the threshold is said to be free"),
    _scaled("adaptive-cov-half", "adaptive-cov", 0.5, "the steps are charged once"),
    _scaled("adaptive-cov-pure-half", "adaptive-cov-pure", 0.5, "the steps are charged once"),
    _scaled("image-image-90", "johnson-lindenstrauss-image", 0.9, "the norm of the image is taken for that of the row"),
    _scaled("sparse-vector-80", "above-threshold", 0.8, "both scales are rounded down"),
    _scaled("radius-half", "private-radius", 0.5, "the queries are said to be monotone"),
    broken("bingham-twice", "bingham", "Doubles the exponent: ε/2 in the paper's calibration.", budget=2.0),
    broken("bingham-110", "bingham", "Multiplies the exponent by 1.1.", budget=1.1),
    broken(
        "exponential-half",
        "exponential",
        "Halves the exponent, which is private but less accurate than promised.",
        budget=0.5,
    ),
    broken("exponential-120", "exponential", "Multiplies the exponent by 1.2.", budget=1.2),
    broken("deflation-twice", "kapralov-talwar", "Doubles the budget.", budget=2.0),
    broken("iterative-twice", "iterative-eigenvectors", "Doubles the budget.", budget=2.0),
    other_noise(
        "iterative-80",
        "iterative-eigenvectors",
        "Has 0.8 times the noise of the eigenvalues.",
        part("eigenvalues", lambda z: 0.8 * z),
    ),
)
