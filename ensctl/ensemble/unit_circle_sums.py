"""Sums of powers for a large population on the unit circle: FFTs and short series on arcs.

With λ = e^{i(φ+δ)} on an arc with centre φ, Σ a_k λ^k = e^{iKδ} Σ a_k e^{ikφ} e^{i(k−K)δ}, K the
middle power.  The last factor is a Chebyshev series in δ of a few dozen terms whose coefficients
follow, for all arcs at once, from one FFT per Chebyshev node.  Moments are the adjoint.  This is a
non-uniform FFT; δ is formed from λ − e^{iφ}, so that angles lose nothing to rounding.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.ensemble.graded_cells import chebyshev_rows
from ensctl.ensemble.power_sums import EPS, Coefficients, Evaluated, Moments
from ensctl.vandermonde.doubledouble import ComplexDD

Array = NDArray[Any]

# Steps for each arc: longer arcs need longer series, shorter ones more calls.
_STEPS_PER_ARC = 8
_CHUNK = 4096
# |λ| of members on the circle: 1 up to rounding.
_ON_CIRCLE = 4.0 * EPS
_SEMI_AXES = np.linspace(1.5, 12.0, 22)


def on_unit_circle(lam: Array) -> bool:
    """Whether every λ is complex with modulus 1 up to rounding."""
    return np.iscomplexobj(lam) and bool(np.all(np.abs(np.abs(lam) - 1.0) <= _ON_CIRCLE))


@dataclass(frozen=True, eq=False)
class Arcs:
    """Members sorted by arc, with the series that serves every arc.

    Attributes
    ----------
    order : (N,) int
        Member numbers arc by arc.
    starts : (S + 1,) int
        Where each arc begins, and N.
    centre_hi, centre_lo : (S,) complex128
        e^{2πis/S} to twice the usual precision.
    middle : int
        K.
    half_angle : float
        Largest |δ|.
    terms : int
        Length of the series.
    truncation : float
        Bound on what the series leaves out, per unit of Σ|a_k|.
    """

    order: Array
    starts: Array
    centre_hi: Array
    centre_lo: Array
    middle: int
    half_angle: float
    terms: int
    truncation: float

    @classmethod
    def of(cls, lam: Array, steps: int) -> Arcs:
        """Sort members into arcs for sums of ``steps`` powers."""
        arcs = max(4, steps // _STEPS_PER_ARC)
        label = np.rint(np.angle(lam) * (arcs / (2.0 * np.pi))).astype(np.int64) % arcs
        if arcs < 2**16:
            label = label.astype(np.uint16)
        order = np.argsort(label, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(label, minlength=arcs))])
        hi, lo = _roots_of_unity(arcs)
        middle = steps // 2
        # A little wider than π/S, because arcs are told apart by rounded angles.
        half_angle = np.pi / arcs * (1.0 + 1e-9)
        terms, truncation = _terms(half_angle * max(middle, steps - 1 - middle))
        return cls(order, starts, hi, lo, middle, half_angle, terms, truncation)

    @property
    def offsets(self) -> Array:
        """δ of the Chebyshev nodes of an arc, (terms,)."""
        angles = np.pi * (np.arange(self.terms) + 0.5) / self.terms
        return np.asarray(self.half_angle * np.cos(angles))

    @property
    def basis(self) -> Array:
        """T_j at the nodes, (terms, terms)."""
        return chebyshev_rows(self.offsets / self.half_angle, self.terms)

    def pieces(self) -> Iterator[tuple[slice, list[tuple[int, slice]]]]:
        """Chunks of sorted members, and the arcs in each with their part of the chunk."""
        for first in range(0, int(self.starts[-1]), _CHUNK):
            stop = min(first + _CHUNK, int(self.starts[-1]))
            begin = int(np.searchsorted(self.starts, first, side="right")) - 1
            end = int(np.searchsorted(self.starts, stop, side="left"))
            edges = np.clip(self.starts[begin : end + 1], first, stop) - first
            held = np.flatnonzero(np.diff(edges))
            yield (
                slice(first, stop),
                [(begin + int(s), slice(int(edges[s]), int(edges[s + 1]))) for s in held],
            )

    def local(self, lam: Array) -> tuple[Array, Array, float]:
        """δ over the half angle and (λ e^{−iφ})^K of all members as sorted, and max |log|λ||."""
        position = np.empty(lam.size)
        turn = np.empty(lam.size, dtype=complex)
        centres = np.repeat(np.arange(len(self.centre_hi)), np.diff(self.starts))
        drift = 0.0
        for first in range(0, lam.size, _CHUNK):
            chunk = slice(first, first + _CHUNK)
            hi = self.centre_hi[centres[chunk]]
            away = (lam[self.order[chunk]] - hi) - self.centre_lo[centres[chunk]]
            away *= hi.conj()
            delta = np.arctan2(away.imag, 1.0 + away.real)
            # log|λ|: what stands here is a few ε, and its square is nothing.
            growth = away.real + 0.5 * (away.real**2 + away.imag**2)
            position[chunk] = delta / self.half_angle
            size = 1.0 + self.middle * growth
            delta *= self.middle
            turn.real[chunk] = size * np.cos(delta)
            turn.imag[chunk] = size * np.sin(delta)
            drift = max(drift, float(np.abs(growth).max()))
        return position, turn, drift

    def series(self, columns: Array) -> Array:
        """Coefficients of the series of every arc, real parts above imaginary, (S, 2Q, terms)."""
        arcs, powers = len(self.centre_hi), np.arange(len(columns)) - self.middle
        blocks = -(-len(columns) // arcs)
        samples = np.empty((self.terms, columns.shape[1], arcs), dtype=complex)
        padded = np.zeros((blocks * arcs, columns.shape[1]), dtype=complex)
        for place, offset in enumerate(self.offsets):
            padded[: len(columns)] = columns * np.exp(1j * offset * powers)[:, None]
            folded = padded.reshape(blocks, arcs, -1).sum(axis=0)
            samples[place] = np.fft.ifft(folded, axis=0, norm="forward").T
        flat = np.linalg.solve(self.basis.T, samples.reshape(self.terms, -1))
        series = flat.reshape(samples.shape).transpose(2, 1, 0)
        return np.concatenate([series.real, series.imag], axis=1)

    def spread(self, moments: Array, steps: int) -> Array:
        """Moments of λ^k, (steps, Q), from moments of T_j on every arc, (terms, S, Q)."""
        flat = moments.reshape(self.terms, -1)
        weights = np.linalg.solve(self.basis, flat).reshape(moments.shape)
        powers = np.arange(steps)
        total = np.zeros((steps, moments.shape[2]), dtype=complex)
        for weight, offset in zip(weights, self.offsets, strict=True):
            periodic = np.fft.ifft(weight, axis=0, norm="forward")[powers % len(weight)]
            total += periodic * np.exp(1j * offset * (powers - self.middle))[:, None]
        return total

    def error(self, sizes: Array, drift: float, *, moments: bool = False) -> float:
        """Bound on the error of a sum with coefficients of modulus ``sizes``, (H,)."""
        total = float(sizes.max() if moments else sizes.sum())
        away = np.abs(np.arange(sizes.size) - self.middle)
        aside = float((sizes * away).max() if moments else sizes @ away)
        turns = math.log2(len(self.centre_hi)) + self.half_angle * self.middle
        rounding = EPS * (self.terms**2 + 4.0 * turns + -(-sizes.size // len(self.centre_hi)) + 16)
        return total * (self.truncation + rounding) + aside * (
            drift + EPS * (1.0 + 4.0 * self.half_angle)
        )


def unit_circle_values(lam: Array, gains: Array, coefs: Coefficients) -> Evaluated:
    """Σ_c B_ic Σ_k a_kcs λ_i^k for |λ| = 1 up to rounding.

    Parameters
    ----------
    lam : (N,) complex128
        Members; see :func:`on_unit_circle`.
    gains : (N, m) or (1, m)
        Gains, one row for all where there is only one.
    coefs : Coefficients
        Coefficients a_kcs.

    Returns
    -------
    Evaluated

    Notes
    -----
    About 40 FFTs of length H/8, and series of about 40 terms per member: O(H log H + N).
    """
    steps = len(coefs.columns)
    arcs = Arcs.of(lam, steps)
    position, turn, drift = arcs.local(lam)
    series = arcs.series(coefs.columns)
    out = np.empty((lam.size, coefs.shape[1]), dtype=complex)
    rows = np.empty((arcs.terms, _CHUNK))
    columns = coefs.columns.shape[1]
    for chunk, parts in arcs.pieces():
        count = chunk.stop - chunk.start
        local = chebyshev_rows(position[chunk], arcs.terms, rows[:, :count])
        values = np.empty((2 * columns, count))
        for s, held in parts:
            np.matmul(series[s], local[:, held], out=values[:, held])
        sums = (values[:columns] + 1j * values[columns:]) * turn[chunk]
        place = arcs.order[chunk]
        out[place] = coefs.combined(sums, gains if len(gains) == 1 else gains[place])
    bound = arcs.error(coefs.envelope, drift) * coefs.gain(gains)
    return Evaluated(out, bound)


def unit_circle_moments(lam: Array, weights: Array, steps: int) -> Moments:
    """Σ_i w_iq λ_i^k for k < steps, |λ| = 1 up to rounding.

    Parameters
    ----------
    lam : (N,) complex128
        Members; see :func:`on_unit_circle`.
    weights : (N, Q)
        Weights.
    steps : int
        Number of moments.

    Returns
    -------
    Moments
    """
    arcs = Arcs.of(lam, steps)
    position, turn, drift = arcs.local(lam)
    columns = weights.shape[1]
    moments = np.zeros((len(arcs.centre_hi), arcs.terms, 2 * columns))
    rows = np.empty((arcs.terms, _CHUNK))
    for chunk, parts in arcs.pieces():
        local = chebyshev_rows(position[chunk], arcs.terms, rows[:, : chunk.stop - chunk.start])
        weighted = weights[arcs.order[chunk]] * turn[chunk, None]
        split = np.hstack([weighted.real, weighted.imag])
        for s, held in parts:
            moments[s] += local[:, held] @ split[held]
    by_term = (moments[:, :, :columns] + 1j * moments[:, :, columns:]).transpose(1, 0, 2)
    total = np.abs(weights).sum(axis=0)
    largest = int(np.diff(arcs.starts).max())
    summands = min(largest, _CHUNK) + largest // _CHUNK
    bound = arcs.error(np.ones(steps), drift, moments=True)
    return Moments(arcs.spread(by_term, steps), total * (bound + 4.0 * EPS * summands))


def _terms(bandwidth: float) -> tuple[int, float]:
    """Terms of the Chebyshev series of e^{icx}, |x| ≤ 1, c ≤ bandwidth, and what is left out."""
    radius = _SEMI_AXES
    leading = 4.0 * np.exp(0.5 * bandwidth * (radius - 1.0 / radius)) / (radius - 1.0)
    needed = 1.0 + np.log(leading * 4.0 / EPS) / np.log(radius)
    best = int(np.argmin(needed))
    terms = math.ceil(float(needed[best]))
    return terms, float(leading[best] * radius[best] ** (1.0 - terms))


def _roots_of_unity(count: int) -> tuple[Array, Array]:
    """e^{2πis/count} as hi + lo, from two tables of about √count entries."""
    stride = math.isqrt(count - 1) + 1
    fine = _turns([float(s) for s in range(stride)], count)
    coarse = _turns([float(s * stride) for s in range(-(-count // stride))], count)
    row, column = np.divmod(np.arange(count), stride)
    product = ComplexDD.from_complex(coarse[0][row], coarse[1][row]) * ComplexDD.from_complex(
        fine[0][column], fine[1][column]
    )
    return product.hi, product.lo


def _turns(numbers: list[float], count: int) -> tuple[Array, Array]:
    import mpmath

    with mpmath.workprec(120):
        exact = [mpmath.expjpi(mpmath.mpf(2.0 * number) / count) for number in numbers]
        hi = [complex(value) for value in exact]
        lo = [complex(value - first) for value, first in zip(exact, hi, strict=True)]
    return np.array(hi), np.array(lo)
