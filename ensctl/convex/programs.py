"""Compiled programs: built once, solved for many targets and limits, checked every time."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.convex.domains import Domain
from ensctl.convex.infeasibility import InfeasibilityCertificate, infeasibility_certificate
from ensctl.convex.lq import LQ
from ensctl.convex.magnitude import in_units, unit_of
from ensctl.convex.model import Model, build_model
from ensctl.convex.modelling import modelling
from ensctl.convex.optimality import OptimalityCertificate, optimality_certificate
from ensctl.convex.problem import Problem
from ensctl.convex.program_result import ProgramResult
from ensctl.convex.regions import Region, Zero
from ensctl.convex.restoration import candidates, settled_candidates
from ensctl.convex.rows import Rows
from ensctl.convex.scaling import natural_scale, scales_to_try
from ensctl.convex.solvers import Backend, able_backends
from ensctl.convex.structure import check_structure, result_at_rest
from ensctl.status import Status

Array = NDArray[Any]

# Residual of Qᵀu = c, relative to max(‖c‖, ‖u‖), that is rounding and nothing else.
ROUNDING = 64.0 * float(np.finfo(float).eps)
# Least violation, in scaled units, that no tolerance of a solver explains.
_VIOLATED = 1e-6
_DECIDED = (Status.OPTIMAL, Status.INFEASIBLE, Status.PRECISION_LIMITED, Status.TIME_LIMIT)
_LIMITED = (Status.ITERATION_LIMIT, Status.UNBOUNDED)
# Seconds and iterations.
_Limit = tuple[float | None, int | None]


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

    def __reduce__(self) -> tuple[Any, ...]:
        # Solvers and parameters cannot be copied; compiling again gives equal ones.
        return compile_program, (self.problem,)

    @cached_property
    def _elastic(self) -> Model:
        unit = unit_of(self.problem)
        posed = self.problem if unit == 1.0 else in_units(self.problem, unit)
        return build_model(posed, natural_scale(posed), elastic=True)

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
        unit = unit_of(problem)
        posed = problem if unit == 1.0 else in_units(problem, unit)
        result = self._solve_posed(posed, backends, (time_limit, max_iterations), tolerance)
        if unit == 1.0:
            return result
        return result.from_units(problem.objective, problem.domain, unit)

    def _solve_posed(
        self,
        problem: Problem,
        backends: tuple[Backend, ...],
        limit: _Limit,
        tolerance: float,
    ) -> ProgramResult:
        """Try every model, scale and backend until something is proved."""
        at_rest = result_at_rest(problem, tolerance)
        if at_rest is not None:
            return at_rest
        tried: list[ProgramResult] = []
        for model, scale in self._attempts(problem):
            for backend in backends:
                result = self._solve_with(model, backend, problem, scale, limit, tolerance)
                if result.status in _DECIDED:
                    return result
                tried.append(result)
            if any(result.status in _LIMITED for result in tried):
                break
        if not any(_usable(result, tolerance) or result.status in _LIMITED for result in tried):
            # A solver that fails may be facing limits that cannot be met.
            proof = self._prove_infeasible(backends[0], problem, natural_scale(problem), limit)
            if proof.status is Status.INFEASIBLE:
                return proof
        return min(tried, key=_shortfall)

    def _attempts(self, problem: Problem) -> Iterator[tuple[Model, float]]:
        """The compiled model first; after it, models compiled for these numbers and no others."""
        yield self.model, natural_scale(problem)
        for scale in scales_to_try(problem):
            yield build_model(problem, scale), scale

    def _solve_with(
        self,
        model: Model,
        backend: Backend,
        problem: Problem,
        scale: float,
        limit: _Limit,
        tolerance: float,
    ) -> ProgramResult:
        word = _run(model, backend, problem, scale, limit)
        status = backend.status(word)
        if status is Status.INFEASIBLE:
            return self._prove_infeasible(backend, problem, scale, limit)
        if status not in (Status.OPTIMAL, Status.INACCURATE) or model.inputs.value is None:
            return ProgramResult(status, None, None, (), None, None, backend.name, word)
        eta, multipliers = model.multipliers(scale)
        raw = scale * np.asarray(model.inputs.value)
        certificate, inputs = _best(problem, raw, eta, multipliers, tolerance)
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
        limit: _Limit,
    ) -> ProgramResult:
        """Turn a solver's verdict into multipliers that prove it.

        Multipliers that show a violation but prove nothing in float64 are returned as
        ``PRECISION_LIMITED``: true rows may still prove it.
        """
        best: ProgramResult | None = None
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
            if best is None and float(self._elastic.program.objective.value) > _VIOLATED:
                best = ProgramResult(
                    Status.PRECISION_LIMITED, None, eta, multipliers, None, None, prover.name, word
                )
        return best or ProgramResult(
            Status.INACCURATE, None, None, (), None, None, backend.name, word
        )


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
    unit = unit_of(problem)
    posed = problem if unit == 1.0 else in_units(problem, unit)
    return CompiledProgram(problem, build_model(posed, natural_scale(posed)))


def _run(
    model: Model,
    backend: Backend,
    problem: Problem,
    scale: float,
    limit: _Limit,
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


def _best(
    problem: Problem, raw: Array, eta: Array, multipliers: tuple[Array, ...], tolerance: float
) -> tuple[OptimalityCertificate, Array]:
    """The input near a solver's answer with the best certificate.

    The target comes first: among inputs that meet it to rounding the one nearest to optimal is
    taken, and where there is none the one that misses it least.
    """

    def checked(inputs: Array) -> tuple[OptimalityCertificate, Array]:
        return (
            optimality_certificate(problem, inputs, eta, multipliers, tolerance=tolerance),
            inputs,
        )

    def rank(pair: tuple[OptimalityCertificate, Array]) -> tuple[float, float]:
        return max(pair[0].equality_residual, ROUNDING), pair[0].worst

    found = [checked(u) for u in candidates(problem, raw)]
    best = min(found, key=rank)
    if best[0].verified and best[0].equality_residual <= ROUNDING:
        return best
    if isinstance(problem.terminal, Zero):
        for inputs in settled_candidates(problem, [u for _, u in found]):
            found.append(checked(inputs))
            if found[-1][0].verified and found[-1][0].equality_residual <= ROUNDING:
                return found[-1]
    verified = [pair for pair in found if pair[0].verified]
    return min(verified or found, key=rank)


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


def _usable(result: ProgramResult, tolerance: float) -> bool:
    """Whether the inputs meet the target and the limits, optimal or not."""
    certificate = result.certificate
    return certificate is not None and certificate.primal_residual <= tolerance


def _shortfall(result: ProgramResult) -> float:
    return math.inf if result.certificate is None else result.certificate.worst
