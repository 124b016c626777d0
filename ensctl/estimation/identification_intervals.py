"""Confidence intervals of λ and residues: checked, widened where needed, refused where empty."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import read_only
from ensctl.display import Summarised
from ensctl.errors import InvalidInputError, NotIdentifiableError
from ensctl.estimation.output_error import Fit
from ensctl.estimation.output_error_bootstrap import Resamples
from ensctl.estimation.output_error_profile import parabola_misfit, profile_interval
from ensctl.formatting import number_text
from ensctl.serialization import versioned

Array = NDArray[Any]

# Share by which the sum of squares may miss the parabola at the ends of a Cramér–Rao interval.
PARABOLA_TOLERANCE = 0.25
# Fewest refits outside an interval that still place its ends.
_OUTSIDE = 5


@dataclass(frozen=True, eq=False)
class MemberIntervals(Summarised):
    """Intervals of every λ and residue; ends of complex numbers are corners of a rectangle.

    Attributes
    ----------
    lam_low, lam_high : (N,) float64 or complex128, read-only
        Ends for λ; of real and imaginary part where complex.
    residue_low, residue_high : (N,) float64 or complex128, read-only
        Ends for c_i b_i.
    level : float
        Probability that one interval covers its number.
    widened : int
        How many real numbers have a profile-likelihood interval instead of Cramér–Rao.
    """

    lam_low: Array
    lam_high: Array
    residue_low: Array
    residue_high: Array
    level: float
    widened: int

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        ends = ("lam_low", "lam_high", "residue_low", "residue_high", "level", "widened")
        return versioned("member_intervals", {name: getattr(self, name) for name in ends})

    def __str__(self) -> str:
        lines = [f"{100 * self.level:g} % intervals"]
        for k in range(min(self.lam_low.size, 10)):
            lam = _ends_text(self.lam_low[k], self.lam_high[k])
            residue = _ends_text(self.residue_low[k], self.residue_high[k])
            lines.append(f"  λ {lam}, c·b {residue}")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class Members:
    """Which real parameters stand for which member, sorted by λ.

    Attributes
    ----------
    mode : (N,)
        The mode of each member.
    mirrored : (N,)
        Whether the member is the conjugate of its mode.
    first, second : (N,)
        Positions of real and imaginary part among the slots; second is −1 where real.
    """

    mode: Array
    mirrored: Array
    first: Array
    second: Array

    def values(self, per_mode: Array) -> Array:
        """One complex number per member from one per mode."""
        chosen = per_mode[self.mode]
        return np.where(self.mirrored, chosen.conj(), chosen)

    def real_parts(self, per_slot: Array) -> tuple[Array, Array]:
        """Numbers that belong to real and imaginary parts; 0 for the latter where real."""
        second = np.where(self.second >= 0, per_slot[self.second], 0.0)
        return per_slot[self.first], second


def members_of(fit: Fit) -> Members:
    """Expand conjugate pairs and sort by λ."""
    model = fit.model
    double = np.full(model.modes.size, True) if model.data.complex_data else model.pair
    first = np.cumsum(1 + double) - 1 - double
    mode = np.concatenate([np.arange(model.modes.size), np.flatnonzero(model.pair)])
    mirrored = np.arange(mode.size) >= model.modes.size
    lam = np.where(mirrored, model.modes[mode].conj(), model.modes[mode])
    order = np.lexsort((lam.imag, lam.real))
    mode, mirrored = mode[order], mirrored[order]
    return Members(mode, mirrored, first[mode], np.where(double[mode], first[mode] + 1, -1))


@dataclass(frozen=True, eq=False)
class ErrorBars:
    """What intervals are made of.

    Attributes
    ----------
    fit : Fit
        The minimum, in scaled units.
    members : Members
        The reading of its parameters.
    std : (P,)
        Standard deviation of each real parameter, in scaled units.
    inflation : (P,)
        Factors by which coloured noise widened them.
    residue_unit : float
        Residue in the caller's units over the scaled one.
    exact : bool
        The residual is rounding: the sum of squares has no shape to be checked.
    resamples : Resamples or None
        Of the bootstrap.
    """

    fit: Fit
    members: Members
    std: Array
    inflation: Array
    residue_unit: float
    exact: bool
    resamples: Resamples | None

    def curved(self, level: float) -> Array:
        """Positions of the real numbers whose Cramér–Rao interval the sum of squares belies."""
        if self.exact:
            return np.zeros(0, dtype=int)
        misfit = parabola_misfit(self.fit, range(2 * self.fit.model.slots), self._quantile(level))
        return np.flatnonzero(misfit > PARABOLA_TOLERANCE)

    def intervals(self, level: float, curved: Array | None = None) -> MemberIntervals:
        """Intervals at this level; ``curved`` where it is known already.

        Raises
        ------
        NotIdentifiableError
            One does not close, two λ overlap, or a residue cannot be told from zero.
        InvalidInputError
            Too few bootstrap refits for the level.
        BetterMinimum
            Profiling found a better fit.
        """
        low, high, widened = self._ends(level, curved)
        slots = self.fit.model.slots
        lam = self._corners(low[:slots], high[:slots])
        residue = self._corners(low[slots:], high[slots:])
        percent = f"{100 * level:g} %"
        self._refuse(lam, residue, percent)
        unit = self.residue_unit
        complex_members = bool(np.any(self.members.second >= 0))
        corners = [lam[0], lam[1], residue[0] * unit, residue[1] * unit]
        a, b, c, d = (read_only(x if complex_members else x.real.copy()) for x in corners)
        return MemberIntervals(a, b, c, d, level, widened)

    def _quantile(self, level: float) -> float:
        from scipy.special import stdtrit

        return float(stdtrit(self.fit.freedom, (1 + level) / 2))

    def _ends(self, level: float, curved: Array | None) -> tuple[Array, Array, int]:
        reported = 2 * self.fit.model.slots
        centre, std = self.fit.theta[:reported], self.std[:reported]
        if self.resamples is not None:
            _check_enough(self.resamples.pivots.shape[0], level)
            pivots = np.array([self.resamples.quantiles(k, level) for k in range(reported)])
            own = std / self.resamples.std[:reported] * _standard(self.fit)[:reported]
            return centre - pivots[:, 1] * own, centre - pivots[:, 0] * own, 0
        quantile = self._quantile(level)
        low, high = centre - quantile * std, centre + quantile * std
        replaced = self.curved(level) if curved is None else curved
        for k in replaced:
            low[k], high[k] = profile_interval(self.fit, int(k), quantile * self.inflation[k])
            if math.isinf(low[k]) or math.isinf(high[k]):
                break
        return low, high, int(replaced.size)

    def _corners(self, low: Array, high: Array) -> tuple[Array, Array]:
        members = self.members
        with np.errstate(invalid="ignore"):
            left, bottom = members.real_parts(low)
            right, top = members.real_parts(high)
        flipped = members.mirrored
        bottom, top = np.where(flipped, -top, bottom), np.where(flipped, -bottom, top)
        ends = np.empty((2, left.size), dtype=complex)
        ends.real, ends.imag = [left, right], [bottom, top]
        return ends[0], ends[1]

    def _refuse(self, lam: tuple[Array, Array], residue: tuple[Array, Array], percent: str) -> None:
        values = self.members.values(self.fit.model.modes)
        names = [number_text(complex(z), 3) for z in values]
        remedy = "take more samples, an input that excites longer, less noise or a lower order"
        for low, high in (lam, residue):
            open_ended = np.flatnonzero(~np.isfinite(low) | ~np.isfinite(high))
            if open_ended.size:
                raise NotIdentifiableError(
                    f"the {percent} interval of the member with λ ≈ {names[open_ended[0]]} does "
                    f"not close: the data do not fix it; {remedy}"
                )
        for i in range(values.size):
            for j in range(i + 1, values.size):
                if _overlap(lam[0][i], lam[1][i], lam[0][j], lam[1][j]):
                    raise NotIdentifiableError(
                        f"λ ≈ {names[i]} and λ ≈ {names[j]} cannot be told apart: their {percent} "
                        f"intervals overlap; {remedy}"
                    )
        for k in range(values.size):
            if _overlap(residue[0][k], residue[1][k], 0j, 0j):
                raise NotIdentifiableError(
                    f"the residue of the member with λ ≈ {names[k]} cannot be told from zero at "
                    f"{percent}: the order is larger than the data show; {remedy}"
                )


def _check_enough(refits: int, level: float) -> None:
    if refits * (1 - level) < _OUTSIDE:
        raise InvalidInputError(
            f"level {level:g} needs resamples ≥ {math.ceil(_OUTSIDE / (1 - level))}, got {refits}"
        )


def _standard(fit: Fit) -> Array:
    return np.sqrt(np.diag(fit.inverse_information()) * fit.variance)


def _overlap(low: Any, high: Any, other_low: Any, other_high: Any) -> bool:
    return bool(
        low.real <= other_high.real
        and other_low.real <= high.real
        and low.imag <= other_high.imag
        and other_low.imag <= high.imag
    )


def _ends_text(low: Any, high: Any) -> str:
    return f"{number_text(complex(low), 4)} … {number_text(complex(high), 4)}"
