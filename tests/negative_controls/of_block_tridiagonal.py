"""Negative controls of the block-tridiagonal mechanism with too little noise, wrong rows or wrong entries."""

import math
from functools import partial

import numpy as np

from covassay.reference.domain import Matrix, row_norms
from covassay.reference.mechanisms.concentrated import block_tridiagonal as mechanism
from tests.negative_controls.broken import broken, other_noise, times
from tests.negative_controls.negative_control import NegativeControl, by_law

NAME = "block-tridiagonal"
SCALE = by_law("squared norm", "total scale")
_noise = partial(other_noise, mechanism_name=NAME)


def one_ball(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Use the sensitivity √2 for rows of length at most 1, although every block of a row may have length 1."""
    return np.asarray(z * math.sqrt(min(1.0, 2 / mechanism.sensitivity_squared(len(z), 1))))


def no_overlap(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Compute the sensitivity from the blocks on the diagonal alone: S² = q in place of 8(q − 1) for q blocks."""
    return np.asarray(z * math.sqrt(len(z) / mechanism.sensitivity_squared(len(z), 1)))


def upper_once(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Count every block beside the diagonal only once in the sensitivity: S² = 4(q − 1) in place of 8(q − 1)."""
    return np.asarray(z * (math.sqrt(0.5) if len(z) > 1 else 1.0))


def diagonal_alone(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Add noise only to the diagonal blocks."""
    return z * np.eye(len(z))


def one_number(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Use the same number as the noise of every entry off the diagonal."""
    return np.where(np.eye(len(z), dtype=bool), z, z[0, -1])


def all_entries(y: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Release the entries far from the diagonal too, without noise."""
    moment = x.T @ x / len(x)
    return np.where(mechanism.kept(len(y), 1), y, moment)


def whole_rows(x: Matrix) -> Matrix:
    """Shorten every row, and not every block of a row, to length 1. This is private, but releases another statistic."""
    return np.asarray(x / np.maximum(row_norms(x), 1.0)[:, None])


def centred(x: Matrix) -> Matrix:
    """Subtract the exact mean from the rows first."""
    return np.asarray(x - x.mean(axis=0))


def unshortened(x: Matrix, *, rng: np.random.Generator, rho: float) -> Matrix:
    """Do not shorten long blocks."""
    largest = max(1.0, float(np.abs(x).max()))
    noise = mechanism.draw_noise(x.shape[1], rng)
    bare = mechanism.release(0 * x, noise, rho=rho)
    return bare + largest**2 * mechanism.release(x / largest, 0 * noise, rho=rho)


NEGATIVE_CONTROLS = (
    _noise("block-97", mistake="Multiply the noise by 0.97, because a constant was rounded.", noise=times(0.97)),
    _noise("block-one-ball", mistake=one_ball.__doc__ or "", noise=one_ball, caught_by=SCALE),
    _noise("block-no-overlap", mistake=no_overlap.__doc__ or "", noise=no_overlap, caught_by=SCALE),
    _noise("block-upper-once", mistake=upper_once.__doc__ or "", noise=upper_once, caught_by=SCALE),
    _noise("block-diagonal-alone", mistake=diagonal_alone.__doc__ or "", noise=diagonal_alone,
           caught_by=by_law("all entries", "scale of every entry")),
    _noise("block-one-number", mistake=one_number.__doc__ or "", noise=one_number),
    broken("block-all-entries", NAME, all_entries.__doc__ or "", output=all_entries,
           caught_by=by_law("zeros elsewhere")),
    broken("block-whole-rows", NAME, whole_rows.__doc__ or "", rows=whole_rows),
    broken("block-centred", NAME, centred.__doc__ or "", rows=centred),
    NegativeControl("block-unshortened", unshortened.__doc__ or "", NAME, (), unshortened),
)  # fmt: skip
