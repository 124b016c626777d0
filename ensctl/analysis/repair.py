"""Repair advice: the smallest changes that bring a bad λ set to a target conditioning."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from ensctl.analysis.repair_options import KINDS, Patient, log10_cond
from ensctl.analysis.repair_result import Repair
from ensctl.arguments import as_count, as_horizon, as_scalar
from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.require import require_ensemble
from ensctl.errors import InvalidInputError

# More members than that make the search for moves and drops too long.
_MOST_MEMBERS = 100


def repair(
    ens: Ensemble,
    target_condition: float,
    horizon: int | None = None,
    *,
    tolerance: float | None = None,
    allow: Iterable[str] = ("move", "drop", "merge", "resample", "channel", "horizon"),
    seed: int = 0,
) -> Repair:
    """What to change, as little as possible, so that κ₂ of the H-step map meets a target.

    For each kind of change the smallest amount found with κ₂([b_i λ_i^j]) ≤ target:

    - "move": min δ with |Δλ_i| ≤ δ; stable members keep half of their distance to |λ| = 1, and
      conjugate pairs stay pairs;
    - "drop": members left out, one after the other, each time the one that helps most;
    - "merge": closest members treated as one (means of λ and b);
    - "resample": another sampling time f·dt, f closest to 1 (λ > 0 or complex);
    - "channel": further inputs, members dealt out to them in order of λ;
    - "horizon": more steps.

    Parameters
    ----------
    ens : Ensemble
        The population.
    target_condition : float
        Largest κ₂ wanted, ≥ 1.
    horizon : int, optional
        Number of steps H; by default the number of members.
    tolerance : float, optional
        Largest |Δλ| allowed for "move", > 0; by default a tenth of the spread of λ.
    allow : iterable of str
        Kinds of change to try, in the order of the answer.
    seed : int
        Of random starts of "move".

    Returns
    -------
    Repair
        One option for each kind that applies, with the κ₂ it achieves whether it reaches the
        target or not.

    Raises
    ------
    InvalidInputError
        An argument is out of its range, an unknown kind of change, or more than 100 members.

    Notes
    -----
    κ₂ of every option is exact to about 1e-14.  "drop" is the best for one member and greedy
    beyond; "move" is the best that descent finds from two starts, δ within 1 %.  Cost O(N⁴) for
    "drop", a few seconds for "move" at N = 20.

    Examples
    --------
    >>> import ensctl as ec
    >>> advice = ec.repair(ec.Ensemble([0.2, 0.5, 0.501, 0.8]), 500.0, allow=["drop", "merge"])
    >>> [(option.kind, option.amount, option.reached) for option in advice.options]
    [('drop', 1, True), ('merge', 1, True)]
    """
    require_ensemble(ens)
    target = as_scalar(target_condition, "target_condition", at_least=1.0)
    steps = int(as_horizon(ens.size if horizon is None else horizon))
    spread = float(np.max(np.abs(ens.lam - np.mean(ens.lam)))) or 0.1
    reach = 0.1 * 2.0 * spread if tolerance is None else tolerance
    reach = as_scalar(reach, "tolerance", above=0.0)
    kinds = (allow,) if isinstance(allow, str) else tuple(allow)
    for kind in kinds:
        if kind not in KINDS:
            raise InvalidInputError(f"allow must be some of {', '.join(KINDS)}, got {kind!r}")
    if ens.size > _MOST_MEMBERS:
        raise InvalidInputError(
            f"ens must have at most {_MOST_MEMBERS} members here, got {ens.size}; take a subset"
        )
    patient = Patient(ens, steps, math.log10(target), reach, as_count(seed, "seed", minimum=0))
    before = log10_cond(ens, steps)
    found = []
    if before > patient.log10_target:
        found = [option for kind in kinds if (option := KINDS[kind](patient)) is not None]
    return Repair(ens, steps, before, patient.log10_target, tuple(found))
