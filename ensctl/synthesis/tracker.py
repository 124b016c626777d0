"""Finite-horizon linear quadratic tracking of a reference by the states or by the aggregate."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_array, as_horizon, read_only
from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.require import require_ensemble
from ensctl.errors import InvalidInputError, PrecisionError
from ensctl.synthesis.lqr_weights import as_weight
from ensctl.synthesis.tracker_policy import TrackingPolicy, tracked_signal

Array = NDArray[Any]

_LARGEST_DEFECT = 1e-6
# Gains of a policy: 8 GB.
_MOST_GAINS = 10**9


def lq_tracker(
    ens: Ensemble,
    horizon: int,
    reference: ArrayLike,
    Q: ArrayLike = 1.0,
    R: ArrayLike = 1.0,
    *,
    terminal: ArrayLike | None = None,
    track: str = "output",
) -> TrackingPolicy:
    """The policy u_t = f_t − K_t x_t of least cost of following a reference for H steps.

    Minimises Σ_{t<H} e_t*Q e_t + u_t*R u_t + e_H*T e_H with e_t = C x_t + D u_t − r_t (output) or
    x_t − r_t (state), and e_H = C x_H − r_H.

    Parameters
    ----------
    ens : Ensemble
        The population, N members, m channels, p outputs.
    horizon : int
        Number of inputs H ≥ 1.
    reference : scalar or array_like, (n,) or (n, H+1)
        r_0 … r_H of the n tracked signals (n = p or N); constant in time if one-dimensional.  For
        n = 1 also (H+1,).
    Q : scalar or array_like, (n,) or (n, n)
        Weight of the error, positive semidefinite.
    R : scalar or array_like, (m,) or (m, m)
        Weight of the inputs, positive definite.
    terminal : scalar or array_like, (n,) or (n, n), optional
        Weight T of the last error; Q by default.
    track : {"output", "state"}
        What follows the reference.

    Returns
    -------
    TrackingPolicy
        ``gains``, ``feedforward``, ``input(t, x)``, ``cost_to_go(x0)``, ``run(x0)``.

    Raises
    ------
    InvalidInputError
        A weight or shape is wrong.
    PrecisionError
        The policy does not pass its own check in float64 (weights or |λ|^H too far apart).

    Notes
    -----
    Backward Riccati recursion in Joseph form, O(H N² m).  The answer is simulated from two initial
    states: the derivative of the cost by every input and the cost-to-go identity are in
    ``gradient`` and ``cost_gap``.

    Source: B. D. O. Anderson, J. B. Moore, "Optimal Control: Linear Quadratic Methods" (1990),
    chapter 4.

    Examples
    --------
    >>> import ensctl as ec
    >>> ens = ec.Ensemble([0.5, 0.9])
    >>> policy = ec.lq_tracker(ens, 20, 1.0, Q=100.0, R=0.01)
    >>> run = policy.run(0.0)
    >>> policy.gradient < 1e-12, float(abs(run.errors[0, 5])) < 0.01
    (True, True)
    """
    require_ensemble(ens)
    steps = int(as_horizon(horizon))
    if not (isinstance(track, str) and track in ("output", "state")):
        raise InvalidInputError(f"track must be 'output' or 'state', got {track!r}")
    if steps * ens.channels * ens.size > _MOST_GAINS:
        raise InvalidInputError(
            f"horizon must be at most {_MOST_GAINS // (ens.channels * ens.size)} for {ens.size} "
            f"members, got {steps}; use lqr for long horizons, or compress the ensemble"
        )
    E = tracked_signal(ens, track)[0]
    followed = _as_reference(reference, E.shape[0], steps)
    weight = as_weight(Q, "Q", E.shape[0])
    effort = as_weight(R, "R", ens.channels, definite=True)
    last = weight if terminal is None else as_weight(terminal, "terminal", E.shape[0])
    with np.errstate(all="ignore"):
        policy = _solved(ens, steps, track, followed, (weight, effort, last))
        return _checked(policy)


def _solved(
    ens: Ensemble, steps: int, track: str, reference: Array, weights: tuple[Array, Array, Array]
) -> TrackingPolicy:
    """P, p and s of the cost-to-go x*Px − 2 Re p*x + s, from t = H down to 0."""
    Q, R, terminal = weights
    E, F = tracked_signal(ens, track)
    B, A = ens.gains, ens.lam
    kind = np.result_type(A, B, E, F, reference, *weights)
    gains = np.zeros((steps, ens.channels, ens.size), kind)
    feedforward = np.zeros((ens.channels, steps), kind)
    r = reference[:, -1]
    P, p = E.conj().T @ terminal @ E, E.conj().T @ (terminal @ r)
    s = float(np.real(r.conj() @ terminal @ r))
    for t in range(steps - 1, -1, -1):
        r = reference[:, t]
        PB = P @ B
        curvature = R + F.conj().T @ Q @ F + B.conj().T @ PB
        coupling = F.conj().T @ Q @ E + PB.conj().T * A
        pull = F.conj().T @ (Q @ r) + B.conj().T @ p
        _require_finite(curvature, t)
        solved = np.linalg.solve(curvature, np.column_stack([coupling, pull]))
        K, f = solved[:, :-1], solved[:, -1]
        gains[t], feedforward[:, t] = K, f
        # s before p and P: the cost from x = 0, where u = f.
        missed = F @ f - r
        s += float(np.real(missed.conj() @ Q @ missed + f.conj() @ R @ f))
        s += float(np.real(f.conj() @ B.conj().T @ PB @ f - 2.0 * (p.conj() @ (B @ f))))
        seen = E - F @ K
        p = A.conj() * p - K.conj().T @ (B.conj().T @ p) + seen.conj().T @ (Q @ r)
        moved = P * A - PB @ K
        P = A.conj()[:, None] * moved - K.conj().T @ (B.conj().T @ moved)
        P = P + K.conj().T @ R @ K + seen.conj().T @ Q @ seen
        P = 0.5 * (P + P.conj().T)
    _require_finite(P, 0)
    return TrackingPolicy(
        ensemble=ens,
        horizon=steps,
        track=track,
        reference=read_only(reference),
        gains=read_only(gains),
        feedforward=read_only(feedforward),
        value_matrix=read_only(P),
        value_vector=read_only(p),
        value_offset=s,
        gradient=0.0,
        cost_gap=0.0,
        _weights=weights,
    )


def _checked(policy: TrackingPolicy) -> TrackingPolicy:
    gradient = gap = 0.0
    Q = policy._weights[0]
    idle = float(np.real(np.sum(policy.reference.conj() * (Q @ policy.reference))))
    offset = policy.value_offset
    for start in (0.0, 1.0):
        run = policy.run(start)
        x = run.states[:, 0]
        # The cost-to-go is a difference of these: its rounding is relative to them.
        scale = abs(policy.value_offset) + float(
            np.abs(x) @ np.abs(policy.value_matrix) @ np.abs(x)
            + 2.0 * np.abs(policy.value_vector) @ np.abs(x)
        )
        scale = max(scale + idle, run.cost, float(np.finfo(float).tiny))
        if start == 0.0:
            offset = run.cost
        gradient = max(gradient, run.gradient)
        gap = max(gap, abs(run.cost - run.predicted_cost) / scale)
    if not max(gradient, gap) <= _LARGEST_DEFECT:
        raise PrecisionError(
            f"the policy fails its own check in float64: derivative {gradient:.1e}, cost off by "
            f"{gap:.1e}; bring the weights Q, R and terminal nearer together or shorten the horizon"
        )
    # The simulated cost from rest adds only positive terms; the recursion for s subtracts.
    return replace(policy, gradient=gradient, cost_gap=gap, value_offset=offset)


def _as_reference(value: ArrayLike, count: int, steps: int) -> Array:
    given = as_array(value, "reference")
    if count == 1 and given.shape == (steps + 1,):
        given = given[None]
    if given.shape == (count,):
        given = given[:, None]
    if given.shape not in {(), (count, 1), (count, steps + 1)}:
        raise InvalidInputError(
            f"reference must be a number or have shape ({count},) or ({count}, {steps + 1}), "
            f"signals by times 0 … H, got {given.shape}"
        )
    return np.broadcast_to(given, (count, steps + 1)).copy()


def _require_finite(values: Array, t: int) -> None:
    if not np.all(np.isfinite(values)):
        raise PrecisionError(
            f"the cost-to-go leaves the float64 range at step {t}: an unstable member that no "
            f"input moves, or weights beyond 1e150"
        )
