"""Every state from the whole record: the fixed-interval smoother.

The filter knows x_t from y_0 … y_t: mean x, covariance S S*.  What y_{t+1} … say about x_t is an
information matrix Y = F F*, and the two together have the covariance

    S (I + S* F F* S)⁻¹ S*,

a product that is definite whatever S and F are (D. C. Fraser and J. E. Potter, IEEE Trans. Automat.
Control 14 (1969) 387–390, in factors).  F goes backward by F ← [F, C* R^{-1/2}], then through the
process noise G G* as F ← Λ* F (I + F* G G* F)^{-1/2}: no inverse of P, Q or Λ, so a singular Q or
λ = 0 is nothing special.  Means go backward by the adjoint of the filter,

    r ← C* S_t⁻¹ e_t + (I − K_t C)* Λ* r,   x_{t|T} = x_{t|t} + P_{t|t} Λ* r

(G. J. Bierman, Automatica 9 (1973) 637–640, for A. E. Bryson and M. Frazier).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import read_only
from ensctl.display import Summarised
from ensctl.errors import PrecisionError
from ensctl.estimation.estimator_model import FilterModel, whitening
from ensctl.estimation.estimator_state import EstimatorState
from ensctl.estimation.estimator_steps import initial_state, predicted, updated
from ensctl.estimation.kalman_root import compress_root, propagate_root
from ensctl.serialization import versioned

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class SmoothedStates(Summarised):
    """Result of :meth:`AggregateEstimator.smooth`; signals by time.

    Attributes
    ----------
    means, stds : (N, T)
        Estimate of x_t from all measurements y_0 … y_{T−1}, and its standard deviations.
    log_likelihood : float
        Of all measurements under the model.
    noise_factors : dict
        Factors on the variances given that were learnt before smoothing; empty without ``adapt``.
    """

    means: Array
    stds: Array
    log_likelihood: float
    noise_factors: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "smoothed_states",
            {
                "means": self.means,
                "stds": self.stds,
                "log_likelihood": self.log_likelihood,
                "noise_factors": self.noise_factors,
            },
        )

    def __str__(self) -> str:
        size, samples = self.means.shape
        lines = [
            f"smoothed {samples} samples, {size} members: std "
            f"{self.stds.min():.4g} … {self.stds.max():.4g} (1 σ)",
            f"log-likelihood {self.log_likelihood:.6g}",
        ]
        if self.noise_factors:
            factors = ", ".join(f"{name} × {f:.4g}" for name, f in self.noise_factors.items())
            lines.append(f"noise variances learnt first: {factors}")
        return "\n".join(lines)


def smooth_record(
    model: FilterModel, outputs: Array, inputs: Array, noise_factors: dict[str, float]
) -> SmoothedStates:
    """Smooth outputs, (p, T), under inputs, (m, T).

    The forward pass keeps every √T-th state and is repeated piece by piece on the way back, so that
    memory is O(√T N²).
    """
    size, samples = model.ens.size, outputs.shape[1]
    piece = max(1, math.isqrt(samples))
    kept = []
    state = initial_state(model)
    for t in range(samples):
        if t % piece == 0:
            kept.append(state)
        state = predicted(model, updated(model, state, outputs[:, t], inputs[:, t]), inputs[:, t])
    means = np.empty((size, samples), dtype=model.dtype)
    stds = np.empty((size, samples))
    adjoint = np.zeros(size, dtype=model.dtype)
    future = np.zeros((size, 0), dtype=model.dtype)
    for start in range(piece * (len(kept) - 1), -1, -piece):
        stop = min(start + piece, samples)
        for t, before, after in _again(model, kept.pop(), outputs, inputs, start, stop)[::-1]:
            # What the future says about x_{t+1} becomes what it says about x_t.
            adjoint = model.ens.lam.conj() * adjoint
            future = _through_the_step(model, future)
            means[:, t] = after.mean + _covariance_times(after, adjoint)
            stds[:, t] = _combined_std(after, future)
            known = np.flatnonzero(~np.isnan(outputs[:, t]))
            if known.size:
                adjoint = _through_the_measurement(model, before, after, known, adjoint)
                future = _with_measurement(model, future, known)
            if not np.all(np.isfinite(stds[:, t])) or not math.isfinite(
                np.abs(adjoint).sum() + np.abs(future).sum() + abs(means[:, t].sum())
            ):
                raise PrecisionError(
                    f"what later measurements say about step {t} leaves the float64 range: an "
                    f"unstable member grows too far; smooth a shorter record"
                )
    return SmoothedStates(
        means=read_only(means),
        stds=read_only(stds),
        log_likelihood=state.log_likelihood,
        noise_factors=noise_factors,
    )


def _again(
    model: FilterModel, state: EstimatorState, outputs: Array, inputs: Array, start: int, stop: int
) -> list[tuple[int, EstimatorState, EstimatorState]]:
    """t, and the states before and after its measurement, for start ≤ t < stop."""
    steps = []
    for t in range(start, stop):
        after = updated(model, state, outputs[:, t], inputs[:, t])
        steps.append((t, state, after))
        if t + 1 < stop:
            state = predicted(model, after, inputs[:, t])
    return steps


def _covariance_times(state: EstimatorState, vector: Array) -> Array:
    if state.form == "covariance":
        return np.asarray(state.matrix @ vector)
    return np.asarray(state.matrix @ (state.matrix.conj().T @ vector))


def _through_the_measurement(
    model: FilterModel, before: EstimatorState, after: EstimatorState, known: Array, adjoint: Array
) -> Array:
    """C* S⁻¹ e + (I − K C)* r with S = C P C* + R and K = P C* S⁻¹."""
    weights = model.weights[known]
    moved = np.column_stack([_covariance_times(before, row) for row in weights.conj()])
    spread = weights @ moved + model.noise[np.ix_(known, known)]
    pulled = after.innovation[known] - moved.conj().T @ adjoint
    return np.asarray(adjoint + weights.conj().T @ np.linalg.solve(spread, pulled))


def _with_measurement(model: FilterModel, future: Array, known: Array) -> Array:
    """[F, C* R^{-1/2}], brought back to N columns when it is wide."""
    white = model.whitening
    if known.size < model.ens.outputs:
        white = whitening(model.noise[np.ix_(known, known)], model.weights[known])
    joined = np.concatenate([future, white.weights.conj().T], axis=1)
    return compress_root(joined) if joined.shape[1] > 2 * joined.shape[0] else joined


def _through_the_step(model: FilterModel, future: Array) -> Array:
    """Λ* F (I + F* G G* F)^{-1/2}."""
    from scipy.linalg import solve_triangular

    if future.shape[1] == 0:
        return future
    if model.columns.shape[1]:
        if future.shape[1] > future.shape[0]:
            future = compress_root(future)
        noisy = model.columns.conj().T @ future
        root = np.linalg.qr(np.concatenate([np.eye(future.shape[1]), noisy]), mode="r")
        future = solve_triangular(root, future.conj().T, trans="C", check_finite=False).conj().T
    nothing = np.zeros((future.shape[0], 0), dtype=future.dtype)
    return propagate_root(future, model.ens.lam.conj(), nothing)


def _combined_std(state: EstimatorState, future: Array) -> Array:
    """Row norms of S (I + S* F F* S)^{-1/2}."""
    from scipy.linalg import solve_triangular

    if future.shape[1] == 0:
        return state.std
    root = state.factor()
    told = future.conj().T @ root
    triangle = np.linalg.qr(np.concatenate([np.eye(root.shape[1]), told]), mode="r")
    # Rows of S R⁻¹, as columns of R⁻* S*.
    turned = solve_triangular(triangle, root.conj().T, trans="C", check_finite=False)
    return np.asarray(np.linalg.norm(turned, axis=0))
