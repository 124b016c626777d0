"""Pole placement for one broadcast input, and observer gains by duality."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import ArrayLike

from ensctl.analysis.reasons import CONTROL, OBSERVATION, Wording, exact_text, who
from ensctl.arguments import Array, as_count, as_vector, read_only
from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.require import require_ensemble
from ensctl.errors import InvalidInputError, NotReachableError, PrecisionError
from ensctl.synthesis.placement_gains import (
    LambdaGroups,
    lambda_groups,
    member_gains,
    placement_residues,
)
from ensctl.synthesis.placement_poles import achieved_poles, exact_products, pole_sensitivity
from ensctl.synthesis.placement_result import Placement

# Differences and double-double products of larger numbers leave the float64 range.
_LARGEST = 1e290


def place(ens: Ensemble, poles: ArrayLike, *, channel: int | None = None) -> Placement:
    """Gains of u_t = −Σ k_i x_{i,t} that put the closed-loop poles where they are asked for.

    k_i = Π_j(λ_i − μ_j) / (b_i Π_{j≠i}(λ_i − λ_j)).

    Parameters
    ----------
    ens : Ensemble
        The population, N members; λ and b are taken as exact numbers.
    poles : scalar or array_like, (N,)
        Poles μ, repeated ones included; a scalar stands for all (0: deadbeat).  A λ that the input
        cannot move (b = 0, or all but one of a group of equal λ) must be among them.
    channel : int, optional
        Which input to use when the ensemble has several; the others stay silent.

    Returns
    -------
    Placement
        ``gains`` (N,), ``achieved_poles``, their sensitivities and error bounds.

    Raises
    ------
    InvalidInputError
        Wrong number of poles, or several channels and none chosen.
    NotReachableError
        A λ that cannot be moved is not among the poles; ``members`` has the members.
    PrecisionError
        A gain is beyond the float64 range.

    Notes
    -----
    Only products and quotients of differences: each gain is correct to a few units in the last
    place (``gain_error``), O(N²).  Gains of members with equal λ are those of least norm.  Real
    λ, b and conjugate-closed poles give real gains.  The achieved poles are the exact ones of
    the rounded gains, from ball arithmetic: correct gains are no promise of correct poles where
    ``pole_sensitivity`` is large.

    Source: the residues of Π(z − μ)/Π(z − λ); J. Ackermann's formula for diagonal Λ.

    Examples
    --------
    >>> import ensctl as ec
    >>> plan = ec.place(ec.Ensemble([0.5, 1.5]), [0.25, 0.5])
    >>> plan.gains
    array([-0.  ,  1.25])
    >>> plan.achieved_poles, plan.pole_error
    (array([0.25, 0.5 ]), 0.0)
    """
    require_ensemble(ens)
    chosen = _as_channel(ens, channel)
    return _placed(ens, ens.gains[:, chosen], poles, chosen, CONTROL)


def observer_gain(ens: Ensemble, poles: ArrayLike, *, output: int | None = None) -> Placement:
    """Gains L of the observer x̂_{t+1} = Λ x̂_t + b u_t + L (y_t − Σ c x̂_t − d u_t).

    The estimation error obeys e_{t+1} = (Λ − L cᵀ) e_t, so L is the placement gain of the dual:
    L_i = Π_j(λ_i − μ_j) / (c_i Π_{j≠i}(λ_i − λ_j)).

    Parameters
    ----------
    ens : Ensemble
        The population, N members; λ and c are taken as exact numbers.
    poles : scalar or array_like, (N,)
        Poles μ of the error; a scalar stands for all (0: deadbeat).  A λ that the output does not
        show must be among them.
    output : int, optional
        Which aggregate to use when the ensemble has several.

    Returns
    -------
    Placement
        ``gains`` is L, (N,); ``side`` is "observer".

    Raises
    ------
    InvalidInputError
        Wrong number of poles, or several outputs and none chosen.
    NotReachableError
        A λ that the output does not show is not among the poles.
    PrecisionError
        A gain is beyond the float64 range.

    Examples
    --------
    >>> import ensctl as ec
    >>> ec.observer_gain(ec.Ensemble([0.5, 1.5], c=1.0), 0.0).gains
    array([-0.25,  2.25])
    """
    require_ensemble(ens)
    dual = ens.dual()
    if output is None and dual.channels > 1:
        raise InvalidInputError(
            f"output must be chosen: observer_gain uses one aggregate and ens has {dual.channels}"
        )
    chosen = _as_index(output, "output", dual.channels)
    return _placed(ens, dual.gains[:, chosen], poles, chosen, OBSERVATION)


def _placed(
    ens: Ensemble, weights: Array, poles: ArrayLike, channel: int, wording: Wording
) -> Placement:
    asked = as_vector(poles, "poles", size=ens.size)
    if max(np.max(np.abs(ens.lam)), np.max(np.abs(asked))) > _LARGEST:
        raise PrecisionError(f"λ and poles must be below {_LARGEST:g} in modulus; rescale them")
    groups = lambda_groups(ens.lam, weights)
    moved = _poles_to_assign(ens, weights, groups, asked, wording)
    lam, free = groups.values[groups.live], asked[moved]
    gains = np.zeros(ens.size)
    error = 0.0
    sensitivity, condition = np.zeros(ens.size), np.ones(ens.size)
    achieved: Array | None = asked.copy()
    if lam.size:
        mantissa, exponent = placement_residues(lam, free)
        gains, error = member_gains(groups, weights, mantissa, exponent)
        _require_finite(ens, gains)
        with np.errstate(divide="ignore"):
            size = np.log2(np.abs(mantissa)) + exponent
        first_order = pole_sensitivity(lam, size, free)
        sensitivity[moved], condition[moved] = first_order.gain, first_order.condition
        # A kept λ that is also assigned is a repeated pole.
        repeated = np.isin(asked, free) & ~moved
        sensitivity[repeated] = condition[repeated] = np.inf
        achieved = _achieved(groups, weights, gains, asked, moved)
    return Placement(
        ensemble=ens,
        side="observer" if wording is OBSERVATION else "feedback",
        channel=channel,
        poles=read_only(asked),
        gains=read_only(gains),
        gain_error=error,
        achieved_poles=None if achieved is None else read_only(achieved),
        pole_sensitivity=read_only(sensitivity),
        pole_condition=read_only(condition),
        kept=read_only(~moved),
    )


def _achieved(
    groups: LambdaGroups, weights: Array, gains: Array, asked: Array, moved: Array
) -> Array | None:
    reach = np.where(groups.live, np.cumsum(groups.live) - 1, -1)
    count = int(np.sum(groups.live))
    products = exact_products(weights, gains, reach[groups.group], count)
    found = achieved_poles(groups.values[groups.live], products, asked[moved])
    if found is None:
        return None
    achieved = asked.astype(np.result_type(asked, found))
    achieved[moved] = found
    return achieved


def _poles_to_assign(
    ens: Ensemble, weights: Array, groups: LambdaGroups, asked: Array, wording: Wording
) -> Array:
    """Which poles are free to assign: all but the copies of λ that cannot be moved."""
    moved = np.ones(asked.size, dtype=bool)
    available = Counter(asked.tolist())
    missing = []
    for k in np.flatnonzero(groups.kept):
        value, needed = groups.values[k].item(), int(groups.kept[k])
        if available[value] < needed:
            missing.append(_missing_reason(ens, weights, groups, int(k), available[value], wording))
        else:
            moved[np.flatnonzero(asked == value)[:needed]] = False
    if missing:
        members = np.flatnonzero(np.isin(groups.group, [k for k, _ in missing]))
        raise NotReachableError("; ".join(text for _, text in missing), tuple(members.tolist()))
    return moved


def _missing_reason(
    ens: Ensemble, weights: Array, groups: LambdaGroups, k: int, given: int, wording: Wording
) -> tuple[int, str]:
    members = np.flatnonzero(groups.group == k)
    dead, live = members[weights[members] == 0], members[weights[members] != 0]
    value, needed = exact_text(groups.values[k].item()), int(groups.kept[k])
    reasons = []
    if live.size > 1:
        reasons.append(f"{who(ens, live.tolist())} share λ = {value}: {wording.only_mean}")
    if dead.size:
        have, them = ("has", "it") if dead.size == 1 else ("have", "them")
        reasons.append(f"{who(ens, dead.tolist())} {wording.dead.format(have=have, them=them)}")
    times = "once" if needed == 1 else f"{needed} times"
    found = "it is not" if given == 0 else f"it is there {given} of {needed} times"
    return k, (
        f"{' and '.join(reasons)}; λ = {value} stays a pole whatever the gains, so poles must "
        f"contain exactly it {times} ({found})"
    )


def _require_finite(ens: Ensemble, gains: Array) -> None:
    if not np.all(np.isfinite(gains)):
        member = int(np.flatnonzero(~np.isfinite(gains))[0])
        raise PrecisionError(
            f"the gain of {ens.label(member)} is beyond the float64 range (1.8e308); choose poles "
            f"nearer to λ, or scale b up"
        )


def _as_channel(ens: Ensemble, channel: int | None) -> int:
    if channel is None and ens.channels > 1:
        raise InvalidInputError(
            f"channel must be chosen: place uses one input and ens has {ens.channels}; give "
            f"channel=0 … {ens.channels - 1}, or use ec.lqr, which uses all of them"
        )
    return _as_index(channel, "channel", ens.channels)


def _as_index(value: int | None, name: str, count: int) -> int:
    if value is None:
        return 0
    index = as_count(value, name, minimum=0)
    if index >= count:
        raise InvalidInputError(f"{name} must be one of 0 … {count - 1}, got {index}")
    return index
