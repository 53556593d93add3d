"""Draw unit vectors with density ∝ exp(uᵀMu) (the Bingham law) by rejection sampling, in interval arithmetic.

Each number is a ball, that is, an interval that contains the exact number. A comparison is decided only if all numbers
in the balls give the same answer; otherwise the computation is repeated at a higher precision (`balls.py`).

The rejection sampling of `laws.bingham` is used in a form that needs no eigenvectors. The envelope of `laws.bingham`
has two parameters, b and the λ in A = λI − M. Only s = λ + b/2 matters, because Ω = I + 2A/b is 2(sI − M)/b. This
module takes b = q, where q is the dimension, and λ = s − q/2. Then Ω is 2(sI − M)/q. The formula in `laws.bingham`, at
y = uᵀAu and b = q, gives the acceptance probability of u. (The formula is at most 1 for every y > −q/2, as −y +
(q/2) ln(1 + 2y/q) has its maximum 0 at y = 0.) Every s above the largest eigenvalue gives the right law.

The best s solves tr (sI − M)^{−1} = 2. Any larger s is valid too, but s must be the same at every precision. Let V be a
separate uniform number. Of the numbers (k + V)/4 with an integer k, the module takes the smallest one that is larger
than the best s. Each comparison in the search for this number is decided with certainty, by balls. The number V has a
density, so whatever M is, with probability 1 none of the numbers (k + V)/4 is the root or an eigenvalue, and no
decision is a tie.
"""

from flint import arb, arb_mat

from covassay.reference.laws import bingham as law
from covassay.reference.rounded.balls import is_negative, less, sum_of_squares
from covassay.reference.rounded.bits import Uniforms
from covassay.reference.rounded.noise import normals

STEPS = 4  # the candidates for s are (k + V)/STEPS, with integers k


def bingham(m: arb_mat, uniforms: Uniforms) -> list[arb]:
    """Return a unit vector with density ∝ exp(uᵀMu), for a symmetric M."""
    q = m.nrows()
    if q == 1:
        return [arb(-1 if uniforms.coin() else 1)]
    factor = _envelope(m, uniforms.uniform())
    while True:
        z = _solved_transposed(factor, normals(q, uniforms))
        length = sum_of_squares(z).sqrt()
        u = [value / length for value in z]
        # uᵀ(sI − M)u = ‖Lᵀu‖², and y = uᵀAu is ‖Lᵀu‖² − q/2
        stretched = arb_mat([u]) * factor
        y = (stretched * stretched.transpose())[0, 0] - arb(q) / 2
        if less(uniforms.uniform().log(), law.log_acceptance(y, arb(q), arb(q), arb.log)):
            return u


def _envelope(m: arb_mat, offset: arb) -> arb_mat:
    """Return the Cholesky factor of sI − M, for the smallest s = (k + offset)/STEPS above the largest eigenvalue of M
    with tr (sI − M)^{−1} < 2.
    """
    # In the last loop, s is too small for k = below, and large enough for k = above.
    above = 1
    while _good_factor(m, above + offset) is None:
        above *= 2
    below = -1
    while _good_factor(m, below + offset) is not None:
        below *= 2
    while above - below > 1:
        middle = (above + below) // 2
        if _good_factor(m, middle + offset) is None:
            below = middle
        else:
            above = middle
    factor = _good_factor(m, above + offset)
    assert factor is not None
    return factor


def _good_factor(m: arb_mat, steps: arb) -> arb_mat | None:
    """Return the Cholesky factor of sI − M for s = steps/STEPS if s > λ_max(M) and tr (sI − M)^{−1} < 2, and otherwise
    None.
    """
    shifted = -m
    for i in range(m.nrows()):
        shifted[i, i] += steps / STEPS
    factor = cholesky(shifted)
    if factor is None:
        return None
    trace = sum_of_squares(factor.inv().entries())
    return factor if less(trace, 2) else None


def cholesky(m: arb_mat) -> arb_mat | None:
    """Return the lower triangular L with LLᵀ = M for a symmetric M, or None if M is certainly not positive definite."""
    q = m.nrows()
    lower = arb_mat(q, q)
    for j in range(q):
        pivot = m[j, j] - sum_of_squares(lower[j, k] for k in range(j))
        if is_negative(pivot):
            return None
        lower[j, j] = pivot.sqrt()
        for i in range(j + 1, q):
            lower[i, j] = (m[i, j] - sum((lower[i, k] * lower[j, k] for k in range(j)), arb(0))) / lower[j, j]
    return lower


def _solved_transposed(lower: arb_mat, right: list[arb]) -> list[arb]:
    """Return the z with Lᵀz = right; if right is N(0, I), then z is N(0, (LLᵀ)^{−1})."""
    q = lower.nrows()
    z = list(right)
    for i in reversed(range(q)):
        z[i] = (right[i] - sum((lower[k, i] * z[k] for k in range(i + 1, q)), arb(0))) / lower[i, i]
    return z
