"""The exact controllability verdict of an ensemble, with reasons in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ensctl.analysis.groups import GroupStructure, LockedGroup, group_structure
from ensctl.analysis.horizon_ranks import horizon_ranks
from ensctl.analysis.real_inputs import expand_for_real_inputs
from ensctl.analysis.reasons import (
    CONTROL,
    Wording,
    dead_reason,
    group_reasons,
    horizon_reason,
)
from ensctl.analysis.unit_circle import on_or_outside_unit_circle
from ensctl.arguments import as_horizon
from ensctl.display import Documented
from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.require import require_ensemble
from ensctl.errors import InvalidInputError
from ensctl.formatting import horizon_text
from ensctl.serialization import versioned

Array = NDArray[Any]

# m N² operations of the rank for every horizon: about ten seconds for each prime.
_MOST_OPERATIONS = 500_000_000


@dataclass(frozen=True)
class Controllability(Documented):
    """Result of :func:`controllability`; every field is exact.

    Attributes
    ----------
    reachable : bool
        Every state can be reached from every state in ``horizon`` steps (in some number of steps
        when ``horizon`` is None).
    null_controllable : bool
        Every state can be steered to zero in some number of steps.
    stabilizable : bool
        Every state can be steered towards zero: nothing with |λ| ≥ 1 is out of reach.
    rank : int
        Dimension of the subspace reachable from zero within ``horizon``.
    total_rank : int
        The same for a long enough horizon.
    dimension : int
        Number of dimensions N; real dimensions under real inputs.
    locked : tuple of tuple of int
        Members that cannot be moved independently, group by group.
    dead : tuple of int
        Members with zero gain.
    groups : tuple of LockedGroup
        The locked groups with λ, rank and locked directions.  Under real inputs a complex λ and its
        conjugate each have one.
    reasons : tuple of str
        Why the verdict is no, and what to do; empty when reachable.
    min_horizon : int or None
        Fewest steps in which every state is reached; None when no horizon does it, and for several
        inputs when m N² > 5e8, where it is not computed (it lies between N/m and N).
    horizon : int or None
        The number of steps asked about.
    real_inputs : bool
        Whether inputs are confined to real values and dimensions are real.
    """

    reachable: bool
    null_controllable: bool
    stabilizable: bool
    rank: int
    total_rank: int
    dimension: int
    locked: tuple[tuple[int, ...], ...]
    dead: tuple[int, ...]
    groups: tuple[LockedGroup, ...]
    reasons: tuple[str, ...]
    min_horizon: int | None
    horizon: int | None
    real_inputs: bool

    _html_function: ClassVar[str] = "controllability_html"

    @property
    def sentence(self) -> str:
        """The verdict in one line."""
        real = " real" if self.real_inputs else ""
        within = "" if self.horizon is None else f" in {horizon_text(self.horizon)}"
        verdict = "reachable" if self.reachable else "not reachable"
        needed = ""
        if self.reachable and self.min_horizon is not None and self.horizon is None:
            needed = f", in {horizon_text(self.min_horizon)} or more"
        return f"{verdict}{within}: rank {self.rank} of {self.dimension}{real}{needed} (exact)"

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "controllability",
            {
                "reachable": self.reachable,
                "null_controllable": self.null_controllable,
                "stabilizable": self.stabilizable,
                "rank": self.rank,
                "total_rank": self.total_rank,
                "dimension": self.dimension,
                "locked": self.locked,
                "dead": self.dead,
                "groups": groups_as_data(self.groups),
                "reasons": self.reasons,
                "min_horizon": self.min_horizon,
                "horizon": self.horizon,
                "real_inputs": self.real_inputs,
            },
        )

    def __str__(self) -> str:
        notions = (
            f"null-controllable: {'yes' if self.null_controllable else 'no'}, "
            f"stabilizable: {'yes' if self.stabilizable else 'no'}"
        )
        return "\n".join([self.sentence, notions, *(f"- {reason}" for reason in self.reasons)])


def controllability(
    ens: Ensemble, horizon: int | None = None, *, real_inputs: bool | None = None
) -> Controllability:
    """Decide reachability, null-controllability and stabilizability exactly.

    x_{i,t+1} = λ_i x_{i,t} + B_i u_t is reachable if and only if for every z the rows
    {B_i : λ_i = z} are linearly independent; for one input: all λ differ and no b_i is zero.
    Null-controllable asks this of λ ≠ 0 only, stabilizable of |λ| ≥ 1 only.  Both ask for some
    horizon; ``horizon`` affects ``reachable`` and ``rank``.

    Parameters
    ----------
    ens : Ensemble
        The population; λ and gains are taken as exact numbers.
    horizon : int, optional
        Number of steps H ≥ 1.  None asks whether some number of steps does it.
    real_inputs : bool, optional
        True: inputs are real and dimensions are counted as real ones; a conjugate pair of members
        with conjugate gains counts once for each, a real member with real gains once, any other
        member twice.  None and False: complex inputs.

    Returns
    -------
    Controllability

    Raises
    ------
    InvalidInputError
        H is not an integer ≥ 1, or several inputs, H < N and m N² > 5e8.

    Notes
    -----
    No tolerance is involved: doubles are rationals, equality of λ is ==, ranks of groups are
    rational.  One input: O(N log N).  The rank at each horizon for several inputs is computed
    modulo random primes (failure probability below 2^-100), O(m² N²); the other verdicts do not
    depend on it.

    Source: M. L. J. Hautus, "Controllability and observability conditions of linear autonomous
    systems", Indag. Math. 31 (1969) 443–448, for diagonal Λ.

    Examples
    --------
    >>> import ensctl as ec
    >>> print(ec.controllability(ec.Ensemble([0.3, 0.1 + 0.2])))
    reachable: rank 2 of 2, in 2 steps or more (exact)
    null-controllable: yes, stabilizable: yes
    >>> verdict = ec.controllability(ec.Ensemble([0.3, 0.3, 0.9]))
    >>> verdict.reachable, verdict.locked, verdict.rank
    (False, ((0, 1),), 2)
    """
    require_ensemble(ens)
    steps = None if horizon is None else int(as_horizon(horizon))
    real = as_choice_of_inputs(real_inputs)
    return exact_verdict(ens, ens.lam, ens.gains, steps, real, CONTROL)


def exact_verdict(
    ens: Ensemble,
    lam: Array,
    gains: Array,
    horizon: int | None,
    real_inputs: bool,
    wording: Wording,
) -> Controllability:
    """The verdict on (λ, gains), told in the given words about the members of ``ens``."""
    members = np.arange(lam.size)
    if real_inputs:
        form = expand_for_real_inputs(lam, gains)
        lam, gains, members = form.lam, form.unscaled_gains, form.members
    structure = group_structure(lam, gains)
    dimension, channels = gains.shape
    complete = structure.rank == dimension
    rank, min_horizon = _rank_within(lam, gains, structure, horizon)
    groups = structure.locked
    if real_inputs:
        groups = _groups_of_members(structure, members)
    told = [group for group in groups if not real_inputs or group.value.imag >= 0]
    dead = _without_repetition(tuple(members[list(structure.dead)].tolist()))
    reasons = group_reasons(ens, told, channels, wording, real_inputs=real_inputs)
    if dead:
        reasons.append(dead_reason(ens, dead, wording))
    if rank < structure.rank:
        reasons.append(horizon_reason(horizon, rank, structure.rank, min_horizon, wording))
    missed = np.array([g.value for g in groups] + [lam[i] for i in structure.dead])
    return Controllability(
        reachable=rank == dimension,
        null_controllable=not np.any(missed != 0),
        stabilizable=not np.any(on_or_outside_unit_circle(missed)),
        rank=rank,
        total_rank=structure.rank,
        dimension=dimension,
        locked=tuple(_without_repetition(group.members) for group in told),
        dead=dead,
        groups=groups,
        reasons=tuple(reasons),
        min_horizon=min_horizon if complete else None,
        horizon=horizon,
        real_inputs=real_inputs,
    )


def as_choice_of_inputs(real_inputs: bool | None) -> bool:
    """Check ``real_inputs``: True means real, None and False mean complex."""
    if real_inputs is None or isinstance(real_inputs, bool | np.bool_):
        return bool(real_inputs)
    raise InvalidInputError(f"real_inputs must be True, False or None, got {real_inputs!r}")


def groups_as_data(groups: tuple[LockedGroup, ...]) -> list[dict[str, Any]]:
    """λ, members and rank of each locked group, for ``to_dict``."""
    return [{"value": g.value, "members": g.members, "rank": g.rank} for g in groups]


def _rank_within(
    lam: Array, gains: Array, structure: GroupStructure, horizon: int | None
) -> tuple[int, int | None]:
    """Rank in ``horizon`` steps, and the fewest steps that give the total rank if it is known."""
    dimension, channels = gains.shape
    total = structure.rank
    if channels == 1 or total == 0:
        return total if horizon is None else min(horizon, total), max(total, 1)
    if horizon is None and total < dimension:
        return total, None
    if channels * dimension**2 > _MOST_OPERATIONS:
        if horizon is None or horizon >= dimension:
            return total, None
        raise InvalidInputError(
            f"horizon must be at least {dimension} or None for {dimension} members and {channels} "
            f"channels, got {horizon}: the exact rank in fewer steps would take too long; take a "
            f"subset (ens.subset)"
        )
    ranks = horizon_ranks(lam, gains, total)
    shortest = int(np.argmax(ranks >= total))
    return total if horizon is None else int(ranks[min(horizon, dimension)]), shortest


def _without_repetition(ascending: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(ascending))


def _groups_of_members(structure: GroupStructure, members: Array) -> tuple[LockedGroup, ...]:
    return tuple(
        LockedGroup(g.value, tuple(members[list(g.members)].tolist()), g.rank, g.gains)
        for g in structure.locked
    )
