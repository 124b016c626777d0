"""One input for many scenarios: all their terminal rows together, solved at any radius."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import read_only
from ensctl.convex.domains import Domain, box, discs
from ensctl.convex.infeasibility import InfeasibilityCertificate, infeasibility_certificate
from ensctl.convex.lq import lq
from ensctl.convex.optimality import OptimalityCertificate
from ensctl.convex.problem import Objective, Problem
from ensctl.convex.regions import Within, WithinDiscs
from ensctl.convex.rows import Rows
from ensctl.convex.stacking import unstack
from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import InvalidInputError, NotReachableError
from ensctl.status import Status
from ensctl.synthesis.limits import Limits
from ensctl.synthesis.robust_scenarios import Scenarios
from ensctl.synthesis.solving import Prepared, by_program
from ensctl.synthesis.steering_rows import SteeringRows, all_rows
from ensctl.synthesis.terminal import PerMember
from ensctl.synthesis.terminal_system import TerminalSystem, terminal_system
from ensctl.synthesis.trajectory_rows import limit_rows
from ensctl.threads import blas_threads_for

Array = NDArray[Any]

# Multipliers of an optimum are tried as a proof this share below it.
_BELOW = 1e-6


@dataclass(frozen=True, eq=False)
class RobustProgram:
    """A compiled task over all scenarios; made by :func:`robust_program`.

    Attributes
    ----------
    rows : SteeringRows
        The terminal equations of every member in every scenario.
    system : TerminalSystem
        Independent ones with their tolerance; those that follow from them to rounding beside.
    domain : Box or Discs
    limits : tuple of Rows
        Slew, and state and output limits of every scenario.
    objective : Objective
    immovable : float
        max|d| of rows that no input moves: no worst error is below it.
    """

    rows: SteeringRows
    system: TerminalSystem
    domain: Domain
    limits: tuple[Rows, ...]
    objective: Objective
    immovable: float
    _prepared: Prepared

    @property
    def channels(self) -> int:
        """m."""
        return self.rows.channels

    @property
    def terminal_blocks(self) -> tuple[Rows, ...]:
        """The terminal rows: independent ones first."""
        return (self.system.rows, *self.system.others)

    def at_rest(self) -> Array:
        """The smallest allowed inputs, zero where that is allowed."""
        return self.shaped(self.domain.nearest(np.zeros(self.domain.size)))

    def at(self, radius: float | None = None) -> RadiusOutcome:
        """Solve with the tolerance it was made with, or with one radius for all members."""
        system = self.system if radius is None else _with_radius(self.system, radius)
        factors = self._prepared.system
        limits = (*system.others, *self.limits)
        problem = Problem(
            self.objective,
            factors,
            factors.coordinates(system.rows.target),
            self.domain,
            system.rows.region,
            limits,
        )
        with blas_threads_for(system.rows.count):
            answer = by_program(problem, self._prepared, None)
        if answer.status is Status.OPTIMAL and answer.inputs is not None:
            inputs = self.shaped(answer.inputs)
            return RadiusOutcome(answer.status, inputs, answer.optimality, None, 0.0)
        if answer.status is not Status.INFEASIBLE or answer.eta is None:
            return RadiusOutcome(answer.status, None, None, None, 0.0)
        return self._proved(system, radius, answer.eta, answer.multipliers)

    def excluded_by(self, multipliers: tuple[Array, ...], radius: float) -> RadiusOutcome:
        """What multipliers of all blocks (terminal rows first) prove just below a radius."""
        if radius <= 0.0:
            return _undecided()
        below = radius * (1.0 - _BELOW)
        eta = self._prepared.system.factor.T @ multipliers[0]
        return self._proved(_with_radius(self.system, below), below, eta, multipliers[1:])

    def _proved(
        self,
        system: TerminalSystem,
        radius: float | None,
        eta: Array,
        multipliers: tuple[Array, ...],
    ) -> RadiusOutcome:
        proof = infeasibility_certificate(
            system.rows,
            self._prepared.system,
            eta,
            self.domain,
            limits=(*system.others, *self.limits),
            multipliers=multipliers,
        )
        if not proof.verified:
            return _undecided()
        excluded = 0.0 if radius is None else _excluded(radius, proof, system)
        return RadiusOutcome(Status.INFEASIBLE, None, None, proof, excluded)

    def shaped(self, values: Array) -> Array:
        """Inputs as (H,) or (m, H) from the optimiser's real variables."""
        u = values if self.rows.real else unstack(values)
        return read_only(u.copy() if self.channels == 1 else u.reshape(-1, self.channels).T.copy())


@dataclass(frozen=True, eq=False)
class RadiusOutcome:
    """What became of one radius.

    Attributes
    ----------
    status : Status
    inputs : (H,) or (m, H), or None
        Of least cost at this radius.
    optimality : OptimalityCertificate or None
    infeasibility : InfeasibilityCertificate or None
    excluded : float
        The same multipliers prove every radius below this impossible.
    """

    status: Status
    inputs: Array | None
    optimality: OptimalityCertificate | None
    infeasibility: InfeasibilityCertificate | None
    excluded: float


