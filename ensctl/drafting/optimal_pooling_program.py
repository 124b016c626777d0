"""The best coupling of draft tuples and target tokens as a transport program.

maximise Σ f_{t,x}  subject to  Σ_x f_{t,x} ≤ P(t),  Σ_t f_{t,x} ≤ p(x),  f ≥ 0,

where token x may take mass of tuple t only if x ∈ t.  The matrix is totally unimodular, so the dual
is a cut: a set H of tokens, and 1 − P(all drafts ∈ H) + p(H) bounds every coupling.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.errors import InvalidInputError, SolverError

Array = NDArray[Any]

_MOST_VARIABLES = 2_000_000
# The solver's tolerances are absolute (1e-10): at this scale they are below 1e-13 of the mass.
_MASS = 1e3


@dataclass(frozen=True, eq=False)
class TransportOptimum:
    """A coupling and the cut that bounds it: ``accepted`` ≤ α* ≤ ``upper_bound``."""

    accepted: float
    upper_bound: float
    tokens: Array


def product_law(laws: Array) -> Array:
    """Joint law of independent draws, one from each row."""
    _require_room(laws.shape[1], laws.shape[0])
    joint = laws[0]
    for law in laws[1:]:
        joint = np.multiply.outer(joint, law)
    return joint


def support(joint: Array) -> tuple[Array, Array]:
    """Tuples (n, m) of tokens with positive probability, and those probabilities (n,)."""
    _require_room(joint.shape[0], joint.ndim)
    tuples = np.argwhere(joint > 0)
    return tuples, joint[joint > 0]


def multisets(law: Array, count: int) -> tuple[Array, Array]:
    """Sorted tuples of ``count`` independent draws from one law, with their probabilities."""
    drawn = np.flatnonzero(law)
    number = math.comb(drawn.size + count - 1, count)
    if number * count > _MOST_VARIABLES:
        raise _too_large(number * count)
    tuples = np.array(list(combinations_with_replacement(drawn.tolist(), count)), dtype=np.int64)
    runs = np.ones(number)
    length = np.ones(number)
    for k in range(1, count):
        length = np.where(tuples[:, k] == tuples[:, k - 1], length + 1, 1.0)
        runs *= length
    return tuples, math.factorial(count) / runs * np.prod(law[tuples], axis=1)


def transport_optimum(target: Array, tuples: Array, chances: Array) -> TransportOptimum:
    """Solve the program for tuples (n, m) of tokens with probabilities (n,)."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    number, size = tuples.shape[0], target.size
    _, first = np.unique(
        np.repeat(np.arange(number), tuples.shape[1]) * size + tuples.ravel(), return_index=True
    )
    row = first // tuples.shape[1]
    token = tuples.ravel()[first]
    edge = np.arange(row.size)
    rows = np.concatenate([row, number + token])
    matrix = csr_array(
        (np.ones(2 * row.size), (rows, np.concatenate([edge, edge]))),
        shape=(number + size, row.size),
    )
    room = np.concatenate([chances, target])
    solved = linprog(
        -np.ones(row.size),
        A_ub=matrix,
        b_ub=_MASS * room,
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if solved.status != 0:
        raise SolverError(
            f"the transport program of the drafts stopped: {solved.message}",
            solver="HiGHS",
            native_status=str(solved.status),
        )
    flow = np.maximum(solved.x, 0.0) / _MASS
    for part, ends in ((chances, row), (target, token)):
        used = np.bincount(ends, flow, minlength=part.size)
        flow = (
            flow
            * np.minimum(1.0, np.divide(part, used, out=np.ones_like(used), where=used > 0))[ends]
        )
    cut = -solved.ineqlin.marginals[number:] > 0.5
    inside = cut[tuples].all(axis=1)
    bound = 1.0 - math.fsum(chances[inside]) + math.fsum(target[cut])
    return TransportOptimum(math.fsum(flow), min(bound, 1.0), np.flatnonzero(cut))


def _require_room(size: int, count: int) -> None:
    if count * size**count > _MOST_VARIABLES:
        raise _too_large(count * size**count)


def _too_large(variables: int) -> InvalidInputError:
    return InvalidInputError(
        f"drafts: the linear program would have {variables} variables, at most {_MOST_VARIABLES}; "
        "use fewer tokens or drafts, or independent draws from one law"
    )
