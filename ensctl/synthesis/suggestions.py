"""What would make an infeasible task feasible."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ensctl.convex.domains import Box, Discs, Domain
from ensctl.convex.lq import LQ
from ensctl.convex.problem import Objective, Problem
from ensctl.convex.programs import compile_program
from ensctl.convex.rows import Rows
from ensctl.formatting import horizon_text
from ensctl.status import Status
from ensctl.synthesis.limits import Limits

# A longer horizon is looked for up to this multiple, and for at most this many steps more.
_LONGEST = 4
_MOST_STEPS = 40


def smallest_peak(
    limits: Limits, system: LQ, terminal: Rows, domain: Domain, extra: tuple[Rows, ...]
) -> str:
    """The smallest u_max at this horizon, in words; nothing where u_max alone does not bind.

    The peak program is solved without input limits; the other limits stay.  Where it is infeasible
    too, the other limits alone forbid the target, and that is said.
    """
    if limits.u_max is None or limits.u_min is not None:
        return ""
    size = domain.size
    free: Domain = (
        Box(np.full(size, -np.inf), np.full(size, np.inf))
        if isinstance(domain, Box)
        else Discs(np.full(size // 2, np.inf))
    )
    problem = Problem(
        Objective.PEAK,
        system,
        system.coordinates(terminal.target),
        free,
        terminal.region,
        extra,
    )
    found = compile_program(problem).solve()
    if found.status is Status.INFEASIBLE:
        return "the other limits forbid it whatever u_max is"
    if found.status is not Status.OPTIMAL or found.certificate is None:
        return ""
    return f"the smallest u_max at this horizon is {_rounded_up(found.certificate.value)}"


def next_horizon(horizon: int, feasible: Callable[[int], bool], *, nested: bool) -> str:
    """The first longer horizon at which the same limits suffice, in words.

    Where every horizon contains the shorter ones (``nested``: start or target at rest) doubling and
    bisection find it; otherwise horizons are tried in turn, since feasibility need not be monotone.
    """
    if not nested:
        last = min(_LONGEST * horizon, horizon + _MOST_STEPS)
        for steps in range(horizon + 1, last + 1):
            if feasible(steps):
                return f"with these limits {horizon_text(steps)} are enough"
        return f"no horizon from {horizon} to {horizon_text(last)} is right for these limits"
    low, high = horizon, 2 * horizon
    while not feasible(high):
        low, high = high, 2 * high
        if high > 2 * _LONGEST * horizon:
            return f"no horizon up to {horizon_text(low)} is long enough for these limits"
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if feasible(middle) else (middle, high)
    return f"with these limits {horizon_text(high)} are enough"


def _rounded_up(value: float) -> str:
    """Six digits, never below the value: what is printed is feasible."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 5)
    return f"{math.ceil(value / unit * (1.0 + 1e-9)) * unit:.6g}"
