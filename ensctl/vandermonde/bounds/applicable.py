"""Every theorem whose conditions hold for a given set of nodes, gains and horizon."""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from ensctl.arguments import as_horizon
from ensctl.vandermonde.bounds.bound import Bound
from ensctl.vandermonde.bounds.clusters import tightest_cluster
from ensctl.vandermonde.bounds.gautschi import (
    gautschi_lower,
    gautschi_symmetric,
    gautschi_upper,
)
from ensctl.vandermonde.bounds.gautschi_sigma import (
    gautschi_sigma_min_lower,
    gautschi_sigma_min_upper,
)
from ensctl.vandermonde.bounds.infinite_horizon import (
    blaschke_sigma_min_lower,
    blaschke_sigma_min_upper,
)
from ensctl.vandermonde.bounds.nodeset import NodeSet
from ensctl.vandermonde.bounds.power_sums import log_smallest_row
from ensctl.vandermonde.bounds.practical_directions import (
    beckermann_townsend,
    beckermann_townsend_condition,
)
from ensctl.vandermonde.bounds.real_nodes import (
    beckermann_nonnegative,
    beckermann_real,
    beckermann_row_scaled,
    gautschi_inglese,
)
from ensctl.vandermonde.bounds.unit_circle import (
    large_sieve_sigma_max,
    large_sieve_sigma_min,
    sieve_lower_value,
    wrap_gap,
)

# Tolerances at which practical directions are counted: a good actuator, and float64.
_TOLERANCES = (1e-6, 2.0**-52)


def applicable_bounds(lam: ArrayLike, b: ArrayLike, horizon: int | float) -> tuple[Bound, ...]:
    """Evaluate exactly those theorems whose conditions hold for A = diag(b)·[λ_i^j], j < H.

    Conditions are decided on the doubles as given: equality is ==, signs are signs, moduli are
    compared in rational arithmetic.  Only "on the unit circle" has a width (2^-50), and the
    theorems that use it account for the distance.

    Parameters
    ----------
    lam : (N,) array_like
        Nodes, real or complex.
    b : scalar or (N,) array_like
        Row scalings, real or complex.
    horizon : int or math.inf
        Number of columns H.

    Returns
    -------
    tuple of Bound
        Bounds that say nothing are left out: a condition number ≥ less than 1, σ_min ≤ more
        than the smallest row norm, a count of directions that reaches min(N, H).

    Raises
    ------
    InvalidInputError
        An argument is not of the required form, or |λ| ≥ 2^500.

    Notes
    -----
    O(N² + 32 H) operations, O(N + H) memory.

    Examples
    --------
    >>> from ensctl.vandermonde.bounds import applicable_bounds
    >>> for bound in applicable_bounds([0.25, 0.5, 0.75], 1.0, 3):
    ...     print(bound.quantity, bound.kind, f"{bound.value:.4g}", bound.name)
    inverse_norm_1 upper 35 Gautschi, upper
    inverse_norm_1 lower 16 Gautschi, lower
    sigma_min upper 0.04949 Gautschi, σ_min from above
    sigma_min lower 0.023 Gautschi, σ_min from below
    sigma_min upper 0.05103 Divided differences of a cluster
    sigma_min upper 0.132 Blaschke products, upper
    cond_1 lower 4 Gautschi–Inglese
    cond_2 lower 1.971 Beckermann, real nodes
    cond_2 lower 9.815 Beckermann, non-negative nodes
    """
    nodes = NodeSet.of(lam, b)
    steps = as_horizon(horizon, infinite=True)
    found: list[Bound] = []
    if nodes.is_regular:
        found += _smallest_singular_value(nodes, steps)
        if steps == nodes.size:
            found += _plain_gains(nodes)
    if steps != math.inf:
        found += _circle(nodes, int(steps))
        if nodes.is_real:
            found += _any_gains(nodes, int(steps))
    return tuple(bound for bound in found if _says_something(bound, nodes, steps))


def _smallest_singular_value(nodes: NodeSet, steps: int | float) -> list[Bound]:
    lam, b = nodes.lam, nodes.b
    found = []
    if steps == nodes.size:
        found += [gautschi_upper(lam, b), gautschi_lower(lam, b)]
        if nodes.is_symmetric:
            found.append(gautschi_symmetric(lam, b))
        found.append(gautschi_sigma_min_upper(lam, b))
    if steps >= nodes.size:
        found.append(gautschi_sigma_min_lower(lam, b, steps))
        if nodes.size >= 2 and steps != math.inf:
            found.append(tightest_cluster(lam, b, int(steps)))
        if nodes.is_inside_circle:
            found.append(blaschke_sigma_min_upper(lam, b))
            if steps == math.inf:
                found.append(blaschke_sigma_min_lower(lam, b))
    return found


def _plain_gains(nodes: NodeSet) -> list[Bound]:
    """H = N and all |b| equal: bounds of condition numbers that need nothing but the kind."""
    lam, b = nodes.lam, nodes.b
    found = []
    if nodes.has_equal_gains:
        if nodes.size >= 2 and (nodes.is_nonnegative or nodes.is_symmetric):
            found.append(gautschi_inglese(lam, b))
        if nodes.is_real:
            found.append(beckermann_real(lam, b))
        if nodes.is_nonnegative:
            found.append(beckermann_nonnegative(lam, b))
    return found


def _circle(nodes: NodeSet, steps: int) -> list[Bound]:
    found: list[Bound] = []
    if nodes.is_regular and nodes.is_on_circle and wrap_gap(nodes.lam) > 2e-15:
        found.append(large_sieve_sigma_max(nodes.lam, nodes.b, steps))
        if sieve_lower_value(nodes, steps) > 0:
            found.append(large_sieve_sigma_min(nodes.lam, nodes.b, steps))
    return found


def _any_gains(nodes: NodeSet, steps: int) -> list[Bound]:
    """Real nodes, finite H: what holds whatever the gains are."""
    lam, b = nodes.lam, nodes.b
    found = []
    if 3 <= steps <= nodes.size:
        found.append(beckermann_row_scaled(lam, b, steps))
    if steps >= 2:
        found.append(beckermann_townsend_condition(lam, b, steps))
        found += [beckermann_townsend(lam, b, steps, tolerance=t) for t in _TOLERANCES]
    return found


def _says_something(bound: Bound, nodes: NodeSet, steps: int | float) -> bool:
    if bound.quantity == "directions":
        return round(bound.value) < min(nodes.size, steps)
    if bound.quantity == "cond_2" and bound.kind == "lower":
        return bound.log10_value > 0
    if bound.quantity == "sigma_min" and bound.kind == "upper":
        return bound.log10_value < log_smallest_row(nodes, steps) / math.log(10.0)
    return True
