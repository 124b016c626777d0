"""Reachability, controllability and observability matrices with python-control's shapes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_array, as_horizon, read_only
from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.require import require_ensemble
from ensctl.errors import InvalidInputError, PrecisionError
from ensctl.vandermonde.doubledouble import normalised, power

Array = NDArray[Any]


def reachability_matrix(ens: Ensemble, horizon: int) -> Array:
    """The H-step reachability matrix R_H = [Λ^{H−1}B … ΛB B], so that x_H = Λ^H x_0 + R_H u.

    Parameters
    ----------
    ens : Ensemble
        The population, N members and m channels.
    horizon : int
        Number of steps H ≥ 1; any length, never clamped.

    Returns
    -------
    (N, m H) float64 or complex128, read-only
        Columns in the order u_0 … u_{H−1}, for several channels in blocks of m for each step.

    Raises
    ------
    InvalidInputError
        H is not an integer ≥ 1.
    PrecisionError
        An entry exceeds the float64 range.

    Notes
    -----
    Every entry b λ^k is within 2e-15 relative of its true value (unless it underflows), for any k:
    powers are products of two table entries that were computed in double-double.  O(N m H).
    The rank and the condition number of this matrix in float64 say little about the ensemble; ask
    :func:`~ensctl.analysis.controllability.controllability` and ``conditioning``.

    Examples
    --------
    >>> import ensctl as ec
    >>> ec.reachability_matrix(ec.Ensemble([0.5, -1.0]), 3)
    array([[ 0.25,  0.5 ,  1.  ],
           [ 1.  , -1.  ,  1.  ]])
    """
    require_ensemble(ens)
    steps = int(as_horizon(horizon))
    blocks = _weighted_powers(ens.lam, ens.gains, steps)[:, ::-1]
    _require_in_range(blocks, "the reachability matrix", steps)
    return read_only(np.ascontiguousarray(blocks).reshape(ens.size, -1))


def ctrb(ens_or_A: Any, B: ArrayLike | None = None, *, horizon: int | None = None) -> Array:
    """The controllability matrix [B AB … A^{H−1}B].

    Parameters
    ----------
    ens_or_A : Ensemble or (n, n) array_like
        An ensemble, or a state matrix A.
    B : (n, m) or (n,) array_like, optional
        Input matrix, only together with A; one dimension means one input.
    horizon : int, optional
        Number of blocks H ≥ 1, never clamped; None means n.

    Returns
    -------
    (n, m H) float64 or complex128, read-only
        Complex data stay complex.

    Raises
    ------
    InvalidInputError
        A wrong argument, named.
    PrecisionError
        An entry exceeds the float64 range.

    Notes
    -----
    For an ensemble entries are accurate as in :func:`reachability_matrix`; for a matrix A they
    carry the rounding errors of repeated multiplication.

    Examples
    --------
    >>> import ensctl as ec
    >>> ec.ctrb([[1, 2], [3, 4]], [5, 7])
    array([[ 5., 19.],
           [ 7., 43.]])
    """
    if isinstance(ens_or_A, Ensemble):
        _require_no_second(B, "B")
        steps = ens_or_A.size if horizon is None else int(as_horizon(horizon))
        blocks = _weighted_powers(ens_or_A.lam, ens_or_A.gains, steps)
        _require_in_range(blocks, "the controllability matrix", steps)
        return read_only(blocks.reshape(ens_or_A.size, -1))
    state = _as_state_matrix(ens_or_A)
    if B is None:
        raise InvalidInputError("B must be given together with a matrix A; pass ctrb(A, B)")
    entry = np.atleast_1d(as_array(B, "B"))
    entry = entry[:, None] if entry.ndim == 1 else entry
    if entry.ndim != 2 or entry.shape[0] != state.shape[0] or entry.shape[1] == 0:
        raise InvalidInputError(
            f"B must have as many rows as A, {state.shape[0]}, and at least one column, got shape "
            f"{np.shape(B)}"
        )
    steps = state.shape[0] if horizon is None else int(as_horizon(horizon))
    krylov = _matrix_powers_times(state, entry, steps)
    _require_in_range(krylov, "the controllability matrix", steps)
    return read_only(np.ascontiguousarray(krylov.transpose(1, 0, 2)).reshape(state.shape[0], -1))


def obsv(ens_or_A: Any, C: ArrayLike | None = None, *, horizon: int | None = None) -> Array:
    """The observability matrix, C, CA, …, CA^{H−1} stacked.

    Parameters
    ----------
    ens_or_A : Ensemble or (n, n) array_like
        An ensemble (its output weights are C), or a state matrix A.
    C : (p, n) or (n,) array_like, optional
        Output matrix, only together with A; one dimension means one output.
    horizon : int, optional
        Number of blocks H ≥ 1, never clamped; None means n.

    Returns
    -------
    (p H, n) float64 or complex128, read-only
        Complex data stay complex.

    Raises
    ------
    InvalidInputError
        A wrong argument, named.
    PrecisionError
        An entry exceeds the float64 range.

    Examples
    --------
    >>> import ensctl as ec
    >>> ec.obsv([[1, 2], [3, 4]], [5, 7])
    array([[ 5.,  7.],
           [26., 38.]])
    """
    if isinstance(ens_or_A, Ensemble):
        _require_no_second(C, "C")
        steps = ens_or_A.size if horizon is None else int(as_horizon(horizon))
        blocks = _weighted_powers(ens_or_A.lam, ens_or_A.output_weights.T, steps)
        _require_in_range(blocks, "the observability matrix", steps)
        return read_only(np.ascontiguousarray(blocks.transpose(1, 2, 0)).reshape(-1, ens_or_A.size))
    state = _as_state_matrix(ens_or_A)
    if C is None:
        raise InvalidInputError("C must be given together with a matrix A; pass obsv(A, C)")
    exit_map = np.atleast_2d(as_array(C, "C"))
    if exit_map.ndim != 2 or exit_map.shape[1] != state.shape[0] or exit_map.shape[0] == 0:
        raise InvalidInputError(
            f"C must have as many columns as A, {state.shape[0]}, and at least one row, got shape "
            f"{np.shape(C)}"
        )
    steps = state.shape[0] if horizon is None else int(as_horizon(horizon))
    krylov = _matrix_powers_times(state.T, exit_map.T, steps)
    _require_in_range(krylov, "the observability matrix", steps)
    return read_only(np.ascontiguousarray(krylov.transpose(0, 2, 1)).reshape(-1, state.shape[0]))


def _weighted_powers(lam: Array, gains: Array, steps: int) -> Array:
    """λ_i^k B_i for k = 0 … steps − 1, (N, steps, m); inf or NaN where it overflows."""
    stride = math.isqrt(steps - 1) + 1
    small, small_exponent = _power_table(lam, range(stride))
    large, large_exponent = _power_table(lam, range(0, steps, stride))
    mantissa = large[:, :, None] * small[:, None, :]
    exponent = large_exponent[:, :, None] + small_exponent[:, None, :]
    mantissa = mantissa.reshape(lam.size, -1)[:, :steps, None]
    exponent = exponent.reshape(lam.size, -1)[:, :steps, None]
    gain, gain_exponent = normalised(gains)
    return _scaled(mantissa * gain[:, None, :], exponent + gain_exponent[:, None, :])


def _power_table(lam: Array, exponents: range) -> tuple[Array, Array]:
    """λ^k rounded once, as mantissa and binary exponent, (N, len(exponents)) each."""
    mantissas, shifts = [], []
    for k in exponents:
        value, exponent = power(lam, k)
        mantissas.append(value.hi if np.iscomplexobj(lam) else value.hi.real)
        shifts.append(exponent)
    return np.stack(mantissas, axis=1), np.stack(shifts, axis=1)


def _scaled(mantissa: Array, exponent: Array) -> Array:
    # Clipped to what an int32 of ldexp takes; far beyond either end of the float64 range.
    exponent = np.clip(exponent, -5000, 5000)
    with np.errstate(over="ignore", under="ignore"):
        if not np.iscomplexobj(mantissa):
            return np.ldexp(mantissa, exponent)
        value = np.empty(mantissa.shape, dtype=complex)
        value.real = np.ldexp(mantissa.real, exponent)
        value.imag = np.ldexp(mantissa.imag, exponent)
        return value


def _matrix_powers_times(state: Array, entry: Array, steps: int) -> Array:
    """A^k B for k = 0 … steps − 1, (steps, n, m)."""
    blocks = np.empty((steps, *entry.shape), dtype=np.result_type(state, entry))
    blocks[0] = entry
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for k in range(1, steps):
            blocks[k] = state @ blocks[k - 1]
    return blocks


def _as_state_matrix(value: Any) -> Array:
    state = as_array(value, "A")
    if state.ndim == 0:
        state = state.reshape(1, 1)
    if state.ndim != 2 or state.shape[0] != state.shape[1] or state.size == 0:
        raise InvalidInputError(
            f"A must be a square matrix, got shape {state.shape}; for a set of λ pass "
            f"ensctl.Ensemble(lam, b)"
        )
    return state


def _require_no_second(value: ArrayLike | None, name: str) -> None:
    if value is not None:
        raise InvalidInputError(
            f"{name} must be left out with an Ensemble, which has its own; got shape "
            f"{np.shape(value)}"
        )


def _require_in_range(entries: Array, what: str, steps: int) -> None:
    if not np.all(np.isfinite(entries)):
        raise PrecisionError(
            f"{what} has entries beyond the float64 range (1.8e308) at horizon {steps}; shorten "
            f"the horizon, or use ensctl.conditioning, which carries exponents"
        )
