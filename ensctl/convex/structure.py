"""What a compiled program keeps fixed, and the one case that needs no solver."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.convex.optimality import optimality_certificate
from ensctl.convex.problem import Problem
from ensctl.convex.program_result import ProgramResult
from ensctl.convex.regions import Region
from ensctl.errors import InvalidInputError
from ensctl.status import Status

Array = NDArray[Any]


def check_structure(compiled: Problem, new: Problem) -> None:
    same = {
        "domain": type(compiled.domain) is type(new.domain)
        and np.array_equal(compiled.domain.bounded, new.domain.bounded),
        "terminal": type(compiled.terminal) is type(new.terminal)
        and getattr(compiled.terminal, "softness", 0.0) == getattr(new.terminal, "softness", 0.0)
        and np.array_equal(_tight(compiled.terminal), _tight(new.terminal)),
        "limits": len(compiled.limits) == len(new.limits)
        and all(
            old.matrix is rows.matrix and type(old.region) is type(rows.region)
            for old, rows in zip(compiled.limits, new.limits, strict=False)
        ),
    }
    for name, holds in same.items():
        if not holds:
            raise InvalidInputError(
                f"{name} must have the structure the program was compiled with (kind, matrices, "
                "which limits are finite); compile a new program"
            )


def _tight(region: Region) -> Array:
    """Which rows have to be met exactly."""
    return np.atleast_1d(np.asarray(getattr(region, "radius", 1.0))) == 0.0


def result_at_rest(problem: Problem, tolerance: float) -> ProgramResult | None:
    """u = 0 where that meets everything and costs nothing."""
    zero = np.zeros(problem.domain.size)
    eta = np.zeros(problem.coordinates.size)
    none = tuple(np.zeros(rows.count) for rows in problem.limits)
    if not _all_met(problem, zero) or problem.terminal_cost(zero) > 0.0:
        return None
    certificate = optimality_certificate(problem, zero, eta, none, tolerance=tolerance)
    return ProgramResult(Status.OPTIMAL, zero, eta, none, certificate, None, "none", "")


def _all_met(problem: Problem, inputs: Array) -> bool:
    def excesses() -> Iterator[Array]:
        yield problem.terminal.excess(problem.terminal_error(inputs))
        for rows in problem.limits:
            yield rows.region.excess(rows.error(inputs))

    return problem.domain.contains(inputs) and not any(part.any() for part in excesses())
