"""How a computation ended: one sentence per outcome, with the next step."""

from __future__ import annotations

from enum import Enum


class Status(Enum):
    """Outcome of an optimisation; ``str(status)`` is the whole sentence.

    Only ``OPTIMAL`` counts as success.  A solver's word is never enough: ``OPTIMAL`` and
    ``INFEASIBLE`` are given only where multipliers recomputed against the data support them.

    Examples
    --------
    >>> from ensctl.status import Status
    >>> Status.OPTIMAL.success, Status.INACCURATE.success
    (True, False)
    >>> print(Status.TIME_LIMIT)
    The solver ran out of time before it finished; raise the time limit or shorten the horizon.
    """

    OPTIMAL = "The solution is optimal and was checked against the data."
    INFEASIBLE = (
        "No input meets the target within the limits, and the certificate proves it; "
        "loosen the limits or choose another horizon."
    )
    UNBOUNDED = (
        "The cost falls without bound; a limit or the target is missing from the problem: add it."
    )
    NOT_REACHABLE = (
        "No input of any size reaches the target; "
        "change the members, their gains, the target or the horizon."
    )
    PRECISION_LIMITED = (
        "Float64 cannot decide or reach this; ask for certified arithmetic (certify=True) "
        "or move away from the limit of what is feasible."
    )
    INACCURATE = (
        "Every able solver stopped short of the required accuracy; the residuals say by how much: "
        "loosen the tolerance, rescale the limits or name another solver."
    )
    TIME_LIMIT = (
        "The solver ran out of time before it finished; "
        "raise the time limit or shorten the horizon."
    )
    ITERATION_LIMIT = (
        "The solver ran out of iterations before it finished; "
        "raise the iteration limit or name another solver."
    )
    SOLVER_FAILED = (
        "The solver failed numerically and returned nothing usable; name another solver."
    )

    @property
    def success(self) -> bool:
        """True for ``OPTIMAL`` only."""
        return self is Status.OPTIMAL

    @property
    def sentence(self) -> str:
        """What happened and what to do next."""
        return str(self.value)

    def __str__(self) -> str:
        return self.sentence
