"""What would make an infeasible task feasible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.convex.domains import Box, Discs, Domain
from ensctl.convex.lq import LQ
from ensctl.convex.problem import Objective, Problem
from ensctl.convex.programs import compile_program
from ensctl.convex.rows import Rows
from ensctl.status import Status
from ensctl.synthesis.limits import Limits

Array = NDArray[Any]


def smallest_peak(
    limits: Limits, system: LQ, terminal: Rows, domain: Domain, extra: tuple[Rows, ...]
) -> Callable[[], str]:
    """A function that finds the smallest u_max at this horizon, when it is asked.

    The peak program is solved without input limits; the other limits stay.  Where it is infeasible
    too, the other limits alone forbid the target, and that is said.
    """

    def advise() -> str:
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
        return f"the smallest u_max at this horizon is {found.certificate.value:.6g}"

    return advise
