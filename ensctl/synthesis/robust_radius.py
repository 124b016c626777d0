"""The smallest terminal error that one input can promise to all scenarios, enclosed.

Real inputs: one linear program gives both bounds (:mod:`ensctl.synthesis.robust_epigraph`), and the
input of least cost is then found at the upper one.  Otherwise the radius is searched: F(r), the
least total violation at radius r, is convex and falls to 0 at the optimum r*.  The multipliers of
an infeasible radius are a tangent of it; where that meets 0 is a proved lower bound of r* and the
next radius to try (Newton's method from below).  Where that is slow, geometric bisection helps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ensctl.convex.infeasibility import InfeasibilityCertificate
from ensctl.status import Status
from ensctl.synthesis.robust_epigraph import epigraph
from ensctl.synthesis.robust_program import RadiusOutcome, RobustProgram

_MAX_SOLVES = 40
_MAX_UNDECIDED = 8
# A radius this small beside the error of doing nothing counts as zero.
ZERO_ERROR = 1e-9
# After so many tangents in a row, halve the remaining interval instead.
_TANGENTS = 3


@dataclass(frozen=True, eq=False)
class SmallestRadius:
    """lower ≤ r* ≤ upper, with the plan at ``upper`` and the proof of ``lower``.

    Attributes
    ----------
    status : Status
        ``OPTIMAL`` when there is an input; the enclosure says how close to r* it is.
    lower, upper : float
    outcome : RadiusOutcome or None
        The input at ``upper``; None when there is none.
    proof : InfeasibilityCertificate or None
        Excludes every radius below ``lower``.
    solves : int
        Programs solved.
    """

    status: Status
    lower: float
    upper: float
    outcome: RadiusOutcome | None
    proof: InfeasibilityCertificate | None
    solves: int


def smallest_radius(program: RobustProgram, idle: float, accuracy: float) -> SmallestRadius:
    """Enclose the least worst error to a relative ``accuracy``.

    Parameters
    ----------
    program : RobustProgram
        Compiled, with finite input limits.
    idle : float
        Worst error without inputs, > 0: what "zero" is measured by.
    accuracy : float
        upper ≤ (1 + accuracy) lower is asked for, unless upper ≤ 1e-9 ``idle``.

    Returns
    -------
    SmallestRadius
        With the status of the last solve when nothing was found.
    """
    found = epigraph(program)
    if found is None:
        return _search(program, idle, accuracy, program.immovable, None, idle * (1.0 + 1e-9))
    low, proof = max(found.proof.excluded, program.immovable), found.proof.infeasibility
    radius = max(found.worst, program.immovable, ZERO_ERROR * idle)
    # Never more than doing nothing leaves, unless a limit forces more.
    radius = max(min(radius * (1.0 + 0.5 * accuracy), idle * (1.0 + 1e-9)), radius)
    outcome = program.at(radius)
    if outcome.status is Status.OPTIMAL:
        done = radius <= max(low * (1.0 + accuracy), 2.0 * ZERO_ERROR * idle)
        if done:
            return SmallestRadius(Status.OPTIMAL, low, radius, outcome, proof, 2)
    elif not program.limits:
        # No program settles the cost at this radius, but the input of the linear one will do.
        plain = RadiusOutcome(Status.OPTIMAL, program.shaped(found.inputs), None, None, 0.0)
        return SmallestRadius(Status.OPTIMAL, low, found.worst, plain, proof, 2)
    return _search(program, idle, accuracy, low, proof, radius)


def _search(
    program: RobustProgram,
    idle: float,
    accuracy: float,
    low: float,
    proof: InfeasibilityCertificate | None,
    radius: float,
) -> SmallestRadius:
    high, best = math.inf, None
    status = Status.PRECISION_LIMITED
    streak, undecided, solves = 0, 0, 0
    while solves < _MAX_SOLVES and undecided < _MAX_UNDECIDED:
        outcome = program.at(radius)
        solves += 1
        if outcome.status is Status.OPTIMAL:
            high, best, streak = radius, outcome, 0
        elif outcome.status is Status.INFEASIBLE:
            status, streak = Status.INFEASIBLE, streak + 1
            if outcome.excluded > low:
                low, proof = outcome.excluded, outcome.infeasibility
        else:
            status, undecided = outcome.status, undecided + 1
        if math.isinf(low) or high <= max(low * (1.0 + accuracy), ZERO_ERROR * idle):
            break
        following = _next(low, high, radius, accuracy, streak, outcome.status, idle)
        if following in (radius, high):
            break
        radius = following
    if best is not None:
        status = Status.OPTIMAL
    return SmallestRadius(status, low, high, best, proof, solves)


def _next(
    low: float,
    high: float,
    radius: float,
    accuracy: float,
    streak: int,
    status: Status,
    idle: float,
) -> float:
    if math.isinf(high):
        return max(low * (1.0 + 0.5 * accuracy), 4.0 * radius)
    if status is Status.INFEASIBLE and streak % (_TANGENTS + 1) != _TANGENTS:
        return min(low * (1.0 + 0.5 * accuracy), high)
    if status not in (Status.OPTIMAL, Status.INFEASIBLE):
        return math.sqrt(radius * high)
    bottom = max(low, 1e-3 * high, ZERO_ERROR * idle)
    return math.sqrt(bottom * high) if low >= 1e-3 * high else bottom
