"""Best uniform approximation of a real function by b·p, deg p ≤ n, with Remez's exchange.

e = g − b p of least max|e| takes its largest size with alternating signs (of e/b) in n + 2 points,
and any p whose error alternates in n + 2 points is no better than its smallest error there:
max|e*| ≥ min_i |e(t_i)| (de la Vallée-Poussin).  That is the proof that no input does better.

Source: E. Ya. Remez, C. R. Acad. Sci. Paris 198 (1934) 2063–2065; R. Pachón, L. N. Trefethen,
BIT 49 (2009) 721–741 (choice of the points).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.polynomial.chebyshev import chebvander
from numpy.typing import NDArray

from ensctl.arguments import read_only
from ensctl.synthesis.chebyshev_basis import clenshaw, clenshaw_rounding
from ensctl.synthesis.continuum_peaks import peaks, runs

Array = NDArray[Any]

_ITERATIONS = 60
_LEVEL = 1e-12
# Exchanges without progress at errors this small, after which what remains is rounding.
_PATIENCE = 8
_TINY = 1e-12
_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class BestUniform:
    """Result of :func:`best_uniform`.

    Attributes
    ----------
    coefficients : (n+1,) float64
        Chebyshev coefficients of p.
    error : float
        max|g − b p| over the peaks.
    lower_bound : float
        No polynomial of this degree does better, by alternation, rounding taken off.
    points : (n+2,) float64
        Where the error alternates, in t; fewer where it is rounding.
    iterations : int
        Exchanges.
    """

    coefficients: Array
    error: float
    lower_bound: float
    points: Array
    iterations: int


def best_uniform(
    wanted: Callable[[Array], Array],
    gain: Callable[[Array], Array],
    degree: int,
    *,
    grid: Array | None = None,
) -> BestUniform:
    """The polynomial p of degree ≤ n that makes max |g(t) − b(t) p(t)| over [−1, 1] least.

    Parameters
    ----------
    wanted, gain : callable
        g and b at an array of t; b has no zero.
    degree : int
        n ≥ 0.
    grid : (k,) array, optional
        Where peaks are looked for first; by default 40 points for each degree, dense at the ends.

    Returns
    -------
    BestUniform
        ``error`` and ``lower_bound`` agree to twelve digits of ``error`` or to rounding.

    Notes
    -----
    Each exchange costs O(n³) and some 100 n values of g.  Convergence is quadratic for smooth g.

    Examples
    --------
    >>> import numpy as np
    >>> from ensctl.synthesis.remez import best_uniform
    >>> best = best_uniform(np.abs, np.ones_like, 2)
    >>> round(best.error, 12)
    0.125
    """
    count = degree + 2
    places = grid if grid is not None else default_grid(degree)
    reference = -np.cos(math.pi * np.arange(count) / (count - 1))
    best: BestUniform | None = None
    progress = 1
    for iteration in range(1, _ITERATIONS + 1):
        coefficients = _levelled(wanted, gain, reference, degree)

        def error(t: Array, c: Array = coefficients) -> Array:
            return wanted(t) - gain(t) * clenshaw(c, t)

        t, values = peaks(error, places)
        largest = float(np.abs(values).max())
        noise = _noise(coefficients, gain(t), wanted(t))
        signs = np.sign(values) * np.sign(gain(t))
        chosen = _alternating(t, values, signs, count)
        lower = float(np.abs(values[chosen]).min()) - noise if chosen.size == count else 0.0
        # The reference itself may alternate where the peaks do not yet.
        lower = max(lower, _lower_of(error, gain, reference) - noise, 0.0)
        if best is None or largest < 0.999 * best.error or lower > 1.001 * best.lower_bound:
            progress = iteration
        if best is None or largest < best.error:
            held = max(lower, best.lower_bound if best else 0.0)
            points = t[chosen] if chosen.size == count else reference
            best = BestUniform(read_only(coefficients), largest, held, points, iteration)
        elif lower > best.lower_bound:
            best = BestUniform(best.coefficients, best.error, lower, best.points, iteration)
        settled = largest - lower <= _LEVEL * largest + 2.0 * noise
        tiny = largest <= _TINY * float(np.abs(wanted(places)).max())
        if settled or (tiny and iteration - progress >= _PATIENCE):
            break
        reference = t[chosen] if chosen.size == count else _single(error, gain, reference, t)
    if best is None:
        raise ArithmeticError("unreachable: at least one exchange is made")
    return best


def default_grid(degree: int) -> Array:
    """40 points for each degree and at least 1201, dense at the ends, with 0 among them."""
    count = max(1201, 40 * (degree + 1) + 1) | 1
    grid = -np.cos(math.pi * np.arange(count) / (count - 1))
    grid[count // 2] = 0.0
    return grid


def _levelled(
    wanted: Callable[[Array], Array],
    gain: Callable[[Array], Array],
    reference: Array,
    degree: int,
) -> Array:
    """The p whose error has one size and alternating signs at the reference."""
    b = gain(reference)
    sign = np.sign(b) * (-1.0) ** np.arange(reference.size)
    matrix = np.column_stack([b[:, None] * chebvander(reference, degree), sign])
    scale = np.abs(b)
    solution, *_ = np.linalg.lstsq(matrix / scale[:, None], wanted(reference) / scale, rcond=None)
    return np.asarray(solution[:-1])


def _alternating(t: Array, values: Array, signs: Array, count: int) -> Array:
    """Indices of ``count`` peaks of alternating sign that keep the largest ones."""
    picked = [
        low + int(np.argmax(np.abs(values[low:high]))) for low, high in runs(signs) if high > low
    ]
    sizes = np.abs(values)
    while len(picked) > count:
        if len(picked) == count + 1:
            picked.pop(0 if sizes[picked[0]] < sizes[picked[-1]] else -1)
            continue
        # Two neighbours go together, so that the rest still alternates; or an end by itself.
        pairs = [max(sizes[a], sizes[b]) for a, b in pairwise(picked)]
        k = int(np.argmin(pairs))
        end = 0 if sizes[picked[0]] < sizes[picked[-1]] else len(picked) - 1
        if sizes[picked[end]] <= pairs[k]:
            picked.pop(end)
        else:
            del picked[k : k + 2]
    return np.array(picked, dtype=int)


def _single(
    error: Callable[[Array], Array], gain: Callable[[Array], Array], reference: Array, t: Array
) -> Array:
    """One exchange: the largest peak takes the place of its neighbour of the same sign."""
    values = error(t)
    new = t[int(np.argmax(np.abs(values)))]
    sign = np.sign(values[int(np.argmax(np.abs(values)))] * gain(np.array([new]))[0])
    signs = np.sign(error(reference) * gain(reference))
    k = int(np.searchsorted(reference, new))
    out = reference.copy()
    if k == 0:
        return np.append(new, out[:-1]) if signs[0] != sign else np.append(new, out[1:])
    if k == out.size:
        return np.append(out[1:], new) if signs[-1] != sign else np.append(out[:-1], new)
    out[k - 1 if signs[k - 1] == sign else k] = new
    return out


def _lower_of(
    error: Callable[[Array], Array], gain: Callable[[Array], Array], reference: Array
) -> float:
    values = error(reference)
    signs = np.sign(values * gain(reference))
    if np.any(signs[1:] * signs[:-1] >= 0):
        return 0.0
    return float(np.abs(values).min())


def _noise(coefficients: Array, gains: Array, wanted: Array) -> float:
    """What rounding may put on an error: of b·p as evaluated, and of g as a float64."""
    of_p = min(
        clenshaw_rounding(coefficients),
        # Peaks stay clear of the worst case of the recurrence; the sum of sizes does not.
        8.0 * _EPS * float(np.abs(coefficients).sum()),
    )
    return float(np.abs(gains).max()) * of_p + 2.0 * _EPS * float(np.abs(wanted).max())
