"""Numbers as text for people: powers of ten of any size, horizons, short lists of members."""

from __future__ import annotations

import math
from collections.abc import Sequence

_SHOWN_MEMBERS = 6


def power_text(log10: float, digits: int = 4) -> str:
    """Format 10**log10, of any magnitude, with ``digits`` significant digits.

    >>> power_text(389.2469794, 5)
    '1.7659e389'
    >>> power_text(0.0), power_text(math.inf), power_text(-math.inf)
    ('1', 'infinite', '0')
    """
    if math.isnan(log10):
        return "unknown"
    if math.isinf(log10):
        return "infinite" if log10 > 0 else "0"
    if -4 < log10 < 4:
        return f"{10.0**log10:.{digits}g}"
    exponent = math.floor(log10)
    mantissa = f"{10.0 ** (log10 - exponent):.{digits - 1}f}"
    if mantissa.startswith("10"):
        mantissa, exponent = f"{1.0:.{digits - 1}f}", exponent + 1
    return f"{mantissa}e{exponent}"


def pow10(log10: float) -> float:
    """10**log10 as float64: inf or 0 outside its range."""
    if log10 > 308.25:
        return math.inf
    return 10.0**log10


def horizon_text(horizon: int | float) -> str:
    """A horizon with its unit: '12 steps', or 'infinite'."""
    if horizon == math.inf:
        return "infinite"
    return "1 step" if horizon == 1 else f"{int(horizon)} steps"


def number_text(value: complex, digits: int = 6) -> str:
    """A real or complex number, short.

    >>> number_text(0.25), number_text(0.5 - 0.25j)
    ('0.25', '0.5-0.25j')
    """
    if isinstance(value, complex) and value.imag != 0:
        return f"{value.real:.{digits}g}{value.imag:+.{digits}g}j"
    return f"{complex(value).real:.{digits}g}"


def listed(items: Sequence[object], shown: int = _SHOWN_MEMBERS) -> str:
    """A list in words, cut after ``shown`` entries.

    >>> listed([0, 1, 2]), listed(range(1000), 3)
    ('0, 1 and 2', '0, 1, 2, … (997 more)')
    """
    words = [str(item) for item in items[:shown]]
    if len(items) > shown:
        return ", ".join(words) + f", … ({len(items) - shown} more)"
    if len(words) < 2:
        return "".join(words)
    return ", ".join(words[:-1]) + " and " + words[-1]
