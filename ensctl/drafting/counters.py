"""What an engine counted about drafting in one window, and the ratios that follow from it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ensctl.display import Summarised
from ensctl.drafting.convention import Convention
from ensctl.errors import InvalidInputError, NotIdentifiableError
from ensctl.serialization import versioned

if TYPE_CHECKING:
    from ensctl.drafting.estimate import Estimate
    from ensctl.drafting.fitting.acceptance_fit import AcceptanceFit
    from ensctl.drafting.fitting.hazards import HazardEstimates

Histogram = Mapping[int, float]

# Counts beyond this are not exact as floats, and no engine has counted as far.
_MOST = float(1 << 53)

_HISTOGRAM = "{accepted ≥ 0: drafts ≥ 0}"


@dataclass(frozen=True)
class Counters(Summarised):
    """Counts of one window of one engine: D steps that drafted, A accepted tokens, P_j per depth.

    With S(j) the share of drafts that had at least j tokens accepted,

        S(j) = P_{j−1}/D,   A = Σ_j P_j,   mean accepted = A/D = Σ_{j≥1} S(j).

    Parameters
    ----------
    drafts : float
        D: steps that drafted at least one token.
    draft_tokens : float
        Tokens drafted; D·K where every draft has K tokens.
    accepted : float
        A: draft tokens kept.
    accepted_per_position : sequence of float or None
        P_0 … P_{K−1}; P_j counts drafts with at least j+1 accepted tokens.
    depth : int or None
        K, the greatest number of tokens in a draft; None where it is not known.
    draftless : float
        Steps that drafted nothing; they are not in ``drafts``.
    generated : float or None
        Tokens generated in the window, with and without drafts.
    histogram : mapping or None
        {accepted tokens: drafts}.
    histogram_by_depth : mapping or None
        {tokens drafted: {accepted tokens: drafts}}, where the depth varies.
    engine : str
        The engine or process inside the server that counted.
    model : str
        Name of the model served.
    source : str
        The file, or "" for text.
    line : int or None
        The line of the window, counted from 1.
    start, end : float or None
        When the window began and ended, in seconds; a log without a year counts from 1 January.
    format : str
        The value of :class:`~ensctl.drafting.engines.identities.CounterFormat` it was read from.
    notes : tuple of str
        What was assumed or repaired on the way.

    Raises
    ------
    InvalidInputError
        Counts are negative, NaN or contradict each other.

    Examples
    --------
    >>> from ensctl.drafting.counters import Counters
    >>> window = Counters(100, 300, 150, accepted_per_position=(80, 50, 20))
    >>> window.depth, window.acceptance_rate, window.mean_acceptance_length()
    (3, 0.5, 2.5)
    """

    drafts: float
    draft_tokens: float
    accepted: float
    accepted_per_position: tuple[float, ...] | None = None
    depth: int | None = None
    draftless: float = 0
    generated: float | None = None
    histogram: Histogram | None = field(default=None, hash=False)
    histogram_by_depth: Mapping[int, Histogram] | None = field(default=None, hash=False)
    engine: str = ""
    model: str = ""
    source: str = ""
    line: int | None = None
    start: float | None = None
    end: float | None = None
    format: str = ""
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("drafts", "draft_tokens", "accepted", "draftless", "generated", "depth"):
            object.__setattr__(self, name, _plain(getattr(self, name)))
        positions: Any = self.accepted_per_position
        if positions is not None:
            if not isinstance(positions, Iterable) or isinstance(positions, str | bytes):
                raise InvalidInputError(
                    f"accepted_per_position must hold one count per position, got {positions!r}"
                )
            positions = tuple(map(_plain, positions))
            object.__setattr__(self, "accepted_per_position", positions)
            if self.depth is None and len(positions):
                object.__setattr__(self, "depth", len(positions))
        problem = self._contradiction()
        if problem:
            raise InvalidInputError(f"counters must agree with each other: {problem}")

    @classmethod
    def from_checked(cls, fields: dict[str, Any]) -> Counters:
        """Counters from every field, of a reader that has checked the printed numbers.

        The same identities are not checked again: one by one they cost more than the reading.
        """
        window = cls.__new__(cls)
        object.__setattr__(window, "__dict__", fields)
        return window

    def _contradiction(self) -> str:
        counts = {
            "drafts": self.drafts,
            "draft_tokens": self.draft_tokens,
            "accepted": self.accepted,
            "draftless": self.draftless,
        }
        for name, count in counts.items():
            if not _is_count(count):
                return f"{name} must be a number ≥ 0, got {count!r}"
        if self.generated is not None and not _is_count(self.generated):
            return f"generated must be a number ≥ 0 or None, got {self.generated!r}"
        if self.accepted > self.draft_tokens:
            return f"{self.accepted} tokens accepted of {self.draft_tokens} drafted"
        if self.depth is not None and (not isinstance(self.depth, int) or self.depth < 0):
            return f"depth must be an integer ≥ 0 or None, got {self.depth!r}"
        # Shares of a mean are exact to rounding only, so the comparisons leave room for it.
        room = 1e-9 * max(1.0, self.draft_tokens)
        if self.depth is not None and self.draft_tokens > self.depth * self.drafts + room:
            return f"{self.draft_tokens} tokens in {self.drafts} drafts of depth {self.depth}"
        return self._contradiction_per_position(room) or self._contradiction_of_histograms(room)

    def _contradiction_per_position(self, room: float) -> str:
        positions = self.accepted_per_position
        if positions is None:
            return ""
        previous = self.drafts
        for j, count in enumerate(positions):
            if not _is_count(count):
                return f"accepted_per_position[{j}] must be a number ≥ 0, got {count!r}"
            if count > previous + room:
                return (
                    f"accepted_per_position must not increase, got {count} after {previous} "
                    f"at position {j}"
                )
            previous = count
        if self.depth is not None and len(positions) > self.depth:
            return f"{len(positions)} positions at depth {self.depth}"
        if abs(math.fsum(positions) - self.accepted) > room:
            return f"positions add to {math.fsum(positions):g}, but {self.accepted:g} were accepted"
        return ""

    def _contradiction_of_histograms(self, room: float) -> str:
        tables: list[Any] = [] if self.histogram is None else [self.histogram]
        if self.histogram_by_depth is not None:
            rows = self.histogram_by_depth
            if not isinstance(rows, Mapping) or not all(map(_is_histogram, rows.values())):
                return f"histogram_by_depth must hold {{depth: {_HISTOGRAM}}}, got {rows!r}"
            for depth, table in rows.items():
                if not isinstance(depth, int) or any(accepted > depth for accepted in table):
                    return f"histogram_by_depth accepts more than {depth} of {depth} drafted"
            tables.append(_pooled(rows))
        for table in tables:
            if not _is_histogram(table):
                return f"histogram must count {_HISTOGRAM}, got {table!r}"
            steps = math.fsum(table.values())
            if abs(steps - self.drafts) > room:
                return f"histogram has {steps:g} drafts, expected {self.drafts:g}"
            kept = math.fsum(k * n for k, n in table.items())
            if abs(kept - self.accepted) > room:
                return f"histogram has {kept:g} accepted tokens, expected {self.accepted:g}"
        return ""

    @property
    def acceptance_rate(self) -> float:
        """Accepted/drafted, the rate most engines print; it falls with K at constant α.

        Raises NotIdentifiableError where nothing was drafted.
        """
        if not self.draft_tokens:
            raise NotIdentifiableError(f"{self._place()}no token was drafted, so there is no rate")
        return self.accepted / self.draft_tokens

    @property
    def constant_depth(self) -> bool:
        """Whether every draft had exactly ``depth`` tokens."""
        if self.depth is None:
            return False
        full = self.depth * self.drafts
        return abs(full - self.draft_tokens) <= 1e-9 * max(1.0, full)

    @property
    def tokens_per_step(self) -> float | None:
        """Generated tokens per step, with the steps that drafted nothing; None where not known.

        Each step emits one token more than it accepts, so the steps number generated − A.
        """
        if self.draftless:
            steps = self.drafts + self.draftless
            return (steps + self.accepted) / steps
        if self.generated is None or self.generated <= self.accepted:
            return None
        return self.generated / (self.generated - self.accepted)

    def survival(self) -> tuple[float, ...] | None:
        """S(0) … S(K), shares of drafts with at least j accepted; None without positions."""
        if self.accepted_per_position is None or not self.drafts:
            return None
        return (1.0, *(count / self.drafts for count in self.accepted_per_position))

    def mean_acceptance_length(self, convention: Convention = Convention.WITH_BONUS) -> float:
        """Mean tokens per drafted step: A/D accepted, 1 + A/D with the bonus.

        ``COMMITTED`` counts no bonus after a full accept, 1 + (A − P_{K−1})/D, and needs the
        count of full accepts.  Raises NotIdentifiableError where the counters do not give it.
        """
        if not self.drafts:
            raise NotIdentifiableError(f"{self._place()}no step drafted, so there is no length")
        if convention is Convention.ACCEPTED:
            return self.accepted / self.drafts
        if convention is Convention.WITH_BONUS:
            return 1.0 + self.accepted / self.drafts
        full = self.fully_accepted()
        if full is None:
            raise NotIdentifiableError(
                f"{self._place()}the committed length needs the number of fully accepted drafts; "
                f"read per-position counts or a histogram"
            )
        return 1.0 + (self.accepted - full) / self.drafts

    def fully_accepted(self) -> float | None:
        """Drafts whose every token was accepted; None where the counters do not tell."""
        if self.histogram_by_depth is not None:
            tables = self.histogram_by_depth.items()
            return math.fsum(table.get(depth, 0) for depth, table in tables)
        if not self.constant_depth or self.depth is None:
            return None
        if self.histogram is not None:
            return self.histogram.get(self.depth, 0)
        if self.accepted_per_position is not None:
            positions = self.accepted_per_position
            return positions[-1] if len(positions) == self.depth else 0
        return self.accepted if self.depth == 1 else None

    def alpha(self, level: float = 0.95) -> Estimate:
        """α̂ with its interval, by :func:`~ensctl.drafting.fitting.alpha.alpha_estimate`."""
        from ensctl.drafting.fitting.alpha import alpha_estimate

        return alpha_estimate(self, level=level)

    def hazards(self, level: float = 0.95) -> HazardEstimates:
        """α at each depth, by :func:`~ensctl.drafting.fitting.hazards.hazard_estimates`."""
        from ensctl.drafting.fitting.hazards import hazard_estimates

        return hazard_estimates(self, level=level)

    def fit(self, model: str = "auto") -> AcceptanceFit:
        """An acceptance model fitted by :func:`~ensctl.drafting.fitting.models.fit_acceptance`."""
        from ensctl.drafting.fitting.models import fit_acceptance

        return fit_acceptance(self, model)

    def merge(self, others: Counters | Iterable[Counters]) -> Counters:
        """Counts of this window and ``others`` together.

        Histograms and positions are kept where every window has them.  Windows of one depth keep
        it; otherwise the greatest depth is kept and a note says so.
        """
        from ensctl.drafting.counters_merge import merged

        if isinstance(others, Counters):
            others = [others]
        if not isinstance(others, Iterable):
            raise InvalidInputError(
                f"others must be Counters, got {type(others).__name__}; read them with "
                f"read_counters"
            )
        return merged([self, *others])

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned("counters", {name: getattr(self, name) for name in self.__match_args__})

    def __str__(self) -> str:
        if not self.drafts:
            head = "no step drafted"
        else:
            head = (
                f"mean acceptance length {self.mean_acceptance_length():.3f} tokens per drafted "
                f"step (bonus included)"
            )
        depth = "K not known" if self.depth is None else f"K = {self.depth}"
        counts = f"{self.drafts:g} drafts, {self.accepted:g} of {self.draft_tokens:g} tokens kept"
        shares = self.survival()
        lines = [head, f"{counts}, {depth}"]
        if shares is not None:
            shown = ", ".join(f"{share:.3f}" for share in shares[1:9])
            lines.append(f"survival S(1)…: {shown}" + (", …" if len(shares) > 9 else ""))
        if self.draftless:
            lines.append(f"{self.draftless:g} steps drafted nothing")
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes[:6])])

    def _place(self) -> str:
        where = self.source if self.line is None else f"{self.source or 'text'}, line {self.line}"
        return f"{where}: " if where else ""


def _plain(value: Any) -> Any:
    """A numpy number as the number of Python that it holds."""
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", 1) == 0 else value


def _is_count(value: Any) -> bool:
    return isinstance(value, int | float) and 0 <= value < _MOST


def _is_histogram(table: Any) -> bool:
    return isinstance(table, Mapping) and all(
        isinstance(accepted, int) and accepted >= 0 and _is_count(count)
        for accepted, count in table.items()
    )


def _pooled(tables: Mapping[int, Histogram]) -> Histogram:
    pooled: dict[int, float] = {}
    for table in tables.values():
        for accepted, count in table.items():
            pooled[accepted] = pooled.get(accepted, 0) + count
    return pooled
