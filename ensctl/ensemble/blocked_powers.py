"""Sums of powers for any λ: tables of powers, matrix products, and no power that cannot be seen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.ensemble.graded_groups import GradedGroups, graded_groups
from ensctl.ensemble.power_sums import EPS, Coefficients, Evaluated, Moments, powers_up_to
from ensctl.ensemble.power_tables import PowerTables, power_tables

Array = NDArray[Any]

# Members handled at once: their table of powers stays in the second-level cache.
_CHUNK = 512
_NEGLIGIBLE = 2.0**-60
# Roundings of a multiplication, in units of ε: four products and two sums where it is complex.
_REAL_STEP, _COMPLEX_STEP = 1.0, 3.0


def blocked_values(lam: Array, gains: Array, coefs: Coefficients) -> Evaluated:
    """Σ_c B_ic Σ_k a_kcs λ_i^k for any λ.

    Parameters
    ----------
    lam : (N,) float64 or complex128
        Members.
    gains : (N, m) or (1, m)
        Gains, one row for all where there is only one.
    coefs : Coefficients
        Coefficients a_kcs.

    Returns
    -------
    Evaluated

    Notes
    -----
    Members are grouped by octaves of 1 − |λ|/max|λ|; a group leaves out the powers that it cannot
    see.  Cost: matrix products of N × H per column at most.
    """
    groups = _groups(lam, coefs.envelope.size)
    out = np.empty(
        (lam.size, coefs.shape[1]), dtype=np.result_type(lam, coefs.columns, gains, float)
    )
    bound = 0.0
    for held in _slices(groups):
        members = lam[groups.index(held)]
        radius = float(np.abs(members).max())
        kept = coefs.cut(radius)
        steps = len(kept.columns)
        summands = 0
        for chunk in _chunks(held, steps, kept.columns.shape[1]):
            place = groups.index(chunk)
            tables = power_tables(lam[place], steps)
            summands = tables.summands
            rows = tables.values(kept.columns)
            out[place] = kept.combined(rows, gains if len(gains) == 1 else gains[place])
        sizes = kept.envelope * powers_up_to(radius, steps)
        step = _COMPLEX_STEP if np.iscomplexobj(lam) else _REAL_STEP
        error = step * EPS * float(sizes @ (np.arange(steps) + summands + 4.0))
        local_gains = gains if len(gains) == 1 else gains[groups.index(held)]
        error += 2.0 * _NEGLIGIBLE * float(sizes.sum())
        bound = max(bound, error * kept.gain(local_gains))
    return Evaluated(out, bound)


def blocked_moments(lam: Array, weights: Array, steps: int) -> Moments:
    """Σ_i w_iq λ_i^k for k < steps, any λ.

    Parameters
    ----------
    lam : (N,) float64 or complex128
        Members.
    weights : (N, Q)
        Weights.
    steps : int
        Number of moments.

    Returns
    -------
    Moments
        The error bound holds for every k; where |λ| > 1 the largest moments set it.
    """
    groups = _groups(lam, steps)
    dtype = np.result_type(lam, weights, float)
    moments = np.zeros((steps, weights.shape[1]), dtype=dtype)
    error = np.zeros(weights.shape[1])
    step = _COMPLEX_STEP if np.iscomplexobj(lam) else _REAL_STEP
    for held in _slices(groups):
        place = groups.index(held)
        powers = powers_up_to(float(np.abs(lam[place]).max()), steps)
        kept = max(1, int(np.count_nonzero(powers > _NEGLIGIBLE)))
        for chunk in _chunks(held, kept, weights.shape[1]):
            place = groups.index(chunk)
            tables = power_tables(lam[place], kept)
            with np.errstate(over="ignore", invalid="ignore"):
                moments[:kept] += tables.moments(weights[place], kept)
        number = held.stop - held.start
        summands = min(_CHUNK, number) + len(list(_chunks(held, kept, weights.shape[1])))
        rounding = float((powers[:kept] * (np.arange(kept) + 4.0 + summands)).max())
        total = np.abs(weights[groups.index(held)]).sum(axis=0)
        error += total * (step * EPS * rounding + _NEGLIGIBLE)
    return Moments(moments, error)


def _groups(lam: Array, steps: int) -> GradedGroups:
    if lam.size <= _CHUNK:
        return GradedGroups(None, np.array([0, lam.size]))
    return graded_groups(lam, steps)


def _slices(groups: GradedGroups) -> Iterator[slice]:
    for g in range(len(groups)):
        yield slice(int(groups.starts[g]), int(groups.starts[g + 1]))


def _chunks(held: slice, steps: int, columns: int) -> Iterator[slice]:
    fitting = PowerTables.fitting_members(steps, columns, _CHUNK)
    for first in range(held.start, held.stop, fitting):
        yield slice(first, min(first + fitting, held.stop))
