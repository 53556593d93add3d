"""Negative controls whose noise is too small or too large. The scale of the noise, or the exponent of its density, is
wrong by at least 3 %, and by at most a factor of 2.

A relative error r of the noise scale is detected from N independent noise variables if N r² is about 100. So an error
of 3 % needs 10⁵ variables, and an error of 10 % needs 10⁴. If an audit makes fewer draws, it does not reject the
negative control (see the module `standing`).
"""

from tests.negative_controls.broken import broken, other_noise, part, times


def _scaled(name: str, mechanism: str, factor: float, why: str) -> object:
    return other_noise(name, mechanism, f"Multiply the noise by {factor:.3g}, because {why}.", times(factor))


NEGATIVE_CONTROLS = (
    _scaled("laplace-97", "laplace", 0.97, "a constant was rounded"),
    _scaled("laplace-n-minus-one", "laplace", 0.9, "the sensitivity is multiplied by (n − 1)/n for n = 10"),
    _scaled("gaussian-97", "gaussian", 0.97, "a constant was rounded"),
    _scaled("gaussian-110", "gaussian", 1.1, "the code has a safety margin that nobody documented"),
    _scaled("gaussian-approximate-95", "gaussian-approximate", 0.95, "a normal quantile is approximated"),
    _scaled("gauss-cov-97", "gauss-cov", 0.97, "a constant was rounded"),
    _scaled("gauss-cov-root-two", "gauss-cov", 2**0.5, "the budget is halved twice"),
    _scaled("gauss-cov-approximate-103", "gauss-cov-approximate", 1.03, "a constant was rounded"),
    _scaled("lap-cov-97", "lap-cov", 0.97, "a constant was rounded"),
    _scaled("entrywise-95", "entrywise-laplace", 0.95, "the sensitivity is fitted to the data at hand"),
    _scaled("nuclear-97", "nuclear-laplace", 0.97, "a constant was rounded"),
    _scaled("nuclear-symmetric-103", "nuclear-laplace-symmetric", 1.03, "a constant was rounded"),
    _scaled("k-norm-95", "k-norm", 0.95, "the radius is drawn for dimension D − ½ in place of D"),
    _scaled("centred-95", "centred-covariance", 0.95, "the sensitivity is computed with n + 1 in place of n = 20"),
    _scaled("centred-70", "centred-covariance", 0.7, "the assumed sensitivity of the centred covariance is too small"),
    _scaled("trace-95", "private-trace", 0.95, "a constant was rounded"),
    _scaled("trace-two", "private-trace", 2.0, "the trace is given half of its budget"),
    _scaled("ridge-90", "output-perturbation", 0.9, "the strong convexity α is taken to be larger than it is"),
    _scaled("separate-90", "separate-cov", 0.9, "each of two steps gets 60 % of the budget"),
    _scaled("separate-pure-80", "separate-cov-pure", 0.8, "each of two steps gets 60 % of the budget"),
    _scaled("projection-90", "projection-mechanism", 0.9, "the projection is assumed to reduce the sensitivity"),
    _scaled("ball-projection-80", "nuclear-ball-projection", 0.8, "each of two steps gets 60 % of the budget"),
    _scaled("image-90", "johnson-lindenstrauss", 0.9, "the norm of the image is confused with the norm of the row"),
    _scaled("naive-pce-90", "naive-pce", 0.9, "the last term of the squared radius is omitted"),
    _scaled("coinpress-mean-70", "coinpress-mean", 0.7, "1.4 times the radius replaces the diameter"),
    _scaled("coinpress-covariance-70", "coinpress-covariance", 0.7, "1.4 times the radius replaces the diameter"),
    _scaled("kv-mean-80", "kv-mean", 0.8, "the noise is calibrated to an interval shorter than the clipping interval"),
    _scaled("ppc-half", "ppc", 0.5, "every round spends the whole budget"),
    _scaled("weak-ppc-half", "weak-ppc", 0.5, "the sensitivity is halved"),
    _scaled("pgce-half", "pgce", 0.5, "the budget is spent twice"),
    _scaled("naive-pme-half", "naive-pme", 0.5, "the budget is spent twice"),
    _scaled("pme-half", "pme", 0.5, "the budget is spent twice"),
    _scaled("gaussian-learner-half", "gaussian-learner", 0.5, "the budget is spent twice"),
    _scaled("ppde-half", "ppde", 0.5, "the cube's diameter is halved"),
    _scaled("em-cov-half", "em-cov", 0.5, "the eigenvalues and the directions each get the whole budget"),
    _scaled("clipped-cov-80", "clipped-cov", 0.8, "the choice of the threshold is assumed to cost nothing"),
    _scaled("adaptive-cov-half", "adaptive-cov", 0.5, "all steps together are charged as one step"),
    _scaled("adaptive-cov-pure-half", "adaptive-cov-pure", 0.5, "all steps together are charged as one step"),
    _scaled(
        "image-image-90",
        "johnson-lindenstrauss-image",
        0.9,
        "the norm of the image is confused with the norm of the row",
    ),
    _scaled("sparse-vector-80", "above-threshold", 0.8, "both scales are rounded down"),
    _scaled("radius-half", "private-radius", 0.5, "the queries are assumed to be monotone"),
    broken("bingham-twice", "bingham", "Double the exponent.", budget=2.0),
    broken("bingham-110", "bingham", "Multiply the exponent by 1.1.", budget=1.1),
    broken(
        "exponential-half",
        "exponential",
        "Halve the exponent, which is private but less accurate than it should be.",
        budget=0.5,
    ),
    broken("exponential-120", "exponential", "Multiply the exponent by 1.2.", budget=1.2),
    broken("deflation-twice", "kapralov-talwar", "Double the budget.", budget=2.0),
    broken("iterative-twice", "iterative-eigenvectors", "Double the budget.", budget=2.0),
    other_noise(
        "iterative-80",
        "iterative-eigenvectors",
        "Multiply the noise of the eigenvalues by 0.8.",
        part("eigenvalues", lambda z: 0.8 * z),
    ),
)
