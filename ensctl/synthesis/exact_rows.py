"""The true terminal equations as fractions: λ^k b and target − λ^H x0 without rounding."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from numpy.typing import NDArray

from ensctl.convex.rows import ExactRows

Array = NDArray[Any]

# A Gaussian rational.
_Pair = tuple[Fraction, Fraction]


def exact_rows(
    lam: Array, gains: Array, target: Array, x0: Array, horizon: int, parts: tuple[str, ...]
) -> Callable[[], ExactRows]:
    """A provider of the exact rows, one for each (row, part).

    Parameters
    ----------
    lam, gains : (r,), (r, m)
        Rows.
    target, x0 : (r,)
        Their targets and initial states.
    horizon : int
        H.
    parts : tuple of str
        For each row "re" or "im" for real inputs (which part of the complex equation), or
        "stacked_re" and "stacked_im" for complex inputs (acting on (Re u, Im u)).

    Returns
    -------
    callable
        Without arguments: rows (r, n) and right-hand sides (r,) as fractions.
    """

    def provide() -> ExactRows:
        rows: list[list[Fraction]] = []
        ends: list[Fraction] = []
        for i, part in enumerate(parts):
            series, end = _equation(lam[i], gains[i], target[i], x0[i], horizon)
            if part == "re":
                rows.append([re for re, _ in series])
            elif part == "im":
                rows.append([im for _, im in series])
            elif part == "stacked_re":
                rows.append([re for re, _ in series] + [-im for _, im in series])
            else:
                rows.append([im for _, im in series] + [re for re, _ in series])
            ends.append(end[1] if part.endswith("im") else end[0])
        return rows, ends

    return provide


def _equation(
    node: complex, gains: Array, target: complex, x0: complex, horizon: int
) -> tuple[list[_Pair], _Pair]:
    """Coefficients λ^{H−1−t} b_c of u_{t,c}, and target − λ^H x0."""
    base = _pair(node)
    powers: list[_Pair] = [(Fraction(1), Fraction(0))]
    for _ in range(horizon):
        powers.append(_times(powers[-1], base))
    channels = [_pair(gain) for gain in gains.tolist()]
    series = [_times(powers[horizon - 1 - t], b) for t in range(horizon) for b in channels]
    goal, free = _pair(target), _times(powers[horizon], _pair(x0))
    return series, (goal[0] - free[0], goal[1] - free[1])


def _pair(value: complex) -> _Pair:
    number = complex(value)
    return Fraction(number.real), Fraction(number.imag)


def _times(a: _Pair, b: _Pair) -> _Pair:
    if not (a[1] or b[1]):
        return a[0] * b[0], Fraction(0)
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]
