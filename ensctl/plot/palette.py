"""Colours and marks: Okabe–Ito, and a shape of its own for every meaning.

Okabe & Ito, "Color Universal Design" (2008): told apart with every kind of colour vision.  No
meaning is carried by colour alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

BLUE = "#0072B2"
ORANGE = "#E69F00"
GREEN = "#009E73"
VERMILLION = "#D55E00"
PURPLE = "#CC79A7"
GREY = "#7F7F7F"

_LINES = (BLUE, ORANGE, GREEN, VERMILLION)
_DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)))


def distinct(rank: int) -> dict[str, Any]:
    """A look of its own for each of sixteen lines: never by colour alone."""
    colours, dashes = len(_LINES), len(_DASHES)
    return {
        "color": _LINES[rank % colours],
        "linestyle": _DASHES[(rank + rank // colours) % dashes],
        "linewidth": 1.6,
    }


@dataclass(frozen=True)
class Mark:
    """How points of one meaning look.

    Attributes
    ----------
    colour : str
        Edge colour, and fill colour where the mark is filled.
    shape : str
        A matplotlib marker.
    size : float
        Diameter in points.
    filled : bool
        Open marks leave what lies below them visible.
    """

    colour: str
    shape: str
    size: float
    filled: bool = True

    @property
    def style(self) -> dict[str, Any]:
        """Keywords for ``Axes.plot``."""
        return {
            "linestyle": "none",
            "marker": self.shape,
            "markersize": self.size,
            "markeredgecolor": self.colour,
            "markeredgewidth": 1.6 if not self.filled or self.shape in "x+" else 0.4,
            "markerfacecolor": self.colour if self.filled else "none",
        }


MEMBER = Mark(BLUE, "o", 5.0)
LOCKED = Mark(VERMILLION, "s", 11.0, filled=False)
NEAREST = Mark(ORANGE, "D", 10.0, filled=False)
DEAD = Mark(PURPLE, "x", 8.0)
BEYOND = Mark(VERMILLION, "^", 7.0)
ZERO = Mark(VERMILLION, "v", 7.0)
