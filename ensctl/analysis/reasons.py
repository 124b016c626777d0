"""Sentences that say why an exact verdict is no, which members are to blame, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ensctl.analysis.groups import LockedGroup
from ensctl.ensemble.ensemble import Ensemble
from ensctl.formatting import listed

# More locked groups than this are told as examples and a count.
_TOLD_GROUPS = 5
_EXAMPLES = 3


@dataclass(frozen=True)
class Wording:
    """How one side of the duality is told.

    Attributes
    ----------
    only_mean : str
        What a single channel does with members that share λ.
    some_directions : str
        The same for several channels; has ``{channels}``, ``{rank}`` and ``{size}``.
    dead : str
        What members with a zero row are; has ``{have}``.
    way_out : str
        What to do about a shared λ.
    step, steps : str
        What a horizon counts, one and many.
    """

    only_mean: str
    some_directions: str
    dead: str
    way_out: str
    step: str
    steps: str


CONTROL = Wording(
    only_mean="one input moves only their b-weighted centroid",
    some_directions="{channels} inputs move only {rank} of their {size} directions",
    dead="{have} b = 0: no input reaches {them}",
    way_out="give them different λ or add an input with other gains",
    step="step is",
    steps="steps are",
)
OBSERVATION = Wording(
    only_mean="the output shows only their c-weighted sum",
    some_directions="{channels} outputs show only {rank} of their {size} directions",
    dead="{have} c = 0: no output shows {them}",
    way_out="give them different λ or measure another aggregate of them",
    step="output sample is",
    steps="output samples are",
)


def group_reasons(
    ens: Ensemble,
    groups: Sequence[LockedGroup],
    channels: int,
    wording: Wording,
    *,
    real_inputs: bool,
) -> list[str]:
    """One sentence for each locked group, or three examples and a count when there are many."""
    told = groups if len(groups) <= _TOLD_GROUPS else groups[:_EXAMPLES]
    sentences = [_group_reason(ens, group, channels, wording, real_inputs) for group in told]
    if len(groups) > len(told):
        more = sum(len(set(group.members)) for group in groups[len(told) :])
        sentences.append(
            f"{len(groups) - len(told)} more groups ({more} members) share λ in the same way; "
            f"the attribute locked lists them"
        )
    return sentences


def dead_reason(ens: Ensemble, dead: Sequence[int], wording: Wording) -> str:
    """The sentence about members with a zero row."""
    have, them = ("has", "it") if len(dead) == 1 else ("have", "them")
    return f"{who(ens, dead)} {wording.dead.format(have=have, them=them)}"


def horizon_reason(
    horizon: int | None, rank: int, total: int, needed: int | None, wording: Wording
) -> str:
    """The sentence about a horizon that is too short for the rank it could have."""
    few = f"1 {wording.step}" if horizon == 1 else f"{horizon} {wording.steps}"
    return f"{few} too few: rank {rank} of {total}; take a horizon of at least {needed}"


def who(ens: Ensemble, members: Sequence[int]) -> str:
    """Members by name, or by index when they have none.

    One member is 'member 2', several are 'members 0, 1 and 2', many are cut short.
    """
    if ens.names is not None:
        return listed([ens.label(i) for i in members[:8]] + list(members[8:]))
    return f"member{'s' if len(members) > 1 else ''} {listed(members)}"


def exact_text(value: complex) -> str:
    """λ with all the digits that tell it from its neighbours."""
    real, imag = (repr(part + 0.0).removesuffix(".0") for part in (value.real, value.imag))
    if value.imag == 0:
        return real
    return f"{real}{'' if imag.startswith('-') else '+'}{imag}j"


def _group_reason(
    ens: Ensemble, group: LockedGroup, channels: int, wording: Wording, real_inputs: bool
) -> str:
    members = sorted(set(group.members))
    size = len(group.members)
    value = exact_text(group.value)
    if channels == 1:
        effect = wording.only_mean
    else:
        effect = wording.some_directions.format(channels=channels, rank=group.rank, size=size)
    fate = "; at λ = 0 they still fall to zero by themselves" if group.value == 0 else ""
    if not real_inputs or (group.value.imag == 0 and size == len(members)):
        return f"{who(ens, members)} share λ = {value}: {effect}; {wording.way_out}{fate}"
    if len(members) == 1:
        return (
            f"{who(ens, members)} has a real λ = {value} and complex weights: real signals couple "
            f"to only {group.rank} of its {size} real directions; make the weights real or add a "
            f"channel{fate}"
        )
    return (
        f"{who(ens, members)} share λ = {value} up to conjugation: real signals couple to only "
        f"{group.rank} of their {size} directions there; make them exact conjugates in λ and "
        f"weights, or give them different λ{fate}"
    )
