"""Ways to solve a steering task: Newton's method, its soft form, or a compiled program."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.convex.domains import Box
from ensctl.convex.infeasibility import InfeasibilityCertificate
from ensctl.convex.lq import LQ
from ensctl.convex.newton_box import newton_box
from ensctl.convex.optimality import OptimalityCertificate, optimality_certificate
from ensctl.convex.problem import Problem
from ensctl.convex.programs import CompiledProgram, compile_program
from ensctl.convex.soft_box import SoftSystem, soft_newton_box
from ensctl.status import Status
from ensctl.synthesis.terminal_system import TerminalSystem

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Answer:
    """What a solver path returns, in the optimiser's real variables."""

    status: Status
    inputs: Array | None
    eta: Array | None
    multipliers: tuple[Array, ...]
    optimality: OptimalityCertificate | None
    infeasibility: InfeasibilityCertificate | None
    solver: str


@dataclass(frozen=True, eq=False)
class Prepared:
    """Everything about a structure that does not depend on target and x0."""

    system: LQ
    soft: SoftSystem | None
    warm: dict[str, Array] = field(default_factory=dict)
    programs: dict[Any, CompiledProgram] = field(default_factory=dict)


def by_newton(problem: Problem, domain: Box, prepared: Prepared) -> Answer:
    """Energy in a box with the target met exactly."""
    found = newton_box(
        problem.system.basis, problem.coordinates, domain, start=prepared.warm.get("eta")
    )
    status, proof = found.status, None
    if status is Status.OPTIMAL:
        proof = optimality_certificate(problem, found.inputs, found.multipliers)
        status = Status.OPTIMAL if proof.verified else Status.INACCURATE
        prepared.warm["eta"] = found.multipliers
    inputs = found.inputs if status is Status.OPTIMAL else None
    return Answer(status, inputs, found.multipliers, (), proof, None, "Newton")


def by_soft_newton(
    problem: Problem, domain: Box, system: TerminalSystem, soft: SoftSystem
) -> Answer:
    """Energy in a box plus a terminal cost."""
    found = soft_newton_box(soft, system.rows.target, domain)
    eta = problem.system.factor.T @ found.multipliers
    proof = optimality_certificate(problem, found.inputs, eta)
    status = found.status
    if status is Status.OPTIMAL and not proof.verified:
        status = Status.INACCURATE
    inputs = found.inputs if status is Status.OPTIMAL else None
    return Answer(status, inputs, eta, (), proof, None, "Newton")


def by_program(problem: Problem, prepared: Prepared, solver: str | None) -> Answer:
    """Everything else: one compiled program, re-solved with new numbers."""
    structure = _structure(problem)
    kept = prepared.programs.get(structure)
    if kept is None:
        kept = prepared.programs[structure] = compile_program(problem)
    limits = tuple(
        replace(old, target=new.target, region=new.region)
        for old, new in zip(kept.problem.limits, problem.limits, strict=True)
    )
    found = kept.solve(
        problem.coordinates,
        domain=problem.domain,
        terminal=problem.terminal,
        limits=limits,
        solver=solver,
    )
    inputs = found.inputs if found.status is Status.OPTIMAL else None
    return Answer(
        found.status,
        inputs,
        found.eta,
        found.multipliers,
        found.certificate,
        found.infeasibility,
        found.solver,
    )


def _structure(problem: Problem) -> tuple[Any, ...]:
    """What a compiled program cannot change: kinds of regions and the matrices of the limits."""
    blocks = []
    for rows in problem.limits:
        matrix = rows.matrix
        content = matrix.tobytes() if isinstance(matrix, np.ndarray) else matrix.shape
        blocks.append((type(rows.region).__name__, hash(content)))
    return type(problem.terminal).__name__, tuple(blocks)
