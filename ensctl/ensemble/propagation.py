"""Where a population ends: the final state of every member, for one input sequence or many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import read_only
from ensctl.display import Summarised
from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.process_noise import ProcessNoise, accumulated_std, quantised, unit_noise
from ensctl.ensemble.propagation_arguments import (
    as_initial_state,
    as_initial_states,
    as_inputs,
    as_scenarios,
    check_powers_in_range,
    moving_steps,
)
from ensctl.ensemble.propagation_memory import check_memory
from ensctl.ensemble.require import require_ensemble
from ensctl.ensemble.summation_methods import Method, choose_method, sum_values
from ensctl.errors import PrecisionError
from ensctl.serialization import versioned

Array = NDArray[Any]

_EPS = float(np.finfo(float).eps)
# Up to this many steps the recursion costs no more than any other way.
_SHORT = 32


@dataclass(frozen=True, eq=False)
class FinalState(Summarised):
    """Final states with what is known about them.

    Attributes
    ----------
    values : (N,) or (N, k) float64 or complex128
        x_H, one column per scenario.
    error_bound : float
        No value is further than this from x_H in exact arithmetic (noise, if any, is taken as
        drawn).  It bounds the worst case; the error is usually a hundred times smaller.
    method : Method
        How it was computed.
    """

    values: Array
    error_bound: float
    method: Method

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        content = {"values": self.values, "error_bound": self.error_bound, "method": self.method}
        return versioned("final_state", content)

    def __str__(self) -> str:
        shape = " × ".join(str(extent) for extent in self.values.shape)
        return (
            f"final states ({shape}), largest {np.abs(self.values).max():.6g}, "
            f"error ≤ {self.error_bound:.2g}\ncomputed by {self.method}"
        )


def final_state(
    ens: Ensemble,
    inputs: ArrayLike,
    x0: ArrayLike = 0.0,
    *,
    noise: ProcessNoise | None = None,
    resolution: float | None = None,
) -> Array:
    """x_H = Λ^H x_0 + Σ_t Λ^{H−1−t} B u_t for every member, without stepping through time.

    Parameters
    ----------
    ens : Ensemble
        The population, N members and m channels.
    inputs : array_like, (H,) or (m, H)
        u_0 … u_{H−1}.
    x0 : scalar or array_like, (N,)
        Initial state.
    noise : ProcessNoise, optional
        Noise on the states; its sum over all steps is drawn at once from its exact law.
    resolution : float, optional
        Inputs are rounded to multiples of this first.

    Returns
    -------
    (N,) float64 or complex128, read-only

    Raises
    ------
    InvalidInputError
        An argument is not finite or has the wrong shape; H = 0.
    PrecisionError
        Powers of an unstable λ, or states, leave the float64 range.

    See Also
    --------
    propagate : the same with an error bound and the method.
    final_states : many input sequences at once.

    Notes
    -----
    Real λ: a sum over all steps is, on intervals that shrink towards the largest |λ|, a Chebyshev
    series of about twenty terms, so that N members cost O(20 N + H) operations instead of O(N H).
    λ on the unit circle: the same on arcs, by FFTs.  Other complex λ: blocked matrix products that
    leave out powers too small to be seen.  Errors are below 1e-12 max|x| at N = 10⁶, H = 10⁴
    (1e-15 for real λ, 1e-13 for complex).

    Examples
    --------
    >>> import ensctl as ec
    >>> ec.final_state(ec.Ensemble([0.5, -1.0]), [1.0, 1.0, 1.0])
    array([1.75, 1.  ])
    """
    return propagate(ens, inputs, x0, noise=noise, resolution=resolution).values


def propagate(
    ens: Ensemble,
    inputs: ArrayLike,
    x0: ArrayLike = 0.0,
    *,
    noise: ProcessNoise | None = None,
    resolution: float | None = None,
) -> FinalState:
    """The final state of :func:`final_state`, with its error bound and how it was computed.

    Parameters
    ----------
    ens, inputs, x0, noise, resolution
        As for :func:`final_state`.

    Returns
    -------
    FinalState

    Raises
    ------
    InvalidInputError, PrecisionError
        As for :func:`final_state`.

    Examples
    --------
    >>> import ensctl as ec
    >>> found = ec.propagate(ec.families.equispaced(1000, -1.0, 1.0), [1.0] * 500)
    >>> bool(found.error_bound < 1e-10)
    True
    >>> print(found.method)
    piecewise Chebyshev series on the real line
    """
    require_ensemble(ens)
    sequence = quantised(as_inputs(inputs, ens.channels), resolution)
    start = as_initial_state(x0, ens.size)
    if noise is not None:
        noise.check(ens.size)
    found = _propagated(ens, sequence[None], start[:, None])
    values = found.values[:, 0]
    if noise is not None:
        spread = accumulated_std(ens.lam, sequence.shape[1], noise.std)
        values = values + spread * unit_noise(noise.rng, ens.size, values.dtype)
        _check_in_range(values)
    return FinalState(read_only(values), found.error_bound, found.method)


def final_states(
    ens: Ensemble,
    batch: ArrayLike,
    x0: ArrayLike = 0.0,
    *,
    resolution: float | None = None,
    max_bytes: float | None = None,
) -> Array:
    """Final states for many input sequences at once, at the cost of matrix products.

    Parameters
    ----------
    ens : Ensemble
        The population, N members and m channels.
    batch : array_like, (k, H) or (k, m, H)
        k scenarios, one input sequence each.
    x0 : scalar or array_like, (N,) or (N, k)
        Initial state, shared or one per scenario.
    resolution : float, optional
        Inputs are rounded to multiples of this first.
    max_bytes : float, optional
        Bytes the answer may take; by default four fifths of the available memory.

    Returns
    -------
    (N, k) float64 or complex128, read-only
        Column j belongs to scenario j.

    Raises
    ------
    InvalidInputError
        An argument is not finite or has the wrong shape, or the answer does not fit into memory.
    PrecisionError
        Powers of an unstable λ, or states, leave the float64 range.

    Examples
    --------
    >>> import ensctl as ec
    >>> ec.final_states(ec.Ensemble([0.5, -1.0]), [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    array([[ 0.5,  1. ,  1.5],
           [-1. ,  1. ,  0. ]])
    """
    require_ensemble(ens)
    scenarios = quantised(as_scenarios(batch, ens.channels), resolution)
    start = as_initial_states(x0, ens.size, len(scenarios))
    width = np.result_type(ens.lam, ens.b, scenarios, start, float).itemsize
    check_memory(
        ens.size * len(scenarios) * width,
        f"the final states of {ens.size} members in {len(scenarios)} scenarios",
        "pass fewer scenarios at a time, or ask for ensctl.aggregate_output",
        max_bytes,
    )
    return read_only(_propagated(ens, scenarios, start).values)


def _propagated(ens: Ensemble, scenarios: Array, start: Array) -> FinalState:
    """Final states for scenarios (k, m, H) and initial states (N, 1) or (N, k)."""
    horizon = scenarios.shape[2]
    check_powers_in_range(ens, moving_steps(scenarios, start))
    if horizon <= _SHORT:
        found = _by_recursion(ens, scenarios, start)
    else:
        method = choose_method(ens.lam, horizon)
        # a_kcs multiplies λ^k: the last input comes first.
        coefs = np.ascontiguousarray(scenarios.transpose(2, 1, 0)[::-1])
        with np.errstate(over="ignore", invalid="ignore"):
            forced = sum_values(ens.lam, ens.gains, coefs, method)
            found = _with_free_response(
                ens, FinalState(forced.values, forced.error_bound, method), start, horizon
            )
    _check_in_range(found.values)
    return found


def _with_free_response(
    ens: Ensemble, forced: FinalState, start: Array, horizon: int
) -> FinalState:
    if not np.any(start):
        return forced
    powers, relative = integer_power(ens.lam, horizon)
    free = powers[:, None] * start
    dtype = np.result_type(forced.values, free)
    values = np.add(forced.values, free, dtype=dtype)
    largest = float(np.abs(free).max())
    error = forced.error_bound + (relative + 2.0 * _EPS) * largest
    error += _EPS * float(np.abs(values).max())
    return FinalState(values, error, forced.method)


def integer_power(lam: Array, exponent: int) -> tuple[Array, float]:
    """λ^exponent, and a bound on its relative error."""
    if not np.iscomplexobj(lam):
        return np.power(lam, float(exponent)), 8.0 * _EPS
    result, base, left = np.ones_like(lam), lam, exponent
    while left:
        if left & 1:
            result = result * base
        left >>= 1
        if left:
            base = base * base
    return result, 3.0 * _EPS * exponent


def _by_recursion(ens: Ensemble, scenarios: Array, start: Array) -> FinalState:
    shape = (ens.size, len(scenarios))
    dtype = np.result_type(ens.lam, ens.b, scenarios, start, float)
    state = np.empty(shape, dtype=dtype)
    state[:] = start
    size = np.abs(start).max(axis=0) * np.ones(len(scenarios))
    radius = float(np.abs(ens.lam).max())
    reach = np.abs(ens.gains).max(axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        for t in range(scenarios.shape[2]):
            state *= ens.lam[:, None]
            state += ens.gains @ scenarios[:, :, t].T
            size = radius * size + np.abs(scenarios[:, :, t]) @ reach
    step = 3.0 if np.issubdtype(dtype, np.complexfloating) else 1.0
    roundings = 2.0 * scenarios.shape[2] + ens.channels
    return FinalState(state, step * _EPS * roundings * float(size.max()), Method.RECURSION)


def _check_in_range(values: Array) -> None:
    if not np.all(np.isfinite(values)):
        member = int(np.argwhere(~np.isfinite(values))[0][0])
        raise PrecisionError(
            f"the state of member {member} leaves the float64 range (1.8e308); scale the inputs "
            f"down or shorten the horizon"
        )
