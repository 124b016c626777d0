"""Bounded quantities without any theorem: singular values and norms in high precision."""

from __future__ import annotations

import math

import mpmath

from ensctl.vandermonde.bounds import Bound
from ensctl.vandermonde.inverse_norm import norm_condition

# Rounding outwards may cost this much in log10, no more.
SLACK = 1e-10


def singular_values(lam, b, horizon, digits=300):
    """log10 of the min(N, H) singular values, descending, from the Gramian in high precision."""
    with mpmath.workdps(digits):
        nodes = [mpmath.mpmathify(complex(z)) for z in lam]
        gains = [mpmath.mpmathify(complex(z)) for z in b]
        size = len(nodes)
        gramian = mpmath.matrix(size, size)
        for i in range(size):
            for j in range(size):
                product = nodes[i] * mpmath.conj(nodes[j])
                if horizon == math.inf:
                    total = 1 / (1 - product)
                else:
                    total = mpmath.fsum(product**k for k in range(horizon))
                gramian[i, j] = gains[i] * mpmath.conj(gains[j]) * total
        values = sorted(mpmath.eigh(gramian, eigvals_only=True), reverse=True)
        count = size if horizon == math.inf else min(size, horizon)
        return [float(mpmath.log10(abs(value)) / 2) for value in values[:count]]


def truth_of(bound: Bound, lam, b, horizon, tolerance=None):
    """log10 of the bounded quantity, computed without any theorem."""
    if bound.quantity == "inverse_norm_1":
        return norm_condition(lam, b).log10_inverse_norm
    if bound.quantity == "cond_1":
        return norm_condition(lam, b).log10_cond
    logs = singular_values(lam, b, horizon)
    if bound.quantity == "directions":
        return math.log10(sum(1 for x in logs if x - logs[0] > math.log10(tolerance)))
    return {"sigma_min": logs[-1], "sigma_max": logs[0], "cond_2": logs[0] - logs[-1]}[
        bound.quantity
    ]


def holds(bound: Bound, lam, b, horizon, tolerance=None):
    truth = truth_of(bound, lam, b, horizon, tolerance)
    if bound.kind == "equal":
        return abs(truth - bound.log10_value) < SLACK
    return truth >= bound.log10_value if bound.kind == "lower" else truth <= bound.log10_value
