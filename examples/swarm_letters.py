"""Six hundred robots, one signed speed: a blob becomes letters, to the last digit of float64.

Every robot turns at its own rate (equispaced but for ±25 % of the spacing) and moves by the speed
that all of them hear.  With |v| ≤ 1.7 times the rms speed of the cheapest signal they still arrive
exactly; with 1.5 times there is a proof that no signal does it.

Run: python examples/swarm_letters.py [FIGURE.png]
"""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ensctl.simulation import RmsMultiple, Swarm, SwarmPlan

# The plan in the README; a smaller factor than 1.5 … 1.7 is refused.
_FACTOR, _TOO_SMALL = 1.7, 1.5


class Result(NamedTuple):
    """What the signal does and costs, and what refuses the tighter limit."""

    robots: int
    horizon: int
    condition: float
    v_max: float
    peak: float
    rms_error: float
    energy_ratio: float
    turn_rate_tolerance: float
    rms_error_with_wrong_rates: float
    refused_status: str
    refused_margin: float
    refused_error_bound: float


def main(word: str = "ENSCTL", robots: int = 600, figure: Path | None = None) -> Result:
    """Steer a blob to the letters of a word; draw it where ``figure`` says."""
    from ensctl.plot.shapes import text_points

    swarm = Swarm.scattered(robots, jitter=0.25, spread=0.35, seed=3)
    letters = text_points(word, robots)
    horizon = 4 * robots
    plan = swarm.steer_to(letters, horizon, RmsMultiple(_FACTOR))
    refused = swarm.steer_to(letters, horizon, RmsMultiple(_TOO_SMALL), throw=False)
    if figure is not None:
        _draw(plan, figure)
    return Result(
        robots=robots,
        horizon=horizon,
        condition=plan.condition,
        v_max=plan.v_max,
        peak=plan.peak,
        rms_error=plan.rms_error,
        energy_ratio=plan.energy_ratio,
        turn_rate_tolerance=plan.turn_rate_tolerance,
        rms_error_with_wrong_rates=_with_wrong_rates(plan, 1e-5),
        refused_status=refused.status.name.lower(),
        refused_margin=refused.certificate.margin if refused.certificate else np.nan,
        refused_error_bound=refused.certificate.error_bound if refused.certificate else np.nan,
    )


def _with_wrong_rates(plan: SwarmPlan, error: float) -> float:
    """RMS error when every turn rate is off by a relative ± error that nobody knows."""
    swarm = plan.swarm
    signs = np.random.default_rng(0).choice([-1.0, 1.0], swarm.size)
    true = Swarm(swarm.turn_rates * (1.0 + error * signs), swarm.headings, swarm.positions)
    miss = np.abs(true.final_positions(plan.inputs) - plan.points)
    return float(np.sqrt(np.mean(miss**2)))


def _draw(plan: SwarmPlan, path: Path) -> None:
    """Start, paths and end above; the one signal that does it below."""
    from matplotlib import style
    from matplotlib.figure import Figure
    from PIL import Image

    from ensctl.plot.swarm_picture import swarm_picture

    with style.context("default"):
        figure = Figure(figsize=(7.2, 4.4), layout="constrained")
        above, below = figure.subplots(2, 1, height_ratios=(4.2, 1.0))
        swarm_picture(plan, ax=above)
        below.plot(plan.inputs, color="#0072B2", linewidth=0.4)
        below.set_xlim(0, plan.horizon)
        below.set_yticks([-plan.v_max, 0.0, plan.v_max], ["−v_max", "0", "v_max"])
        below.set_xlabel(f"the speed that all {plan.swarm.size} robots hear, step by step")
        below.spines[["top", "right"]].set_visible(False)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=130)
    # 128 colours are enough, and half the bytes.
    Image.open(buffer).convert("RGB").quantize(128).save(path, optimize=True)


def _print(result: Result) -> None:
    print(f"robots {result.robots}, steps {result.horizon}, κ = {result.condition:.3f}")
    print(f"|v| ≤ {result.v_max:.6f} ({_FACTOR} rms of least energy), reached {result.peak:.6f}")
    print(f"rms error {result.rms_error:.1e}, energy {result.energy_ratio:.3f} × least")
    print(
        f"turn rates may be off by {result.turn_rate_tolerance:.1e} (1 % of the letter height);"
        f" 1e-5 gives rms error {result.rms_error_with_wrong_rates:.3f}"
    )
    print(
        f"{_TOO_SMALL} rms: {result.refused_status}, "
        f"margin {result.refused_margin:.3g} ± {result.refused_error_bound:.1g}"
    )


if __name__ == "__main__":
    _print(main(figure=Path(sys.argv[1]) if len(sys.argv) > 1 else None))
