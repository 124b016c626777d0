"""Feedback u = −k y of the aggregate alone: which constant gains stabilise the population."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.analysis.reasons import who
from ensctl.analysis.unit_circle import on_or_outside_unit_circle
from ensctl.arguments import as_scalar
from ensctl.display import Summarised
from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.require import require_ensemble
from ensctl.errors import InvalidInputError, PrecisionError
from ensctl.formatting import listed
from ensctl.serialization import versioned
from ensctl.synthesis.placement_poles import exact_products
from ensctl.synthesis.static_output_radius import LoopRadius, least_radius, loop_radius
from ensctl.synthesis.static_output_window import (
    Interval,
    Loop,
    crossing_windows,
    one_signed_window,
)

Array = NDArray[Any]

# Isolating crossings takes seconds beyond this many members.
_LARGEST_GENERAL = 80
_SMALLEST, _LARGEST = 1e-150, 1e150


@dataclass(frozen=True, eq=False)
class StaticOutputGain(Summarised):
    """Result of :func:`static_output_gain`.

    Attributes
    ----------
    ensemble : Ensemble
        The population.
    windows : tuple of (float, float)
        All open intervals of k that stabilise it; empty when none does.
    method : str
        "closed form" (real λ, Σ c b of one sign) or "crossings of the unit circle".
    reason : str
        Why no k does it; empty otherwise.
    best_gain : float
        The k of the smallest spectral radius that was found.
    best_radius : float
        That spectral radius; below 1 where a window exists.
    best_is_global : bool
        Whether it is proved to be the smallest of all k (closed form), to about 1e-12.
    fixed : tuple of int
        Members whose λ no k moves: c b = 0, or all but one of a group of equal λ.
    """

    ensemble: Ensemble
    windows: tuple[Interval, ...]
    method: str
    reason: str
    best_gain: float
    best_radius: float
    best_is_global: bool
    fixed: tuple[int, ...]
    _radius: LoopRadius = field(repr=False)

    @property
    def stabilizable(self) -> bool:
        """Whether some k stabilises the population."""
        return bool(self.windows)

    @property
    def window(self) -> Interval | None:
        """The window that holds ``best_gain`` (the first one where none does), or None."""
        for low, high in self.windows:
            if low < self.best_gain < high:
                return low, high
        return self.windows[0] if self.windows else None

    def spectral_radius(self, k: float) -> float:
        """ρ of the closed loop under u = −k y; all members count, fixed ones included.

        Parameters
        ----------
        k : float
            The gain; 1 + k d must not be 0.

        Returns
        -------
        float

        Raises
        ------
        PrecisionError
            k is so large that float64 does not hold the closed loop.
        """
        gain = as_scalar(k, "k")
        d = _feedthrough(self.ensemble)
        if 1.0 + gain * d == 0:
            raise InvalidInputError(
                f"k must differ from −1/d = {gain:.6g}: y = Σ c x − k d y has no solution there"
            )
        with np.errstate(all="ignore"):
            effective = gain / (1.0 + gain * d)
            radius = float("nan")
            if abs(effective) < _LARGEST:
                radius = loop_radius(self._radius, effective)
        if not np.isfinite(radius):
            raise PrecisionError(f"k must be below {_LARGEST:g} in modulus, got {gain:g}")
        return radius

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "static_output_gain",
            {
                "stabilizable": self.stabilizable,
                "windows": self.windows,
                "method": self.method,
                "reason": self.reason,
                "best_gain": self.best_gain,
                "best_radius": self.best_radius,
                "best_is_global": self.best_is_global,
                "fixed": self.fixed,
            },
        )

    def __str__(self) -> str:
        if self.windows:
            spans = listed([f"{low:.6g} < k < {high:.6g}" for low, high in self.windows])
            verdict = f"u = −k y stabilises the population for {spans} ({self.method})"
        else:
            verdict = f"no k stabilises the population: {self.reason} ({self.method})"
        proof = "" if self.best_is_global else " found in a search (no proof)"
        return (
            f"{verdict}\nsmallest spectral radius{proof}: {self.best_radius:.6g} at "
            f"k = {self.best_gain:.6g}"
        )


def static_output_gain(ens: Ensemble) -> StaticOutputGain:
    """All k for which u_t = −k y_t stabilises the population, y = Σ c x + d u.

    For real λ and c_i b_i > 0 with all |λ| < 1: −1/Σ c b/(1 − λ) < k < k_max = 1/Σ c b/(1 + λ).
    One λ > 1 is stabilised if and only if g_1 = Σ c b/(1 − λ) < 0 and −1/g_1 < k < k_max.

    Parameters
    ----------
    ens : Ensemble
        One input, one output, real d; λ, b, c are taken as exact numbers.

    Returns
    -------
    StaticOutputGain
        ``windows``, ``best_gain``, ``best_radius``, ``spectral_radius(k)``.

    Raises
    ------
    InvalidInputError
        Several inputs or outputs, members (λ, c b) that are not their own conjugates, or more
        than 80 distinct λ with weights of both signs or complex λ.
    PrecisionError
        Σ c b of some λ is outside 1e-150 … 1e150.

    Notes
    -----
    Members with equal λ act as one with weight Σ c b.  One sign, real λ: edges are exact rationals
    rounded once.  Otherwise all crossings of the unit circle are isolated with certified roots.
    Feed-through makes k act as κ = k/(1 + k d); windows are mapped back, and may be unbounded.

    Examples
    --------
    >>> import ensctl as ec
    >>> print(ec.static_output_gain(ec.Ensemble([0.2, 0.5, 1.1], b=[1.0, 2.0, 2.0], c=1.0)))
    u = −k y stabilises the population for 0.0677966 < k < 0.320611 (closed form)
    smallest spectral radius: 0.896466 at k = 0.298866
    """
    require_ensemble(ens)
    if ens.channels != 1 or ens.outputs != 1:
        raise InvalidInputError(
            f"ens must have one input and one output, got {ens.channels} and {ens.outputs}; take "
            f"one of each: Ensemble(ens.lam, ens.gains[:, 0], ens.output_weights[0])"
        )
    d = _feedthrough(ens)
    loop, fixed, fixed_lam = _moved_part(ens)
    radius = LoopRadius(loop, float(np.max(np.abs(fixed_lam), initial=0.0)))
    if not loop.conjugate_closed:
        raise InvalidInputError(
            "ens must be closed under conjugation in (λ, c b), so that a real k gives real "
            "signals; add the conjugate members"
        )
    one_signed = loop.one_signed or not loop.weights
    if not one_signed and loop.lam.size > _LARGEST_GENERAL:
        raise InvalidInputError(
            f"ens must have at most {_LARGEST_GENERAL} distinct λ when c b has both signs or λ is "
            f"complex, got {loop.lam.size}; compress it first (ens.compress)"
        )
    windows, reason = _effective_windows(ens, loop, fixed, fixed_lam)
    kappa, best, proved = least_radius(radius, windows)
    return StaticOutputGain(
        ensemble=ens,
        windows=_in_terms_of_k(windows, d),
        method="closed form" if one_signed else "crossings of the unit circle",
        reason=reason,
        best_gain=kappa / (1.0 - kappa * d) if kappa * d != 1.0 else float("inf"),
        best_radius=best,
        best_is_global=proved,
        fixed=fixed,
        _radius=radius,
    )


def _effective_windows(
    ens: Ensemble, loop: Loop, fixed: tuple[int, ...], fixed_lam: Array
) -> tuple[tuple[Interval, ...], str]:
    outside = on_or_outside_unit_circle(fixed_lam)
    if np.any(outside):
        blamed = [fixed[i] for i in np.flatnonzero(outside)]
        return (), f"{who(ens, blamed)} with |λ| ≥ 1 is not moved by any k"
    if not loop.weights:
        return ((-np.inf, np.inf),), ""
    if loop.one_signed:
        return one_signed_window(loop)
    windows = crossing_windows(loop)
    return windows, "" if windows else "some pole is outside the unit circle for every k"


def _moved_part(ens: Ensemble) -> tuple[Loop, tuple[int, ...], Array]:
    """Distinct λ with Σ c b ≠ 0, and the members (with λ) whose copies stay."""
    values, group = np.unique(ens.lam, return_inverse=True)
    b, c = ens.gains[:, 0], ens.output_weights[0]
    sums = exact_products(b, c, group, values.size)
    moved = np.array([re != 0 or im != 0 for re, im in sums])
    fixed: list[int] = []
    for g in range(values.size):
        members = np.flatnonzero(group == g)
        active = members[(b[members] != 0) & (c[members] != 0)]
        # The moved pole is told as that of the first member that takes part.
        fixed += [int(i) for i in members if not (moved[g] and i == active[0])]
    weights: list[tuple[Fraction, Fraction]] = [s for s, m in zip(sums, moved, strict=True) if m]
    if any(not _SMALLEST < abs(re) + abs(im) < _LARGEST for re, im in weights):
        raise PrecisionError(
            f"Σ c b of members with equal λ must be 0 or between {_SMALLEST:g} and {_LARGEST:g} in "
            f"modulus; rescale b or c"
        )
    lam = values[moved]
    if np.iscomplexobj(lam) and not np.any(lam.imag):
        lam = lam.real.copy()
    kept = sorted(fixed)
    return Loop(lam, weights), tuple(kept), ens.lam[kept]


def _feedthrough(ens: Ensemble) -> float:
    d = complex(ens.feedthrough[0, 0])
    if d.imag != 0:
        raise InvalidInputError(f"ens must have a real feed-through d, got {d}")
    return d.real


def _in_terms_of_k(windows: tuple[Interval, ...], d: float) -> tuple[Interval, ...]:
    """Map κ back to k = κ/(1 − κ d), which has a pole at κ = 1/d and rises everywhere else."""
    if d == 0:
        return windows

    def gain(kappa: float) -> float:
        if np.isinf(kappa):
            return -1.0 / d
        return float(kappa / (1.0 - kappa * d)) if kappa * d != 1.0 else float("inf")

    mapped: list[Interval] = []
    for low, high in windows:
        if low < 1.0 / d < high:
            mapped += [(gain(low), float("inf")), (-float("inf"), gain(high))]
        else:
            start = -float("inf") if low == 1.0 / d else gain(low)
            mapped.append((start, gain(high)))
    return tuple(sorted(mapped))
