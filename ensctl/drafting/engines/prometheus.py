"""Prometheus text: samples of chosen metrics, grouped by engine, scrape after scrape.

A scrape ends where a series comes again.  Counters of one engine are differenced from scrape to
scrape; where one falls the engine was restarted, and counts since then are the window.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from ensctl.drafting.engines.reading import Block, Reading

_SAMPLE = re.compile(
    rb"^\s*([A-Za-z_:][\w:]*)\s*(?:\{(.*)\})?\s+([^\s{}]+)(?:\s+(-?[\d.eE+]+))?(?:\s+#.*)?\s*$"
)
_LABEL = re.compile(rb'([A-Za-z_]\w*)\s*=\s*"((?:[^"\\]|\\.)*)"')

# What tells engines apart; every other label is a part of the metric.
_POSITION = "position"

Key = tuple[tuple[str, str], ...]
Name = tuple[str, int | None]


@dataclass
class Snapshot:
    """Values of one engine in one scrape: (metric, position) → value."""

    labels: Key
    line: int
    values: dict[Name, float] = field(default_factory=dict)
    time: float | None = None

    def value(self, metric: str) -> float | None:
        """The value of a metric without a position; None where it is missing or not a number."""
        found = self.values.get((metric, None))
        return None if found is None or math.isnan(found) else found

    def label(self, name: str) -> str:
        """The value of a label; "" where it is not there."""
        return dict(self.labels).get(name, "")

    def engine(self) -> str:
        """What names the engine: its labels without the model."""
        named = [(key, text) for key, text in self.labels if key != "model_name"]
        if [key for key, _ in named] == ["engine"]:
            return named[0][1]
        return ", ".join(f"{key} {text}" for key, text in named)


@dataclass(frozen=True)
class Change:
    """A snapshot against the one before it of the same engine, if there is one."""

    latest: Snapshot
    values: Mapping[Name, float]
    start: float | None
    notes: tuple[str, ...]


def snapshots(
    blocks: Iterable[Block], reading: Reading, metrics: Mapping[str, str]
) -> Iterator[Snapshot]:
    """Snapshots of the ``metrics`` (printed name → short name), one per engine and scrape."""
    current: dict[Key, Snapshot] = {}
    for block in blocks:
        for line, text in block.lines():
            if text.lstrip().startswith(b"#") or not text.strip():
                continue
            found = _SAMPLE.match(text)
            if found is None:
                if any(name.encode() in text for name in metrics):
                    reading.problem(line, "the sample is cut off or not of the Prometheus form")
                continue
            printed = found.group(1).decode()
            metric = metrics.get(printed) or metrics.get(printed.removesuffix("_total"))
            if metric is None:
                continue
            labels, position = _labels(found.group(2) or b"")
            value = _number(found.group(3))
            name = (metric, position)
            if value is None or value != value or value in (float("inf"), float("-inf")):
                shown = found.group(3).decode("utf-8", "replace")
                reading.problem(line, f"{printed} is {shown}, not a number")
                # It keeps its place, or the scrape would take the next value of the series.
                value = math.nan
            if labels in current and name in current[labels].values:
                yield from current.values()
                current = {}
            snapshot = current.setdefault(labels, Snapshot(labels, line))
            snapshot.values[name] = value
            stamp = _number(found.group(4)) if found.group(4) else None
            if stamp is not None:
                snapshot.time = stamp / 1000.0 if stamp > 1e11 else stamp
    yield from current.values()


def changes(
    found: Iterable[Snapshot], counters: frozenset[str], reading: Reading
) -> Iterator[Change]:
    """Differences of successive snapshots of each engine; a lone one counts from the start."""
    before: dict[Key, Snapshot] = {}
    given: set[Key] = set()
    for snapshot in found:
        previous = before.get(snapshot.labels)
        missing = _missing(snapshot, previous, counters)
        if missing:
            reading.problem(
                snapshot.line, f"the scrape has no counter of {missing}, so it is left out"
            )
            continue
        before[snapshot.labels] = snapshot
        if previous is None:
            continue
        given.add(snapshot.labels)
        yield _difference(previous, snapshot, counters)
    for labels, snapshot in before.items():
        if labels not in given:
            note = "one snapshot only: counted since the engine was started"
            yield Change(snapshot, snapshot.values, None, (note,))


def _missing(snapshot: Snapshot, previous: Snapshot | None, counters: frozenset[str]) -> str:
    """Counters that are NaN, or that the scrape before has and this one lacks; "" if none."""
    for (metric, _), value in snapshot.values.items():
        if metric in counters and math.isnan(value):
            return metric
    if previous is None:
        return ""
    lacking = [name for name in previous.values if name not in snapshot.values]
    # An engine that was started again may have fewer positions, and begins with lower counts.
    fell = any(value < previous.values.get(name, 0.0) for name, value in snapshot.values.items())
    return next((metric for metric, _ in lacking if metric in counters and not fell), "")


def _difference(previous: Snapshot, snapshot: Snapshot, counters: frozenset[str]) -> Change:
    values: dict[Name, float] = {}
    for name, value in snapshot.values.items():
        if name[0] not in counters:
            values[name] = value
            continue
        if name not in previous.values:
            # All series of an engine are there from its start.
            note = f"{name[0]} is new: the engine was restarted, counted since then"
            return Change(snapshot, snapshot.values, None, (note,))
        rise = value - previous.values[name]
        if rise < 0:
            note = (
                f"{name[0]} fell from {previous.values[name]:g} to {value:g}: the engine was "
                f"restarted, counted since then"
            )
            return Change(snapshot, snapshot.values, None, (note,))
        values[name] = rise
    return Change(snapshot, values, previous.time, ())


def _labels(text: bytes) -> tuple[Key, int | None]:
    position = None
    kept = []
    for key, value in _LABEL.findall(text):
        name, content = key.decode(), value.decode("utf-8", "replace")
        if name == _POSITION and content.isascii() and content.isdigit() and len(content) < 5:
            position = int(content)
        else:
            kept.append((name, content))
    return tuple(sorted(kept)), position


def _number(text: bytes) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
