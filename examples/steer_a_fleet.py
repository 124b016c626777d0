"""Three houses, one shift of their set-points: what least energy, fuel and peak look like.

All rooms shall be 0.3 °C cooler after 20 minutes (40 steps of 30 s), and the shift u may not
exceed a limit.  The smallest limit that can work is the least peak; below it there is a proof.

Run: python examples/steer_a_fleet.py
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import ensctl as ec

_HORIZON = 40
_COOLER = -0.3


class Plan(NamedTuple):
    """One objective: what its input costs by all three measures."""

    objective: str
    energy: float
    fuel: float
    peak: float
    moves: int
    terminal_error: float


class Refusal(NamedTuple):
    """A limit that is too tight, with the two sides of the inequality that proves it."""

    u_max: float
    status: str
    needed: float
    available: float
    smallest_u_max: float


class Result(NamedTuple):
    """The plans within a limit, and the refusal below the smallest one."""

    plans: list[Plan]
    refusal: Refusal


def main(u_max: float = 0.45, too_small: float = 0.38) -> Result:
    """Steer within ``u_max`` for each objective, and show why ``too_small`` cannot work."""
    fleet = ec.families.thermostats(3, seed=1)
    target = np.full(fleet.size, _COOLER)
    plans = [_plan(fleet, target, objective, u_max) for objective in ("energy", "fuel", "peak")]
    return Result(plans, _refusal(fleet, target, too_small))


def _plan(fleet: ec.Ensemble, target: np.ndarray, objective: str, u_max: float) -> Plan:
    limits = ec.Limits(u_max=u_max)
    plan = ec.steer(fleet, target, _HORIZON, objective=objective, limits=limits)
    moves = int(np.count_nonzero(np.abs(plan.inputs) > 1e-9))
    return Plan(objective, plan.energy, plan.fuel, plan.peak, moves, plan.terminal_error)


def _refusal(fleet: ec.Ensemble, target: np.ndarray, u_max: float) -> Refusal:
    """For any weights η: |u| ≤ ū and R u = d give ηᵀd ≤ ū Σ|ηᵀR|; these η break it."""
    limits = ec.Limits(u_max=u_max)
    refused = ec.steer(fleet, target, _HORIZON, limits=limits, throw=False)
    weights = refused.certificate.eta
    steering = ec.reachability_matrix(fleet, _HORIZON)
    return Refusal(
        u_max=u_max,
        status=refused.status.name.lower(),
        needed=float(weights @ target),
        available=u_max * float(np.abs(weights @ steering).sum()),
        smallest_u_max=ec.steer(fleet, target, _HORIZON, objective="peak").peak,
    )


def _print(result: Result) -> None:
    print("objective   Σu² (°C²)  Σ|u| (°C)  max|u| (°C)  moves  terminal error (°C)")
    for plan in result.plans:
        print(
            f"{plan.objective:9s}  {plan.energy:10.4f} {plan.fuel:10.4f} {plan.peak:12.4f}"
            f" {plan.moves:6d}  {plan.terminal_error:19.1e}"
        )
    refusal = result.refusal
    print(f"u_max = {refusal.u_max:g}: {refusal.status}")
    print(f"  proof: ηᵀd = {refusal.needed:.6f} > u_max Σ|ηᵀR| = {refusal.available:.6f}")
    print(f"  the smallest u_max for {_HORIZON} steps is {refusal.smallest_u_max:.6f}")


if __name__ == "__main__":
    _print(main())
