"""Arguments of estimation: noise covariances, priors, measurements with gaps, and symmetry."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_array
from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import InvalidInputError

Array = NDArray[Any]

_ROUNDING = 1e-12


def as_variances(value: ArrayLike, name: str, size: int) -> Array:
    """Variances ≥ 0 of N members, (N,); a scalar stands for all."""
    given = as_array(value, name, real=True)
    if given.ndim > 1 or (given.ndim == 1 and given.size != size):
        raise InvalidInputError(
            f"{name} must be a number or have shape ({size},), one variance per member, got "
            f"{given.shape}; a correlated part goes into process_factor"
        )
    variances = np.full(size, given[()]) if given.ndim == 0 else given
    if np.any(variances < 0.0):
        worst = int(np.argmin(variances))
        raise InvalidInputError(
            f"{name} must be ≥ 0, got {variances[worst]:.6g} for member {worst}; variances are "
            f"squares of standard deviations"
        )
    return variances


def as_factor(value: ArrayLike | None, size: int) -> Array:
    """The factor G of process noise G e with unit white e, (N, k); None is no such noise."""
    if value is None:
        return np.zeros((size, 0))
    factor = as_array(value, "process_factor")
    if factor.ndim == 1:
        factor = factor[:, None]
    if factor.ndim != 2 or factor.shape[0] != size:
        raise InvalidInputError(
            f"process_factor must have shape ({size},) or ({size}, k), members by shocks, got "
            f"{factor.shape}"
        )
    return factor


def as_covariance(value: ArrayLike, name: str, size: int) -> Array:
    """A positive semidefinite (n, n) covariance from a number, n variances or a matrix."""
    given = as_array(value, name)
    if given.ndim < 2:
        return np.diag(as_variances(given, name, size))
    if given.shape != (size, size):
        raise InvalidInputError(
            f"{name} must be a number, or have shape ({size},) or ({size}, {size}), got "
            f"{given.shape}"
        )
    scale = float(np.abs(given).max(initial=0.0))
    if np.abs(given - given.conj().T).max(initial=0.0) > _ROUNDING * scale:
        raise InvalidInputError(f"{name} must be Hermitian; use (P + P.conj().T) / 2")
    matrix = 0.5 * given + 0.5 * given.conj().T
    smallest = float(np.linalg.eigvalsh(matrix)[0])
    if smallest < -_ROUNDING * size * scale:
        raise InvalidInputError(
            f"{name} must be positive semidefinite, got an eigenvalue {smallest:.6g}"
        )
    return np.asarray(matrix)


def as_measurement_noise(value: ArrayLike, outputs: int) -> Array:
    """The positive definite covariance R of the measurements, (p, p)."""
    noise = as_covariance(value, "measurement_noise", outputs)
    values = np.linalg.eigvalsh(noise)
    # Entries below the square root of the smallest float64 leave no digits for a division.
    if not values[0] > max(1e-15 * values[-1], 1e-290):
        raise InvalidInputError(
            f"measurement_noise must be positive definite, got a smallest variance of "
            f"{values[0]:.6g}: no output is measured exactly; give the variance of the "
            f"meter, or use reconstruct_initial_state for exact outputs"
        )
    return noise


def as_measurement(value: Any, outputs: int, *, real: bool) -> Array:
    """One measurement, (p,), NaN where it is missing; a number where p = 1."""
    if isinstance(value, float) and outputs == 1 and not math.isinf(value):
        return np.array([value])
    given = _with_gaps(value, "output", real)
    if given.ndim == 0 and outputs == 1:
        return given.reshape(1)
    if given.shape != (outputs,):
        allowed = "a number" if outputs == 1 else f"of shape ({outputs},)"
        raise InvalidInputError(f"output must be {allowed}, got shape {given.shape}")
    return given


def as_measurements(value: ArrayLike, outputs: int, *, real: bool) -> Array:
    """A record of measurements, (p, T), NaN where missing; (T,) where p = 1."""
    given = _with_gaps(value, "outputs", real)
    record = given[None] if given.ndim == 1 and outputs == 1 else given
    if record.ndim != 2 or record.shape[0] != outputs:
        allowed = "(T,)" if outputs == 1 else f"({outputs}, T)"
        hint = "; transpose it" if given.ndim == 2 and given.shape[1] == outputs else ""
        raise InvalidInputError(
            f"outputs must have shape {allowed}, outputs by samples, got {given.shape}{hint}"
        )
    if record.shape[1] == 0:
        raise InvalidInputError("outputs must have at least one sample, got none")
    return record


def as_input(value: Any, channels: int, *, real: bool) -> Array:
    """One input, (m,); a number stands for all channels."""
    if isinstance(value, float) and math.isfinite(value):
        return np.full(channels, value)
    given = as_array(value, "input", real=real)
    if given.ndim == 0:
        return np.full(channels, given[()])
    if given.shape != (channels,):
        raise InvalidInputError(
            f"input must be a number or have shape ({channels},), one entry per channel, got "
            f"shape {given.shape}"
        )
    return given


def as_input_record(value: ArrayLike | None, channels: int, samples: int, *, real: bool) -> Array:
    """The inputs beside a record of T measurements, (m, T); None is no input."""
    if value is None:
        return np.zeros((channels, samples))
    given = as_array(value, "inputs", real=real)
    record = given[None] if given.ndim == 1 and channels == 1 else given
    # The last input acts only through the feed-through, so T − 1 inputs may be all there are.
    if record.ndim == 2 and record.shape == (channels, samples - 1):
        record = np.concatenate([record, np.zeros((channels, 1), dtype=record.dtype)], axis=1)
    if record.shape != (channels, samples):
        allowed = f"({samples},)" if channels == 1 else f"({channels}, {samples})"
        raise InvalidInputError(
            f"inputs must have shape {allowed}, one input per sample (the last one may be left "
            f"out), got {given.shape}"
        )
    return record


def conjugate_partners(ens: Ensemble) -> Array | None:
    """The member that is the conjugate of each member in λ, b and c, (N,) int; None if not all.

    Where λ, b and c are real every member is its own partner.
    """
    if np.iscomplexobj(ens.d):
        return None
    rows = np.concatenate([ens.lam[:, None], ens.gains, ens.output_weights.T], axis=1) + 0.0
    waiting: dict[bytes, list[int]] = {}
    for i, row in enumerate(rows):
        waiting.setdefault(_key(row), []).append(i)
    partners = np.empty(ens.size, dtype=np.int64)
    for i, row in enumerate(rows):
        matching = waiting.get(_key(row.conj()))
        if not matching:
            return None
        partners[i] = matching.pop()
    # Equal members are interchangeable, but partners must be mutual.
    for i in range(ens.size):
        j = int(partners[i])
        if partners[j] != i:
            k = int(np.flatnonzero(partners == i)[0])
            partners[k], partners[j] = j, i
    return partners


def _key(row: Array) -> bytes:
    return (np.asarray(row, dtype=complex) + 0.0).tobytes()


def _with_gaps(value: ArrayLike, name: str, real: bool) -> Array:
    """Like :func:`as_array`, but NaN, None or a mask stands for a missing measurement."""
    try:
        given = np.array(value)
    except (ValueError, TypeError) as error:
        raise InvalidInputError(f"{name} must be numbers in a regular array: {error}") from None
    hidden = np.array(np.ma.getmaskarray(value) if np.ma.isMaskedArray(value) else False)
    if given.dtype == object:
        hidden = hidden | np.array([v is None for v in given.flat]).reshape(given.shape)
    if np.any(hidden):
        given = as_array(np.where(hidden, 0.0, given), name, real=real)
        given[np.broadcast_to(hidden, given.shape)] = np.nan
    if given.dtype.kind not in "fc":
        return as_array(value, name, real=real)
    missing = np.isnan(given)
    checked = as_array(np.where(missing, 0.0, given), name, real=real)
    filled = checked.astype(np.result_type(checked, float))
    filled[missing] = np.nan
    return filled
