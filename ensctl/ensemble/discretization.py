"""Zero-order hold of first-order members, accurate to the last digits for every rate.

The product a·dt is formed with its rounding error, which e^{a dt} would otherwise multiply by
|a dt|, and (e^{a dt} − 1)/a is formed by expm1, which loses nothing as a → 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ensctl.arguments import Array, as_scalar, as_vector, read_only
from ensctl.ensemble.shapes import as_gains
from ensctl.errors import InvalidInputError

# Below this |a dt|, (e^{a dt} − 1)/(a dt) is 1 to the last bit.
_NO_GROWTH = 2.0**-54
_SPLIT = 2.0**27 + 1.0


@dataclass(frozen=True)
class HeldInput:
    """First-order members sampled with an input held constant over each step.

    Attributes
    ----------
    lam : ndarray, (N,)
        λ = e^{a dt}.
    b : ndarray, (N,) or (N, m)
        b = g (e^{a dt} − 1)/a, which is g dt where a = 0.
    """

    lam: Array
    b: Array


def zero_order_hold(rates: ArrayLike, gains: ArrayLike = 1.0, dt: float = 1.0) -> HeldInput:
    """Sample dx_i/dt = a_i x_i + g_i u with u held constant over each step of length dt.

    λ = e^{a dt}, b = g (e^{a dt} − 1)/a, and b = g dt where a = 0.

    Parameters
    ----------
    rates : array_like, (N,)
        Continuous eigenvalues a in 1/time, real or complex.
    gains : array_like, (N,) or (N, m)
        Continuous gains g; a scalar stands for all members.
    dt : float
        Length of a step, > 0, in the unit of time of the rates.

    Returns
    -------
    HeldInput
        ``.lam`` and ``.b`` of the sampled members; conjugate rates give exact conjugates.

    Raises
    ------
    InvalidInputError
        A value is out of range, or λ or b overflows.

    Notes
    -----
    λ and b are within 4 units in the last place wherever they are normal numbers; complex λ within
    4 and complex b within 8 units of the modulus.  λ is a rounded number: rates that differ by less
    than its spacing give equal λ, and every a dt below −745 gives λ = 0.  Cost O(N m).

    Source: T. J. Dekker, "A floating-point technique for extending the available precision",
    Numer. Math. 18 (1971), for the product with its error; the hold itself is textbook.

    Examples
    --------
    >>> from ensctl.ensemble.discretization import zero_order_hold
    >>> held = zero_order_hold([0.0, -1e-300, -1.0], 1.0, 0.5)
    >>> held.lam, held.b
    (array([1. , 1. , 0.60653066]), array([0.5 , 0.5 , 0.39346934]))
    """
    a = as_vector(rates, "rates")
    g = as_gains(gains, a.size, "gains")
    step = as_scalar(dt, "dt", above=0.0)
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        growth, increment = _complex_exp(a, step) if np.iscomplexobj(a) else _real_exp(a, step)
        still = np.abs(a * step) < _NO_GROWTH
        held = np.where(still, step, increment / np.where(a == 0, 1.0, a))
        b = g * (held if g.ndim == 1 else held[:, np.newaxis])
    _require_finite(growth, a, step, "λ = e^{a dt}")
    _require_finite(b if b.ndim == 1 else b.sum(axis=1), a, step, "b")
    return HeldInput(read_only(growth), read_only(b))


def _real_exp(a: Array, step: float) -> tuple[Array, Array]:
    """e^{a dt} and e^{a dt} − 1."""
    x, error = _product(a, step)
    growth = np.exp(x)
    correction = growth * error
    return growth + correction, np.expm1(x) + correction


def _complex_exp(a: Array, step: float) -> tuple[Array, Array]:
    """The same for complex a, with e^z − 1 = expm1(x) cos y − 2 sin²(y/2) + j e^x sin y."""
    growth, increment = _real_exp(a.real, step)
    y, error = _product(a.imag, step)
    sine, cosine = _corrected_sine_cosine(y, error)
    half_sine, half_cosine = _corrected_sine_cosine(y / 2, error / 2)
    turn = 2.0 * half_sine * half_sine
    lam = growth * cosine + 1j * (growth * sine)
    rise = (increment * (1.0 - turn) - turn) + 1j * (growth * (2.0 * half_sine * half_cosine))
    return lam, rise


def _corrected_sine_cosine(angle: Array, error: Array) -> tuple[Array, Array]:
    """sin and cos of angle + error, where error is a rounding error of angle."""
    sine, cosine = np.sin(angle), np.cos(angle)
    return sine + cosine * error, cosine - sine * error


def _product(a: Array, step: float) -> tuple[Array, Array]:
    """a·dt rounded, and its rounding error, by Dekker's splitting of the mantissas."""
    (u, u_exponent), (v, v_exponent) = np.frexp(a), np.frexp(step)
    exponent = u_exponent + v_exponent
    rounded = u * v
    (u_high, u_low), (v_high, v_low) = _halves(u), _halves(v)
    error = ((u_high * v_high - rounded) + u_high * v_low + u_low * v_high) + u_low * v_low
    return np.ldexp(rounded, exponent), np.ldexp(error, exponent)


def _halves(mantissa: Any) -> tuple[Any, Any]:
    shifted = _SPLIT * mantissa
    high = shifted - (shifted - mantissa)
    return high, mantissa - high


def _require_finite(values: Array, a: Array, step: float, what: str) -> None:
    if np.all(np.isfinite(values)):
        return
    i = int(np.flatnonzero(~np.isfinite(values))[0])
    raise InvalidInputError(
        f"rates must keep {what} below 1.8e308, got a = {a[i]} at index {i} with dt = {step:g}; "
        f"shorten dt"
    )
