"""The declared backends: what each is able to solve, how it is tuned, and what its words mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any

from ensctl.errors import InvalidInputError, MissingDependencyError, SolverError
from ensctl.status import Status


class Ability(Enum):
    """Problem classes a backend may be able to solve."""

    LP = "linear programs"
    QP = "quadratic programs"
    SOCP = "second-order cone programs"


@dataclass(frozen=True, eq=False)
class Backend:
    """One solver as cvxpy knows it.

    Attributes
    ----------
    name : str
        What it is called here.
    cvxpy_name : str
        What cvxpy calls it.
    module : str
        Python package that has to be installed.
    abilities : frozenset of Ability
    options : mapping
        Tolerances asked for.
    time_option, iteration_option : str
        Names of the solver's own limits.
    native : callable
        The solver's own status word from its raw result.
    statuses : mapping
        Status word → :class:`~ensctl.status.Status`; words that are not listed mean failure.
    option_group : str
        Name under which cvxpy wants the options, if not at top level.
    """

    name: str
    cvxpy_name: str
    module: str
    abilities: frozenset[Ability]
    options: Mapping[str, Any]
    time_option: str
    iteration_option: str
    native: Callable[[Any], str]
    statuses: Mapping[str, Status]
    option_group: str = ""

    @property
    def installed(self) -> bool:
        """True when the package of this solver can be imported."""
        return find_spec(self.module) is not None

    def status(self, word: str) -> Status:
        """What the solver's word means; nothing almost solved counts as solved."""
        return self.statuses.get(word, Status.SOLVER_FAILED)

    def settings(self, time_limit: float | None, max_iterations: int | None) -> dict[str, Any]:
        """Options for one solve."""
        chosen = dict(self.options)
        if time_limit is not None:
            chosen[self.time_option] = float(time_limit)
        if max_iterations is not None:
            chosen[self.iteration_option] = int(max_iterations)
        return {self.option_group: chosen} if self.option_group else chosen


CLARABEL = Backend(
    "CLARABEL",
    "CLARABEL",
    "clarabel",
    frozenset({Ability.LP, Ability.QP, Ability.SOCP}),
    MappingProxyType(
        {
            "tol_gap_abs": 1e-9,
            "tol_gap_rel": 1e-9,
            "tol_feas": 1e-9,
            "reduced_tol_gap_abs": 1e-8,
            "reduced_tol_gap_rel": 1e-8,
            "reduced_tol_feas": 1e-8,
            "max_iter": 200,
        }
    ),
    "time_limit",
    "max_iter",
    lambda raw: str(raw.status),
    MappingProxyType(
        {
            "Solved": Status.OPTIMAL,
            "AlmostSolved": Status.INACCURATE,
            "PrimalInfeasible": Status.INFEASIBLE,
            "AlmostPrimalInfeasible": Status.INACCURATE,
            "DualInfeasible": Status.UNBOUNDED,
            "AlmostDualInfeasible": Status.INACCURATE,
            "MaxIterations": Status.ITERATION_LIMIT,
            "MaxTime": Status.TIME_LIMIT,
        }
    ),
)

OSQP = Backend(
    "OSQP",
    "OSQP",
    "osqp",
    frozenset({Ability.LP, Ability.QP}),
    MappingProxyType({"eps_abs": 1e-9, "eps_rel": 1e-9, "max_iter": 50_000, "polishing": True}),
    "time_limit",
    "max_iter",
    lambda raw: str(raw.info.status),
    MappingProxyType(
        {
            "solved": Status.OPTIMAL,
            "solved inaccurate": Status.INACCURATE,
            "primal infeasible": Status.INFEASIBLE,
            "primal infeasible inaccurate": Status.INACCURATE,
            "dual infeasible": Status.UNBOUNDED,
            "dual infeasible inaccurate": Status.INACCURATE,
            "maximum iterations reached": Status.ITERATION_LIMIT,
            "run time limit reached": Status.TIME_LIMIT,
        }
    ),
)


def _linprog_word(raw: Any) -> str:
    """HiGHS as scipy reports it: a number, and a message for the two limits it calls 1."""
    if raw.status == 1:
        return "time limit" if "time" in str(raw.message).lower() else "iteration limit"
    return {0: "optimal", 2: "infeasible", 3: "unbounded"}.get(raw.status, "numerical difficulties")


HIGHS = Backend(
    "HIGHS",
    # The copy inside scipy: highspy writes a banner to stdout, which is for data.
    "SCIPY",
    "scipy",
    frozenset({Ability.LP}),
    MappingProxyType(
        {
            "method": "highs",
            "primal_feasibility_tolerance": 1e-10,
            "dual_feasibility_tolerance": 1e-10,
        }
    ),
    "time_limit",
    "maxiter",
    _linprog_word,
    MappingProxyType(
        {
            "optimal": Status.OPTIMAL,
            "infeasible": Status.INFEASIBLE,
            "unbounded": Status.UNBOUNDED,
            "iteration limit": Status.ITERATION_LIMIT,
            "time limit": Status.TIME_LIMIT,
        }
    ),
    option_group="scipy_options",
)

BACKENDS: Mapping[str, Backend] = MappingProxyType(
    {backend.name: backend for backend in (CLARABEL, OSQP, HIGHS)}
)

# Best first: simplex vertices for linear programs, interior points for the rest.
_PREFERRED: Mapping[Ability, tuple[Backend, ...]] = MappingProxyType(
    {
        Ability.LP: (HIGHS, CLARABEL, OSQP),
        Ability.QP: (CLARABEL, OSQP),
        Ability.SOCP: (CLARABEL,),
    }
)


def able_backends(ability: Ability, solver: str | None = None) -> tuple[Backend, ...]:
    """The backends to try, in order.

    Parameters
    ----------
    ability : Ability
        What is needed.
    solver : str, optional
        The only one to try; upper or lower case.

    Raises
    ------
    InvalidInputError
        A name that is not declared.
    SolverError
        A solver without the ability.
    MissingDependencyError
        A solver, or every able one, that is not installed.
    """
    if solver is None:
        found = tuple(backend for backend in _PREFERRED[ability] if backend.installed)
        if not found:
            names = " or ".join(backend.module for backend in _PREFERRED[ability])
            raise MissingDependencyError(
                f"{ability.value} need a solver and none is installed; install {names}"
            )
        return found
    backend = BACKENDS.get(solver.upper()) if isinstance(solver, str) else None
    if backend is None:
        raise InvalidInputError(
            f"solver must be one of {', '.join(BACKENDS)}, got {solver!r}; "
            "leave it out to let the problem decide"
        )
    if ability not in backend.abilities:
        able = ", ".join(b.name for b in _PREFERRED[ability])
        raise SolverError(
            f"solver {backend.name} cannot solve {ability.value}; use {able}", backend.name
        )
    if not backend.installed:
        raise MissingDependencyError(
            f"solver {backend.name} is not installed; install {backend.module}"
        )
    return (backend,)
