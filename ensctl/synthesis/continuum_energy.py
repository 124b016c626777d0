"""Least energy within a uniform error: min ‖u‖² with |g(λ) − b(λ) Σ_k a_k λ^k| ≤ ε for every λ.

Its dual is a measure w on the region,

    max_w  2 (∫ g dw − ε ∫ |dw|) − ‖∫ b λ^k dw‖²,        a_k = ∫ b λ^k dw,

and the best one sits on at most H points, where the error is ε in size with the sign of w: a
non-negative least squares problem whose columns are found where the error peaks.  Any w gives a
lower bound of the energy, so the answer carries its proof.

Source: C. L. Lawson, R. J. Hanson, Solving Least Squares Problems (1974), chapter 23 (active sets);
R. Hettich, K. O. Kortanek, SIAM Rev. 35 (1993) 380–429 (exchange in semi-infinite programs).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from ensctl.arguments import read_only
from ensctl.synthesis.continuum_peaks import peaks
from ensctl.synthesis.continuum_task import ContinuumTask
from ensctl.synthesis.remez import default_grid

Array = NDArray[Any]

_ROUNDS = 40
_PATIENCE = 6
_SOLVED = 1e-9
# Peaks of at least 98 % of ε are candidates; a point within 20 grid steps of one moves there.
_NEAR = 0.02
_BESIDE = 20.0
_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class LeastEnergy:
    """Result of :func:`least_energy`.

    Attributes
    ----------
    powers : (H,) float64
        a_k, coefficients of λ^k.
    points : (m,) float64
        Where the error is as large as allowed, in t.
    weights : (m,) float64
        w there.
    lower_bound : float
        No input within the error has less energy (from w, in float64).
    excess : float
        How far the error passes ε at its highest peak, relative to ε.
    """

    powers: Array
    points: Array
    weights: Array
    lower_bound: float
    excess: float

    @property
    def energy(self) -> float:
        """Σ a_k²."""
        return float(self.powers @ self.powers)


def least_energy(task: ContinuumTask, tolerance: float) -> LeastEnergy:
    """The input of least energy that keeps the error within ``tolerance`` for every λ.

    Parameters
    ----------
    task : ContinuumTask
        Real.
    tolerance : float
        ε, above the best error at this horizon.

    Returns
    -------
    LeastEnergy

    Notes
    -----
    First on a grid, then on the peaks of the error until none passes ε by more than 1e-9 of it (or
    by more than rounding).  Each round is a QR of at most H rows.
    """
    grid = default_grid(min(task.horizon - 1, 60))
    state = _solve(_System.of(task, grid), tolerance, _Active.empty(task.horizon), 1e-3)
    points = grid[state.indices]
    best: LeastEnergy | None = None
    stalled = 0
    for _ in range(_ROUNDS):
        t, values = peaks(_error_of(task, state.powers), grid)
        excess = float(np.abs(values).max()) / tolerance - 1.0
        stalled = 0 if best is None or excess < 0.5 * best.excess else stalled + 1
        if best is None or excess < best.excess:
            bound = _dual_value(_System.of(task, points), state, tolerance)
            best = LeastEnergy(
                read_only(state.powers), read_only(points), read_only(state.weights), bound, excess
            )
        solved = excess <= max(_SOLVED, 4.0 * _rounding(task, state.powers) / tolerance)
        if solved or stalled >= _PATIENCE:
            break
        near = np.abs(values) >= tolerance * (1.0 - _NEAR)
        pool, start = _merged(points, state, t[near], values[near], grid)
        state = _solve(_System.of(task, pool), tolerance, start, 1e-11)
        points = pool[state.indices]
    if best is None:
        raise ArithmeticError("unreachable: at least one round is made")
    return best


@dataclass(frozen=True, eq=False)
class _System:
    """Rows b(λ_i) λ_i^k and what they should give."""

    rows: Array
    wanted: Array

    @classmethod
    def of(cls, task: ContinuumTask, t: Array) -> _System:
        lam = task.region.at(t)
        powers = lam[:, None] ** np.arange(task.horizon)
        return cls(task.gains(lam)[:, None] * powers, task.wanted(lam))


@dataclass(frozen=True, eq=False)
class _Active:
    """Indices of the points in use, their weights and signs, and the input they give."""

    indices: Array
    weights: Array
    signs: Array
    powers: Array

    @classmethod
    def empty(cls, horizon: int) -> _Active:
        return cls(np.zeros(0, dtype=int), np.zeros(0), np.zeros(0), np.zeros(horizon))


def _error_of(task: ContinuumTask, powers: Array) -> Callable[[Array], Array]:
    from numpy.polynomial.polynomial import polyval

    def error(t: Array) -> Array:
        lam = task.region.at(t)
        return np.asarray(task.wanted(lam) - task.gains(lam) * polyval(lam, powers))

    return error


def _solve(system: _System, tolerance: float, start: _Active, slack: float) -> _Active:
    """Lawson–Hanson: one point in at a time, points whose weight changes sign out."""
    state = _settled(system, tolerance, start)
    for _ in range(6 * system.rows.shape[1] + 100):
        error = system.wanted - system.rows @ state.powers
        # A point in use is where it should be, whatever rounding says.
        error[state.indices] = 0.0
        worst = int(np.argmax(np.abs(error)))
        if abs(error[worst]) <= tolerance * (1.0 + slack):
            break
        entering = _Active(
            np.append(state.indices, worst),
            np.append(state.weights, 0.0),
            np.append(state.signs, np.sign(error[worst])),
            state.powers,
        )
        state = _settled(system, tolerance, entering)
    return state


def _settled(system: _System, tolerance: float, state: _Active) -> _Active:
    """Solve on the points in use; walk towards the solution until no weight has a wrong sign."""
    indices, w, s = state.indices, state.weights, state.signs
    while indices.size:
        rows = system.rows[indices]
        wanted = system.wanted[indices] - tolerance * s
        solution, powers = _least_norm(rows, wanted)
        if solution is None:
            # More points than inputs: along this ray the dual rises and the input stays.
            ray = _ray(rows, wanted)
            with np.errstate(divide="ignore", invalid="ignore"):
                shares = np.where(ray * s < 0.0, -w / ray, np.inf)
            out = int(np.argmin(shares))
            w = w + shares[out] * ray if np.isfinite(shares[out]) else w
        else:
            wrong = solution * s <= 0.0
            if not np.any(wrong):
                return _Active(indices, solution, s, powers)
            # The share of the way at which the first weight vanishes.
            with np.errstate(divide="ignore", invalid="ignore"):
                shares = np.where(wrong, np.where(w == solution, 0.0, w / (w - solution)), np.inf)
            out = int(np.argmin(shares))
            w = w + float(np.clip(shares[out], 0.0, 1.0)) * (solution - w)
        keep = np.arange(w.size) != out
        indices, w, s = indices[keep], w[keep], s[keep]
    return _Active.empty(system.rows.shape[1])


def _least_norm(rows: Array, wanted: Array) -> tuple[Array | None, Array]:
    """w with R Rᵀ w = d and a = Rᵀ w, by QR of Rᵀ; no w where R has more rows than columns."""
    if rows.shape[0] > rows.shape[1]:
        return None, np.zeros(rows.shape[1])
    basis, factor = np.linalg.qr(rows.T)
    if np.any(np.diag(factor) == 0):
        return None, np.zeros(rows.shape[1])
    inner = scipy.linalg.solve_triangular(factor, wanted, trans="T")
    # Weights grow with the square of the condition number and cancel in Rᵀ w; Q inner does not.
    return scipy.linalg.solve_triangular(factor, inner), basis @ inner


def _ray(rows: Array, wanted: Array) -> Array:
    """A direction of the weights that leaves Rᵀ w alone and does not lower d·w."""
    scale = np.linalg.norm(rows, axis=1)
    left = np.linalg.svd((rows / scale[:, None]).T, full_matrices=True)[2][-1] / scale
    return np.asarray(left if left @ wanted >= 0 else -left)


def _merged(
    points: Array, state: _Active, t: Array, values: Array, grid: Array
) -> tuple[Array, _Active]:
    """Peaks and points in use, where a point moves to the peak just beside it."""
    step = np.interp(t, grid[1:], np.diff(grid))
    pool, weights = list(t), [0.0] * t.size
    for place, weight, sign in zip(points, state.weights, state.signs, strict=True):
        gap = np.where(np.sign(values) == sign, np.abs(t - place) / step, np.inf)
        near = int(np.argmin(gap)) if t.size else -1
        if near >= 0 and gap[near] <= _BESIDE:
            weights[near] += weight
        else:
            pool.append(place)
            weights.append(weight)
    all_weights = np.array(weights)
    used = np.flatnonzero(all_weights)
    start = _Active(used, all_weights[used], np.sign(all_weights[used]), state.powers)
    return np.array(pool), start


def _dual_value(system: _System, state: _Active, tolerance: float) -> float:
    """2(∫ g dw − ε ∫ |dw|) − ‖a‖²: with a from the QR, since ∫ b λ^k dw cancels."""
    linear = float(system.wanted @ state.weights) - tolerance * float(np.abs(state.weights).sum())
    return max(0.0, 2.0 * linear - float(state.powers @ state.powers))


def _rounding(task: ContinuumTask, powers: Array) -> float:
    """ε Σ |a_k| r^k max|b|, r the largest |λ|: what rounding may leave of an error."""
    radius = float(np.abs(task.region.at(np.array([-1.0, 1.0]))).max())
    gain = float(np.abs(task.gains(task.region.at(np.linspace(-1.0, 1.0, 33)))).max())
    return _EPS * gain * float(np.abs(powers) @ radius ** np.arange(powers.size))
