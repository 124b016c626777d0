"""Speed limits that are stated in units of the plan itself."""

from __future__ import annotations

from dataclasses import dataclass

from ensctl.arguments import as_scalar


@dataclass(frozen=True)
class RmsMultiple:
    """|v| ≤ factor × the root mean square speed of the plan of least energy without a limit.

    No plan exists for factor < 1: every plan has at least that energy.  How much above 1 is needed
    depends on the targets; for letters about 1.6.

    Parameters
    ----------
    factor : float
        ≥ 1, without unit.

    Examples
    --------
    >>> from ensctl.simulation import RmsMultiple
    >>> RmsMultiple(1.7).factor
    1.7
    """

    factor: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "factor", as_scalar(self.factor, "factor", at_least=1.0))
