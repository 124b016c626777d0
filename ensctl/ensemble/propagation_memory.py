"""How much memory an answer takes, and a refusal with numbers where there is not as much."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ensctl.arguments import as_scalar
from ensctl.errors import InvalidInputError

# Share of the available memory that one answer may take.
_SHARE = 0.8
_CGROUP = Path("/sys/fs/cgroup")


def check_memory(needed: int, what: str, instead: str, max_bytes: Any = None) -> None:
    """Refuse an answer of ``needed`` bytes that does not fit.

    Parameters
    ----------
    needed : int
        Bytes of the answer.
    what : str
        What takes them, with its shape.
    instead : str
        What to do instead.
    max_bytes : float, optional
        Bytes that may be taken; by default four fifths of what the machine has available.

    Raises
    ------
    InvalidInputError
        The answer is larger than that.
    """
    if max_bytes is None:
        available = available_memory()
        allowed = _SHARE * available
        limit = f"{size_text(available)} is available"
    else:
        allowed = as_scalar(max_bytes, "max_bytes", above=0.0)
        limit = f"max_bytes allows {size_text(allowed)}"
    if needed > allowed:
        raise InvalidInputError(f"{what} takes {size_text(needed)} and {limit}; {instead}")


def available_memory() -> float:
    """Bytes that can be taken without swapping: the machine's, or the container's if fewer."""
    machine = _machine_memory()
    try:
        ceiling = int((_CGROUP / "memory.max").read_text())
        used = int((_CGROUP / "memory.current").read_text())
    except (OSError, ValueError):
        return machine
    return min(machine, float(max(ceiling - used, 0)))


def size_text(count: float) -> str:
    """Bytes for people.

    >>> size_text(8e10), size_text(1200)
    ('80 GB', '1.2 kB')
    """
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if count >= unit:
            return f"{count / unit:.3g} {name}"
    return f"{count:.0f} bytes"


def _machine_memory() -> float:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024.0 * int(line.split()[1])
    except (OSError, ValueError):
        pass
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        # Nothing to go by: half of what 64-bit machines usually have at least.
        return 4e9