def robust_program(
    ens: Ensemble,
    scenarios: Scenarios,
    target: Array,
    x0: Array,
    horizon: int,
    *,
    objective: Objective,
    limits: Limits,
    radius: Array | None,
    real_inputs: bool | None,
) -> RobustProgram:
    """Put the terminal rows and limits of all scenarios together.

    Parameters
    ----------
    ens : Ensemble
        Nominal; gives the outputs that are limited.
    scenarios : Scenarios
        What is fitted.
    target, x0 : (N,)
        The two ends, the same in every scenario.
    horizon : int
        H.
    objective, limits, real_inputs
        As in :func:`robust`.
    radius : (N,) or None
        Tolerance; None when one radius for all is still to be found.

    Returns
    -------
    RobustProgram

    Raises
    ------
    InvalidInputError
        u_min with complex inputs; a limit of the wrong shape.
    NotReachableError
        Members that cannot be moved end further away than their tolerance, or none can be moved.
    """
    populations = scenarios.ensembles(ens)
    parts = [
        all_rows(population, target, horizon, x0, real_inputs=real_inputs)
        for population in populations
    ]
    rows = _together(parts)
    alive = np.any(rows.gains != 0, axis=1)
    if not np.any(alive):
        raise NotReachableError(
            "no member can be moved: b = 0 in every scenario; give a gain", tuple(range(ens.size))
        )
    reach = np.full(ens.size, max(float(np.abs(rows.displacement).max()), 1.0))
    system = _as_computed(
        terminal_system(rows, PerMember(reach if radius is None else radius), 1.0)
    )
    own = tuple(
        block
        for k, population in enumerate(populations)
        for block in limit_rows(
            population,
            x0,
            horizon,
            limits if k == 0 else replace(limits, slew_max=None),
            real=rows.real,
        )
    )
    return RobustProgram(
        rows=rows,
        system=system,
        domain=_domain(ens, horizon, limits, rows.real),
        limits=own,
        objective=objective,
        immovable=float(np.abs(rows.displacement[~alive]).max(initial=0.0)),
        _prepared=Prepared(lq(system.rows.matrix), None),
    )


def _undecided() -> RadiusOutcome:
    return RadiusOutcome(Status.PRECISION_LIMITED, None, None, None, 0.0)


def _together(parts: list[SteeringRows]) -> SteeringRows:
    return replace(
        parts[0],
        lam=np.concatenate([part.lam for part in parts]),
        gains=np.concatenate([part.gains for part in parts]),
        members=np.concatenate([part.members for part in parts]),
        row_target=np.concatenate([part.row_target for part in parts]),
        row_x0=np.concatenate([part.row_x0 for part in parts]),
        displacement=np.concatenate([part.displacement for part in parts]),
        real=all(part.real for part in parts),
    )


def _domain(ens: Ensemble, horizon: int, limits: Limits, real: bool) -> Domain:
    lower, upper = limits.input_range(horizon, ens.channels)
    if real:
        return box(lower, upper, lower.size)
    if limits.u_min is not None:
        raise InvalidInputError(
            "u_min needs real inputs, and these data have complex ones; limit the modulus by u_max "
            "alone, or ask for real_inputs=True"
        )
    return discs(upper, upper.size)


def _as_computed(system: TerminalSystem) -> TerminalSystem:
    """Rows as float64 computes them: those of a population within rounding of the scenario.

    Proofs are about these; a scenario stands for what is known no better than that.
    """
    return replace(
        system,
        rows=replace(system.rows, rounding=0.0),
        others=tuple(replace(rows, rounding=0.0) for rows in system.others),
    )


def _with_radius(system: TerminalSystem, radius: float) -> TerminalSystem:
    return replace(
        system,
        rows=_resized(system.rows, radius),
        others=tuple(_resized(rows, radius) for rows in system.others),
    )


def _resized(rows: Rows, radius: float) -> Rows:
    region = rows.region
    if isinstance(region, Within | WithinDiscs):
        return replace(rows, region=replace(region, radius=np.full(region.radius.size, radius)))
    return rows


def _excluded(radius: float, proof: InfeasibilityCertificate, system: TerminalSystem) -> float:
    """Largest radius at which the multipliers still prove infeasibility.

    The margin falls with the radius at the rate Σ|y| over the terminal rows.
    """
    blocks = (system.rows, *system.others)
    multipliers = (proof.eta, *proof.multipliers[: len(system.others)])
    slope = sum(-rows.region.floor(y) / radius for rows, y in zip(blocks, multipliers, strict=True))
    rise = proof.margin - proof.error_bound
    return radius + rise / slope if slope > 0.0 else float("inf")
