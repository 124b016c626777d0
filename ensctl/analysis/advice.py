"""Advice in words, each sentence with the number it would change."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ensctl.analysis.distances import NearestPair
from ensctl.analysis.energies import MemberEnergies
from ensctl.analysis.steering_map import (
    MAX_ELEMENTS,
    SteeringMap,
    singular_values_of_map,
)
from ensctl.ensemble.ensemble import Ensemble
from ensctl.formatting import horizon_text, number_text, power_text
from ensctl.vandermonde.singular_values import SingularValues, singular_values

_FLOAT64_DIGITS = -math.log10(np.finfo(float).eps)
# Below this κ nothing is worth advising.
_COMFORTABLE = 4.0


def conditioning_advice(
    ens: Ensemble,
    steering: SteeringMap,
    sigma: SingularValues,
    energies: MemberEnergies,
    nearest: NearestPair | None,
) -> tuple[str, ...]:
    """What to change about the set, the horizon or the channels, and what each change gains."""
    if not steering.verdict.reachable:
        return _advice_when_not_reachable(steering, sigma)
    lost = sigma.log10_cond
    if lost < _COMFORTABLE:
        return (
            f"nothing needs to change: κ = {power_text(lost)} costs about {lost:.1f} of 16 digits",
        )
    sentences = [_digits(lost, sigma)]
    if nearest is not None and ens.size > 2:
        sentences.extend(_drop_or_merge(ens, steering, sigma, energies, nearest))
    sentences.extend(_longer_horizon(steering, sigma))
    return tuple(sentences)


def _advice_when_not_reachable(steering: SteeringMap, sigma: SingularValues) -> tuple[str, ...]:
    verdict = steering.verdict
    spread = power_text(sigma.log10_cond_of_range)
    sentences = [
        f"{verdict.rank} of {verdict.dimension} directions can be steered; among them κ = {spread}"
    ]
    if verdict.locked:
        sentences.append(
            f"drop or merge the members that share λ ({len(verdict.locked)} groups), give them "
            f"different λ, or add an input channel that reaches them differently"
        )
    if verdict.dead:
        sentences.append(f"drop the {len(verdict.dead)} members with b = 0, or give them a gain")
    if not verdict.locked and not verdict.dead and verdict.min_horizon is not None:
        sentences.append(f"take a horizon of at least {horizon_text(verdict.min_horizon)}")
    return tuple(sentences)


def _digits(lost: float, sigma: SingularValues) -> str:
    log10 = sigma.log10
    practical = int(np.count_nonzero(log10 - log10[0] >= -6.0))
    share = f"{practical} of {sigma.count} directions have σ above 1e-6 of the largest"
    if lost >= _FLOAT64_DIGITS:
        return (
            f"κ = {power_text(lost)} exceeds the 16 digits of float64 by a factor "
            f"{power_text(lost - _FLOAT64_DIGITS, 2)}: some targets cannot be met in float64; "
            f"{share}"
        )
    return f"about {lost:.0f} of 16 digits are lost in the worst direction; {share}"


def _drop_or_merge(
    ens: Ensemble,
    steering: SteeringMap,
    sigma: SingularValues,
    energies: MemberEnergies,
    nearest: NearestPair,
) -> list[str]:
    if steering.channels > 1 or not np.array_equal(steering.members, np.arange(ens.size)):
        return []
    dearest = int(np.argmax(energies.log10_energy))
    i, j = nearest.members
    pair = (
        f"{ens.label(i)} and {ens.label(j)} (λ = {number_text(ens.lam[i])} and "
        f"{number_text(ens.lam[j])}, "
        f"gap {nearest.gap:.3g}) are the nearest to locked"
    )
    keep = np.delete(np.arange(ens.size), dearest)
    without = singular_values(ens.lam[keep], ens.gains[keep, 0], steering.horizon)
    gain = (
        f"without {ens.label(dearest)}, the dearest to move alone, κ would be "
        f"{power_text(without.log10_cond)} instead of {power_text(sigma.log10_cond)}"
    )
    if dearest in nearest.members:
        return [f"{pair}: merge them or drop one; {gain}"]
    return [pair, gain]


def _longer_horizon(steering: SteeringMap, sigma: SingularValues) -> list[str]:
    if steering.horizon == math.inf or steering.channels > 1:
        return []
    longer = 2 * int(steering.horizon)
    rows = steering.lam.size
    if rows * (rows + longer) > MAX_ELEMENTS:
        return []
    doubled = singular_values_of_map(replace(steering, horizon=longer))
    before, after = -2.0 * sigma.log10[-1], -2.0 * doubled.log10[-1]
    if before - after < 0.1:
        return [
            f"a longer horizon gains little: at {longer} steps the worst unit target still costs "
            f"{power_text(after)}"
        ]
    return [
        f"a horizon of {longer} steps lowers the worst energy from {power_text(before)} to "
        f"{power_text(after)} and makes κ {power_text(doubled.log10_cond)}"
    ]
