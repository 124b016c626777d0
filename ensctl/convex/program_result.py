"""What a compiled program returns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from ensctl.convex.domains import Domain
from ensctl.convex.infeasibility import InfeasibilityCertificate
from ensctl.convex.optimality import OptimalityCertificate
from ensctl.convex.problem import Objective
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

    def from_units(self, objective: Objective, domain: Domain, unit: float) -> ProgramResult:
        """The result about u from one about u/unit, unit a power of two."""
        inputs, eta, certificate, proof = (
            self.inputs,
            self.eta,
            self.certificate,
            self.infeasibility,
        )
        # Multipliers of a proof have no unit; those of an optimum have that of cost over u.
        factor = unit if objective is Objective.ENERGY and certificate is not None else 1.0
        return replace(
            self,
            inputs=None if inputs is None else domain.nearest(unit * inputs),
            eta=None if eta is None else factor * eta,
            multipliers=tuple(factor * y for y in self.multipliers),
            certificate=None if certificate is None else certificate.from_units(objective, unit),
            infeasibility=None
            if proof is None
            else replace(proof, margin=unit * proof.margin, error_bound=unit * proof.error_bound),
        )
