"""The samplers of the reference draw from the laws that they name: goodness-of-fit tests with stated errors.

Every check has a fixed seed; over a random seed its false-alarm probability would be at most 1e-9. Kolmogorov–Smirnov
tests are two-sided and exact, and a check combines its p-values by Bonferroni's inequality. One test with n draws
detects a distance of 2√(ln(2/1e-9)/(2n)) between distribution functions with probability 1 − 1e-9 (Massart). This
distance is 0.15 for 2000 draws and 0.066 for 10 000. If k tests share the level, each at 1e-9/k, the distance that is
detected is slightly larger.
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from scipy import stats

from covassay.reference.domain import Matrix, Vector
from covassay.reference.laws import bingham, haar, nuclear_laplace, wigner
from covassay.reference.mechanisms import johnson_lindenstrauss
from covassay.verification.claims.evidence import Evidence, Formula, check, mutant
from covassay.verification.statistics.tests import TestResult, binomial, gamma_total, independence, kolmogorov_smirnov

LEVEL = 1e-9  # the false-alarm probability of a check
ALARM = f"false-alarm probability {LEVEL:g}"
DRAWS = 2000  # enough draws to detect a distance of 0.15 between distribution functions


def decided(tests: Iterable[TestResult]) -> Evidence:
    """Combine several tests: the evidence supports the claim if the smallest p-value is above `LEVEL` divided by the
    number of tests.
    """
    listed = list(tests)
    smallest = min(listed, key=lambda t: t.p_value)
    return Evidence(smallest.p_value * len(listed) > LEVEL, f"smallest p {smallest.p_value:.2g}: {smallest.null}")


def _laplace_entries(d: int, rng: np.random.Generator, size: int, symmetric: bool = False) -> Matrix:
    """Draw matrices with a deliberate error: the entries are independent Laplace variables, symmetrised on request."""
    draws: Matrix = rng.laplace(size=(size, d, d))
    return np.asarray((draws + draws.swapaxes(1, 2)) / 2) if symmetric else draws


@check("floating", scope=f"d ≤ 8, full and symmetric noise, {ALARM}")
@mutant("independent Laplace entries", sampler=_laplace_entries)
@mutant(
    "3 % more noise",
    sampler=lambda d, rng, size, symmetric=False: 1.03 * nuclear_laplace.sample(d, rng, size, symmetric=symmetric),
)
@mutant(
    "3 % less symmetric noise",
    sampler=lambda d, rng, size, symmetric=False: (
        nuclear_laplace.sample(d, rng, size, symmetric=symmetric) / (1.03 if symmetric else 1)
    ),
)
def gamma_radius(sampler: Formula = nuclear_laplace.sample) -> Evidence:
    """The nuclear norm of nuclear-Laplace noise follows Gamma(d²), or Gamma(d(d + 1)/2) if the noise is symmetric.

    The check makes Kolmogorov–Smirnov tests with 2000 draws each, 4000 at d = 8, and tests of the sum of the drawn
    norms, which follows a Gamma law too. At d = 8 an error of 3 % in the scale of the noise moves the sum of the norms
    by 11 standard deviations for symmetric noise, and by 15 for noise without symmetry ("full").
    """
    tests = []
    for d in (1, 2, 3, 8):
        for symmetric in (False, True):
            draws = 2 * DRAWS if d == 8 else DRAWS
            z = sampler(d, np.random.default_rng([11, d, symmetric]), draws, symmetric=symmetric)
            law = f"d = {d}, {'symmetric' if symmetric else 'full'}"

            def cdf(t: Vector, d: int = d, symmetric: bool = symmetric) -> Vector:
                return nuclear_laplace.nuclear_norm_cdf(d, t, symmetric)

            sizes = nuclear_laplace.nuclear_norm(z)
            tests += [
                kolmogorov_smirnov(sizes, cdf, law),
                gamma_total(sizes, nuclear_laplace.radius_shape(d, symmetric), f"the sum, {law}"),
            ]
    return decided(tests)


def _proportional_spectrum(d: int, rng: np.random.Generator, size: int, symmetric: bool = False) -> Matrix:
    """Draw spectra with a deliberate error: the radius has the right law, but the proportions are uniform on the
    simplex, without repulsion.
    """
    radius = rng.gamma(nuclear_laplace.radius_shape(d, symmetric), size=size)
    spectrum: Matrix = radius[:, None] * rng.dirichlet(np.ones(d), size)
    return spectrum


@check("floating", scope=f"d ≤ 12, full and symmetric noise, {ALARM}")
@mutant("no repulsion", sampler=_proportional_spectrum)
def spectral_law(sampler: Formula = nuclear_laplace.sample_spectrum) -> Evidence:
    """‖Z‖ of nuclear-Laplace noise follows its exact Pfaffian law, and ‖Z‖/‖Z‖_* is independent of ‖Z‖_*.

    Kolmogorov–Smirnov tests with 2000 draws each at d = 2, 5, 12 detect a distance of about 0.15 for the law of ‖Z‖.
    Fisher's exact test of independence, on the four quadrants around the medians, detects a quadrant whose share is
    0.08 away from 1/4 with probability 1 − 1e-9.
    """
    tests = []
    for d in (2, 5, 12):
        for symmetric in (False, True):
            spectrum = np.abs(sampler(d, np.random.default_rng([12, d, symmetric]), DRAWS, symmetric=symmetric))
            largest, radius = spectrum.max(axis=1), spectrum.sum(axis=1)
            law = f"d = {d}, {'symmetric' if symmetric else 'full'}"

            def cdf(t: Vector, d: int = d, symmetric: bool = symmetric) -> Vector:
                return nuclear_laplace.spectral_norm_cdf(d, t, symmetric)

            tests.append(kolmogorov_smirnov(largest, cdf, f"the spectral norm, {law}"))
            tests.append(independence(largest / radius, radius, f"‖Z‖/‖Z‖_* and ‖Z‖_* are independent, {law}"))
    return decided(tests)


def _second_entry_positive(d: int, rng: np.random.Generator, size: int) -> Matrix:
    """Return Haar matrices with a deliberate error: the sign of the first column is chosen so that its second entry is
    positive.
    """
    q = haar.sample(d, rng, size)
    q[:, :, 0] *= np.where(q[:, 1:2, 0] < 0, -1.0, 1.0)
    return q


@check("floating", scope=f"d ≤ 6, 10 000 draws, {ALARM}")
@mutant("QR without its signs", sampler=lambda d, rng, size: np.linalg.qr(rng.standard_normal((size, d, d)))[0])
@mutant(
    "QR of entries that are not Gaussian",
    sampler=lambda d, rng, size: np.linalg.qr(rng.uniform(-1, 1, (size, d, d)) ** 3)[0],
)
@mutant("a first column whose second entry is positive", sampler=_second_entry_positive)
def haar_factors(sampler: Formula = haar.sample) -> Evidence:
    """For Haar matrices Q₁₁² and ⟨u, Qv⟩² follow Beta(1/2, (d − 1)/2), and both signs of each are equally likely.

    The vectors u and v in ⟨u, Qv⟩² are fixed unit vectors. The check makes Kolmogorov–Smirnov and binomial tests with
    10 000 draws at d = 2, 3, 6.
    """
    draws, tests = 10_000, []
    for d in (2, 3, 6):
        q = sampler(d, np.random.default_rng([13, d]), draws)
        law = stats.beta(*haar.squared_coordinate_shape(1, d))
        diagonal, (u, v) = np.full(d, d**-0.5), np.random.default_rng([18, d]).standard_normal((2, d))
        entries = {
            "the first entry": q[:, 0, 0],
            "a turned entry": diagonal @ q @ np.eye(d)[-1],
            "an entry in general position": (u / np.linalg.norm(u)) @ q @ (v / np.linalg.norm(v)),
        }
        for name, values in entries.items():
            tests.append(kolmogorov_smirnov(values**2, law.cdf, f"{name}, d = {d}"))
            tests.append(binomial(int((values > 0).sum()), draws, 0.5, f"the sign of {name}, d = {d}"))
    return decided(tests)


BINGHAM = (np.diag([6.0, 0.0]), np.diag([10.0, 4.0, 0.0]), np.diag([8.0, 5.0, 2.0, 1.0, 0.0]))


def _angular_gaussian(m: Matrix, rng: np.random.Generator, size: int) -> Matrix:
    """Draw with a deliberate error: no proposal of the sampler is rejected."""
    a, vectors = bingham.decompose(m)
    g = rng.standard_normal((size, len(a))) / np.sqrt(1 + 2 * a / bingham.envelope_parameter(a))
    drawn: Matrix = (g / np.linalg.norm(g, axis=1, keepdims=True)) @ vectors.T
    return drawn


class _AllAccepted:
    """A generator that always returns the same normal numbers. Its uniform numbers are 10^−300, so that the sampler
    accepts every proposal.
    """

    def standard_normal(self, shape: tuple[int, int]) -> Matrix:
        drawn: Matrix = np.random.default_rng(0).standard_normal(shape)
        return drawn

    def random(self, size: int) -> Vector:
        return np.full(size, 1e-300)


def _more_of_one_sign(m: Matrix, rng: np.random.Generator, size: int) -> Matrix:
    """Return Bingham draws with a deliberate error: 3 % of those with a negative first entry are multiplied by −1."""
    drawn: Matrix = bingham.sample(m, rng, size)
    drawn[(drawn[:, 0] < 0) & (rng.random(size) < 0.03)] *= -1
    return drawn


@check("floating", more="sampler", scope=f"q ≤ 5, 10 000 draws, {ALARM}")
@mutant("nothing rejected", sampler=_angular_gaussian)
@mutant("the opposite exponent", sampler=lambda m, rng, size: bingham.sample(-m, rng, size))
@mutant("3 % more of one sign", sampler=lambda m, rng, size: _more_of_one_sign(m, rng, size))
def bingham_law(sampler: Formula = bingham.sample) -> Evidence:
    """For Bingham draws u with density ∝ exp(uᵀMu) and the first eigenvector v of M, ⟨u, v⟩² follows its exact law.

    The check makes Kolmogorov–Smirnov tests against the exact distribution function, with 10 000 draws each in
    dimensions q = 2, 3, 5. The check also tests that both signs of an entry are equally likely: with 100 000 draws each
    at q = 1 and 2, a probability of 0.515 is 9 standard deviations away. All draws have length 1. If every proposal is
    accepted, the draws are normal vectors with the precision matrix I + 2A/b, shortened or stretched to length 1.
    """
    tests, wrong = [], 0
    for m in (np.array([[3.0]]), BINGHAM[0]):
        u = sampler(m, np.random.default_rng([15, len(m)]), 100_000)
        wrong += not np.allclose(np.linalg.norm(u, axis=1), 1, atol=1e-12)
        tests.append(binomial(int((u[:, 0] > 0).sum()), len(u), 0.5, f"the sign, q = {len(m)}"))
    for m in BINGHAM:
        a, vectors = bingham.decompose(m)
        u = sampler(m, _AllAccepted(), 3) @ vectors * np.sqrt(1 + 2 * a / bingham.envelope_parameter(a))
        g = np.random.default_rng(0).standard_normal((3, len(a)))
        wrong += not np.allclose(u / np.linalg.norm(u, axis=1)[:, None], g / np.linalg.norm(g, axis=1)[:, None])
    for m in BINGHAM:
        u = sampler(m, np.random.default_rng([14, len(m)]), 10_000)
        tests.append(kolmogorov_smirnov(u[:, 0] ** 2, bingham.projection_cdf(m, [0]), f"q = {len(m)}"))
    found = decided(tests)
    return replace(found, holds=found.holds and not wrong)


@check("floating", scope=f"q ≤ 5, 10 000 proposals, {ALARM}")
@mutant("half the rate", rate=lambda m: bingham.acceptance_rate(m) / 2)
@mutant("the envelope parameter b = q", envelope=lambda a: float(len(a)))
def bingham_acceptance_rate(
    rate: Formula = bingham.acceptance_rate, envelope: Formula = bingham.envelope_parameter
) -> Evidence:
    """The proposals of the Bingham sampler are accepted at the computed rate.

    The check makes exact binomial tests with 10 000 proposals each in dimensions q = 2, 3, 5. The tests detect an
    acceptance rate that is off by 0.05 with probability above 0.99 (Hoeffding).
    """
    tests, proposals = [], 10_000
    for m in BINGHAM:
        a, _ = bingham.decompose(m)
        rng, b, q = np.random.default_rng([15, len(m)]), envelope(a), float(len(a))
        g = rng.standard_normal((proposals, len(a))) / np.sqrt(1 + 2 * a / b)
        u = g / np.linalg.norm(g, axis=1, keepdims=True)
        accepted = np.log(rng.random(proposals)) < bingham.log_acceptance((a * u**2).sum(axis=1), b, q)
        tests.append(binomial(int(accepted.sum()), proposals, rate(m), f"q = {len(m)}"))
    return decided(tests)


def _one_normal(d: int, rng: np.random.Generator, size: int) -> Matrix:
    """Draw matrices with a deliberate error: all entries of a matrix are equal to one normal variable."""
    return np.ones((size, d, d)) * rng.standard_normal((size, 1, 1))


@check("floating", scope=f"d = 3, 5000 draws, {ALARM}")
@mutant("the Gaussian orthogonal ensemble", sampler=wigner.sample_goe)
@mutant("one normal for all entries", sampler=_one_normal)
def wigner_entries(sampler: Formula = wigner.sample_wigner) -> Evidence:
    """Wigner noise matrices are symmetric with independent N(0, 1) entries on and above the diagonal.

    The check makes Kolmogorov–Smirnov tests of every entry of the triangle and of 5 fixed sums of entries at d = 3,
    with 5000 draws. The tests detect a variance of 1/2 with probability above 0.99.
    """
    w = sampler(3, np.random.default_rng(16), 5000)
    tests = [
        kolmogorov_smirnov(w[:, i, j], stats.norm.cdf, f"entry ({i + 1}, {j + 1})")
        for i in range(3)
        for j in range(i, 3)
    ]
    triangle = w[:, *np.triu_indices(3)]
    directions = np.random.default_rng(17).standard_normal((5, 6))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    tests += [kolmogorov_smirnov(triangle @ v, stats.norm.cdf, f"sum {k}") for k, v in enumerate(directions)]
    found = decided(tests)
    return Evidence(found.holds and np.array_equal(w, w.swapaxes(1, 2)), found.detail)


def _signs(d: int, alpha: float, beta: float, seed: int) -> Matrix:
    """Draw a sketch with a deliberate error: it has random signs in place of Gaussian entries, both divided by √l."""
    signs: Matrix = np.sign(johnson_lindenstrauss.transform(d, alpha, beta, seed)) / sketch(d, alpha, beta) ** 0.5
    return signs


def sketch(d: int, alpha: float, beta: float) -> int:
    """Return the number of rows l of the public matrix T."""
    return int(johnson_lindenstrauss.sketch_rows(d, alpha, beta))


@check("floating", less="transform", more="transform", scope=f"d = 10, l = 18, 160 seeds; d = 5, l = D, {ALARM}")
@mutant("signs", transform=_signs)
@mutant(
    "the same T for every seed",
    transform=lambda d, alpha, beta, seed: johnson_lindenstrauss.transform(d, alpha, beta, 0),
)
@mutant("a row too few", transform=lambda *given: johnson_lindenstrauss.transform(*given)[1:])
def sketching(transform: Formula = johnson_lindenstrauss.transform) -> Evidence:
    """The Johnson–Lindenstrauss mechanism's public T has independent N(0, 1/l) entries for l < D; T = I for l = D.

    For d = 10, α = 4 and β = ½, T has l = 18 rows and D = 55 columns, and 160 seeds give 158 400 entries. The check
    makes a Kolmogorov–Smirnov test of the entries, and a test of their sum of squares, which follows a χ² law. A scale
    that is off by 3 % moves the sum of squares by 16 standard deviations.
    """
    d, alpha, beta, size = 10, 4.0, 0.5, 55
    rows = sketch(d, alpha, beta)
    drawn = [transform(d, alpha, beta, seed) for seed in range(160)]
    shapes = rows < size and all(t.shape == (rows, size) for t in drawn)
    distinct = len({float(t[0, 0]) for t in drawn}) == len(drawn)
    entries = np.concatenate([t.ravel() for t in drawn]) * rows**0.5
    identity = np.array_equal(transform(5, 1.0, 0.1, 3), np.eye(15)) and sketch(5, 1.0, 0.1) == 15
    tests = [
        kolmogorov_smirnov(entries, stats.norm.cdf, "an entry is normal"),
        gamma_total(entries**2 / 2, 0.5, "the sum of squares", power=2.0),
    ]
    evidence = decided(tests)
    return replace(evidence, holds=evidence.holds and shapes and distinct and identity)
