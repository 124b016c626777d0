"""Random numbers as a function of a seed and a counter: a policy that draws stays pure.

SplitMix64 (Steele, Lea & Flood 2014) of the counter: equal states draw equal numbers, in any
thread and after any round trip through JSON.
"""

from __future__ import annotations

from statistics import NormalDist

_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15
_STANDARD = NormalDist()


def uniform(seed: int, *counters: int) -> float:
    """A number in (0, 1) that depends on all arguments."""
    mixed = _mix(seed & _MASK)
    for counter in counters:
        mixed = _mix((mixed ^ counter) & _MASK)
    return ((mixed >> 12) + 0.5) * 2.0**-52


def normals(seed: int, counter: int, count: int) -> list[float]:
    """Standard normal numbers, the i-th of them that of ``uniform(seed, counter, i)``."""
    start = _mix(_mix(seed & _MASK) ^ (counter & _MASK))
    draw = _STANDARD.inv_cdf
    return [draw(((_mix(start ^ i) >> 12) + 0.5) * 2.0**-52) for i in range(count)]


def _mix(value: int) -> int:
    value = (value + _GOLDEN) & _MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return value ^ (value >> 31)
