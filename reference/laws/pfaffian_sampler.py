"""Sample exactly from a Pfaffian ensemble, one point at a time, by the Pfaffian chain rule.

This file draws one sample, as simply as possible. The module `pfaffian_chains` draws many samples from the same
formulas, and is faster.

THE LAW is that of N points with the joint density |det φ_j(x_i)| / (Pf A · N!) of `pfaffian_ensemble`, with N basis
functions φ = (φ_1, …, φ_N), in exchangeable (random) order. As in the module `pfaffian_ensemble`, G is the
antiderivative of φ, τ = G(∞), Eφ(x) = ∫ sgn(t − x) φ(t) dt = τ − 2G(x), and A_jk = ∫ φ_j Eφ_k. For odd N there is one
more basis function, with φ = 0 and Eφ = 1 at every finite x. For odd N the matrix A is therefore extended to [[A, τ],
[−τᵀ, 0]]. D is the size of A. The line is cut into panels, each with the m nodes of a Gauss–Legendre quadrature.

THE ALGORITHM is the chain rule of probability: draw the first point from its marginal law, then every further point
from its law given the points already drawn. No Markov chain has to converge, and every step is exact up to rounding
(see the end). Let ρ_k(q_1, …, q_k) be N!/(N − k)! times the joint density of the first k points. Given q_1, …, q_k, the
next point has the density f_k(x)/(N − k), where f_k is the conditional intensity

    f_k(x) = ρ_{k+1}(q_1, …, q_k, x) / ρ_k(q_1, …, q_k).

The integral of f_k is N − k. With k points held fixed, de Bruijn's formula says ρ_k = |Pf M_k / Pf A|. The
antisymmetric matrix M_k is A with two more columns, a(q) and −b(q), for every point q that was drawn, and with the two
rows that make the matrix antisymmetric. These columns with their rows are called the borders a(q) and b(q). For one
point the matrix is

    M_1 = [[A, a, −b], [−aᵀ, 0, 0], [bᵀ, 0, 0]].

The (k + 1)-th point x adds the two columns a(x) and −b(x). In the k rows that belong to a(q_1), …, a(q_k), their
entries are 0. The other D + k rows belong to the D basis functions and then to b(q_1), …, b(q_k). In these rows we have

    a(x) = (φ(x), 0, …, 0),   b(x) = (E(x), sgn(q_1 − x), …, sgn(q_k − x)),   E(x) = (Eφ(x), [1 if N is odd]).

Hence f_k(x) is a ratio of two Pfaffians; the matrix in the numerator has one more pair of rows and columns. A Schur
complement evaluates the ratio:

    f_k(x) = −a(x)ᵀ μ b(x).

The matrix μ has the size D + k. It is a submatrix of M_k^{−1}: its rows and columns belong to the D basis functions and
to the k borders b(q). The rest of M_k^{−1}, in the rows or columns of the borders a(q), is not needed, because the
borders of a later point x are 0 there. At the start μ is A^{−1}. The Schur complement also gives the new μ once a new
point p is drawn. The change is an update of rank two:

    c₁ = μ a(p),  c₂ = μ b(p),  f_k(p) = −a(p)ᵀ c₂;    append 0 to c₁, 1 to c₂, and a zero row and column to μ;
    μ ← μ + (c₁ c₂ᵀ − c₂ c₁ᵀ) / f_k(p).

TO DRAW FROM f_k, solve F_k(x) = u F_k(∞), with F_k(x) = ∫_{−∞}^x f_k and u uniform on [0, 1]. Call the panel edges and
the earlier points "breakpoints". Between two neighbouring breakpoints all signs are constant and f_k is analytic, so
that Gauss–Legendre quadrature integrates it up to rounding. The points drawn are not restricted to the nodes. On the
interval that holds the solution x, f_k is replaced by its interpolating polynomial. The integral of this polynomial is
known exactly, and is inverted.

THE CERTIFICATE. Evaluate each ln f_k at the point drawn from f_k. The sum over k must equal ln ρ_N, which is computed
separately from the product formula for the joint density. `pfaffian_chains` checks every draw. This comparison depends
on the noise alone, never on data. It fails if μ or one of its updates is wrong. The comparison does not test how the
points were drawn (F_k and its inversion). Statistical tests in tests/reference/laws test how the points are drawn.

"Exact" means up to float64 rounding, and up to points outside all panels, which have probability below 1e-20 and are
never drawn.
"""

import numpy as np
import scipy

from covassay.reference.domain import Matrix, Vector
from covassay.reference.laws.panels import Panels, integrated
from covassay.reference.laws.pfaffian_ensemble import PfaffianEnsemble


def borders(ensemble: PfaffianEnsemble, drawn: Vector, x: Vector) -> tuple[Matrix, Matrix]:
    """Return a(x) and b(x) after the points `drawn`, a row for each x, (len(x), D + k) each."""
    phi, g = ensemble.values_at(x)
    at_infinity = np.ones((len(x), ensemble.order - ensemble.points))
    signs = np.sign(drawn - x[:, None])
    a = np.hstack([phi, 0 * at_infinity, 0 * signs])
    b = np.hstack([ensemble.totals - 2 * g, at_infinity, signs])
    return a, b


def inverted(f: Vector, goal: float) -> float:
    """Return the t ∈ [−1, 1] with ∫_{−1}^t f = goal, where the function f ≥ 0 is given by its values at the m nodes."""
    return float(scipy.optimize.brentq(lambda t: integrated(np.array(t)) @ f - goal, -1, 1, xtol=1e-15))


def draw_points(ensemble: PfaffianEnsemble, uniforms: Vector) -> Vector:
    """Return one sample of N points, shape (N,), computed from N numbers that are uniform on [0, 1], shape (N,)."""
    mu, drawn = ensemble.kernel, np.empty(0)
    for u in uniforms:
        # compute f_k at quadrature nodes between the breakpoints, and F_k at the breakpoints
        pieces = Panels(np.unique(np.concatenate([ensemble.panels.edges, drawn])))
        a, b = borders(ensemble, drawn, pieces.nodes.ravel())
        f = -((a @ mu) * b).sum(axis=1).reshape(pieces.nodes.shape)
        cumulative, _ = pieces.antiderivative(f)

        # the point x with F_k(x) = u F_k(∞)
        target = u * cumulative[-1]
        i = np.searchsorted(cumulative[1:-1], target)
        rest = (target - cumulative[i]) / pieces.half_widths[i]
        t = inverted(f[i], rest)
        x = pieces.edges[i] + pieces.half_widths[i] * (1 + t)

        # condition μ on x, and add x to the points drawn
        a, b = borders(ensemble, drawn, np.array([x]))
        c1, c2 = mu @ a[0], mu @ b[0]
        intensity = -a[0] @ c2
        c1, c2, mu = np.append(c1, 0), np.append(c2, 1), np.pad(mu, (0, 1))
        mu = mu + (np.outer(c1, c2) - np.outer(c2, c1)) / intensity
        drawn = np.append(drawn, x)
    return drawn
