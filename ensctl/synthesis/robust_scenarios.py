"""Populations that are not known exactly: scenarios to fit to, fresh ones to be judged by.

The end state of a member depends on its own λ_i and b_i alone, so the worst case over all
populations is the worst member in its own interval.  A scenario that moves every member to the
same place of its interval therefore serves all of them at once: no product of corners is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_array, as_count
from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import InvalidInputError

Array = NDArray[Any]

_REAL_POINTS = 5
_COMPLEX_POINTS = 12
# More channels than this would need more than 8 corners of their gains; those are drawn.
_MOST_CORNERS = 8


@dataclass(frozen=True, eq=False)
class Scenarios:
    """S populations of N members: lam (S, N), gains (S, N, m)."""

    lam: Array
    gains: Array

    @property
    def count(self) -> int:
        """S."""
        return int(self.lam.shape[0])

    def ensembles(self, nominal: Ensemble) -> list[Ensemble]:
        """As ensembles with the outputs of the nominal one."""
        return [
            Ensemble(lam, gains, nominal.output_weights, nominal.feedthrough, dt=nominal.dt)
            for lam, gains in zip(self.lam, self.gains, strict=True)
        ]

    def errors(self, inputs: Array, target: Array, x0: Array) -> Array:
        """|x_{i,H} − target_i| of every member in every scenario, (S, N), simulated in float64."""
        parts = (self.lam, self.gains, inputs, x0)
        dtype = complex if any(np.iscomplexobj(part) for part in parts) else float
        state = np.broadcast_to(np.asarray(x0, dtype=dtype), self.lam.shape).copy()
        for u in np.atleast_2d(inputs).T:
            state = self.lam * state + self.gains @ u
        return np.asarray(np.abs(state - target))


@dataclass(frozen=True, eq=False)
class Intervals:
    """|λ_i − λ̂_i| ≤ lam_radius_i, |b_ic − b̂_ic| ≤ b_radius_ic around a nominal ensemble.

    Real numbers stay real; in a member with complex λ or b both vary in discs.
    """

    nominal: Ensemble
    lam_radius: Array
    b_radius: Array

    @property
    def complex_members(self) -> Array:
        """Which members vary in discs."""
        complex_gain = np.any(np.imag(self.nominal.gains) != 0, axis=1)
        return np.asarray((np.imag(self.nominal.lam) != 0) | complex_gain)

    def fitted(self, count: int | None, seed: int) -> Scenarios:
        """The nominal population, and places of the intervals (or circles) at every gain corner."""
        in_discs = bool(self.complex_members.any())
        points = (_COMPLEX_POINTS if in_discs else _REAL_POINTS) if count is None else count
        turn = 2.0 * np.pi * np.arange(points) / points if in_discs else _lobatto_angles(points)
        angles = turn if np.any(self.lam_radius) else turn[:1]
        corners = self._corners(seed) if np.any(self.b_radius) else [np.zeros(self._channels)]
        lam, gains = [self.nominal.lam], [self.nominal.gains]
        for angle, corner in product(angles.tolist(), corners):
            lam.append(self.nominal.lam + self.lam_radius * self._turned(np.array(angle)))
            gains.append(self.nominal.gains + self.b_radius * self._turned(corner))
        return Scenarios(np.array(lam), np.array(gains))

    def fresh(self, count: int, seed: int) -> Scenarios:
        """Members drawn independently and uniformly from their intervals or discs."""
        rng = np.random.default_rng([seed, 1])
        lam = self.nominal.lam + self._drawn(rng, (count, self.nominal.size), self.lam_radius)
        shape = (count, *self.nominal.gains.shape)
        gains = self.nominal.gains + self._drawn(rng, shape, self.b_radius)
        return Scenarios(lam, gains)

    @property
    def _channels(self) -> int:
        return self.nominal.channels

    def _corners(self, seed: int) -> list[Array]:
        """Angles of the gain errors, one per channel: the error is affine in b, corners suffice."""
        if self.complex_members.any():
            rng = np.random.default_rng([seed, 0])
            start = 2.0 * np.pi * rng.random(self._channels)
            return [start + 0.5 * np.pi * k for k in range(4)]
        if 2**self._channels <= _MOST_CORNERS:
            return [np.array(signs) * np.pi for signs in product((0, 1), repeat=self._channels)]
        signs = np.random.default_rng([seed, 0]).integers(0, 2, (_MOST_CORNERS, self._channels))
        return list(np.pi * signs)

    def _turned(self, angle: Array) -> Array:
        """cos φ for real members, e^{±iφ} for complex ones, conjugate for conjugate members."""
        lam = self.nominal.lam
        side = np.where(
            np.imag(lam) != 0, np.sign(np.imag(lam)), np.sign(np.imag(self.nominal.gains[:, 0]))
        )
        if angle.ndim == 1:
            side = side[:, None]
        if not self.complex_members.any():
            return np.cos(angle) + 0.0 * side
        return np.asarray(np.cos(angle) + 1j * side * np.sin(angle))

    def _drawn(self, rng: np.random.Generator, shape: tuple[int, ...], radius: Array) -> Array:
        real = radius * rng.uniform(-1.0, 1.0, shape)
        in_discs = self.complex_members
        if not in_discs.any():
            return np.asarray(real)
        turned = np.exp(2j * np.pi * rng.random(shape)) * np.sqrt(rng.random(shape))
        chosen = in_discs if len(shape) == 2 else in_discs[:, None]
        return np.where(chosen, radius * turned, real)


def as_intervals(ens: Ensemble, lam_radius: ArrayLike, b_radius: ArrayLike) -> Intervals:
    """Check the radii: scalar or (N,); b_radius also (N, m).

    Raises
    ------
    InvalidInputError
        Negative, or of another shape.
    """
    lam = _radius(lam_radius, "lam_radius", [(ens.size,)])
    gains = _radius(b_radius, "b_radius", [(ens.size,), ens.gains.shape])
    if gains.ndim == 1:
        gains = gains[:, None]
    return Intervals(
        ens, np.broadcast_to(lam, ens.lam.shape), np.broadcast_to(gains, ens.gains.shape)
    )


def as_scenarios(ens: Ensemble, scenarios: Sequence[Ensemble]) -> Scenarios:
    """Check scenarios: ensembles of the nominal size and number of channels.

    Raises
    ------
    InvalidInputError
        None given, or one that does not fit.
    """
    found = list(scenarios)
    if not found:
        raise InvalidInputError("scenarios must have at least one ensemble, got none")
    for k, other in enumerate(found):
        if not isinstance(other, Ensemble):
            raise InvalidInputError(
                f"scenarios[{k}] must be an ec.Ensemble, got {type(other).__name__}"
            )
        if other.gains.shape != ens.gains.shape:
            raise InvalidInputError(
                f"scenarios[{k}] must have {ens.size} members and {ens.channels} channels, got "
                f"{other.size} and {other.channels}"
            )
    return Scenarios(
        np.array([other.lam for other in found]), np.array([other.gains for other in found])
    )


def fresh_between(scenarios: Scenarios, count: int, seed: int) -> Scenarios:
    """Members drawn independently from the ranges that the scenarios span (real, imaginary)."""
    rng = np.random.default_rng([seed, 1])
    return Scenarios(_between(rng, scenarios.lam, count), _between(rng, scenarios.gains, count))


def _between(rng: np.random.Generator, values: Array, count: int) -> Array:
    def part(numbers: Array) -> Array:
        low, high = numbers.min(axis=0), numbers.max(axis=0)
        return np.asarray(low + (high - low) * rng.random((count, *low.shape)))

    if np.iscomplexobj(values):
        return np.asarray(part(values.real) + 1j * part(values.imag))
    return part(values)


def _radius(value: ArrayLike, name: str, shapes: list[tuple[int, ...]]) -> Array:
    radius = as_array(value, name, real=True)
    if radius.ndim and radius.shape not in shapes:
        allowed = " or ".join(str(shape) for shape in shapes)
        raise InvalidInputError(f"{name} must be a scalar or {allowed}, got shape {radius.shape}")
    if np.any(radius < 0):
        raise InvalidInputError(f"{name} must be ≥ 0, got {radius.min():g}")
    return radius if radius.ndim else radius.reshape(1)


def _lobatto_angles(points: int) -> Array:
    """Angles whose cosines are the ends and the Chebyshev–Lobatto points between them."""
    if as_count(points, "count") == 1:
        return np.zeros(1)
    return np.pi * np.arange(points) / (points - 1)
