"""Speed as a ratio against the obvious way, measured in the same run.

``pytest tests/benchmarks`` runs every benchmark at full size and prints one table of ratios at
the end; ``ENSCTL_BENCH=smoke pytest tests/benchmarks`` runs them at a reduced size to see that
they still work.  A benchmark takes the fixtures of this file:

    def test_singular_values(ratio_table, timed, sized):
        order = sized(200, smoke=20)
        ours = timed(lambda: singular_values(...))
        obvious = timed(lambda: numpy.linalg.svd(...))
        ratio_table.add(f"all σ, N = H = {order}", ours, obvious, at_most=40.0)

It asserts that the work was done, never how many seconds it took.  BLAS has one thread.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pytest

T = TypeVar("T")
_SMOKE = os.environ.get("ENSCTL_BENCH") == "smoke"


@dataclass(frozen=True)
class Row:
    """One comparison; ``at_most`` is the ratio ours/obvious that is asked for, if any."""

    what: str
    ours: float
    obvious: float
    at_most: float | None

    @property
    def ratio(self) -> float:
        """Seconds of ours over seconds of the obvious way."""
        return self.ours / self.obvious

    def cells(self) -> tuple[str, ...]:
        """The row as text; a ratio below 1 is given as the gain too."""
        gain = f" ({1 / self.ratio:.3g}x faster)" if self.ratio < 1 else ""
        target, verdict = "", ""
        # Targets are stated for the full size.
        if self.at_most is not None and not _SMOKE:
            target = f"<= {self.at_most:.3g}"
            verdict = "met" if self.ratio <= self.at_most else "MISSED"
        return (
            self.what,
            f"{self.ours:.3g} s",
            f"{self.obvious:.3g} s",
            f"{self.ratio:.3g}{gain}",
            target,
            verdict,
        )


@dataclass
class RatioTable:
    """Comparisons of this session, printed when it ends."""

    rows: list[Row] = field(default_factory=list)

    def add(self, what: str, ours: float, obvious: float, *, at_most: float | None = None) -> Row:
        """Record ``ours`` against ``obvious`` (seconds), asked to be at most ``at_most`` times it.

        "100 times faster" is ``at_most=0.01``.  Returns the row, whose ``ratio`` can be read.
        """
        row = Row(what, ours, obvious, at_most)
        self.rows.append(row)
        return row

    def lines(self) -> list[str]:
        """The table as aligned text, header first."""
        header = ("what", "ours", "obvious", "ratio", "target", "")
        table = [header, *(row.cells() for row in self.rows)]
        widths = [max(len(line[k]) for line in table) for k in range(len(header))]
        return [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in table
        ]


_TABLE = pytest.StashKey[RatioTable]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_TABLE] = RatioTable()


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    table = config.stash[_TABLE]
    if table.rows:
        size = "reduced size, targets do not apply" if _SMOKE else "full size"
        terminalreporter.section(f"ratios of time, ours / obvious ({size})")
        for line in table.lines():
            terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def ratio_table(pytestconfig: pytest.Config) -> RatioTable:
    """The table of this session: ``ratio_table.add(what, ours, obvious, at_most=…)``."""
    return pytestconfig.stash[_TABLE]


@pytest.fixture(scope="session")
def timed() -> Callable[..., float]:
    """``timed(function, repeat=5)``: median seconds of a call, after one call to warm up."""

    def measure(function: Callable[[], Any], repeat: int = 5) -> float:
        function()
        seconds = []
        for _ in range(1 if _SMOKE else repeat):
            start = time.perf_counter()
            function()
            seconds.append(time.perf_counter() - start)
        return statistics.median(seconds)

    return measure


@pytest.fixture(scope="session")
def sized() -> Callable[..., Any]:
    """``sized(full, smoke=small)``: the size to run at, small when ENSCTL_BENCH is "smoke"."""

    def choose(full: T, *, smoke: T) -> T:
        return smoke if _SMOKE else full

    return choose
