"""The smallest worst error of real inputs as one linear program, enclosed by what we recompute.

Minimise r over |T u − d| ≤ r, u in its box and the limits.  The solver supplies an input and
multipliers; the error that this input leaves bounds r* from above, and weak duality,

    r* ≥ [yᵀd + y_Lᵀt − ρᵀ|y_L| − max_u (Tᵀy + Lᵀy_L)ᵀu] / Σ|y|,

bounds it from below, whatever the solver says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.convex.domains import Box
from ensctl.convex.phase_one import HIGHS_TOLERANCES
from ensctl.convex.regions import Within
from ensctl.convex.rows import Rows
from ensctl.synthesis.robust_program import RadiusOutcome, RobustProgram

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Epigraph:
    """An input, the worst error it leaves, and the proof of a lower bound.

    Attributes
    ----------
    inputs : (n,)
        In the box exactly.
    worst : float
        max |T u − d|.
    proof : RadiusOutcome
        Infeasibility just below the lower bound; ``excluded`` is that bound (0 when it failed).
    """

    inputs: Array
    worst: float
    proof: RadiusOutcome


def epigraph(program: RobustProgram) -> Epigraph | None:
    """Solve the linear program; None when it is not one (moduli), or the solver stopped.

    Parameters
    ----------
    program : RobustProgram
        Input limits finite.

    Returns
    -------
    Epigraph or None
    """
    from scipy import sparse
    from scipy.optimize import linprog

    domain, ends, own = program.domain, program.terminal_blocks, program.limits
    if not isinstance(domain, Box) or not all(_linear(rows) for rows in (*ends, *own)):
        return None
    matrix = np.vstack([rows.matrix for rows in ends])
    target = np.concatenate([rows.target for rows in ends])
    limited = [sparse.csr_array(rows.matrix) for rows in own]
    free = [sparse.csr_array((rows.count, 1)) for rows in own]
    one = np.ones((target.size, 1))
    upper = [np.column_stack([matrix, -one])]
    lower = [np.column_stack([-matrix, -one])]
    above, below = [target], [-target]
    for rows, block, zero in zip(own, limited, free, strict=True):
        radius = rows.region.radius if isinstance(rows.region, Within) else 0.0
        upper.append(sparse.hstack([block, zero]))
        lower.append(sparse.hstack([-block, zero]))
        above.append(rows.target + radius)
        below.append(radius - rows.target)
    found = linprog(
        np.append(np.zeros(domain.size), 1.0),
        A_ub=sparse.vstack([sparse.csr_array(part) for part in (*upper, *lower)]),
        b_ub=np.concatenate([*above, *below]),
        bounds=np.vstack([np.column_stack([domain.lower, domain.upper]), [0.0, np.inf]]),
        method="highs",
        options=HIGHS_TOLERANCES,
    )
    if found.status != 0:
        return None
    inputs = domain.nearest(found.x[:-1])
    marginals = np.asarray(found.ineqlin.marginals)
    half = marginals.size // 2
    split = np.cumsum([rows.count for rows in (*ends, *own)])[:-1]
    multipliers = np.split(marginals[:half] - marginals[half:], split)
    return Epigraph(
        inputs=inputs,
        worst=float(np.abs(matrix @ inputs - target).max()),
        proof=program.excluded_by(tuple(multipliers), float(found.x[-1])),
    )


def _linear(rows: Rows) -> bool:
    return isinstance(rows.region, Within)
