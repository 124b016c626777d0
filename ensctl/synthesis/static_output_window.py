"""For which κ the loop Σ w_i/(z − λ_i) under u = −κ Σ c x is stable.

Poles are the zeros of D(z) + κ N(z), N/D = Σ w_i/(z − λ_i) = G.  A pole crosses the unit circle
only where κ = −1/G(z) is real, |z| = 1.  For real λ and w of one sign that is z = ±1 alone, which
gives the window in closed form; in general the crossings are isolated as roots of a polynomial in
cos θ and each interval between them is decided by certified roots at one point inside.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Interval = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Loop:
    """The modes that the output feedback moves.

    Attributes
    ----------
    lam : (n,)
        Distinct λ.
    weights : list of (Fraction, Fraction)
        w = Σ c_i b_i over the members of each λ: real and imaginary parts, exact, not zero.
    """

    lam: Array
    weights: list[tuple[Fraction, Fraction]]

    @property
    def one_signed(self) -> bool:
        """Whether λ and w are real and all w have the same sign."""
        if np.iscomplexobj(self.lam) or any(im != 0 for _, im in self.weights):
            return False
        return len({re > 0 for re, _ in self.weights}) == 1

    @property
    def conjugate_closed(self) -> bool:
        """Whether the characteristic polynomial has real coefficients."""
        table = dict(zip(self.lam.tolist(), self.weights, strict=True))
        return all(table.get(complex(z).conjugate()) == (re, -im) for z, (re, im) in table.items())


def one_signed_window(loop: Loop) -> tuple[tuple[Interval, ...], str]:
    """The open window of κ for real λ and w of one sign, and why it is empty when it is.

    For w > 0 every pole falls as κ grows and they interlace with λ: stable ⇔ the largest is below
    1 and the smallest above −1, i.e. 1 + κ Σ w/(1 − λ) and 1 − κ Σ w/(1 + λ) have the signs that
    at most one λ outside allows.  The sums are exact rationals, rounded once.
    """
    if loop.weights and loop.weights[0][0] < 0:
        mirrored = Loop(loop.lam, [(-re, im) for re, im in loop.weights])
        windows, reason = one_signed_window(mirrored)
        return tuple((-high, -low) for low, high in windows), reason
    lam = loop.lam
    above, below = int(np.sum(lam >= 1)), int(np.sum(lam <= -1))
    if above + below > 1:
        return (), f"{above + below} moved members have |λ| ≥ 1 and one gain can bring in only one"
    low, high = _edge(loop, 1), _edge(loop, -1)
    # The pole outside comes in only if the sum has the sign that it alone gives.
    if np.any(lam == 1):
        low = 0.0
    elif above and not (low is not None and low > 0):
        return (), "Σ c b/(1 − λ) is not negative: the pole above 1 never comes in"
    if np.any(lam == -1):
        high = 0.0
    elif below and not (high is not None and high < 0):
        return (), "Σ c b/(1 + λ) is not negative: the pole below −1 never comes in"
    if low is None or high is None or not low < high:
        return (), "a pole leaves at −1 (or 1) before the one outside comes in"
    return ((low, high),), ""


def crossing_windows(loop: Loop) -> tuple[Interval, ...]:
    """All open intervals of κ where D + κN has its roots inside the unit circle (real D, N)."""
    denominator, numerator = _polynomials(loop)
    edges = _critical_values(denominator, numerator)
    windows = []
    for low, high in pairwise(edges):
        if _stable_at(denominator, numerator, 0.5 * (low + high)):
            windows.append((low, high))
    return tuple(windows)


def _edge(loop: Loop, z: int) -> float | None:
    """κ = −1/G(z) at z = ±1; None where z is a pole of G (or G vanishes)."""
    from flint import fmpq

    if np.any(loop.lam == z):
        return None
    terms = []
    for value, (weight, _) in zip(loop.lam.tolist(), loop.weights, strict=True):
        distance = z - Fraction(value)
        term = weight / distance
        terms.append(fmpq(term.numerator, term.denominator))
    while len(terms) > 1:
        pairs = [a + b for a, b in zip(terms[::2], terms[1::2], strict=False)]
        terms = pairs + terms[len(pairs) * 2 :]
    total = terms[0]
    if total == 0:
        return None
    edge = -1 / total
    return float(Fraction(int(edge.p), int(edge.q)))


def _polynomials(loop: Loop) -> tuple[Any, Any]:
    """D and N with exact rational coefficients; conjugate pairs are taken together."""
    from flint import fmpq, fmpq_poly

    def exact(value: Fraction) -> Any:
        return fmpq(value.numerator, value.denominator)

    pairs = []
    for value, (re, im) in zip(loop.lam.tolist(), loop.weights, strict=True):
        z = complex(value)
        x, y = Fraction(z.real), Fraction(z.imag)
        if y == 0:
            pairs.append((fmpq_poly([exact(-x), 1]), fmpq_poly([exact(re)])))
        elif y > 0:
            square = fmpq_poly([exact(x * x + y * y), exact(-2 * x), 1])
            pairs.append((square, fmpq_poly([exact(-2 * (re * x + im * y)), exact(2 * re)])))
    while len(pairs) > 1:
        merged = [
            (p * q, p * t + q * s) for (p, s), (q, t) in zip(pairs[::2], pairs[1::2], strict=False)
        ]
        pairs = merged + pairs[len(merged) * 2 :]
    return pairs[0]


def _critical_values(denominator: Any, numerator: Any) -> list[float]:
    """Ascending κ at which a root is on the unit circle, between bounds beyond all of them."""
    from flint import arb, fmpq_poly

    from ensctl.vandermonde.balls import precision

    degree = denominator.degree()
    d = [denominator[k] for k in range(degree + 1)]
    n = [numerator[k] for k in range(degree + 1)]
    # D(z) z^n N(1/z) − N(z) z^n D(1/z) = Σ_j a_j (z^{n+j} − z^{n−j}), a multiple of sin θ.
    forward = fmpq_poly(d) * fmpq_poly(n[::-1]) - fmpq_poly(n) * fmpq_poly(d[::-1])
    second_kind, previous, current = fmpq_poly([0]), fmpq_poly([0]), fmpq_poly([1])
    for j in range(1, degree + 1):
        second_kind += forward[degree + j] * current
        previous, current = current, fmpq_poly([0, 2]) * current - previous
    values = []
    with precision(256):
        points = [arb(1), arb(-1)]
        if second_kind.degree() > 0:
            roots: Any = second_kind.numer().complex_roots()
            for root, _ in roots:
                if root.imag == 0 and abs(float(root.real.mid())) < 1:
                    points.append(root.real)
        for cosine in points:
            values += _values_at(denominator, numerator, cosine)
    found = sorted(set(values))
    reach = 2.0 * max([abs(value) for value in found], default=0.0) + 1.0
    return [-reach, *found, reach]


def _values_at(denominator: Any, numerator: Any, cosine: Any) -> list[float]:
    from flint import acb, acb_poly, arb

    sine = arb(0) if abs(cosine) == 1 else (1 - cosine * cosine).sqrt()
    z = acb(cosine, sine)
    over = acb_poly([acb(arb(c)) for c in numerator.coeffs()])(z)
    under = acb_poly([acb(arb(c)) for c in denominator.coeffs()])(z)
    if over.contains(0):
        return []
    return [float((-under / over).real.mid())]


def _stable_at(denominator: Any, numerator: Any, gain: float) -> bool:
    from flint import fmpq

    exact = Fraction(gain)
    polynomial = denominator + fmpq(exact.numerator, exact.denominator) * numerator
    roots = polynomial.numer().complex_roots()
    return all(float(abs(root).upper()) < 1 for root, _ in roots)
