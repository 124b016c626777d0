"""Acceptance with memory: a unit depends on whether the one before it was accepted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_count, as_scalar
from ensctl.drafting.acceptance import AcceptanceModel, as_generator, kept
from ensctl.drafting.convention import Convention, as_convention, as_depth
from ensctl.drafting.convert_length import geometric_sum
from ensctl.errors import InvalidInputError

Array = NDArray[Any]


@dataclass(frozen=True)
class MarkovRenewal(AcceptanceModel):
    """Hits come in runs, so a cycle that ended in a rejection starts the next one badly.

    u = P(kept | the unit before was kept), v = P(first unit kept | the last cycle ended in a
    rejection), and after a fully accepted cycle the unseen bonus position lies between:
    w = u² + (1 − u)v.  With f = u^{K−1} the share of cycles that are fully accepted is
    π = v f/(1 − (w − v)f), a cycle starts well with probability s_1 = (1 − π)v + πw, and
    S(j) = s_1 u^{j−1}, E[with_bonus] = 1 + s_1 (1 − u^K)/(1 − u).  u = v is IID(u).

    Parameters
    ----------
    u : float
        Acceptance after an accepted unit, in [0, 1].
    v : float
        Acceptance of the first unit after a cycle that ended in a rejection, in [0, 1]; not 0
        when u = 1, where what a cycle does would depend on the first cycle for ever.

    Notes
    -----
    S depends on K, because cycle starts do: a survival curve measured at one depth must not be
    summed to another.  Cycles are a two-state Markov chain of full acceptances with eigenvalue
    (w − v)f = u^K(u − v), which gives the long-run variance
    Var(L) + 2 (E[L | after full] − E[L | after rejection]) π (K − E[L])/(1 − u^K(u − v)),
    with L counted without the bonus.

    Examples
    --------
    >>> from ensctl.drafting import MarkovRenewal
    >>> model = MarkovRenewal(0.8, 0.4)
    >>> model.survival(3)
    array([1.        , 0.50301811, 0.40241449, 0.32193159])
    >>> model.variance_inflation(3)
    1.61...
    """

    u: float
    v: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "u", as_scalar(self.u, "u", at_least=0, at_most=1))
        object.__setattr__(self, "v", as_scalar(self.v, "v", at_least=0, at_most=1))
        if self.u == 1 and self.v == 0:
            raise InvalidInputError(
                "v must be > 0 when u = 1, got 0: full acceptance and rejection would each last "
                "for ever; use IID(0) or IID(1)"
            )

    @property
    def independent(self) -> bool:
        """Whether u = v or u = 0, where w = v: the memory is gone."""
        return self.u in (self.v, 0.0)

    @property
    def w(self) -> float:
        """P(first unit kept | the last cycle was fully accepted) = u² + (1 − u)v."""
        return self.u**2 + (1.0 - self.u) * self.v

    def full_share(self, depth: int) -> float:
        """π: long-run share of cycles of depth K that are fully accepted; 1 at K = 0."""
        return float(self._full_shares(np.array([as_depth(depth)], dtype=np.float64))[0])

    def first_acceptance(self, depth: int) -> float:
        """s_1 = S(1) at depth K ≥ 1: long-run share of cycles that keep their first unit."""
        share = self.full_share(as_depth(depth, minimum=1))
        return (1.0 - share) * self.v + share * self.w

    def survival(self, depth: int) -> Array:
        """S(j) = s_1 u^{j−1} for j ≥ 1, with s_1 of this depth."""
        units = as_depth(depth)
        if units == 0:
            return np.ones(1)
        return np.append(1.0, self.first_acceptance(units) * self.u ** np.arange(float(units)))

    def hazards(self, depth: int) -> Array:
        """s_1, then u."""
        units = as_depth(depth)
        rest = np.full(max(units - 1, 0), self.u)
        return np.append(self.first_acceptance(units), rest) if units else rest

    def expected_length(
        self, depth: int, *, convention: Convention | str = Convention.WITH_BONUS
    ) -> float:
        """1 + s_1(1 − u^K)/(1 − u) with bonus, one less accepted, S(K) less committed."""
        return float(
            self._lengths(np.array([float(as_depth(depth))]), as_convention(convention))[0]
        )

    def expected_lengths(
        self, max_depth: int, *, convention: Convention | str = Convention.WITH_BONUS
    ) -> Array:
        """Mean length at every depth K = 0 … ``max_depth``, each with its own s_1."""
        return self._lengths(np.arange(as_depth(max_depth) + 1.0), as_convention(convention))

    def long_run_variance(
        self, depth: int, *, convention: Convention | str = Convention.WITH_BONUS
    ) -> float:
        """Per-cycle variance of totals over many cycles, by the closed form of the class."""
        rule, units = as_convention(convention), as_depth(depth)
        own = self.variance(units, convention=rule)
        if units == 0 or self.independent:
            return own
        committed = rule is Convention.COMMITTED
        mean = self.expected_length(units, convention=rule)
        if rule is Convention.WITH_BONUS:
            mean -= 1.0
        # Mean length per unit of start probability; the correction fills up all but full cycles.
        terms = units - 1 if committed else units
        gain = float(geometric_sum(self.u, terms))
        spread = (self.w - self.v) * gain
        carried = spread * self.full_share(units) * (units - mean)
        return own + 2.0 * carried / float(self._forgetting(np.float64(units)))

    def sample(self, n: int, depth: int, rng: Any = None) -> Array:
        """Accepted counts N of ``n`` cycles in a row; the first follows a cycle of the long run.

        Both possible outcomes of every cycle are drawn with one uniform number; the state is then
        carried through at once, since a cycle either forgets the state, keeps it or flips it.
        """
        generator, cycles = as_generator(rng), as_count(n, "n", minimum=0)
        units = as_depth(depth)
        if units == 0 or cycles == 0:
            return np.zeros(cycles, dtype=np.int64)
        uniform, start = generator.random(cycles), generator.random() < self.full_share(units)
        tail = self.u ** np.arange(float(units))
        poor = kept(np.append(1.0, self.v * tail), uniform)
        good = kept(np.append(1.0, self.w * tail), uniform)
        return np.where(_after_full(poor == units, good == units, bool(start)), good, poor)

    def _full_shares(self, depths: Array) -> Array:
        full = self.u ** np.maximum(depths - 1.0, 0.0)
        share = self.v * full / self._forgetting(depths)
        # Rounding must not lift a certain acceptance above 1.
        return np.where(depths == 0, 1.0, np.minimum(share, 1.0))

    def _forgetting(self, depths: ArrayLike) -> Array:
        """1 − u^K(u − v) as (1 − u^{K+1}) + v u^K, where nothing cancels."""
        units = np.asarray(depths, dtype=np.float64)
        return (1.0 - self.u) * geometric_sum(self.u, units + 1.0) + self.v * self.u**units

    def _lengths(self, depths: Array, rule: Convention) -> Array:
        share = self._full_shares(depths)
        first = (1.0 - share) * self.v + share * self.w
        if rule is Convention.COMMITTED:
            # 1 + Σ_{j=1..K−1} S(j); nothing at K = 0.
            total = geometric_sum(self.u, np.maximum(depths - 1.0, 0.0))
            return np.where(depths == 0, 0.0, 1.0 + first * total)
        accepted = first * geometric_sum(self.u, depths)
        return accepted if rule is Convention.ACCEPTED else 1.0 + accepted


def _after_full(poor: Array, good: Array, start: bool) -> Array:
    """Whether each cycle follows a full acceptance; (full if poor, full if good) of every cycle."""
    cycles = poor.size
    forgets, flips = poor == good, poor & ~good
    # State after cycle i: the outcome of the last cycle that forgot, flipped as often since.
    last = np.maximum.accumulate(np.where(forgets, np.arange(cycles), -1))
    count = np.cumsum(flips)
    since: Array = count - np.where(last >= 0, count[last], 0)
    origin = np.where(last >= 0, poor[last], start)
    after = origin ^ (since % 2 == 1)
    return np.append(start, after[:-1])
