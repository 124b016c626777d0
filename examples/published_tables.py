"""Published condition numbers of Vandermonde matrices, recomputed; the wrong ones are flagged.

κ(V) = ‖V‖·‖V⁻¹‖ with the nodes in the rows.  Three of the printed values came out of float64
arithmetic that had no digit left: they are off by factors of 1.7, 2.1 and 225.

Run: python examples/published_tables.py
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import NamedTuple

import numpy as np

from ensctl.vandermonde import norm_condition

_COURSE = "R. Trîmbiţaş, Numerical Analysis in MATLAB (course demo)"
_BURKARDT = "J. Burkardt, vandermonde_interp_1d (test output)"
_P02 = (
    *(0, 1.34, 5, 10, 10.6, 10.7, 10.705, 10.8, 11.4),
    *(19.6, 20.2, 20.295, 20.3, 20.4, 21, 26, 29.66, 31),
)
_P03 = (0, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15)
_P04 = (0, 0.05, 0.1, 0.2, 0.8, 0.85, 0.9, 1)

# Name of the node set, nodes, norm, printed value, source.
_PRINTED = (
    *(
        (f"linspace(-1,1,{count})", tuple(np.linspace(-1, 1, count)), order, value, _COURSE)
        for count, order, value in (
            (10, math.inf, "2.056171e+04"),
            (10, 1, "1.362524e+04"),
            (20, math.inf, "1.751063e+09"),
            (20, 1, "1.053490e+09"),
            (40, math.inf, "1.208386e+19"),
            (40, 1, "6.926936e+18"),
            (80, math.inf, "2.665120e+38"),
            (80, 1, "1.894750e+38"),
        )
    ),
    *(
        (f"1/k, k=1..{count}", tuple(1.0 / np.arange(1, count + 1)), math.inf, value, _COURSE)
        for count, value in ((10, "5.792417e+11"), (15, "1.436206e+20"))
    ),
    ("p02 (18 nodes)", _P02, 1, "0.181734E+35", _BURKARDT),
    ("p03 (11 nodes)", _P03, 1, "0.249182E+15", _BURKARDT),
    ("p04 (8 nodes)", _P04, 1, "735473.", _BURKARDT),
)


class Entry(NamedTuple):
    """One printed value beside the recomputed one."""

    nodes: str
    norm: str
    printed: str
    recomputed: float
    agrees: bool
    source: str

    @property
    def factor(self) -> float:
        """Recomputed by printed."""
        return self.recomputed / float(self.printed)


def main() -> list[Entry]:
    """Recompute every printed value in ball arithmetic."""
    return [
        _entry(name, nodes, order, printed, source)
        for name, nodes, order, printed, source in _PRINTED
    ]


def _entry(name: str, nodes: tuple[float, ...], order: float, printed: str, source: str) -> Entry:
    recomputed = norm_condition(nodes, order=order).cond
    # One unit of the last printed digit.
    unit = Decimal(10) ** Decimal(printed).as_tuple().exponent
    agrees = abs(Decimal(recomputed) - Decimal(printed)) <= unit
    return Entry(name, "∞" if order == math.inf else "1", printed, recomputed, agrees, source)


def _print(entries: list[Entry]) -> None:
    print("nodes              norm       printed    recomputed")
    for entry in entries:
        flag = "" if entry.agrees else f"  ← wrong by a factor of {entry.factor:.3g}"
        print(
            f"{entry.nodes:18s} {entry.norm:>4s}  {entry.printed:>12s}  {entry.recomputed:12.6e}"
            f"{flag}"
        )
    for source in dict.fromkeys(entry.source for entry in entries):
        print(f"printed in: {source}")


if __name__ == "__main__":
    _print(main())
