"""When a longer horizon can do whatever a shorter one can: feasible horizons are then nested.

A member is at rest when x_i = 0 or λ_i = 1: without input it stays where it is.

Theorem.  Let zero input be allowed at every step, limits be the same at every step and slew be
free.  If an input is feasible at H, one is feasible at H + 1 when

(a) x0 is at rest: prepend u = 0.  Then x_1 = x0 and everything after that is the old trajectory one
    step later, so the end is met in the same way, whatever the tolerance.  State and output limits
    have to hold at x0 too (they do when x0 = 0), and because the old u_0 now enters y_1, an output
    limit needs D = 0; or
(b) the target is at rest: append u = 0.  Then x_{H+1} − target = Λ (x_H − target), which is 0 when
    the target is met exactly, and no larger for any member when all |λ| ≤ 1.  State limits hold at
    x_{H+1} because |x_{i,H+1}| ≤ |x_{i,H}| (x_i and target_i = 0) or x_{i,H+1} = x_{i,H} (λ_i = 1);
    an output limit holds when x_{H+1} = x_H = target.

A slew limit breaks both: u_0 had no predecessor and u_{H−1} no successor.  With x0 and target both
moving, feasibility is not monotone at all: λ = 0.9, |u| ≤ 0.05, 10 → 7.29 works at H = 3 only.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.ensemble.ensemble import Ensemble
from ensctl.synthesis.limits import Limits
from ensctl.synthesis.terminal import Exact, Terminal

Array = NDArray[Any]


def nesting_reason(
    ens: Ensemble, target: Array, x0: Array, terminal: Terminal, limits: Limits
) -> str:
    """Why feasible horizons are nested, in words; '' where that is not proved.

    Parameters
    ----------
    ens : Ensemble
        The population.
    target, x0 : (N,)
        The two ends.
    terminal : Exact, PerMember or Rms
        How closely the target is met.
    limits : Limits
        Input limits scalar.

    Returns
    -------
    str
    """
    if limits.slew_max is not None or not _zero_allowed(limits):
        return ""
    if _stays_at_start(ens, x0, limits):
        return _said("x0", x0, "put first")
    if _stays_at_target(ens, target, terminal, limits):
        return _said("the target", target, "put last")
    return ""


def _said(name: str, state: Array, place: str) -> str:
    where = "is zero" if not np.any(state) else "stays where it is without input"
    return f"{name} {where}, so a zero input {place} makes any plan one step longer"


def _zero_allowed(limits: Limits) -> bool:
    lower, upper = limits.input_range(1, 1)
    return bool(lower[0] <= 0.0 <= upper[0])


def _at_rest(ens: Ensemble, state: Array) -> bool:
    return bool(np.all((state == 0) | (ens.lam == 1)))


def _stays_at_start(ens: Ensemble, x0: Array, limits: Limits) -> bool:
    if not _at_rest(ens, x0) or (limits.output_max is not None and np.any(ens.feedthrough)):
        return False
    return not np.any(x0) or limits.inputs_only


def _stays_at_target(ens: Ensemble, target: Array, terminal: Terminal, limits: Limits) -> bool:
    if not _at_rest(ens, target):
        return False
    if isinstance(terminal, Exact):
        return True
    return limits.output_max is None and _none_outside_unit_circle(ens.lam)


def _none_outside_unit_circle(lam: Array) -> bool:
    """|λ| ≤ 1 for all, exactly on the doubles."""
    squares = (Fraction(z.real) ** 2 + Fraction(z.imag) ** 2 for z in lam.astype(complex).tolist())
    return all(square <= 1 for square in squares)
