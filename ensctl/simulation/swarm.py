"""Robots in the plane, each with a turn rate of its own, that all hear one signed speed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_count, as_scalar, as_vector, read_only
from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import InvalidInputError
from ensctl.simulation.swarm_phases import moments, phases
from ensctl.simulation.swarm_rates import HorizonRule, horizon_rule
from ensctl.simulation.swarm_targets import as_plane

if TYPE_CHECKING:
    from ensctl.simulation.swarm_plan import SwarmPlan
    from ensctl.simulation.swarm_speed import RmsMultiple

Array = NDArray[Any]

_FASTEST = 2.0**20
# Trajectories beyond this many bytes are refused.
_MOST_BYTES = 4 * 2**30


@dataclass(frozen=True, eq=False)
class Swarm:
    """z_i(t+1) = z_i(t) + v_t e^{j(φ_i + ω_i t)}: one speed v_t moves all robots.

    In the frame that turns with robot i, ξ_i = z_i e^{−j(φ_i + ω_i t)}, this is a broadcast
    ensemble with λ_i = b_i = e^{−jω_i} and real inputs: 2N real equations.

    Parameters
    ----------
    turn_rates : (N,) array_like
        ω, rad per step, |ω| ≤ 2^20.  Every set of points can be reached exactly when no ω is 0
        and all |ω| differ.
    headings : (N,) array_like or scalar
        φ at step 0, rad.
    positions : (N,) complex or (N, 2) real array_like
        Where the robots start, x + jy or rows x, y.

    Attributes
    ----------
    turn_rates, headings : (N,) float64, read-only
    positions : (N,) complex128, read-only

    Raises
    ------
    InvalidInputError
        Lengths that differ, not finite, not real, or turn rates out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from ensctl.simulation import Swarm
    >>> swarm = Swarm([0.5, 1.5, 2.5], 0.0, [0, 1, 1j])
    >>> plan = swarm.steer_to([1 + 1j, -1, 0], horizon=12)
    >>> bool(np.abs(plan.final_positions - plan.points).max() < 1e-13)
    True
    """

    turn_rates: Array
    headings: Array
    positions: Array

    def __init__(self, turn_rates: ArrayLike, headings: ArrayLike, positions: ArrayLike) -> None:
        rates = as_vector(turn_rates, "turn_rates", real=True)
        if np.any(np.abs(rates) > _FASTEST):
            raise InvalidInputError(
                f"turn_rates must be rad per step with |ω| ≤ {_FASTEST:.0f}, got "
                f"{rates[np.argmax(np.abs(rates))]:.6g}; reduce them modulo 2π"
            )
        facing = as_vector(headings, "headings", size=rates.size, real=True)
        places = as_plane(positions, "positions")
        if places.size != rates.size:
            raise InvalidInputError(
                f"positions must have {rates.size} entries, one for each turn rate, got "
                f"{places.size}"
            )
        object.__setattr__(self, "turn_rates", read_only(rates))
        object.__setattr__(self, "headings", read_only(facing))
        object.__setattr__(self, "positions", read_only(places))

    @classmethod
    def scattered(
        cls, count: int, *, jitter: float = 0.25, spread: float = 0.5, seed: int = 0
    ) -> Swarm:
        """A Gaussian blob of robots with nearly equispaced turn rates and random headings.

        ω_i = (i + ½ + ε_i) π/N with |ε_i| ≤ jitter, drawn uniformly; robots are numbered by turn
        rate.

        Parameters
        ----------
        count : int
            Number of robots N ≥ 1.
        jitter : float
            Share of the spacing π/N, in [0, 0.5): a manufacturing tolerance.
        spread : float
            Standard deviation of x and of y, ≥ 0.
        seed : int
            ≥ 0; the same numbers every time.

        Returns
        -------
        Swarm

        Raises
        ------
        InvalidInputError
            An argument is out of range.

        Examples
        --------
        >>> from ensctl.simulation import Swarm
        >>> Swarm.scattered(4, jitter=0.0).turn_rates.round(4)
        array([0.3927, 1.1781, 1.9635, 2.7489])
        """
        size = as_count(count, "count")
        share = as_scalar(jitter, "jitter", at_least=0.0, below=0.5)
        width = as_scalar(spread, "spread", at_least=0.0)
        rng = np.random.default_rng(as_count(seed, "seed", minimum=0))
        rates = (np.arange(size) + 0.5 + rng.uniform(-share, share, size)) * (np.pi / size)
        headings = rng.uniform(-np.pi, np.pi, size)
        places = width * (rng.standard_normal(size) + 1j * rng.standard_normal(size))
        return cls(rates, headings, places)

    @property
    def size(self) -> int:
        """Number of robots N."""
        return int(self.turn_rates.size)

    def __len__(self) -> int:
        return self.size

    @property
    def horizon_rule(self) -> HorizonRule:
        """How many steps steering needs: 2N at least, 2π/g for a condition number of O(1)."""
        return horizon_rule(self.turn_rates)

    def to_ensemble(self) -> Ensemble:
        """The broadcast ensemble in the turning frame: λ = b = e^{−jω}, rounded to float64.

        Steer it with ``real_inputs=True``, from ``body_frame(positions, 0)``.

        Returns
        -------
        Ensemble

        Examples
        --------
        >>> from ensctl.simulation import Swarm
        >>> ens = Swarm([0.5, 1.5], 0.0, [0, 1]).to_ensemble()
        >>> ens.size, bool((ens.lam == ens.b).all())
        (2, True)
        """
        cos, sin = phases(self.turn_rates, np.ones(1))
        lam = (cos - 1j * sin)[:, 0]
        return Ensemble(lam, lam)

    def body_frame(self, positions: ArrayLike, step: int) -> Array:
        """ξ = z e^{−j(φ + ωt)}: positions in the plane as states of :meth:`to_ensemble`, (N,)."""
        places = as_plane(positions, "positions", self.size)
        return places * np.conj(self._directions(as_count(step, "step", minimum=0)))

    def plane(self, states: ArrayLike, step: int) -> Array:
        """z = ξ e^{j(φ + ωt)}: states of :meth:`to_ensemble` as positions in the plane, (N,)."""
        turning = as_vector(states, "states", size=self.size)
        return turning * self._directions(as_count(step, "step", minimum=0))

    def final_positions(self, speeds: ArrayLike) -> Array:
        """z(H) after the speeds v_0 … v_{H−1}, (N,) complex128.

        Notes
        -----
        Within about 4 √H ε Σ|v| in the worst case.  O(N H).
        """
        v = as_vector(speeds, "speeds", real=True)
        moved = moments(self.turn_rates, v[None, :])[0]
        return read_only(self.positions + np.exp(1j * self.headings) * moved)

    def trajectories(self, speeds: ArrayLike) -> Array:
        """z(0) … z(H) under the speeds v_0 … v_{H−1}, (N, H+1) complex128.

        Raises
        ------
        InvalidInputError
            More than 4 GiB.
        """
        v = as_vector(speeds, "speeds", real=True)
        size = 16 * self.size * (v.size + 1)
        if size > _MOST_BYTES:
            raise InvalidInputError(
                f"speeds must lead to trajectories of at most {_MOST_BYTES / 2**30:.3g} GiB, got "
                f"{size / 2**30:.3g} GiB for {self.size} robots × {v.size + 1} steps; ask for "
                f"final_positions, or for fewer robots at a time"
            )
        cos, sin = phases(self.turn_rates, np.arange(v.size, dtype=float))
        path = np.zeros((self.size, v.size + 1), dtype=complex)
        np.cumsum((cos + 1j * sin) * v, axis=1, out=path[:, 1:])
        path *= np.exp(1j * self.headings)[:, None]
        path += self.positions[:, None]
        return read_only(path)

    def steer_to(
        self,
        points: ArrayLike,
        horizon: int | None = None,
        v_max: float | RmsMultiple | None = None,
        *,
        assign: bool = True,
        throw: bool = True,
    ) -> SwarmPlan:
        """The one speed signal of least energy that brings every robot to a point.

        min Σ v_t²  subject to  z(H) = points,  |v_t| ≤ v_max

        Parameters
        ----------
        points : (N,) complex or (N, 2) real array_like
            Where the robots shall be after H steps, one point for each.
        horizon : int, optional
            Number of steps H ≥ 2N; by default ``horizon_rule.steps``, where the condition number
            is O(1).
        v_max : float or RmsMultiple, optional
            Largest |v|, > 0; or a multiple of the rms speed of the plan without a limit.
        assign : bool
            True sends each robot to the point that makes Σ|point − position|² least: the energy
            is that sum times 2/H, within the squared condition number.  False: robot i goes to
            points[i].
        throw : bool
            Raise when there is no plan, or return it with the status that says why.

        Returns
        -------
        SwarmPlan

        Raises
        ------
        InvalidInputError
            Not one point for each robot, not finite, or a horizon that does not fit in memory.
        NotReachableError
            Locked robots, or more robots than the horizon allows; the message names the horizon
            that is needed.
        InfeasibleError
            The speed limit is too low, with the certificate that proves it.
        PrecisionError
            The horizon is so far below the rule that float64 cannot tell the robots apart.
        SolverError
            The certificate of the answer did not reach its tolerance.

        Notes
        -----
        Two LQ factorisations of N × H/2, O(N² H), then a dual Newton method, a few times O(N² H).
        Equations and phases are right to 2 ε, so that the speeds are right to about κ ε and the
        final error to less; κ > 1e10 is refused.  The bound holds exactly.

        Source: the body frame of a unicycle; Moitra, STOC 2015, for the horizon; Li and Swetits,
        SIAM J. Optim. 3 (1993) 466–488, for the bounded problem.

        Examples
        --------
        >>> import numpy as np
        >>> from ensctl.simulation import RmsMultiple, Swarm
        >>> swarm = Swarm.scattered(20, seed=1)
        >>> ring = np.exp(2j * np.pi * np.arange(20) / 20)
        >>> plan = swarm.steer_to(ring, horizon=80, v_max=RmsMultiple(2.0))
        >>> plan.success, bool(plan.rms_error < 1e-13), bool(plan.peak <= plan.v_max)
        (True, True, True)
        """
        from ensctl.simulation.swarm_planning import plan_swarm

        plan = plan_swarm(self, points, horizon, v_max, assign=assign)
        if throw and not plan.success:
            raise plan.error()
        return plan

    def _directions(self, step: int) -> Array:
        cos, sin = phases(self.turn_rates, np.array([float(step)]))
        return np.asarray(np.exp(1j * self.headings) * (cos[:, 0] + 1j * sin[:, 0]))
