"""Compiled programs: built once, solved for many targets and limits, checked every time."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.convex.domains import Domain
from ensctl.convex.infeasibility import InfeasibilityCertificate, infeasibility_certificate
from ensctl.convex.lq import LQ
from ensctl.convex.model import Model, build_model
from ensctl.convex.modelling import modelling
from ensctl.convex.optimality import optimality_certificate
from ensctl.convex.problem import Problem
from ensctl.convex.program_result import ProgramResult
from ensctl.convex.regions import Region, Zero
from ensctl.convex.restoration import candidates
from ensctl.convex.rows import Rows
from ensctl.convex.scaling import natural_scale
from ensctl.convex.solvers import Backend, able_backends
from ensctl.convex.structure import check_structure, result_at_rest
from ensctl.status import Status

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class CompiledProgram:
    """A problem whose structure is fixed and whose numbers may change.

    Made by :func:`compile_program`.  Solving sets the parameters of one cvxpy program: not for
    several threads at once.

    Attributes
    ----------
    problem : Problem
        As compiled.
    model : Model
        The cvxpy program.
    """

    problem: Problem
    model: Model

    @cached_property
    def _elastic(self) -> Model:
        return build_model(self.problem, natural_scale(self.problem), elastic=True)

    def solve(
        self,
        coordinates: Array | None = None,
        *,
        domain: Domain | None = None,
        terminal: Region | None = None,
        limits: tuple[Rows, ...] | None = None,
        solver: str | None = None,
        time_limit: float | None = None,
        max_iterations: int | None = None,
        tolerance: float = 1e-6,
    ) -> ProgramResult:
        """Solve with new numbers; what is not given stays as compiled.

        Parameters
        ----------
        coordinates : (N,), optional
            c.
        domain : Box or Discs, optional
            Same kind, same pattern of finite limits.
        terminal : Region, optional
            Same kind; for a cost the same softness.
        limits : tuple of Rows, optional
            Same matrices and kinds of regions; targets and radii may differ.
        solver : str, optional
            The only solver to try.  Otherwise every able one is tried until a certificate holds.
        time_limit : float, optional
            Seconds, for each solver.
        max_iterations : int, optional
            For each solver.
        tolerance : float
            Of the optimality certificate.

        Returns
        -------
        ProgramResult

        Raises
        ------
        InvalidInputError
            The structure differs, or the solver is not known.
        SolverError, MissingDependencyError
            The solver is not able, or not installed.
        """
        problem = replace(
            self.problem,
            coordinates=self.problem.coordinates if coordinates is None else coordinates,
            domain=self.problem.domain if domain is None else domain,
            terminal=self.problem.terminal if terminal is None else terminal,
            limits=self.problem.limits if limits is None else limits,
        )
        check_structure(self.problem, problem)
        backends = able_backends(self.model.ability, solver)
        at_rest = result_at_rest(problem, tolerance)
        if at_rest is not None:
            return at_rest
        limit = (time_limit, max_iterations)
        tried: list[ProgramResult] = []
        for backend in backends:
            result = self._solve_with(backend, problem, limit, tolerance)
            if result.status in (Status.OPTIMAL, Status.INFEASIBLE, Status.TIME_LIMIT):
                return result
            tried.append(result)
        return min(tried, key=_shortfall)

    def _solve_with(
        self,
        backend: Backend,
        problem: Problem,
        limit: tuple[float | None, int | None],
        tolerance: float,
    ) -> ProgramResult:
        scale = natural_scale(problem)
        word = _run(self.model, backend, problem, scale, limit)
        status = backend.status(word)
        if status is Status.INFEASIBLE:
            return self._prove_infeasible(backend, problem, scale, limit)
        if status not in (Status.OPTIMAL, Status.INACCURATE) or self.model.inputs.value is None:
            return ProgramResult(status, None, None, (), None, None, backend.name, word)
        eta, multipliers = self.model.multipliers(scale)
        raw = scale * np.asarray(self.model.inputs.value)
        checked = [
            (optimality_certificate(problem, u, eta, multipliers, tolerance=tolerance), u)
            for u in candidates(problem, raw)
        ]
        certificate, inputs = min(checked, key=lambda pair: pair[0].worst)
        if not certificate.verified:
            status = Status.INACCURATE
        return ProgramResult(
            status, inputs, eta, multipliers, certificate, None, backend.name, word
        )

    def _prove_infeasible(
        self,
        backend: Backend,
        problem: Problem,
        scale: float,
        limit: tuple[float | None, int | None],
    ) -> ProgramResult:
        """Turn a solver's verdict into multipliers that prove it, or call it inaccurate."""
        for prover in (backend, *able_backends(self._elastic.ability)):
            if self._elastic.ability not in prover.abilities:
                continue
            word = _run(self._elastic, prover, problem, scale, limit)
            if prover.status(word) is not Status.OPTIMAL:
                continue
            eta, multipliers = self._elastic.multipliers(scale)
            proof = _proof(problem, eta, multipliers)
            if proof.verified:
                return ProgramResult(
                    Status.INFEASIBLE, None, eta, multipliers, None, proof, prover.name, word
                )
        return ProgramResult(Status.INACCURATE, None, None, (), None, None, backend.name, word)


