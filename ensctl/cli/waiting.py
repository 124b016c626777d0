"""One line on stderr about work that takes longer than a second, where somebody watches."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_QUIET_SECONDS = 1.0
_PERIOD_SECONDS = 0.5
# Back to the start of the line, and clear it to its end.
_CLEAR = "\r\x1b[K"


@contextmanager
def waiting(label: str) -> Iterator[Callable[[int, int], None]]:
    """Show ``label``, the seconds so far and, once told, the share that is done.

    Yields ``done(parts, total)``, which computations that count call as their progress.  Silent
    for the first second, and always where stderr is no terminal.  No colour: the line goes away.
    """
    told: list[tuple[int, int]] = []

    def done(parts: int, total: int) -> None:
        told[:] = [(parts, total)]

    if sys.stderr is None or not sys.stderr.isatty():
        yield done
        return
    stream, ended, start = sys.stderr, threading.Event(), time.monotonic()

    def show() -> None:
        if ended.wait(_QUIET_SECONDS):
            return
        while not ended.is_set():
            stream.write(_CLEAR + _line(label, told, time.monotonic() - start))
            stream.flush()
            ended.wait(_PERIOD_SECONDS)
        stream.write(_CLEAR)
        stream.flush()

    ticker = threading.Thread(target=show, name="ensctl-waiting", daemon=True)
    ticker.start()
    try:
        yield done
    finally:
        ended.set()
        ticker.join()


def _line(label: str, told: list[tuple[int, int]], seconds: float) -> str:
    share = "".join(f" {100 * parts // max(total, 1)} %," for parts, total in told[-1:])
    return f"ensctl: {label} …{share} {seconds:.0f} s"
