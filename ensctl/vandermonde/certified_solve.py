"""Certified minimum-norm solutions: energies d* (A A*)^{-1} d and inputs u = A* (A A*)^{-1} d."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.errors import InvalidInputError
from ensctl.vandermonde.balls import (
    HALF_ULP,
    Ball,
    Undecided,
    ball,
    balls,
    conjugate,
    conjugates,
    current_bits,
    is_certain,
    midpoint,
    refine,
    rounded_up,
    squared_moduli,
)
from ensctl.vandermonde.certified_elimination import eliminate
from ensctl.vandermonde.certified_powers import power_sums
from ensctl.vandermonde.certified_rank import require_full_row_rank
from ensctl.vandermonde.certified_results import (
    CertifiedEnergies,
    CertifiedInputs,
    check_rtol,
    energies_from_balls,
)
from ensctl.vandermonde.certified_rows import ChannelRows, channel_rows
from ensctl.vandermonde.certified_square import interpolate, is_square
from ensctl.vandermonde.certified_targets import (
    binary_exponent,
    comfortable_shift,
    displacements,
    exact_column,
    exact_columns,
    split,
)

Array = NDArray[Any]


def certified_energies(
    lam: Array,
    gains: Array,
    horizon: int | float,
    targets: Array,
    *,
    x0: Array | None = None,
    rtol: float = 1e-16,
    bits: int | None = None,
) -> CertifiedEnergies:
    """E = d* (A A*)^{-1} d = min ‖u‖² subject to A u = d, with d = target − Λ^H x0.

    Row i of A is b_ic λ_i^k (channels c, powers k < H).  The rows have to be independent; leave
    rows that cannot be moved out first.

    Parameters
    ----------
    lam : (N,) float64 or complex128
        Nodes, taken as exact, any modulus.
    gains : (N,) or (N, m) float64 or complex128
        Row scalings b, taken as exact.
    horizon : int or math.inf
        H with m H ≥ N; math.inf needs every |λ| < 1.
    targets : (N,) or (N, k) float64, complex128, or Fractions in an object array
        One target per column, taken as exact.
    x0 : (N,), optional
        Where the target is approached from; zero by default.
    rtol : float
        Largest relative radius of an energy, before it is rounded to float64.
    bits : int, optional
        First working precision.

    Returns
    -------
    CertifiedEnergies

    Raises
    ------
    NotReachableError
        The rows are dependent.
    PrecisionError
        131,072 bits do not suffice.

    Notes
    -----
    O(N² (m + k)) ball operations at each precision.  A square single-channel A is solved by
    interpolation instead.

    Examples
    --------
    >>> import numpy as np
    >>> from ensctl.vandermonde.certified_solve import certified_energies
    >>> target = np.array([1.0, 0.0, 0.5])
    >>> certified_energies(np.array([0.3, 0.6, 0.9]), np.ones(3), 3, target).values
    array([199.05555556])
    """
    problem = channel_rows(lam, gains, horizon)
    require_full_row_rank(problem)
    columns = exact_columns(targets, problem.size)
    check_rtol(rtol)
    solve = _energies_by_interpolation if is_square(problem) else _energies_by_elimination

    def attempt() -> CertifiedEnergies:
        energies = solve(problem, displacements(problem.lam, horizon, columns, x0))
        return energies_from_balls(energies, rtol)

    return refine(attempt, "the minimum energy", bits)


def certified_inputs(
    lam: Array,
    gains: Array,
    horizon: int,
    target: Array,
    *,
    x0: Array | None = None,
    accuracy_bits: int = 120,
    bits: int | None = None,
) -> CertifiedInputs:
    """The u of least norm with Σ_t λ_i^{H−1−t} Σ_c b_ic u_tc = d_i, d = target − Λ^H x0.

    Parameters
    ----------
    lam : (N,) float64 or complex128
        Nodes, taken as exact, any modulus.
    gains : (N,) or (N, m) float64 or complex128
        Row scalings b, taken as exact.
    horizon : int
        H with m H ≥ N.
    target : (N,) float64, complex128, or Fractions in an object array
        Taken as exact.
    x0 : (N,), optional
        Where the target is approached from; zero by default.
    accuracy_bits : int
        Every input has a relative radius of at most 2^-accuracy_bits, or is returned as zero
        where its effect |u_t| max(1, |λ|)^(H−1−t) is certainly below 2^(-4 accuracy_bits) of the
        largest one.
    bits : int, optional
        First working precision.

    Returns
    -------
    CertifiedInputs

    Raises
    ------
    NotReachableError
        The rows are dependent.
    PrecisionError
        131,072 bits do not suffice.

    Notes
    -----
    O(N² m + N H m) ball operations at each precision.  A square single-channel A is solved by
    interpolation instead.

    Examples
    --------
    >>> import numpy as np
    >>> from ensctl.vandermonde.certified_solve import certified_inputs
    >>> target = np.array([1.0, 0.0, 0.5])
    >>> inputs = certified_inputs(np.array([0.3, 0.6, 0.9]), np.ones(3), 3, target)
    >>> inputs.high[:, 0]  # 25/3, −65/6, 7/2 for decimal λ
    array([  8.33333333, -10.83333333,   3.5       ])
    """
    problem = channel_rows(lam, gains, horizon)
    if problem.horizon == math.inf:
        raise InvalidInputError("horizon must be finite for inputs, got inf")
    require_full_row_rank(problem)
    columns = [exact_column(target, problem.size)]
    solve = _inputs_by_interpolation if is_square(problem) else _inputs_by_elimination

    def attempt() -> CertifiedInputs:
        (displacement,) = displacements(problem.lam, horizon, columns, x0)
        return _checked_inputs(solve(problem, displacement), problem, accuracy_bits)

    return refine(attempt, "the minimum-norm input", bits)


def _energies_by_interpolation(problem: ChannelRows, targets: list[list[Ball]]) -> list[Ball]:
    return [sum(squared_moduli(interpolate(problem, target)), ball(0)) for target in targets]


def _energies_by_elimination(problem: ChannelRows, targets: list[list[Ball]]) -> list[Ball]:
    """Σ_k |z_k|²/d_k with z = L^{-1} d reduced along with the Gramian."""
    energies = [ball(0)] * len(targets)
    for step in eliminate(problem, problem.size):
        for at, target in enumerate(targets):
            own = target[step.row]
            energies[at] += squared_moduli([own])[0] / step.pivot
            for row, multiplier in zip(step.rows, step.multipliers, strict=True):
                target[row] -= multiplier * own
    return energies


def _inputs_by_interpolation(problem: ChannelRows, target: list[Ball]) -> list[list[Ball]]:
    return [interpolate(problem, target)]


def _inputs_by_elimination(problem: ChannelRows, target: list[Ball]) -> list[list[Ball]]:
    """Coefficients of λ^k for each channel, from (A A*)^{-1} d."""
    multipliers = _inverse_times(problem, target)
    nodes = conjugates(balls(problem.lam))
    scaled = [
        [conjugate(b) * y for b, y in zip(balls(gains), multipliers, strict=True)]
        for gains in problem.gains.T
    ]
    return power_sums(nodes, scaled, int(problem.horizon))


def _inverse_times(problem: ChannelRows, target: list[Ball]) -> list[Ball]:
    """y = W^{-1} d by L z = d and L* y = D^{-1} z."""
    solution = list(target)
    steps = []
    for step in eliminate(problem, problem.size):
        own = solution[step.row]
        for row, multiplier in zip(step.rows, step.multipliers, strict=True):
            solution[row] -= multiplier * own
        solution[step.row] = own / step.pivot
        steps.append((step.row, step.rows, conjugates(step.multipliers)))
    for at, rows, multipliers in reversed(steps):
        known = zip(rows, multipliers, strict=True)
        solution[at] -= sum((x * solution[row] for row, x in known), ball(0))
    return solution


def _checked_inputs(
    series: list[list[Ball]], problem: ChannelRows, accuracy: int
) -> CertifiedInputs:
    """Check the balls of the λ^k coefficients and round them, in time order."""
    flat = [item for channel in series for item in channel[::-1]]
    largest = max(item.abs_upper() for item in flat)
    if not largest.is_finite():
        raise Undecided
    certain = [is_certain(item, accuracy) for item in flat]
    if not all(certain):
        reach = _reach(problem)
        effects = [x.abs_upper() * reach[at % len(reach)] for at, x in enumerate(flat)]
        limit = max(effects) * ball(2) ** (-4 * accuracy)
        if not all(sure or effect <= limit for sure, effect in zip(certain, effects, strict=True)):
            raise Undecided
    midpoints = [x.mid() if sure else x * 0 for sure, x in zip(certain, flat, strict=True)]
    radii = [(x - mid).abs_upper() for x, mid in zip(flat, midpoints, strict=True)]
    shift = comfortable_shift(binary_exponent(largest))
    parts = [split(item, shift) for item in midpoints]
    shape = (problem.gains.shape[1], int(problem.horizon))
    radius = _ratio(radii, largest)
    pair = _ratio([rest for _, _, rest in parts], largest * ball(2) ** (-shift))
    return CertifiedInputs(
        high=np.array([high for high, _, _ in parts]).reshape(shape).T,
        low=np.array([low for _, low, _ in parts]).reshape(shape).T,
        exponent=shift,
        exact_real=_in_time([midpoint(item.real) for item in midpoints], shape),
        exact_imag=_in_time([midpoint(item.imag) for item in midpoints], shape),
        relative_error_bound=HALF_ULP + radius if largest > 0 else 0.0,
        pair_error_bound=radius + pair,
        exact_error_bound=radius,
        bits=current_bits(),
    )


def _reach(problem: ChannelRows) -> list[Ball]:
    """max(1, max|λ|)^(H−1−t) in time order: how far an input can carry."""
    moduli = [abs(node).abs_upper() for node in balls(problem.lam)]
    base = max([*moduli, ball(1)])
    powers = [ball(1)]
    for _ in range(int(problem.horizon) - 1):
        powers.append((powers[-1] * base).abs_upper())
    return powers[::-1]


def _ratio(errors: list[Ball], size: Ball) -> float:
    """Upper bound of max|errors|/size; 0 when all are zero."""
    worst = max(error.abs_upper() for error in errors)
    return rounded_up(worst / size) if worst > 0 else 0.0


def _in_time(values: list[Fraction], shape: tuple[int, int]) -> Array:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array.reshape(shape).T
