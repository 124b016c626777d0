"""Progress of long sweeps: a callback, or a bar on stderr where somebody can see it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ensctl.errors import InvalidInputError

# Called with (done, total) after each part of the work.
Progress = Callable[[int, int], None]


@contextmanager
def progress_of(
    progress: Progress | bool | None, total: int, label: str
) -> Iterator[Callable[[int], None]]:
    """Yield ``report(done)``, to be called after each part of the work.

    Parameters
    ----------
    progress : callable, bool or None
        ``progress(done, total)`` is called as it stands; True draws a bar on stderr when that is a
        terminal; None and False stay silent.
    total : int
        Number of parts.
    label : str
        What the bar is headed with.

    Raises
    ------
    InvalidInputError
        ``progress`` is neither callable nor a truth value.

    Examples
    --------
    >>> from ensctl.progress import progress_of
    >>> seen = []
    >>> with progress_of(lambda done, total: seen.append((done, total)), 2, "sweep") as report:
    ...     report(1)
    ...     report(2)
    >>> seen
    [(1, 2), (2, 2)]
    """
    if callable(progress):
        yield _calls(progress, total)
    elif progress is not None and not isinstance(progress, bool):
        raise InvalidInputError(
            f"progress must be True, False or a function of (done, total), got {progress!r}"
        )
    elif progress and sys.stderr.isatty():
        with _bar(total, label) as report:
            yield report
    else:
        yield _silent


def _calls(progress: Progress, total: int) -> Callable[[int], None]:
    def report(done: int) -> None:
        progress(done, total)

    return report


def _silent(done: int) -> None:
    return None


@contextmanager
def _bar(total: int, label: str) -> Iterator[Callable[[int], None]]:
    from rich.console import Console
    from rich.progress import Progress as Bars

    with Bars(console=Console(file=sys.stderr), transient=True) as bars:
        task = bars.add_task(label, total=total)

        def report(done: int) -> None:
            bars.update(task, completed=done)

        yield report
