"""Steering: the best broadcast input for a target within limits, or a proof that there is none."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ensctl.ensemble.ensemble import Ensemble
from ensctl.synthesis.limits import Limits
from ensctl.synthesis.plan import SteeringPlan
from ensctl.synthesis.problem import steer_problem
from ensctl.synthesis.terminal import Rms, TerminalCost


def steer(
    ens: Ensemble,
    target: ArrayLike,
    horizon: int,
    *,
    x0: ArrayLike = 0.0,
    objective: str = "energy",
    limits: Limits | None = None,
    tol: ArrayLike | Rms | TerminalCost | None = None,
    real_inputs: bool | None = None,
    solver: str | None = None,
    throw: bool = True,
) -> SteeringPlan:
    """The input that steers an ensemble from x0 to a target at least cost within limits.

    Minimise Σ|u|² (energy), Σ|u| (fuel) or max|u| (peak) subject to x_H = target (or a tolerance,
    or a terminal cost) and the limits.

    Parameters
    ----------
    ens : Ensemble
        The population.
    target : (N,) array_like
        State to reach.
    horizon : int
        Number of steps H ≥ 1.
    x0 : scalar or (N,) array_like
        Initial state.
    objective : {"energy", "fuel", "peak"}
        What is minimised.
    limits : Limits, optional
        Limits on inputs, slew, states and the aggregate output.
    tol : scalar, (N,), Rms or TerminalCost, optional
        None: the target is met to rounding.  A number or one for each member: |x_{i,H} − target_i|
        ≤ tol_i.  ``ec.Rms(r)``: root mean square over members ≤ r.  ``ec.TerminalCost(w)``: the
        objective plus w Σ|x_{i,H} − target_i|², no constraint.
    real_inputs : bool, optional
        None: complex inputs, unless λ, b, target and x0 are closed under conjugation.  True: real
        inputs on complex members.
    solver : {"CLARABEL", "OSQP", "HIGHS"}, optional
        The only solver to use; by default Newton's method for energy with input limits, otherwise
        the able solvers in turn until a certificate holds.
    throw : bool
        Raise when there is no plan; otherwise return one whose status and message say so.

    Returns
    -------
    SteeringPlan
        With an optimality certificate recomputed from the data; limits on inputs hold exactly.

    Raises
    ------
    InvalidInputError
        An argument is out of range.
    NotReachableError
        Some members cannot be moved as asked; ``members`` names them.
    InfeasibleError
        No input meets the limits; ``certificate`` proves it.
    PrecisionError
        float64 cannot decide, or cannot separate the members (use a tolerance, or min_energy).
    SolverError
        Every able solver stopped short.

    Notes
    -----
    Programs are preconditioned by R = L Qᵀ, scaled, compiled once and DPP.  Energy with input
    limits takes a few Newton steps of O(N² H).

    Examples
    --------
    >>> import ensctl as ec
    >>> ens = ec.Ensemble([0.3, 0.6, 0.9])
    >>> plan = ec.steer(ens, [1, 0, 0.5], 6, limits=ec.Limits(u_max=2.6))
    >>> plan.success, plan.peak <= 2.6
    (True, True)
    >>> ec.steer(ens, [1, 0, 0.5], 6, limits=ec.Limits(u_max=2.4), throw=False).status.name
    'INFEASIBLE'
    """
    problem = steer_problem(
        ens,
        horizon,
        objective=objective,
        limits=limits,
        tol=tol,
        real_inputs=real_inputs,
        solver=solver,
    )
    return problem.solve(target, x0, throw=throw)
