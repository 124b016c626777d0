"""What a compiled program returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from ensctl.convex.infeasibility import InfeasibilityCertificate
from ensctl.convex.optimality import OptimalityCertificate
from ensctl.status import Status

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class ProgramResult:
    """What became of one solve.

    Attributes
    ----------
    status : Status
        ``OPTIMAL`` and ``INFEASIBLE`` only with a verified certificate.
    inputs : (n,) float64 or None
        u in its domain exactly; None when no solver returned any.
    eta : (N,) float64 or None
        Multipliers of Qᵀu = c: of the optimum, or those that prove infeasibility.
    multipliers : tuple of arrays
        Of the limits, one per block, y ≤ 0 for inequalities.
    certificate : OptimalityCertificate or None
        For ``inputs``; its residuals say how far an inaccurate answer is off.
    infeasibility : InfeasibilityCertificate or None
        About Q and c as given; check ``eta`` against the true rows with
        :func:`ensctl.convex.infeasibility_certificate`.
    solver : str
        The solver whose answer this is.
    native_status : str
        What that solver said.
    """

    status: Status
    inputs: Array | None
    eta: Array | None
    multipliers: tuple[Array, ...]
    certificate: OptimalityCertificate | None
    infeasibility: InfeasibilityCertificate | None
    solver: str
    native_status: str