def compile_program(problem: Problem) -> CompiledProgram:
    """Compile a problem with cvxpy, once.

    Parameters
    ----------
    problem : Problem
        LQ-preconditioned by construction; scaling is automatic.

    Returns
    -------
    CompiledProgram

    Notes
    -----
    Every answer is polished (limits met exactly, target to rounding where that is possible) and
    checked by weak duality.  An answer a solver calls inaccurate, or that fails the check, is
    never a success: the next able solver is tried, and if none does better the status is
    ``INACCURATE`` with the residuals.  Infeasibility is claimed only with multipliers that prove
    it.

    Source: Agrawal et al., Differentiable convex optimization layers, NeurIPS 2019 (DPP).

    Examples
    --------
    >>> import numpy as np
    >>> from ensctl.convex import Objective, Problem, box, compile_program, lq
    >>> lam, d = np.array([0.3, 0.6, 0.9]), np.array([1.0, 0.0, 0.5])
    >>> system = lq(lam[:, None] ** np.arange(4)[::-1])
    >>> problem = Problem(Objective.PEAK, system, system.coordinates(d), box(-np.inf, np.inf, 4))
    >>> result = compile_program(problem).solve()
    >>> result.status.name, round(float(abs(result.inputs).max()), 6)
    ('OPTIMAL', 5.443886)
    """
    return CompiledProgram(problem, build_model(problem, natural_scale(problem)))


def _run(
    model: Model,
    backend: Backend,
    problem: Problem,
    scale: float,
    limit: tuple[float | None, int | None],
) -> str:
    """Solve and return the solver's own status word; values are left in the model."""
    model.assign(problem, scale)
    options = backend.settings(*limit)
    try:
        data, chain, inverse = model.program.get_problem_data(
            backend.cvxpy_name, enforce_dpp=True, solver_opts=options
        )
        raw = chain.solve_via_data(
            model.program, data, warm_start=True, verbose=False, solver_opts=options
        )
        word = backend.native(raw)
        if backend.status(word) in (Status.OPTIMAL, Status.INACCURATE):
            with warnings.catch_warnings():
                # Said by the status that is returned.
                warnings.filterwarnings("ignore", message="Solution may be inaccurate")
                model.program.unpack_results(raw, chain, inverse)
    except modelling().error.SolverError as error:
        return f"failed: {error}"
    return word


def _proof(
    problem: Problem, eta: Array, multipliers: tuple[Array, ...]
) -> InfeasibilityCertificate:
    """About Qᵀu = c when the target is exact, otherwise about R u − d, R = L Qᵀ."""
    system = problem.system
    if isinstance(problem.terminal, Zero):
        count = problem.coordinates.size
        identity = LQ(system.basis, np.eye(count), np.eye(count), 1.0)
        rows = Rows(system.basis.T, problem.coordinates, Zero())
        terminal, used = rows, identity
    else:
        target = system.factor @ problem.coordinates
        terminal = Rows(system.factor @ system.basis.T, target, problem.terminal)
        used = system
    return infeasibility_certificate(
        terminal,
        used,
        eta,
        problem.domain,
        limits=problem.limits,
        multipliers=multipliers,
    )


def _shortfall(result: ProgramResult) -> float:
    return math.inf if result.certificate is None else result.certificate.worst
