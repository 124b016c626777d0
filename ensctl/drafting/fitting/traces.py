"""Per-cycle traces: accepted counts request by request, cycle by cycle."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ensctl.arguments import Array, as_array, read_only
from ensctl.drafting.convention import MAX_DEPTH
from ensctl.drafting.counters import Counters
from ensctl.errors import InvalidInputError, NotIdentifiableError


@dataclass(frozen=True, eq=False)
class CycleTraces:
    """Accepted draft units of every cycle, in order, request after request.

    Parameters
    ----------
    accepted : array_like of int
        Units kept in each cycle, (n,).
    depth : int or array_like of int
        Units drafted in each cycle, K for all or (n,); cycles that drafted nothing are set apart.
    starts : array_like of int
        Index of the first cycle of each request, increasing from 0.
    draftless : int
        Cycles left out before because they drafted nothing.

    Raises
    ------
    InvalidInputError
        Not integers, more accepted than drafted, or starts that do not increase from 0.

    Examples
    --------
    >>> from ensctl.drafting import CycleTraces
    >>> traces = CycleTraces.from_requests([[2, 0, 3], [1, 1]], 3)
    >>> traces.cycles, traces.requests, traces.depth
    (5, 2, array([3, 3, 3, 3, 3]))
    """

    accepted: Array
    depth: Array
    starts: Array = (0,)  # type: ignore[assignment]
    draftless: int = 0

    def __post_init__(self) -> None:
        accepted = _as_counts(self.accepted, "accepted")
        depth = _as_counts(self.depth, "depth")
        depth = np.full(accepted.size, depth[0]) if np.ndim(self.depth) == 0 else depth
        starts = _as_counts(self.starts, "starts")
        if accepted.size == 0:
            raise InvalidInputError("accepted must have at least one cycle, got none")
        if depth.size != accepted.size:
            raise InvalidInputError(
                f"depth must be one number or one per cycle, got {depth.size} for "
                f"{accepted.size} cycles"
            )
        if np.any(accepted > depth):
            bad = int(np.argmax(accepted > depth))
            raise InvalidInputError(
                f"accepted must be ≤ depth, got {accepted[bad]} of {depth[bad]} in cycle {bad}"
            )
        if (
            starts.size == 0
            or starts[0] != 0
            or np.any(np.diff(starts) <= 0)
            or starts[-1] >= accepted.size
        ):
            raise InvalidInputError(
                "starts must increase from 0 and stay below the number of cycles; leave out "
                "requests without a cycle"
            )
        drafted = depth > 0
        if not drafted.all():
            if not drafted.any():
                raise NotIdentifiableError("no cycle drafted anything, so nothing was tested")
            starts = np.unique(np.concatenate([[0], np.cumsum(drafted)])[starts])
            starts = starts[starts < np.count_nonzero(drafted)]
            object.__setattr__(self, "draftless", self.draftless + int(np.sum(~drafted)))
            accepted, depth = accepted[drafted], depth[drafted]
        for name, array in (("accepted", accepted), ("depth", depth), ("starts", starts)):
            object.__setattr__(self, name, read_only(array))

    @classmethod
    def from_requests(
        cls, accepted: Sequence[ArrayLike], depth: int | Sequence[ArrayLike]
    ) -> CycleTraces:
        """Join one array of accepted counts per request; ``depth`` is K or alike per request.

        Empty requests are left out.  An engine's ``per_step_accepted`` and ``per_step_drafted``
        of each request are such arrays.
        """
        try:
            requests = [_as_counts(request, "accepted") for request in accepted]
        except TypeError:
            raise InvalidInputError("accepted must be a sequence of arrays, one each") from None
        sizes = np.array([request.size for request in requests], dtype=np.int64)
        if not sizes.sum():
            raise InvalidInputError("accepted must have at least one cycle, got none")
        starts = np.concatenate([[0], np.cumsum(sizes)])[:-1][sizes > 0]
        depths: Any = depth
        if not isinstance(depths, int | np.integer):
            if not isinstance(depths, Iterable):
                raise InvalidInputError(f"depth must be K or a sequence of arrays, got {depth!r}")
            parts = [_as_counts(request, "depth") for request in depths]
            if [part.size for part in parts] != sizes.tolist():
                raise InvalidInputError("depth must have as many cycles as accepted, per request")
            depths = np.concatenate(parts)
        return cls(np.concatenate(requests), depths, starts)

    def __str__(self) -> str:
        depth = f"K = {self.max_depth}" if self.constant_depth else f"K ≤ {self.max_depth}"
        mean = 1.0 + float(self.accepted.mean())
        return f"{self.cycles} cycles of {self.requests} requests, {depth}: {mean:.3f} tokens each"

    @property
    def cycles(self) -> int:
        """Number of cycles that drafted."""
        return int(self.accepted.size)

    @property
    def requests(self) -> int:
        """Number of requests."""
        return int(self.starts.size)

    @property
    def max_depth(self) -> int:
        """Greatest K."""
        return int(self.depth.max())

    @property
    def constant_depth(self) -> bool:
        """Whether every cycle drafted the same number of units."""
        return bool(np.all(self.depth == self.depth[0]))

    @property
    def full(self) -> Array:
        """Whether every unit of a cycle was accepted, (n,) of bool."""
        return self.accepted == self.depth

    def risk_sums(self, starts: Array) -> tuple[Array, Array]:
        """Cycles that tested and that kept each position, summed over blocks from ``starts`` on.

        Two (blocks, K) arrays: at position j, cycles with ≥ j accepted that drafted unit j + 1, and
        those that kept it.
        """
        tested = np.empty((starts.size, self.max_depth))
        kept = np.empty((starts.size, self.max_depth))
        for j in range(self.max_depth):
            reached = (self.accepted >= j) & (self.depth > j)
            tested[:, j] = np.add.reduceat(reached.astype(np.float64), starts)
            kept[:, j] = np.add.reduceat((self.accepted > j).astype(np.float64), starts)
        return tested, kept

    def counters(self) -> Counters:
        """The counters an engine would print for all cycles together."""
        return _counters(self.accepted, self.depth, self.draftless)

    def windows(self, cycles: int) -> tuple[Counters, ...]:
        """Counters of runs of whole requests with at least ``cycles`` cycles each."""
        bounds = [0]
        for end in [*self.starts[1:].tolist(), self.cycles]:
            if end - bounds[-1] >= cycles:
                bounds.append(end)
        # What is left over joins the last window.
        bounds[max(1, len(bounds) - 1) :] = [self.cycles]
        return tuple(
            _counters(self.accepted[begin:end], self.depth[begin:end], 0)
            for begin, end in pairwise(bounds)
        )


def _counters(accepted: Array, depth: Array, draftless: int) -> Counters:
    deepest = int(depth.max())
    at_least = np.bincount(accepted, minlength=deepest + 1)[::-1].cumsum()[::-1]
    tables = {
        int(k): {int(x): int(c) for x, c in enumerate(np.bincount(accepted[depth == k])) if c}
        for k in np.unique(depth)
    }
    pooled = {int(x): int(c) for x, c in enumerate(np.bincount(accepted)) if c}
    return Counters(
        drafts=int(accepted.size),
        draft_tokens=int(depth.sum()),
        accepted=int(accepted.sum()),
        accepted_per_position=tuple(int(count) for count in at_least[1:]),
        depth=deepest,
        draftless=draftless,
        histogram=pooled,
        histogram_by_depth=tables,
    )


def _as_counts(value: Any, name: str) -> Array:
    """Integers ≥ 0 as a fresh (n,) int64 array; n may be 0."""
    array = np.atleast_1d(as_array(value, name, real=True))
    if array.ndim != 1:
        raise InvalidInputError(f"{name} must be one-dimensional, got shape {array.shape}")
    if np.any(array < 0) or np.any(array != np.floor(array)) or np.any(array > 1e15):
        raise InvalidInputError(f"{name} must hold integers ≥ 0; give counts")
    if name != "starts" and np.any(array > MAX_DEPTH):
        raise InvalidInputError(f"{name} must be ≤ {MAX_DEPTH}, got {array.max():g}")
    return array.astype(np.int64)
