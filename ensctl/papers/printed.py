"""Printed numbers, as strings, against computed ones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal, InvalidOperation

from ensctl.errors import InvalidInputError

# Computed values carry float64 noise; a tie such as 0.5 must not be decided by it.
_SIGNIFICANT = 14


@dataclass(frozen=True)
class Printed:
    """A number as a paper prints it.

    ``"1.8093"`` and ``"≈1.8093"`` mean rounded half up to the digits shown; ``"1.684615…"`` rounded
    or cut off there; ``"13.3 %"`` is .133; ``"> 0.1"``, ``"< 0.1"`` and ``"(5, 6)"`` are ranges
    without their ends.

    Parameters
    ----------
    text : str
        What is printed.

    Examples
    --------
    >>> from ensctl.papers import Printed
    >>> Printed("0.1527").agrees(0.152677095), Printed("2.2360679…").agrees(5**0.5)
    (True, True)
    >>> Printed("0.078906…").agrees(0.0789049)
    False
    """

    text: str

    def __post_init__(self) -> None:
        if self._range() is None:
            self._number()

    @property
    def decimals(self) -> int:
        """Digits after the point, in the unit that is printed."""
        if self._range() is not None:
            return 4
        exponent = self._number().as_tuple().exponent
        return max(0, -int(exponent))

    @property
    def percent(self) -> bool:
        """Whether the number is printed in percent."""
        return self.text.rstrip().endswith("%")

    def agrees(self, value: float) -> bool:
        """Whether ``value`` is what is printed, to the digits that are printed."""
        limits = self._range()
        if limits is not None:
            return limits[0] < value < limits[1]
        if not math.isfinite(value):
            return False
        exact = _decimal(100.0 * value if self.percent else value)
        unit = Decimal(1).scaleb(int(self._number().as_tuple().exponent))
        allowed = [exact.quantize(unit, rounding=ROUND_HALF_UP)]
        if self.text.rstrip().endswith("…"):
            allowed.append(exact.quantize(unit, rounding=ROUND_DOWN))
        return self._number() in allowed

    def shown(self, value: float, more: int = 3) -> str:
        """``value`` in the unit that is printed, with a few digits more; no zeros at the end."""
        number = 100.0 * value if self.percent else value
        text = f"{number:.{self.decimals + more}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
        return f"{text} %" if self.percent else text

    def _number(self) -> Decimal:
        bare = self.text.strip().removeprefix("≈").rstrip("…% ").replace(" ", "")
        try:
            return Decimal(bare)
        except InvalidOperation:
            raise InvalidInputError(
                f"text must be a printed number or range, got {self.text!r}; write 1.8093, "
                "1.684615…, 13.3 %, > 0.1 or (5, 6)"
            ) from None

    def _range(self) -> tuple[float, float] | None:
        text = self.text.strip()
        try:
            if text.startswith(">"):
                return float(text[1:]), float("inf")
            if text.startswith("<"):
                return float("-inf"), float(text[1:])
            if text.startswith("(") and text.endswith(")") and text.count(",") == 1:
                low, high = text[1:-1].split(",")
                return float(low), float(high)
        except ValueError:
            raise InvalidInputError(f"text must be a range of numbers, got {self.text!r}") from None
        return None


def _decimal(value: float) -> Decimal:
    return Decimal(f"{value:.{_SIGNIFICANT}g}")
