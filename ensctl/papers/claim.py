"""A printed claim, its recomputation, and the verdict that follows from the two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from ensctl.papers.printed import Printed
from ensctl.papers.recomputation import Recomputation
from ensctl.papers.verdicts import ClaimVerdict


class Paper(Enum):
    """The two papers, by the letter they go by here and their titles.

    Examples
    --------
    >>> from ensctl.papers import Paper
    >>> Paper.B.title
    'Ensemble Drafting Under Broadcast Control'
    """

    A = "A"
    B = "B"

    @property
    def title(self) -> str:
        """The main title."""
        return _TITLES[self][0]

    @property
    def subtitle(self) -> str:
        """What the title goes on with."""
        return _TITLES[self][1]


_TITLES = {
    Paper.A: (
        "Ensemble Drafting",
        "A Draft-Then-Verify Framework Unifying Population-Level Ensemble Control and "
        "Speculative Inference",
    ),
    Paper.B: (
        "Ensemble Drafting Under Broadcast Control",
        "Throughput Algebra, Variance Reduction, and Vandermonde Conditioning",
    ),
}


@dataclass(frozen=True)
class Claim:
    """One printed number or statement.

    Parameters
    ----------
    name : str
        Short and unique within the paper.
    paper : Paper
        Where it is printed.
    where : str
        Section or step, several separated by semicolons.
    statement : str
        What is claimed, in a few words.
    printed : str
        The number as it is printed, see :class:`Printed`; for a statement in words the words.
    recomputation : Recomputation or None
        The call that gives the value; None where the paper does not say enough.
    readings : mapping of str to Recomputation
        The same claim under other conventions that the paper's words allow.
    beside : mapping of str to Recomputation
        Numbers that explain the verdict; shown, not judged.
    projection : bool
        Whether the paper labels it a projection.
    words : bool
        Whether it is a statement in words: the call then returns whether it is true.
    note : str
        What else there is to say.

    Examples
    --------
    >>> from ensctl.papers import Claim, Paper, Recomputation, check_claim
    >>> call = Recomputation("ensctl.papers.formulas.cycle_cost", {"draft": 0.1, "depth": 4})
    >>> claim = Claim("cost", Paper.B, "§4 step 2", "C at K = 4", "1.4", call)
    >>> check_claim(claim).verdict.value
    'reproduced'
    """

    name: str
    paper: Paper
    where: str
    statement: str
    printed: str
    recomputation: Recomputation | None
    readings: Mapping[str, Recomputation] = field(default_factory=dict)
    beside: Mapping[str, Recomputation] = field(default_factory=dict)
    projection: bool = False
    words: bool = False
    note: str = ""


@dataclass(frozen=True)
class ClaimResult:
    """Result of :func:`check_claim`.

    Attributes
    ----------
    claim : Claim
        What was checked.
    value : float, bool or None
        The recomputed value; None where nothing could be computed.
    readings : mapping of str to float or bool
        The value under each other reading.
    beside : mapping of str to float or bool
        Numbers that explain the verdict.
    verdict : ClaimVerdict
        What follows.
    """

    claim: Claim
    value: float | bool | None
    readings: Mapping[str, float | bool]
    beside: Mapping[str, float | bool]
    verdict: ClaimVerdict

    @property
    def recomputed(self) -> str:
        """The recomputed value with a few digits more than are printed."""
        return _shown(self.claim, self.value)

    @property
    def remark(self) -> str:
        """The values under other readings, and what else there is to say."""
        parts = [f"{name}: {_shown(self.claim, value)}" for name, value in self.readings.items()]
        parts += [f"{name}: {_number(value)}" for name, value in self.beside.items()]
        return "; ".join([*parts, *([self.claim.note] if self.claim.note else [])])

    @property
    def function(self) -> str:
        """Dotted path of the function without the package; empty where nothing was computed."""
        call = self.claim.recomputation
        return "" if call is None else call.function.removeprefix("ensctl.")

    @property
    def inputs(self) -> str:
        """Arguments of the function in words."""
        return "" if self.claim.recomputation is None else self.claim.recomputation.arguments

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content of one row of the table."""
        claim = self.claim
        return {
            "name": claim.name,
            "paper": claim.paper.value,
            "where": claim.where,
            "statement": claim.statement,
            "printed": claim.printed,
            "recomputed": self.value,
            "readings": dict(self.readings),
            "beside": dict(self.beside),
            "verdict": self.verdict.value,
            "function": claim.recomputation.function if claim.recomputation else None,
            "inputs": dict(claim.recomputation.inputs) if claim.recomputation else None,
            "note": claim.note,
        }


def check_claim(claim: Claim) -> ClaimResult:
    """Recompute one claim, under every reading, and compare it with what is printed.

    Parameters
    ----------
    claim : Claim
        What to check.

    Returns
    -------
    ClaimResult
        With the verdict.

    Examples
    --------
    >>> from ensctl.papers import check_claim, claims
    >>> slip = next(claim for claim in claims() if claim.name == "b-product-6")
    >>> result = check_claim(slip)
    >>> result.claim.printed, result.recomputed, result.verdict.value
    ('0.078906…', '0.078904821', 'arithmetic slip')
    """
    if claim.recomputation is None:
        return ClaimResult(claim, None, {}, {}, ClaimVerdict.NOT_CHECKABLE)
    value = _plain(claim.recomputation.value())
    readings = {name: _plain(call.value()) for name, call in claim.readings.items()}
    beside = {name: _plain(call.value()) for name, call in claim.beside.items()}
    return ClaimResult(claim, value, readings, beside, _verdict(claim, value, readings))


def _verdict(
    claim: Claim, value: float | bool, readings: Mapping[str, float | bool]
) -> ClaimVerdict:
    agrees = _agrees(claim, value)
    others = [_agrees(claim, other) for other in readings.values()]
    if agrees and all(others):
        return ClaimVerdict.PROJECTION if claim.projection else ClaimVerdict.REPRODUCED
    if agrees or any(others):
        return ClaimVerdict.DEPENDS_ON_CONVENTION
    return ClaimVerdict.NOT_AS_STATED if claim.words else ClaimVerdict.ARITHMETIC_SLIP


def _agrees(claim: Claim, value: float | bool) -> bool:
    return bool(value) if claim.words else Printed(claim.printed).agrees(float(value))


def _shown(claim: Claim, value: float | bool | None) -> str:
    if value is None:
        return "–"
    if claim.words:
        return "true" if value else "false"
    return Printed(claim.printed).shown(float(value))


def _number(value: float | bool) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else f"{value:.6g}"


def _plain(value: Any) -> float | bool:
    return value if isinstance(value, bool) else float(value)
