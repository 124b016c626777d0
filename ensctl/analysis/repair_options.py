"""The kinds of change that :func:`ensctl.repair` tries, each as small as can be found."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.analysis.repair_moves import smallest_move
from ensctl.analysis.repair_result import RepairOption
from ensctl.analysis.steering_map import singular_values_of_map, steering_map
from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import InvalidInputError
from ensctl.formatting import listed

Array = NDArray[Any]

_LN10 = math.log(10.0)
_MOST_CHANNELS = 4
_LONGEST = 64
# Doubling the steps without gaining one per cent: no more steps will help.
_NO_GAIN = 0.004
_FACTORS = np.geomspace(1.0, 64.0, 49)[1:]


@dataclass(frozen=True, eq=False)
class Patient:
    """What is to be repaired, and how far.

    Attributes
    ----------
    ensemble : Ensemble
        The population.
    horizon : int
        Number of steps H.
    log10_target : float
        log10 of the condition number wanted.
    tolerance : float
        Largest |Δλ| allowed.
    seed : int
        Of random starts.
    """

    ensemble: Ensemble
    horizon: int
    log10_target: float
    tolerance: float
    seed: int

    def option(
        self, kind: str, change: str, amount: float, ens: Ensemble, horizon: int | None = None
    ) -> RepairOption:
        """The option with its κ₂ from the accurate kernel."""
        steps = self.horizon if horizon is None else horizon
        value = log10_cond(ens, steps)
        return RepairOption(kind, change, amount, value, value <= self.log10_target, ens, steps)


def log10_cond(ens: Ensemble, horizon: int) -> float:
    """log10 κ₂ of the H-step map; inf where it does not reach every state."""
    steering = steering_map(ens, horizon)
    if not steering.verdict.reachable:
        return math.inf
    return singular_values_of_map(steering).log10_cond


def move(patient: Patient) -> RepairOption | None:
    """Move every member by at most δ (one channel, no member with b = 0)."""
    ens = patient.ensemble
    size = np.abs(np.asarray(ens.gains)[:, 0])
    if ens.channels > 1 or np.any(size == 0) or patient.horizon < ens.size:
        return None
    limit = patient.tolerance
    lam, delta, _ = smallest_move(
        ens.lam, size, patient.horizon, patient.log10_target * _LN10, limit, patient.seed
    )
    return patient.option(
        "move", f"move every λ by at most {delta:.3g}", delta, _with_lam(ens, lam)
    )


def drop(patient: Patient) -> RepairOption | None:
    """Leave out members, each time the one whose absence helps most."""
    ens, left = patient.ensemble, list(range(patient.ensemble.size))
    dropped: list[int] = []
    while len(left) > 1:
        values = [
            log10_cond(ens.subset([i for i in left if i != j]), patient.horizon) for j in left
        ]
        best = int(np.argmin(values))
        if not math.isfinite(values[best]):
            # Locked in more than one place: the nearest pair loses a member first.
            best = left.index(_crowded(ens, left))
        dropped.append(left.pop(best))
        if values[best] <= patient.log10_target:
            break
    names = listed([ens.label(i) for i in dropped])
    return patient.option("drop", f"drop {names}", len(dropped), ens.subset(left))


def merge(patient: Patient) -> RepairOption | None:
    """Treat the closest members as one, again and again: λ and b become the means of the group."""
    ens = patient.ensemble
    groups = [[i] for i in range(ens.size)]
    merged = ens
    while len(groups) > 1:
        first, second = _closest(merged.lam)
        groups[first] = groups[first] + groups[second]
        del groups[second]
        lam = [complex(np.mean(ens.lam[group])) for group in groups]
        gains = [np.mean(np.asarray(ens.gains)[group], axis=0) for group in groups]
        merged = Ensemble(lam, _as_given(ens, np.array(gains)), dt=ens.dt)
        if log10_cond(merged, patient.horizon) <= patient.log10_target:
            break
    parts = [" + ".join(ens.label(i) for i in group) for group in groups if len(group) > 1]
    return patient.option("merge", f"merge {listed(parts, 3)}", ens.size - len(groups), merged)


def resample(patient: Patient) -> RepairOption | None:
    """Sample slower or faster: λ → λ^f, b → b (λ^f − 1)/(λ − 1), for the f closest to 1.

    Members with λ ≤ 0 have no real rate; then there is no such change.
    """
    ens = patient.ensemble
    real = not np.iscomplexobj(ens.lam)
    if np.any(ens.lam == 0) or (real and np.any(ens.lam < 0)):
        return None
    rates = np.log(ens.lam) / ens.dt
    held = np.where(rates == 0, ens.dt, np.expm1(rates * ens.dt) / np.where(rates == 0, 1, rates))
    gains = _as_given(ens, np.asarray(ens.gains) / held[:, None])
    best: tuple[float, float, Ensemble] | None = None
    for factor in (f for pair in zip(_FACTORS, 1.0 / _FACTORS, strict=True) for f in pair):
        try:
            sampled = Ensemble.from_continuous(rates, gains, float(factor) * ens.dt)
        except InvalidInputError:
            continue
        value = log10_cond(sampled, patient.horizon)
        if best is None or value < best[0]:
            best = (value, float(factor), sampled)
        if value <= patient.log10_target:
            break
    if best is None or best[0] == math.inf:
        # Equal λ stay equal, however often they are sampled.
        return None
    _, factor, sampled = best
    return patient.option(
        "resample", f"sample every {factor * ens.dt:.4g} instead of {ens.dt:.4g}", factor, sampled
    )


def channel(patient: Patient) -> RepairOption | None:
    """Further inputs: members in order of λ are dealt out to the channels in turn."""
    ens = patient.ensemble
    if ens.channels > 1:
        return None
    order = np.argsort(np.lexsort((ens.lam.imag, ens.lam.real)))
    options: list[RepairOption] = []
    for channels in range(2, min(_MOST_CHANNELS, ens.size) + 1):
        gains = np.zeros((ens.size, channels), dtype=np.asarray(ens.gains).dtype)
        gains[np.arange(ens.size), order % channels] = np.asarray(ens.gains)[:, 0]
        more = "one more input" if channels == 2 else f"{channels - 1} more inputs"
        options.append(
            patient.option(
                "channel",
                f"{more}: deal members out to {channels} channels in order of λ",
                channels - 1,
                Ensemble(ens.lam, gains, dt=ens.dt, names=ens.names),
            )
        )
        if options[-1].reached:
            return options[-1]
    return min(options, key=lambda option: option.log10_cond) if options else None


def horizon(patient: Patient) -> RepairOption | None:
    """More steps: the smallest number found by doubling and halving."""
    ens, steps = patient.ensemble, patient.horizon
    low = high = steps
    value = before = log10_cond(ens, steps)
    while high < steps * _LONGEST and value > patient.log10_target:
        low, high, before = high, 2 * high, value
        try:
            value = log10_cond(ens, high)
        except InvalidInputError:
            high = low
            break
        if value == before == math.inf and low >= ens.size:
            return None
        if value > before - _NO_GAIN:
            break
    if value <= patient.log10_target:
        while high - low > 1:
            middle = (low + high) // 2
            if log10_cond(ens, middle) <= patient.log10_target:
                high = middle
            else:
                low = middle
    return patient.option(
        "horizon", f"take {high} steps instead of {steps}", high - steps, ens, high
    )


KINDS: dict[str, Callable[[Patient], RepairOption | None]] = {
    "move": move,
    "drop": drop,
    "merge": merge,
    "resample": resample,
    "channel": channel,
    "horizon": horizon,
}


def _as_given(ens: Ensemble, gains: Array) -> Array:
    """Gains (k, m) as a vector where those of the ensemble are one."""
    return np.asarray(gains[:, 0] if ens.b.ndim == 1 else gains)


def _with_lam(ens: Ensemble, lam: Array) -> Ensemble:
    return Ensemble(lam, ens.b, ens.c, ens.d, dt=ens.dt, names=ens.names)


def _closest(lam: Array) -> tuple[int, int]:
    gaps = np.abs(lam[:, None] - lam[None, :])
    np.fill_diagonal(gaps, np.inf)
    first, second = np.unravel_index(int(np.argmin(gaps)), gaps.shape)
    return min(int(first), int(second)), max(int(first), int(second))


def _crowded(ens: Ensemble, left: list[int]) -> int:
    """A member with b = 0, or one of the closest two."""
    silent = [i for i in left if not np.any(np.asarray(ens.gains)[i])]
    return silent[0] if silent else left[_closest(ens.lam[left])[1]]
