"""The initial state of every member from a record of the aggregate, with error bars."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.analysis.observability import observability
from ensctl.arguments import as_vector, read_only
from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.propagation_arguments import check_powers_in_range
from ensctl.ensemble.recursion import advance, state_dtype
from ensctl.ensemble.require import require_ensemble
from ensctl.errors import InvalidInputError, NotIdentifiableError
from ensctl.estimation.estimator_arguments import (
    as_input_record,
    as_measurements,
    conjugate_partners,
)
from ensctl.estimation.estimator_range import require_finite, within_float_range
from ensctl.estimation.reconstruction_result import Reconstruction
from ensctl.estimation.reconstruction_solve import LeastSquares, solve_dense, solve_vandermonde

Array = NDArray[Any]

_EPS = float(np.finfo(float).eps)
# Roundings of a sample: of itself, of what the inputs did to it, of the transform.
_ROUNDINGS = 16.0
# Above this share of the largest singular value a direction is accurate as LAPACK gives it.
_DIRECT = 1e-8


@within_float_range
def reconstruct_initial_state(
    ens: Ensemble,
    outputs: ArrayLike,
    inputs: ArrayLike | None = None,
    *,
    noise_std: ArrayLike | None = None,
) -> Reconstruction:
    """Least-squares estimate of x_0 from y_0 … y_{T−1}, and what it is worth.

    What the inputs did is subtracted; the rest is z_t = Σ_i c_i λ_i^t x_{i,0} + v_t, and x_0
    minimises Σ |z − V x_0|² (each output divided by its noise).

    Parameters
    ----------
    ens : Ensemble
        The population, N members, m channels and p outputs.
    outputs : array_like, (T,) or (p, T)
        The record; NaN where a sample is missing.
    inputs : array_like, (T,) or (m, T), optional
        u_0 … u_{T−1}; the last one may be left out.  None is no input.
    noise_std : scalar or array_like, (p,), optional
        Standard deviation of the noise v, > 0.  None: it is estimated from the residual, the same
        for all outputs, where there are more samples than members; N exact outputs are taken as
        exact up to rounding.

    Returns
    -------
    Reconstruction
        ``x0`` with ``std`` of each member, and the combinations of members that are known.

    Raises
    ------
    InvalidInputError
        A sample is infinite, a shape does not fit, or noise_std is not positive.
    NotIdentifiableError
        The samples do not determine x_0; names the members.
    PrecisionError
        Error bars leave the float64 range.

    See Also
    --------
    ensctl.noise_amplification : the error bars before anything is measured.

    Notes
    -----
    One output without gaps: by the entrywise accurate factors of the Vandermonde matrix, for any
    condition number; the rounding errors of the outputs are amplified like noise and are part of
    the error bars (``rounding``).  Else by QR, up to a condition number of 1e15.
    O(N² (N + p T)) operations.

    Examples
    --------
    >>> import ensctl as ec
    >>> ens = ec.Ensemble([0.2, 0.5, 0.8], c=1.0)
    >>> y = ec.aggregate_output(ens, [1.0, 0.0], [1.0, -2.0, 3.0])
    >>> found = ec.reconstruct_initial_state(ens, y, [1.0, 0.0])
    >>> found.x0.round(9), found.known_count
    (array([ 1., -2.,  3.]), 3)
    """
    require_ensemble(ens)
    partners = conjugate_partners(ens)
    real = partners is not None
    y = as_measurements(outputs, ens.outputs, real=real)
    u = as_input_record(inputs, ens.channels, y.shape[1], real=real)
    check_powers_in_range(ens, y.shape[1])
    scales = _as_noise(noise_std, ens.outputs)
    _require_identifiable(ens, y)
    free, sizes = _free_response(ens, y, u)
    present = ~np.isnan(y)
    units = np.ones(ens.outputs) if scales is None else scales
    solved = _solve(ens, free, present, units)

    powers = _powers(ens.lam, y.shape[1])
    matrix = _output_matrix(ens, powers, present, units)
    z = (free / units[:, None])[present]
    rest = matrix @ solved.solution - z
    spare = z.size - ens.size
    noise = 1.0
    if scales is None:
        noise = float(np.linalg.norm(rest)) / math.sqrt(spare) if spare > 0 else 0.0
    floor = _ROUNDINGS * _EPS * float(np.linalg.norm((sizes / units[:, None])[present]))
    amplification = np.linalg.norm(solved.root, axis=1)
    weights, values, stds = _combinations(matrix, z, solved)
    x0 = solved.solution
    require_finite("the initial state", x0, noise * amplification, floor * amplification, stds)
    if partners is not None:
        # Exactly conjugate members of a real record have exactly conjugate states.
        x0 = 0.5 * (x0 + x0[partners].conj())
    return Reconstruction(
        x0=read_only(x0),
        std=read_only(noise * amplification),
        rounding=read_only(floor * amplification),
        noise_std=scales if scales is not None else noise,
        noise_estimated=scales is None and spare > 0,
        residual=float(np.linalg.norm(rest)) / math.sqrt(z.size),
        samples=int(z.size),
        combinations=read_only(weights),
        combination_values=read_only(values),
        combination_stds=read_only(noise * stds + floor * stds),
        scale=float(np.linalg.norm(z) / np.linalg.norm(matrix, 2)),
        root=read_only(noise * solved.root),
        labels=tuple(ens.label(i) for i in range(ens.size)),
    )


def _as_noise(noise_std: ArrayLike | None, outputs: int) -> Array | None:
    if noise_std is None:
        return None
    given = as_vector(noise_std, "noise_std", size=outputs, real=True)
    if np.any(given <= 0.0):
        raise InvalidInputError(
            f"noise_std must be > 0, got {given.min():.6g}; leave it out for exact outputs"
        )
    return given


def _require_identifiable(ens: Ensemble, y: Array) -> None:
    samples = int(np.max(np.flatnonzero(~np.all(np.isnan(y), axis=0)), initial=-1)) + 1
    if samples == 0:
        raise NotIdentifiableError("outputs has no sample that is not missing (NaN)")
    verdict = observability(ens, samples)
    if not verdict.observable:
        reasons = "; ".join(verdict.reasons) or "too few samples"
        raise NotIdentifiableError(f"x_0 is {verdict.sentence}: {reasons}")
    present = int(np.count_nonzero(~np.isnan(y)))
    if present < ens.size:
        raise NotIdentifiableError(
            f"x_0 has {ens.size} members and only {present} samples are not missing; measure longer"
        )


def _free_response(ens: Ensemble, y: Array, u: Array) -> tuple[Array, Array]:
    """y minus what the inputs did, and the size of the terms that were subtracted."""
    state = np.zeros(ens.size, dtype=state_dtype(ens, u, np.zeros(1)))
    weights, through = ens.output_weights, ens.feedthrough
    forced = np.empty(y.shape, dtype=np.result_type(weights, state, through, u, float))
    sizes = np.empty(y.shape)
    for t in range(y.shape[1]):
        forced[:, t] = weights @ state + through @ u[:, t]
        sizes[:, t] = np.abs(weights) @ np.abs(state) + np.abs(through) @ np.abs(u[:, t])
        advance(ens, state, u[:, t], None, state)
    if not np.any(forced.imag) or conjugate_partners(ens) is not None:
        forced = forced.real
    return y - forced, np.abs(y) + sizes


def _solve(ens: Ensemble, free: Array, present: Array, units: Array) -> LeastSquares:
    if ens.outputs == 1 and np.all(present):
        return solve_vandermonde(ens.lam, ens.output_weights[0] / units[0], free[0] / units[0])
    powers = _powers(ens.lam, free.shape[1])
    matrix = _output_matrix(ens, powers, present, units)
    return solve_dense(matrix, (free / units[:, None])[present])


def _powers(lam: Array, samples: int) -> Array:
    """λ_i^t, (T, N)."""
    return np.asarray(lam[None, :] ** np.arange(samples)[:, None])


def _output_matrix(ens: Ensemble, powers: Array, present: Array, units: Array) -> Array:
    """Rows c_k Λ^t / unit_k of the samples that are there, output by output."""
    rows = (ens.output_weights / units[:, None])[:, None, :] * powers[None, :, :]
    return np.asarray(rows[present])


def _combinations(matrix: Array, z: Array, solved: LeastSquares) -> tuple[Array, Array, Array]:
    """Right singular vectors of V with their values and amplification, best known first.

    Those of small singular values are accurate as a space only, so their values and standard
    deviations are taken from the solution, not from the singular values.
    """
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    direct = values > _DIRECT * values[0]
    estimates = right @ solved.solution
    estimates[direct] = (left.conj().T @ z)[direct] / values[direct]
    stds = np.linalg.norm(right @ solved.root, axis=1)
    stds[direct] = 1.0 / values[direct]
    return right, estimates, stds
