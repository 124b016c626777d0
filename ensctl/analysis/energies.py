"""Minimum energies of a steering map: of each member alone, and of the worst unit target."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.analysis.steering_map import SteeringMap
from ensctl.vandermonde.certified_gramian import certified_factor
from ensctl.vandermonde.certified_solve import certified_energies
from ensctl.vandermonde.distinct import merge_equal
from ensctl.vandermonde.factorization import Factorization, factorize
from ensctl.vandermonde.infinite import infinite_factor
from ensctl.vandermonde.infinite_energies import log10_infinite_energies
from ensctl.vandermonde.minimum_norm import minimum_norm, worst_target

Array = NDArray[Any]

# A member energy whose own bound exceeds this is recomputed in ball arithmetic.
_TRUSTED = 1e-6
_EPS = float(np.finfo(float).eps)
_LOG10_2 = math.log10(2.0)


@dataclass(frozen=True)
class MemberEnergies:
    """Energy that moves one member to 1 and leaves the others at 0, for each member.

    Attributes
    ----------
    log10_energy : (N,) float64
        log10 of the minimum energy; inf where no input does it.
    relative_error_bound : (N,) float64
        Bound of the relative error of each energy.
    """

    log10_energy: Array
    relative_error_bound: Array


def member_energies(steering: SteeringMap) -> MemberEnergies:
    """Minimum energy (W_H^{-1})_ii of every member, each with its own error bound.

    Members that share λ with another one, that have b = 0, or that outnumber the horizon cannot
    be moved alone: their energy is infinite.  Members of a conjugate pair under real inputs move
    together (both to 1), and a single complex member counts for itself and its conjugate.
    """
    size = int(steering.members.max()) + 1
    log10_energy = np.full(size, math.inf)
    bound = np.zeros(size)
    movable = _movable_rows(steering)
    if movable.size == 0:
        return MemberEnergies(log10_energy, bound)
    targets, owners = _unit_targets(steering, movable)
    energy, error = _energies_of_targets(steering, targets)
    log10_energy[owners] = energy
    bound[owners] = error
    return MemberEnergies(log10_energy, bound)


def worst_unit_target(steering: SteeringMap) -> Array | None:
    """The unit displacement that costs most, (n,) in the rows of the map; None if not reachable."""
    if not steering.verdict.reachable:
        return None
    if steering.channels > 1:
        factor = certified_factor(
            steering.lam, steering.gains, steering.horizon, rank=steering.lam.size
        )
        odd = factor.pivot_exponents % 2
        pivots = np.sqrt(np.ldexp(factor.pivots, odd))
        exponents = (factor.pivot_exponents - odd) // 2
        return worst_target(factor.left, pivots, exponents, factor.row_order)
    if steering.horizon == math.inf:
        cholesky = infinite_factor(steering.lam, steering.gains[:, 0])
        return worst_target(
            cholesky.left, cholesky.pivots, cholesky.pivot_exponents, cholesky.row_order
        )
    factors = factorize(steering.lam, steering.gains[:, 0], int(steering.horizon))
    return _in_field(
        steering,
        worst_target(
            factors.left, factors.pivots, factors.pivot_exponents, factors.row_order, factors.right
        ),
    )


def _in_field(steering: SteeringMap, target: Array) -> Array:
    """Real data have a real worst target; the complex factors return it up to rounding."""
    if np.iscomplexobj(steering.lam) or np.iscomplexobj(steering.gains):
        return target
    return np.asarray(target.real / np.linalg.norm(target.real))


def _movable_rows(steering: SteeringMap) -> Array:
    """Rows that can be moved alone: alive, alone at their λ, and no more rows than steps."""
    verdict = steering.verdict
    blocked = {member for group in verdict.locked for member in group} | set(verdict.dead)
    free = np.array([int(m) not in blocked for m in steering.members])
    reach = verdict.reachable or _total_rank_within_horizon(steering)
    return np.flatnonzero(free) if reach else np.zeros(0, dtype=int)


def _total_rank_within_horizon(steering: SteeringMap) -> bool:
    """Whether the horizon is long enough for every direction that any horizon reaches."""
    if steering.horizon == math.inf:
        return True
    without_limit = controllable_rank(steering.lam, steering.gains)
    return steering.verdict.rank == without_limit


def _unit_targets(steering: SteeringMap, rows: Array) -> tuple[Array, Array]:
    """One target per movable member, in the rows of the map: unit displacement of that member."""
    owners, first = np.unique(steering.members[rows], return_index=True)
    targets = np.zeros((steering.lam.size, owners.size))
    for column, owner in enumerate(owners):
        own = np.flatnonzero(steering.members == owner)
        targets[own, column] = 1.0 / math.sqrt(own.size)
    return targets, owners[np.argsort(first)] if False else owners
