"""What stands before a message in a server log: process, time, engine, colour codes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime
from functools import lru_cache

import numpy as np

from ensctl.arguments import Array

_COLOUR = re.compile(rb"\x1b\[[0-9;]*[A-Za-z]")
_PROCESS = re.compile(rb"\(([^()]*pid=\d+[^()]*)\)")
# Who sent a line: a container of docker compose or Kubernetes, a model behind the router of
# llama.cpp, or host and unit of a journal.
_SENDER = re.compile(
    rb"^\s*(?:([\w./-]+)\s*\| "
    rb"|\[(pod/[^\]\s]+|\d{4,5})\] "
    rb"|(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT[\d:.,+Z-]+) "
    rb"([\w.-]+ [\w.@/-]+(?:\[\d+\])?): )"
)
_JSON_SENDER = re.compile(
    rb'"(?:pod_name|pod|container_name|container|hostname|host)"\s*:\s*"([^"]{1,200})"'
)
_TIME = re.compile(rb"(?:(\d{4})-)?(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)")
# A literal start is searched for several times faster than a choice.
_THROUGHPUTS = (
    rb": Avg prompt throughput: [\d.]+ tokens/s, Avg generation throughput: (\d+\.\d+) tokens/s"
)
_ENGINE = re.compile(rb"Engine (\d+)" + _THROUGHPUTS)
_AGGREGATED = re.compile(rb"(\d+ Engines Aggregated)" + _THROUGHPUTS)

# "07-09 20:32:01": where its separators are, and the places of the digits.
_STAMP = 14
_SEPARATORS = ((2, "-"), (5, " "), (8, ":"), (11, ":"))
_DIGITS = (0, 1, 3, 4, 6, 7, 9, 10, 12, 13)

# A leap year, so that 29 February is a day of a log that prints no year.
_ANY_YEAR = 2000
_MOST_PROCESSES = 4096


def without_colour(line: bytes) -> bytes:
    """The line without ANSI escape sequences."""
    return _COLOUR.sub(b"", line) if b"\x1b" in line else line


def process_of(prefix: bytes) -> str:
    """The process named in a prefix such as ``(APIServer pid=7)``; "" where none is.

    Containers number their processes alike, so the sender of the line comes first if it has one.
    """
    plain = without_colour(prefix)
    found = _PROCESS.search(plain)
    process = found.group(1).decode("utf-8", "replace") if found else ""
    return ", ".join(part for part in (sender_of(plain), process) if part)


def sender_of(prefix: bytes) -> str:
    """Container, pod, router port or host that stands before a line; "" where none does."""
    return b", ".join(_sender(without_colour(prefix))).decode("utf-8", "replace")


def _sender(prefix: bytes) -> list[bytes]:
    if prefix.lstrip().startswith(b"{"):
        return list(dict.fromkeys(_JSON_SENDER.findall(prefix)))
    found = _SENDER.match(prefix)
    return [next(part for part in found.groups() if part)] if found else []


def time_of(prefix: bytes) -> float | None:
    """Seconds of the first date and time in ``prefix``: since 1970, or since 1 January.

    Without a year the seconds count from 1 January of the (unknown) year of the log.
    """
    found = _TIME.search(prefix)
    if not found:
        return None
    year, month, day, hours, minutes, seconds = found.groups()
    start = _day_start(year, month, day)
    if start is None:
        return None
    return start + 3600.0 * int(hours) + 60 * int(minutes) + int(seconds)


def times_of(prefixes: Sequence[bytes]) -> list[float | None]:
    """:func:`time_of` of each prefix, quick where the time stands at one place in all."""
    first = _TIME.search(prefixes[0])
    if first is None or first.group(1) is not None:
        return [time_of(prefix) for prefix in prefixes]
    at = first.start()
    joined = b"".join([prefix[at : at + _STAMP] for prefix in prefixes])
    if len(joined) != _STAMP * len(prefixes):
        return [time_of(prefix) for prefix in prefixes]
    stamps = np.frombuffer(joined, np.uint8).reshape(-1, _STAMP)
    digits = stamps[:, _DIGITS] - ord("0")
    same: Array = np.all(digits <= 9, axis=1)
    for place, separator in _SEPARATORS:
        same = same & (stamps[:, place] == ord(separator))
    month, day, hours, minutes, seconds = (digits[:, ::2] * 10 + digits[:, 1::2]).T.astype(int)
    times = (hours * 3600.0 + minutes * 60 + seconds).tolist()
    days = {
        pair: _day_start(None, b"%02d" % (pair // 100), b"%02d" % (pair % 100))
        for pair in set((month * 100 + day)[same].tolist())
    }
    return [
        start + second if good and (start := days[pair]) is not None else time_of(prefix)
        for good, pair, second, prefix in zip(
            same.tolist(), (month * 100 + day).tolist(), times, prefixes, strict=True
        )
    ]


@lru_cache(maxsize=64)
def _day_start(year: bytes | None, month: bytes, day: bytes) -> float | None:
    """Seconds at which a day begins; None where there is no such day."""
    try:
        if year is None:
            first = date(_ANY_YEAR, 1, 1)
            return 86400.0 * (date(_ANY_YEAR, int(month), int(day)) - first).days
        return datetime(int(year), int(month), int(day), tzinfo=UTC).timestamp()
    except ValueError:
        return None


class EngineNames:
    """Which engine a process spoke of last, and the tokens per second it printed there.

    A metrics line does not name its engine; the throughput line of the same process before it
    does.
    """

    def __init__(self) -> None:
        self._latest: dict[bytes, tuple[bytes, bytes | None]] = {}
        self._names: dict[tuple[bytes, bytes], str] = {}

    def of_windows(
        self, data: bytes, begins: Sequence[int], prefixes: Sequence[bytes]
    ) -> list[tuple[str, float | None]]:
        """Engine and rate of the metrics lines of a block; a rate is given out once."""
        spoken = [*_ENGINE.finditer(data)]
        if b"Engines Aggregated" in data:
            spoken += _AGGREGATED.finditer(data)
            spoken.sort(key=lambda found: found.start())
        elif spoken and prefixes:
            quick = self._of_one_engine(data, spoken, begins, prefixes)
            if quick is not None:
                return quick
        spoken.reverse()
        named = []
        following = spoken[-1].start() if spoken else len(data)
        for begin, prefix in zip(begins, prefixes, strict=True):
            while following < begin:
                self._keep(data, spoken.pop())
                following = spoken[-1].start() if spoken else len(data)
            named.append(self._take(prefix))
        for found in reversed(spoken):
            self._keep(data, found)
        return named

    def _of_one_engine(
        self,
        data: bytes,
        spoken: Sequence[re.Match[bytes]],
        begins: Sequence[int],
        prefixes: Sequence[bytes],
    ) -> list[tuple[str, float | None]] | None:
        """The same at once for a block in which one engine of one process speaks; else None."""
        process = _process_key(prefixes[0])
        starts = [found.start() for found in spoken]
        fields = [found.groups() for found in spoken]
        number = fields[0][0]
        carried = self._latest.get(process, (number, None))
        if not process or {number, carried[0], *(other for other, _ in fields)} != {number}:
            return None
        before = [data[data.rfind(b"\n", 0, start) + 1 : start] for start in starts]
        size = len(process)
        if {prefix[:size] for prefix in prefixes} | {prefix[:size] for prefix in before} != {
            process
        }:
            return None
        name = _full_name(process, number)
        # 0 is what an earlier block said, k the k-th throughput line of this one.
        latest = np.searchsorted(starts, begins)
        fresh = np.diff(latest, prepend=-1) > 0
        self._latest[process] = (number, fields[-1][1] if latest[-1] < len(fields) else None)
        rates = [None if carried[1] is None else float(carried[1])]
        rates += [float(rate) for _, rate in fields]
        return [
            (name, rates[k] if new else None)
            for k, new in zip(latest.tolist(), fresh.tolist(), strict=True)
        ]

    def _keep(self, data: bytes, found: re.Match[bytes]) -> None:
        start = found.start()
        process = _process_key(data[data.rfind(b"\n", 0, start) + 1 : start])
        if process in self._latest or len(self._latest) < _MOST_PROCESSES:
            self._latest[process] = (found[1], found[2])

    def _take(self, prefix: bytes) -> tuple[str, float | None]:
        process = _process_key(prefix)
        engine, rate = self._latest.get(process, (b"", None))
        name = self._names.get((process, engine))
        if name is None:
            name = _full_name(process, engine)
            if len(self._names) < _MOST_PROCESSES:
                self._names[process, engine] = name
        if rate is None:
            return name, None
        self._latest[process] = (engine, None)
        return name, float(rate)


def _process_key(prefix: bytes) -> bytes:
    """The bytes that name the process of a line: its first parenthesis, mostly."""
    if prefix.startswith((b"(", b"\x1b")):
        return prefix[: prefix.find(b")") + 1]
    # Something else comes first, perhaps a time of another logger that changes with each line.
    found = _PROCESS.search(prefix)
    sender = _sender(prefix)
    if sender:
        # Written so that process_of reads it again.
        kept = b"".join(b'"host":"%s",' % name for name in sender)
        return b"{" + kept + (found.group(0) if found else b"")
    return found.group(0) if found else b""


def _full_name(process: bytes, engine: bytes) -> str:
    number = f"engine {engine.decode()}" if engine.isdigit() else engine.decode()
    return ", ".join(part for part in (process_of(process), number) if part)
