"""A rule that keeps one of m independent drafts as often as any rule can.

Tokens are ordered by p/q, greatest first; Q and P are cumulated masses in this order, and
f(Q) = 1 − (1 − Q)^m is the chance that some draft is among the first tokens.  Rules that select one
draft give the selected token laws r with r(A) ≤ f(q(A)) for every set A, and all of those (maximum
flow, minimum cut).  Accepting the selected token with chance min(1, p/r) and drawing a correction
from (p − r)₊ keeps p, and Σ min(p, r) of the drafts are kept.

At the maximum of P − f, Q*, an optimal law is

    r = q min(p/q, τ) before Q*,   r = q max(p/q, σ) after it,   r(before) = f(Q*).

It obeys the bounds: its cumulated law R is concave; where r = p the distance f − R is that of f − P
up to a constant, which is least at Q*; elsewhere R is a chord and f is concave.  It accepts
f(Q*) + 1 − P(Q*) = 1 − max_H [q(H)^m − p(H)], the upper bound of any rule.

A concave R ≤ f is a mixture of block rules: cut the order into blocks, and take the first draft
that is in the earliest block any draft is in, which has the law that interpolates f linearly.  Take
the cuts where R bends, with the greatest weight that leaves no bend negative; one bend vanishes,
and what remains is again concave and below f.  A rule for one draw is found by going through the
mixture until its weights exceed a uniform number.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# Bends of R below this are rounding.
_FLAT = 1e-13
_LIGHT = 1e-12


@dataclass(frozen=True, eq=False)
class CouplingPlan:
    """Made by :func:`coupling_plan`.

    Attributes
    ----------
    acceptance : float
        α*.
    selected : (V,) array
        r, the law of the selected draft.
    order : (k,) array of int
        Tokens that can be drafted, by p/q, greatest first.
    rank : (V,) array of int
        Place of each token in ``order``.
    mass : (k,) array
        Q, cumulated in this order.
    reached : (k,) array
        f(Q).
    bends : (k − 1,) array
        Fall of r/q from each token to the next, ≥ 0.
    """

    acceptance: float
    selected: Array
    order: Array
    rank: Array
    mass: Array
    reached: Array
    bends: Array

    def choose(self, drafts: Sequence[int], rng: np.random.Generator) -> int:
        """Position of the selected draft; its token has law r over drafts and choice."""
        if len(drafts) == 1:
            return 0
        cuts = self.cuts(float(rng.random()))
        blocks = [bisect_left(cuts, int(self.rank[draft])) for draft in drafts]
        return blocks.index(min(blocks))

    def cuts(self, uniform: float) -> list[int]:
        """The cuts of the block rule at a place in [0, 1) of the mixture: last rank of each block.

        Taking a cut away changes how fast only its neighbours lose their bends, so the times at
        which bends vanish are kept in a heap.
        """
        places = self._places()
        ends = [-1, *places, self.mass.size - 1]
        mass = [0.0, *self.mass[ends[1:]].tolist()]
        reached = [0.0, *self.reached[ends[1:]].tolist()]
        before, after = list(range(-1, len(ends) - 1)), list(range(1, len(ends) + 1))

        def loss(k: int) -> float:
            """Bend of the interpolation of f at cut k: what R loses per weight of this rule."""
            i, j = before[k], after[k]
            fall = (reached[k] - reached[i]) / (mass[k] - mass[i])
            return fall - (reached[j] - reached[k]) / (mass[j] - mass[k])

        rate = [0.0, *(loss(k) for k in range(1, len(ends) - 1))]
        due = [0.0, *(_when(bend, rate[k]) for k, bend in enumerate(self.bends[places], start=1))]
        events = [(due[k], k) for k in range(1, len(ends) - 1)]
        heapify(events)
        gone = [False] * len(ends)
        while events and events[0][0] <= uniform:
            now, k = heappop(events)
            if gone[k] or now != due[k]:
                continue
            gone[k] = True
            i, j = before[k], after[k]
            after[i], before[j] = j, i
            for neighbour in (i, j):
                if 0 < neighbour < len(ends) - 1:
                    left = (due[neighbour] - now) * rate[neighbour]
                    rate[neighbour] = loss(neighbour)
                    due[neighbour] = now + _when(left, rate[neighbour])
                    heappush(events, (due[neighbour], neighbour))
        return [ends[k] for k in range(1, len(ends) - 1) if not gone[k]]

    def _places(self) -> list[int]:
        """Where R bends; blocks too light to be told apart in float64 are joined."""
        places, last = [], 0.0
        for k in np.flatnonzero(self.bends > _FLAT).tolist():
            if self.mass[k] - last > _LIGHT and 1.0 - self.mass[k] > _LIGHT:
                places.append(k)
                last = float(self.mass[k])
        return places


def _when(bend: float, rate: float) -> float:
    """How much weight takes a bend away; a rate that rounding made 0 does not."""
    return float(bend) / rate if rate > 0.0 else math.inf


def coupling_plan(target: Array, law: Array, count: int) -> CouplingPlan:
    """The optimal selection of one of ``count`` independent drafts from ``law``.

    Parameters
    ----------
    target : (V,) array
        p, a distribution.
    law : (V,) array
        q, a distribution.
    count : int
        m ≥ 1.

    Returns
    -------
    CouplingPlan

    Notes
    -----
    O(V log V), and O(V log V) for a choice.

    Examples
    --------
    >>> import numpy as np
    >>> from ensctl.simulation.draft_verify.optimal_coupling import coupling_plan
    >>> plan = coupling_plan(np.array([0.6, 0.3, 0.1]), np.array([0.2, 0.2, 0.6]), 2)
    >>> round(plan.acceptance, 12), plan.selected.round(12)
    (0.74, array([0.34, 0.3 , 0.36]))
    """
    drawn = np.flatnonzero(law > 0.0)
    order = drawn[np.argsort(-target[drawn] / law[drawn], kind="stable")]
    p, q = target[order], law[order]
    mass = np.cumsum(q)
    mass /= mass[-1]
    reached = 1.0 - (1.0 - mass) ** count
    ahead = np.cumsum(p) - reached
    # How many tokens stand before Q*.
    best = int(np.argmax(np.append(0.0, ahead)))
    ratio = np.empty(order.size)
    within = float(reached[best - 1]) if best else 0.0
    ratio[:best] = _capped(p[:best], q[:best], within)
    # The cap from above, upside down: −max(a, σ) = min(−a, −σ).
    ratio[best:] = -_capped(-p[best:][::-1], q[best:][::-1], within - 1.0)[::-1]
    selected = np.zeros(target.size)
    selected[order] = ratio * q
    rank = np.zeros(target.size, dtype=np.int64)
    rank[order] = np.arange(order.size)
    acceptance = float(np.minimum(target, selected).sum())
    bends = np.maximum(ratio[:-1] - ratio[1:], 0.0)
    return CouplingPlan(min(acceptance, 1.0), selected, order, rank, mass, reached, bends)


def _capped(p: Array, q: Array, total: float) -> Array:
    """min(p/q, τ) with Σ q min(p/q, τ) = total, for p/q that does not increase."""
    if not p.size:
        return p
    ratio = p / q
    mass, rest = np.cumsum(q), np.cumsum(p[::-1])[::-1]
    # τ if the first i + 1 tokens are capped and the others are not.
    level = (total - np.append(rest[1:], 0.0)) / mass
    enough = level >= np.append(ratio[1:], -np.inf)
    return np.minimum(ratio, level[int(np.argmax(enough))])
