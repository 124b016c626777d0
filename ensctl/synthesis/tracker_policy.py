"""A finite-horizon tracking policy: time-varying gains, feed-forward, and runs that check it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_array, as_count, read_only
from ensctl.display import Summarised
from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.propagation_arguments import as_initial_state
from ensctl.errors import InvalidInputError, PrecisionError
from ensctl.formatting import horizon_text
from ensctl.serialization import versioned

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class TrackingRun(Summarised):
    """One run of a policy from an initial state.

    Attributes
    ----------
    states : (N, H+1)
        x_0 … x_H.
    inputs : (m, H)
        u_0 … u_{H−1}.
    errors : (n, H+1)
        What was tracked minus its reference; the last column has no feed-through.
    cost : float
        The cost of this run.
    predicted_cost : float
        The cost-to-go of its initial state; equals ``cost`` up to rounding.
    gradient : float
        Largest derivative of the cost by an input, relative to the terms that cancel in it and to
        the weighed reference.
    """

    states: Array
    inputs: Array
    errors: Array
    cost: float
    predicted_cost: float
    gradient: float

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        names = ("states", "inputs", "errors", "cost", "predicted_cost", "gradient")
        return versioned("tracking_run", {name: getattr(self, name) for name in names})

    def __str__(self) -> str:
        return (
            f"{horizon_text(self.inputs.shape[1])}: cost {self.cost:.6g}, "
            f"{self.predicted_cost:.6g} predicted\n"
            f"largest |error| {np.max(np.abs(self.errors)):.4g}, largest |u| "
            f"{np.max(np.abs(self.inputs)):.4g}, derivative by the inputs {self.gradient:.1e}"
        )


@dataclass(frozen=True, eq=False)
class TrackingPolicy(Summarised):
    """Result of :func:`lq_tracker`: u_t = f_t − K_t x_t.

    Attributes
    ----------
    ensemble : Ensemble
        The population.
    horizon : int
        Number of inputs H.
    track : str
        "output" or "state".
    reference : (n, H+1)
        What is tracked.
    gains : (H, m, N)
        K_0 … K_{H−1}.
    feedforward : (m, H)
        f_0 … f_{H−1}.
    value_matrix : (N, N)
        P of the cost-to-go x*Px − 2 Re p*x + s at t = 0.
    value_vector : (N,)
        p.
    value_offset : float
        s, the optimal cost from x = 0.
    gradient : float
        Largest relative derivative of the cost by an input in the two runs that check the policy
        (from 0 and from all members at 1); 0 is optimal, the problem is convex.
    cost_gap : float
        Largest difference between their cost and the cost-to-go, relative to the terms of the
        latter and to the cost of missing the reference altogether.
    """

    ensemble: Ensemble
    horizon: int
    track: str
    reference: Array
    gains: Array
    feedforward: Array
    value_matrix: Array
    value_vector: Array
    value_offset: float
    gradient: float
    cost_gap: float
    _weights: tuple[Array, Array, Array]

    def input(self, t: int, x: ArrayLike) -> Array:
        """u_t = f_t − K_t x_t, (m,).

        Parameters
        ----------
        t : int
            Step, 0 ≤ t < H.
        x : scalar or array_like, (N,)
            The state x_t, measured or estimated.
        """
        step = as_count(t, "t", minimum=0)
        if step >= self.horizon:
            raise InvalidInputError(f"t must be below the horizon {self.horizon}, got {step}")
        state = as_initial_state(x, self.ensemble.size)
        return np.asarray(self.feedforward[:, step] - self.gains[step] @ state)

    def cost_to_go(self, x0: ArrayLike) -> float:
        """The optimal cost from x_0: x*Px − 2 Re p*x + s.

        Parameters
        ----------
        x0 : scalar or array_like, (N,)
            Initial state.
        """
        x = as_initial_state(x0, self.ensemble.size)
        with np.errstate(all="ignore"):
            cost = self._cost_to_go(x)
        if not np.isfinite(cost):
            raise PrecisionError("the cost from x0 leaves the float64 range; scale x0 down")
        return cost

    def _cost_to_go(self, x: Array) -> float:
        quadratic = x.conj() @ self.value_matrix @ x - 2.0 * (self.value_vector.conj() @ x)
        return float(np.real(quadratic)) + self.value_offset

    def run(self, x0: ArrayLike = 0.0, *, disturbance: ArrayLike = 0.0) -> TrackingRun:
        """Simulate the policy and measure its cost and the derivative of the cost by the inputs.

        Parameters
        ----------
        x0 : scalar or array_like, (N,)
            Initial state.
        disturbance : scalar or array_like, (N, H)
            Added to x_{t+1}.  With it the cost differs from the cost-to-go and the derivative from
            zero: the policy did not know.

        Returns
        -------
        TrackingRun
        """
        ens, steps = self.ensemble, self.horizon
        start = as_initial_state(x0, ens.size)
        pushed = as_array(disturbance, "disturbance")
        if pushed.shape not in {(), (ens.size, steps)}:
            raise InvalidInputError(
                f"disturbance must be a number or have shape ({ens.size}, {steps}), got "
                f"{pushed.shape}"
            )
        pushed = np.broadcast_to(pushed, (ens.size, steps))
        states = np.zeros((ens.size, steps + 1), np.result_type(start, self.gains, ens.lam, pushed))
        inputs = np.zeros((ens.channels, steps), np.result_type(states, self.feedforward))
        states[:, 0] = start
        with np.errstate(all="ignore"):
            for t in range(steps):
                inputs[:, t] = self.feedforward[:, t] - self.gains[t] @ states[:, t]
                states[:, t + 1] = ens.lam * states[:, t] + ens.gains @ inputs[:, t] + pushed[:, t]
            run = measured_run(self, states, inputs)
        if not np.isfinite(run.cost):
            raise PrecisionError(
                "the cost of the run leaves the float64 range; scale x0 or disturbance down"
            )
        return run

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "tracking_policy",
            {
                "horizon": self.horizon,
                "dt": self.ensemble.dt,
                "track": self.track,
                "reference": self.reference,
                "gains": self.gains,
                "feedforward": self.feedforward,
                "value_matrix": self.value_matrix,
                "value_vector": self.value_vector,
                "value_offset": self.value_offset,
                "gradient": self.gradient,
                "cost_gap": self.cost_gap,
            },
        )

    def __str__(self) -> str:
        return (
            f"optimal tracking of the {self.track} over {horizon_text(self.horizon)}: cost "
            f"{self.value_offset:.6g} from rest\n"
            f"checked by simulation: derivative by the inputs {self.gradient:.1e} of its terms, "
            f"cost off its prediction by {self.cost_gap:.1e}"
        )


def tracked_signal(ens: Ensemble, track: str) -> tuple[Array, Array]:
    """E and F of the tracked signal E x + F u."""
    if track == "state":
        return np.eye(ens.size), np.zeros((ens.size, ens.channels))
    return ens.output_weights, ens.feedthrough


def measured_run(policy: TrackingPolicy, states: Array, inputs: Array) -> TrackingRun:
    """Cost of a trajectory, and its derivative by the inputs from the adjoint equation."""
    ens, steps = policy.ensemble, policy.horizon
    E, F = tracked_signal(ens, policy.track)
    Q, R, terminal = policy._weights
    errors = E @ states - policy.reference
    errors[:, :-1] = errors[:, :-1] + F @ inputs
    weighed = Q @ errors[:, :-1]
    last = terminal @ errors[:, -1]
    spent = R @ inputs
    cost = np.sum(errors[:, :-1].conj() * weighed) + np.sum(inputs.conj() * spent)
    cost = float(np.real(cost + np.sum(errors[:, -1].conj() * last)))
    adjoint = E.conj().T @ last
    # Errors are differences: their rounding is that of the reference, not their own.
    signal = np.max(np.abs(policy.reference), axis=1)
    rounding = np.abs(ens.gains.T) @ (np.abs(E.T) @ (np.abs(Q) @ signal))
    worst = scale = 0.0
    for t in range(steps - 1, -1, -1):
        parts = spent[:, t], F.conj().T @ weighed[:, t], ens.gains.conj().T @ adjoint, rounding
        worst = max(worst, float(np.max(np.abs(sum(parts[:3])))))
        scale = max(scale, *(float(np.max(np.abs(part))) for part in parts))
        adjoint = ens.lam.conj() * adjoint + E.conj().T @ weighed[:, t]
    return TrackingRun(
        states=read_only(states),
        inputs=read_only(inputs),
        errors=read_only(errors),
        cost=cost,
        predicted_cost=policy._cost_to_go(states[:, 0]),
        gradient=worst / scale if scale > 0 else 0.0,
    )
