"""Which way to sum powers is chosen by what λ is."""

from __future__ import annotations

import math
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.ensemble.blocked_powers import blocked_moments, blocked_values
from ensctl.ensemble.power_sums import Coefficients, Evaluated, Moments, shared_gains
from ensctl.ensemble.real_line_sums import real_line_moments, real_line_values
from ensctl.ensemble.unit_circle_sums import (
    on_unit_circle,
    unit_circle_moments,
    unit_circle_values,
)

Array = NDArray[Any]

# Real members that grow by more than this over the horizon are summed one by one.
_GROWTH = 1e3
# Arcs pay off from this many members, and this many per step.
_CIRCLE_MEMBERS, _CIRCLE_MEMBERS_PER_STEP = 20_000, 5
# Columns handled at once: enough for fast matrix products.
_COLUMNS = 128


class Method(Enum):
    """How the sums over all steps were computed."""

    RECURSION = "step by step"
    REAL_LINE = "piecewise Chebyshev series on the real line"
    UNIT_CIRCLE = "piecewise Chebyshev series on the unit circle"
    BLOCKED = "blocked matrix products"

    def __str__(self) -> str:
        return self.value


def choose_method(lam: Array, steps: int) -> Method:
    """The way for members λ over ``steps`` steps."""
    if not np.iscomplexobj(lam):
        return Method.REAL_LINE
    many = lam.size >= max(_CIRCLE_MEMBERS, _CIRCLE_MEMBERS_PER_STEP * steps)
    return Method.UNIT_CIRCLE if many and on_unit_circle(lam) else Method.BLOCKED


def sum_values(lam: Array, gains: Array, coefs: Array, method: Method) -> Evaluated:
    """Σ_c B_ic Σ_k coefs_kcs λ_i^k as (N, S), for coefs (H, m, S) and gains (N, m)."""
    shared = shared_gains(gains)
    width = max(1, _COLUMNS // coefs.shape[1])
    if coefs.shape[2] <= width:
        return _values(lam, shared, Coefficients.of(coefs), method)
    values = np.empty((lam.size, coefs.shape[2]), dtype=np.result_type(lam, gains, coefs, float))
    bound = 0.0
    for first in range(0, coefs.shape[2], width):
        part = slice(first, first + width)
        found = _values(lam, shared, Coefficients.of(coefs[:, :, part]), method)
        values[:, part] = found.values
        bound = max(bound, found.error_bound)
    return Evaluated(values, bound)


def sum_moments(lam: Array, weights: Array, steps: int, method: Method) -> Moments:
    """Σ_i weights_iq λ_i^k, (steps, Q)."""
    if method is Method.UNIT_CIRCLE:
        return unit_circle_moments(lam, weights, steps)
    if method is Method.BLOCKED:
        return blocked_moments(lam, weights, steps)
    tame = _tame(lam, steps)
    if np.all(tame):
        return real_line_moments(lam, weights, steps)
    wild = blocked_moments(lam[~tame], weights[~tame], steps)
    if not np.any(tame):
        return wild
    rest = real_line_moments(lam[tame], weights[tame], steps)
    return Moments(rest.values + wild.values, rest.error_bound + wild.error_bound)


def _values(lam: Array, gains: Array, coefs: Coefficients, method: Method) -> Evaluated:
    if method is Method.UNIT_CIRCLE:
        return unit_circle_values(lam, gains, coefs)
    if method is Method.BLOCKED:
        return blocked_values(lam, gains, coefs)
    tame = _tame(lam, coefs.envelope.size)
    if np.all(tame):
        return real_line_values(lam, gains, coefs)
    own = gains if len(gains) == 1 else gains[~tame]
    wild = blocked_values(lam[~tame], own, coefs)
    if not np.any(tame):
        return wild
    own = gains if len(gains) == 1 else gains[tame]
    rest = real_line_values(lam[tame], own, coefs)
    values = np.empty((lam.size, coefs.shape[1]), dtype=rest.values.dtype)
    values[tame], values[~tame] = rest.values, wild.values
    return Evaluated(values, max(rest.error_bound, wild.error_bound))


def _tame(lam: Array, steps: int) -> Array:
    return np.asarray(np.abs(lam) <= math.exp(math.log(_GROWTH) / max(steps, 1)))
