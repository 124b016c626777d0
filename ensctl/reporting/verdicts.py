"""The two verdicts: what is true of the exact numbers, and what survives float64."""

from __future__ import annotations

import math

from ensctl.analysis.conditioning import Conditioning
from ensctl.analysis.controllability import Controllability
from ensctl.analysis.observability import Observability
from ensctl.analysis.practicality import PracticalVerdict
from ensctl.formatting import power_text
from ensctl.reporting.document import Tone, Verdict

_EXACT = "Exact verdict: can every state be reached?"
_PRACTICAL = "Practical verdict: does it survive float64?"


def exact_verdict_card(verdict: Controllability) -> Verdict:
    """The exact verdict with its reasons."""
    return Verdict(
        question=_EXACT,
        answer="Yes, reachable" if verdict.reachable else "No, not reachable",
        tone=Tone.YES if verdict.reachable else Tone.NO,
        sentences=(
            verdict.sentence,
            f"null-controllable: {_yes_no(verdict.null_controllable)}, "
            f"stabilizable: {_yes_no(verdict.stabilizable)}",
            *verdict.reasons,
        ),
    )


def practical_verdict_card(
    conditioning: Conditioning, practicality: PracticalVerdict | None = None
) -> Verdict:
    """The practical verdict: of the target where one is given, else of the worst unit target."""
    worst = conditioning.practical
    judged = worst if practicality is None else practicality
    numbers = f"{_directions(conditioning)}; {_kappa(conditioning)}"
    if judged is None:
        return Verdict(_PRACTICAL, *_without_worst_target(conditioning, numbers))
    sentences = [judged.sentence, numbers]
    if practicality is not None and worst is not None:
        sentences.insert(1, f"worst unit target: {worst.sentence}")
    subject = "every unit target" if practicality is None else "this target"
    if judged.practical:
        return Verdict(_PRACTICAL, f"Yes, for {subject}", Tone.YES, tuple(sentences))
    answer = "No, not for every target" if practicality is None else "No, not for this target"
    return Verdict(_PRACTICAL, answer, Tone.NO, tuple(sentences))


def practical_sentence(
    conditioning: Conditioning, practicality: PracticalVerdict | None = None
) -> str:
    """The practical verdict in one line."""
    judged = conditioning.practical if practicality is None else practicality
    if judged is not None:
        return judged.sentence
    answer, _, sentences = _without_worst_target(conditioning, "")
    return f"practical verdict: {answer.lower()}: {sentences[0]}"


def observability_sentences(verdict: Observability) -> tuple[str, ...]:
    """The verdict of the dual side in sentences."""
    return (
        verdict.sentence,
        f"reconstructible: {_yes_no(verdict.reconstructible)}, "
        f"detectable: {_yes_no(verdict.detectable)}",
        *verdict.reasons,
    )


def observability_card(verdict: Observability) -> Verdict:
    """The exact verdict of the dual side as a card of its own."""
    return Verdict(
        question="Exact verdict: do the aggregate outputs determine every member?",
        answer="Yes, observable" if verdict.observable else "No, not observable",
        tone=Tone.YES if verdict.observable else Tone.NO,
        sentences=observability_sentences(verdict),
    )


def _without_worst_target(
    conditioning: Conditioning, numbers: str
) -> tuple[str, Tone, tuple[str, ...]]:
    if not conditioning.verdict.reachable:
        reason = "some displacements cannot be reached at all, so no input is there to be judged"
        return "No, not for every target", Tone.NO, (reason, numbers)
    reason = (
        "with an infinite horizon there is no finite input to round; give a number of steps for "
        "the float64 floor and the λ-tolerance"
    )
    return "Not decided", Tone.OPEN, (reason, numbers)


def _directions(conditioning: Conditioning) -> str:
    count = conditioning.directions(1e-6)
    return (
        f"{count} of {conditioning.verdict.dimension} directions have σ above 1e-6 of the largest"
    )


def _kappa(conditioning: Conditioning) -> str:
    if math.isfinite(conditioning.log10_cond):
        return f"κ₂ = {power_text(conditioning.log10_cond)}"
    if conditioning.verdict.rank == 0:
        return "κ₂ is infinite"
    return (
        f"κ₂ is infinite, {power_text(conditioning.log10_cond_of_range)} over the directions that "
        f"can be reached"
    )


def _yes_no(value: bool) -> str:
    return "yes" if value else "no"
