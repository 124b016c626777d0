"""Robots that all hear the same two inputs, told apart by decay rates and gains: smooth curves.

z_i(H) = λ_i^H z_i(0) + b_i p(λ_i) with a polynomial p of degree below H: a displacement that
varies smoothly with λ is met to many digits, letters never are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.analysis.matrices import reachability_matrix
from ensctl.arguments import as_horizon, as_scalar, as_vector, read_only
from ensctl.display import Plotted, Summarised
from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import InvalidInputError
from ensctl.formatting import horizon_text
from ensctl.serialization import versioned
from ensctl.simulation.swarm_targets import as_plane, plane_rows

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class BroadcastSwarm:
    """z_i(t+1) = λ_i z_i(t) + b_i (u_x(t) + j u_y(t)) with real λ and b.

    Parameters
    ----------
    lam : (N,) real array_like
        λ, what a robot keeps of its position in a step, |λ| ≤ 1.
    gains : (N,) real array_like or scalar
        b ≠ 0, how strongly a robot answers the inputs.
    positions : (N,) complex or (N, 2) real array_like
        Where the robots start, x + jy or rows x, y.

    Attributes
    ----------
    lam, gains : (N,) float64, read-only
    positions : (N,) complex128, read-only

    Raises
    ------
    InvalidInputError
        Lengths that differ, not finite, not real, |λ| > 1 or b = 0.

    Examples
    --------
    >>> import numpy as np
    >>> from ensctl.simulation import BroadcastSwarm
    >>> swarm = BroadcastSwarm(np.linspace(-0.9, 0.9, 100), 1.0, np.zeros(100))
    >>> ring = np.exp(2j * np.pi * np.arange(100) / 100)
    >>> swarm.steer_to(ring, horizon=40).rms_error < 1e-8
    True
    """

    lam: Array
    gains: Array
    positions: Array

    def __init__(self, lam: ArrayLike, gains: ArrayLike, positions: ArrayLike) -> None:
        rates = as_vector(lam, "lam", real=True)
        answer = as_vector(gains, "gains", size=rates.size, real=True)
        places = as_plane(positions, "positions")
        if np.any(np.abs(rates) > 1.0):
            raise InvalidInputError(
                f"lam must be within [-1, 1], got {rates[np.argmax(np.abs(rates))]:.6g}; robots "
                f"that run away by themselves cannot be formed by a broadcast"
            )
        if not answer.all():
            raise InvalidInputError(
                f"gains must not be 0, got 0 for robot {int(np.flatnonzero(answer == 0)[0])}; it "
                f"would never move"
            )
        if places.size != rates.size:
            raise InvalidInputError(
                f"positions must have {rates.size} entries, one for each λ, got {places.size}"
            )
        object.__setattr__(self, "lam", read_only(rates))
        object.__setattr__(self, "gains", read_only(answer))
        object.__setattr__(self, "positions", read_only(places))

    @property
    def size(self) -> int:
        """Number of robots N."""
        return int(self.lam.size)

    def __len__(self) -> int:
        return self.size

    def to_ensemble(self) -> Ensemble:
        """The broadcast ensemble of one coordinate; x and y are steered by themselves."""
        return Ensemble(self.lam, self.gains)

    def trajectories(self, inputs: ArrayLike) -> Array:
        """z(0) … z(H) under u_x, u_y given as (2, H) rows, (N, H+1) complex128."""
        u = np.asarray(inputs, dtype=float)
        if u.ndim != 2 or u.shape[0] != 2 or not np.all(np.isfinite(u)):
            raise InvalidInputError(
                f"inputs must be finite rows u_x and u_y of shape (2, H), got shape {u.shape}"
            )
        path = np.empty((self.size, u.shape[1] + 1), dtype=complex)
        path[:, 0] = self.positions
        for t, drive in enumerate((u[0] + 1j * u[1]).tolist()):
            path[:, t + 1] = self.lam * path[:, t] + self.gains * drive
        return read_only(path)

    def steer_to(
        self,
        points: ArrayLike,
        horizon: int,
        *,
        ridge: float = 1e-16,
        assign: bool = True,
    ) -> BroadcastPlan:
        """The two inputs that bring the robots as close to a smooth curve as inputs can.

        min Σ_i |z_i(H) − point_i|² + ρ Σ_t (u_x² + u_y²),  ρ = ridge · σ_max²

        Parameters
        ----------
        points : (N,) complex or (N, 2) real array_like
            Points along the curve, one for each robot.
        horizon : int
            Number of steps H ≥ 1.  Starting positions that are not smooth in λ have to be
            forgotten first: λ^H should be small.
        ridge : float
            Price of inputs, in (0, 1); smaller ones buy accuracy with larger inputs.
        assign : bool
            True gives the points in the order of λ: the robot with the smallest λ gets the first,
            which is what makes the curve smooth in λ.  False: robot i goes to points[i].

        Returns
        -------
        BroadcastPlan

        Raises
        ------
        InvalidInputError
            Not one point for each robot, not finite, or an argument out of range.

        Notes
        -----
        Singular value decomposition of the N × H map, O(N H min(N, H)).

        Examples
        --------
        >>> import numpy as np
        >>> from ensctl.simulation import BroadcastSwarm
        >>> swarm = BroadcastSwarm(np.linspace(-0.9, 0.9, 50), 1.0, np.zeros(50))
        >>> plan = swarm.steer_to(np.linspace(-1, 1, 50) * 1j, horizon=20)
        >>> plan.inputs.shape, plan.rms_error < 1e-7
        ((2, 20), True)
        """
        from scipy.linalg import svd

        goal = as_plane(points, "points", self.size)
        steps = int(as_horizon(horizon))
        share = as_scalar(ridge, "ridge", above=0.0, below=1.0)
        order = np.arange(self.size)
        if assign:
            order[np.argsort(self.lam, kind="stable")] = np.arange(self.size)
        goal = goal[order]

        left, sigma, right = svd(
            reachability_matrix(self.to_ensemble(), steps), full_matrices=False
        )
        filtered = sigma / (sigma**2 + share * sigma[0] ** 2)
        missing = goal - self.lam**steps * self.positions
        found = right.T @ (filtered * (left.T @ missing))
        inputs = read_only(np.stack([found.real, found.imag]))
        final = self.trajectories(inputs)[:, -1]
        return BroadcastPlan(
            swarm=self,
            points=read_only(goal),
            assignment=read_only(order),
            horizon=steps,
            inputs=inputs,
            final_positions=final,
            rms_error=float(np.sqrt(np.mean(np.abs(final - goal) ** 2))),
        )


@dataclass(frozen=True, eq=False)
class BroadcastPlan(Plotted, Summarised):
    """Result of :meth:`BroadcastSwarm.steer_to`.

    Attributes
    ----------
    swarm : BroadcastSwarm
        The robots.
    points : (N,) complex128
        The point of each robot.
    assignment : (N,) int
        Robot i goes to the given point number assignment[i].
    horizon : int
        Number of steps H.
    inputs : (2, H) float64
        u_x and u_y.
    final_positions : (N,) complex128
        z(H), simulated step by step.
    rms_error : float
        √(Σ|z_i(H) − point_i|²/N): what a smooth function of λ cannot meet, or the ridge gave up.
    """

    swarm: BroadcastSwarm
    points: Array
    assignment: Array
    horizon: int
    inputs: Array
    final_positions: Array
    rms_error: float

    _plot_function: ClassVar[str] = "swarm_picture"

    @property
    def energy(self) -> float:
        """Σ (u_x² + u_y²)."""
        return float(np.sum(self.inputs**2))

    @property
    def peak(self) -> float:
        """max √(u_x² + u_y²)."""
        return float(np.hypot(*self.inputs).max())

    def trajectories(self) -> Array:
        """z(0) … z(H), (N, H+1) complex128."""
        return self.swarm.trajectories(self.inputs)

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1; positions and points as rows x, y."""
        return versioned(
            "broadcast_swarm_plan",
            {
                "robots": self.swarm.size,
                "horizon": self.horizon,
                "rms_error": self.rms_error,
                "energy": self.energy,
                "peak": self.peak,
                "lam": self.swarm.lam,
                "gains": self.swarm.gains,
                "positions": plane_rows(self.swarm.positions),
                "points": plane_rows(self.points),
                "assignment": self.assignment,
                "inputs": self.inputs,
            },
        )

    def __str__(self) -> str:
        return (
            f"two inputs bring {self.swarm.size} robots within rms {self.rms_error:.3g} of their "
            f"points in {horizon_text(self.horizon)}\n"
            f"energy {self.energy:.6g}, peak {self.peak:.6g}"
        )
