"""Test nuclear-Laplace perturbation, full and symmetric: the laws of the release and of the noise.

Statistical tests have fixed seeds: with a random seed, each comparison with a correct law would raise a false alarm
with probability at most 1e-9 (Kolmogorov's exact p-value).
"""

from types import ModuleType

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from covassay.reference.laws import nuclear_laplace as law
from covassay.reference.mechanisms.pure import nuclear_laplace, nuclear_laplace_symmetric
from covassay.verification.statistics.tests import kolmogorov_smirnov
from tests.conventions import FALSE_ALARM

MODULES = pytest.mark.parametrize(
    ("module", "symmetric"), [(nuclear_laplace, False), (nuclear_laplace_symmetric, True)], ids=["full", "symmetric"]
)

# two rows, Σ = [[.68, .24], [.24, .32]] by hand: ((.36 + 1)/2, .48/2; .64/2)
X = np.array([[0.6, 0.8], [1.0, 0.0]])
SIGMA = np.array([[0.68, 0.24], [0.24, 0.32]])


# The draws


def standardised_norms(module: ModuleType, epsilon: float, assumed: float) -> NDArray[np.float64]:
    """Return the nuclear norms of (release/r² − Σ)/ρ over 3000 draws, with the ρ of the `assumed` ε."""
    noise = module.draw_noise(2, np.random.default_rng(11), 3000)
    released = np.array([module.release(3 * X, z, epsilon=epsilon, row_bound=3) for z in noise])
    norms: NDArray[np.float64] = law.nuclear_norm((released / 9 - SIGMA) / (2 / (2 * assumed)))
    return norms


@pytest.mark.thorough
@MODULES
def test_draws_scatter_about_the_second_moment_by_the_stated_law(module: ModuleType, symmetric: bool) -> None:
    gamma = stats.gamma(3 if symmetric else 4)  # d(d + 1)/2 and d² at d = 2
    assert kolmogorov_smirnov(standardised_norms(module, 0.7, 0.7), gamma.cdf, "Gamma").p_value > FALSE_ALARM
    assert kolmogorov_smirnov(standardised_norms(module, 0.7, 1.4), gamma.cdf, "mutant").p_value < FALSE_ALARM


@MODULES
def test_the_noise_that_is_drawn_is_the_law_of_the_module(module: ModuleType, symmetric: bool) -> None:
    for size in (None, 4):
        noise = module.draw_noise(3, np.random.default_rng(5), size)
        np.testing.assert_array_equal(noise, law.sample(3, np.random.default_rng(5), size, symmetric))
    drawn = module.sample(np.eye(3), np.random.default_rng(5), epsilon=1)
    given_noise = module.release(np.eye(3), module.draw_noise(3, np.random.default_rng(5)), epsilon=1)
    np.testing.assert_array_equal(drawn, given_noise)


def test_symmetric_noise_costs_less_in_mean_square_at_the_same_scale() -> None:
    # exact: 25/3 against 15 at d = 2, and half in the limit (π²/24 against π²/12 per d³ after symmetrising)
    for d in (2, 5, 30):
        full, symmetric = (law.mean_power_sum(d, 2, kind) for kind in (False, True))
        assert symmetric < full * (1 + 1 / d) / 2  # even the symmetrised full noise has more
