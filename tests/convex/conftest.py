"""Small steering problems with their true matrices as fractions."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from ensctl.convex import Rows, Zero


@dataclass(frozen=True)
class Steering:
    """R u = d of members λ_i, b_i, with R rounded and exact."""

    matrix: np.ndarray
    target: np.ndarray
    rows: Rows


def exact_powers(lam, gain, horizon):
    """Real and imaginary parts of b λ^k, k = horizon−1 … 0, as fractions."""
    real, imag = Fraction(float(np.real(lam))), Fraction(float(np.imag(lam)))
    re, im = Fraction(float(gain)), Fraction(0)
    powers = []
    for _ in range(horizon):
        powers.append((re, im))
        re, im = re * real - im * imag, re * imag + im * real
    powers.reverse()
    return [p for p, _ in powers], [q for _, q in powers]


@pytest.fixture(scope="session")
def steering() -> Callable[..., Steering]:
    """``steering(lam, gain, target, horizon)``: complex λ become two real rows each."""

    def build(lam, gain, target, horizon):
        lam, gain = np.asarray(lam), np.broadcast_to(gain, np.shape(lam))
        powers = gain[:, None] * lam[:, None] ** np.arange(horizon)[::-1]
        is_complex = np.iscomplexobj(lam)
        matrix = np.vstack([powers.real, powers.imag]) if is_complex else powers

        def exact():
            parts = [exact_powers(z, b, horizon) for z, b in zip(lam, gain, strict=True)]
            rows = [re for re, _ in parts] + ([im for _, im in parts] if is_complex else [])
            return rows, [Fraction(float(d)) for d in target]

        # Each power is right to a few ulp per multiplication.
        rows = Rows(matrix, target, Zero(), rounding=4 * horizon * 2.0**-52, exact=exact)
        return Steering(matrix, target, rows)

    return build
