"""Minimum energies of a steering map: of each member alone, and of the worst unit target."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.analysis.reachable_part import ReachablePart, reachable_part
from ensctl.analysis.steering_map import SteeringMap
from ensctl.threads import blas_threads_for
from ensctl.vandermonde.certified_gramian import certified_factor
from ensctl.vandermonde.certified_solve import certified_energies
from ensctl.vandermonde.factorization import factorize
from ensctl.vandermonde.infinite import infinite_factor
from ensctl.vandermonde.infinite_energies import log10_infinite_energies
from ensctl.vandermonde.minimum_norm import minimum_norm, worst_target

Array = NDArray[Any]

# An energy whose own bound exceeds this is recomputed in ball arithmetic.
TRUSTED = 1e-6
_EPS = float(np.finfo(float).eps)


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
    be moved alone: their energy is infinite.  Under real inputs the two members of a conjugate
    pair move together (both to 1), and a single complex member brings its conjugate along.
    """
    size = int(steering.members.max()) + 1
    log10_energy = np.full(size, math.inf)
    bound = np.zeros(size)
    part = reachable_part(steering)
    if part.movable.size:
        energy, error = _energies(part, steering.horizon)
        # log10 itself is rounded: ε |log10 E| in the logarithm, ln 10 times that in E.
        rounding = 2.0 * _EPS * math.log(10.0) * (1.0 + np.abs(energy))
        log10_energy[part.movable], bound[part.movable] = energy, error + rounding
    return MemberEnergies(log10_energy, bound)


def worst_unit_target(steering: SteeringMap) -> Array | None:
    """The unit displacement that costs most, in the rows of the map; None if not reachable."""
    if not steering.verdict.reachable:
        return None
    with blas_threads_for(steering.lam.size):
        target = _worst_target(steering)
    if steering.verdict.real_inputs:
        return _conjugate_symmetric(steering, target)
    if np.iscomplexobj(steering.lam) or np.iscomplexobj(steering.gains):
        return target
    # Real data have a real worst target; complex factors return it up to rounding.
    return np.asarray(target.real / np.linalg.norm(target.real))


def _worst_target(steering: SteeringMap) -> Array:
    if steering.channels > 1:
        balls = certified_factor(
            steering.lam, steering.gains, steering.horizon, rank=steering.lam.size
        )
        roots, exponents = balls.roots
        return worst_target(balls.left, roots, exponents, balls.row_order)
    gains = steering.gains[:, 0]
    if steering.horizon == math.inf:
        cholesky = infinite_factor(steering.lam, gains)
        return worst_target(
            cholesky.left, cholesky.pivots, cholesky.pivot_exponents, cholesky.row_order
        )
    factors = factorize(steering.lam, gains, int(steering.horizon))
    return worst_target(
        factors.left, factors.pivots, factors.pivot_exponents, factors.row_order, factors.right
    )


def _conjugate_symmetric(steering: SteeringMap, target: Array) -> Array:
    """The worst target that real inputs pursue: rows of conjugate members are conjugate.

    The smallest singular space is closed under that symmetry, so the symmetric (or the
    antisymmetric, times i) part of any vector in it is again one.
    """
    same_node = steering.lam[:, None] == np.conj(steering.lam)[None, :]
    same_gain = np.all(steering.gains[:, None, :] == np.conj(steering.gains)[None, :, :], axis=2)
    mirrored = np.conj(target)[np.argmax(same_node & same_gain, axis=1)]
    symmetric = target + mirrored
    if np.linalg.norm(symmetric) < 1.0:
        symmetric = 1j * (target - mirrored)
    return np.asarray(symmetric / np.linalg.norm(symmetric))


def _energies(part: ReachablePart, horizon: int | float) -> tuple[Array, Array]:
    """log10 energies of the unit targets with bounds; balls where float64 is unsure."""
    targets = part.unit_targets
    columns = targets.shape[1]
    log10, bound = np.zeros(columns), np.full(columns, math.inf)
    single = part.gains.shape[1] == 1
    if single and horizon == math.inf and np.all(np.count_nonzero(targets, axis=0) == 1):
        rows = np.argmax(targets, axis=0)
        return log10_infinite_energies(part.lam, part.gains[:, 0])[rows], np.full(
            columns, 40.0 * _EPS * part.lam.size
        )
    if single and horizon != math.inf:
        with blas_threads_for(part.lam.size):
            result = minimum_norm(factorize(part.lam, part.gains[:, 0], int(horizon)), targets)
        log10, bound = result.log10_norm_squared, 2.0 * result.relative_error_bound
    unsure = np.flatnonzero(bound > TRUSTED)
    if unsure.size:
        balls = certified_energies(part.lam, part.gains, horizon, targets[:, unsure])
        log10[unsure], bound[unsure] = balls.log10, balls.relative_error_bound
    return log10, bound
