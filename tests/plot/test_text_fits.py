"""At the size a plot has by itself no text is cut and no text lies on another one."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

import ensctl as ec
from ensctl import drafting, plot, scheduling, simulation

_COST = drafting.BatchTable([1, 32, 64], [10, 14, 22], [0.8, 3.0, 9.0], [9, 12, 18])
_LONG = ["a$b", "x" * 60, "冷凍庫 третий этаж", "λ"]
# Pixels: antialiasing and the bearing of glyphs.
_SLACK = 1.0
_GAP = 1.5


def _crowd(size: int) -> ec.Ensemble:
    return ec.Ensemble(np.linspace(-0.9, 0.9, size))


def _plane(size: int) -> ec.Ensemble:
    return ec.Ensemble(0.9 * np.exp(2j * np.pi * np.arange(size) / size))


def _sweep(log10: list[float]) -> ec.HorizonSweep:
    energies = np.array(log10)
    horizons = np.unique(np.geomspace(3, 3000, energies.size).astype(int))
    return ec.HorizonSweep(horizons, energies / 2, energies, 1e-14)


def _steered(ens: ec.Ensemble, horizon: int, limits: ec.Limits | None = None) -> ec.SteeringPlan:
    rest = ec.reachability_matrix(ens, horizon) @ np.full(horizon * ens.channels, 0.1)
    return ec.steer(ens, rest, horizon, limits=limits or ec.Limits(), tol=0.05)


def _channels(count: int) -> ec.Ensemble:
    gains = np.random.default_rng(1).standard_normal((6, count))
    return ec.Ensemble(np.linspace(0.2, 0.8, 6), gains)


def _fleet_run(name: str, size: float = 0.1) -> ec.FleetRun:
    model = ec.duty_model(ec.ThermostatFleet.draw(50, seed=1))
    wanted = np.full(20, model.nominal_power)
    inputs = simulation.InputPlan([size, -size / 2])
    return ec.run_fleet(model, inputs, wanted, u_max=0.5, skip=5, name=name)


def _mpc(channels: int) -> Any:
    mpc = ec.MPC(_channels(channels), 8, ec.Limits(u_max=0.4))
    return mpc.step(mpc.init(), reference=1.0, x=np.zeros(6))[1]


def _pool(count: int) -> Any:
    pool = [scheduling.Drafter(f"a drafter with a $name$ {i}", 0.5, 0.1) for i in range(count)]
    floors = [scheduling.ShareFloor(one.name, 0.5 / (count + 1)) for one in pool]
    return scheduling.allocate(pool, 2, constraints=floors)


def _replayed(*policies: Any) -> list[scheduling.ReplayResult]:
    traces = scheduling.token_chain("iid", requests=30)
    arms = scheduling.fixture_arms()
    return [
        scheduling.replay(traces, policy(arms), batch=4, cycles=150, seed=[0, 1, 2])
        for policy in policies
    ]


def _study() -> Any:
    fleet = ec.ThermostatFleet.draw(500, seed=1)
    wanted = [0.95 * fleet.nominal_power] * 60
    return simulation.fleet_depth_study(fleet, wanted, (1, 2, 4), repeats=1, engine="numpy")


def _fleet_drafts() -> Any:
    fleet = ec.ThermostatFleet.draw(500, seed=1)
    return ec.fleet_drafting_run(fleet, [fleet.nominal_power] * 40, 4, engine="numpy")


def _window(depth: int) -> drafting.Counters:
    kept = tuple(int(1000 * 0.8**j) for j in range(1, depth + 1))
    return drafting.Counters(1000, 1000 * depth, sum(kept), kept, depth=depth)


def _curve_of_costs(tolerances: list[float]) -> Any:
    return ec.tradeoff(ec.Ensemble([0.3, 0.6, 0.9]), [1, 0, 0.5], 6, tolerances)


def _repair(ens: ec.Ensemble, goal: float) -> Any:
    return ec.repair(ens, goal, allow=["move", "drop", "merge"], tolerance=0.01)


def _policies() -> list[Any]:
    kinds = scheduling.policies
    return [kinds.KFUCB, kinds.HysteresisSwitch, kinds.UCB, kinds.KLUCB, kinds.Thompson]


CASES: dict[str, Callable[[], Any]] = {
    "lam_plane one": lambda: plot.lam_plane(ec.Ensemble([0.5])),
    "lam_plane 500": lambda: plot.lam_plane(_plane(500)),
    "lam_plane wide": lambda: plot.lam_plane(ec.Ensemble([0.1, 0.2, 0.3], [1.0, 1e-17, 1e5])),
    "lam_plane huge": lambda: plot.lam_plane(ec.Ensemble([1e-9, 1e4, -3e5])),
    "lam_plane names": lambda: plot.lam_plane(
        (ens := ec.Ensemble([0.2, 0.2, 0.21, 0.8], [1, 1, 1, 0], names=_LONG)),
        verdict=ec.controllability(ens),
        nearest=ec.conditioning(ens).nearest,
    ),
    "singular_values one": lambda: plot.singular_values(ec.conditioning(ec.Ensemble([0.5]))),
    "singular_values 60": lambda: plot.singular_values(ec.conditioning(_crowd(60))),
    "member_energies one": lambda: plot.member_energies(ec.conditioning(ec.Ensemble([0.5]))),
    "member_energies locked": lambda: plot.member_energies(
        ec.conditioning(ec.Ensemble([0.3, 0.3, 0.9, 0.1], names=_LONG))
    ),
    "member_energies 60": lambda: plot.member_energies(ec.conditioning(_crowd(60))),
    "member_energies plane": lambda: plot.member_energies(ec.conditioning(_plane(12))),
    "horizon_sweep one": lambda: plot.horizon_sweep(_sweep([1.0])),
    "horizon_sweep many": lambda: plot.horizon_sweep(_sweep([3e5, np.inf, 9.0, 4.0, 1.0, -3e5])),
    "repair locked": lambda: plot.repair(_repair(ec.Ensemble([0.2, 0.5, 0.5, 0.8]), 20.0)),
    "repair names": lambda: plot.repair(
        _repair(ec.Ensemble([0.2, 0.5, 0.51, 0.8], names=_LONG), 200.0)
    ),
    "sampling_curve": lambda: plot.sampling_curve(ec.sampling_curve([-0.2, -1.0, -3.0])),
    "sampling_curve wide": lambda: plot.sampling_curve(ec.sampling_curve([-1e-4, -3e3])),
    "node_design row": lambda: plot.node_design(ec.choose_nodes(3, ec.Interval(-0.9, 0.9))),
    "node_design fixed": lambda: plot.node_design(
        ec.choose_nodes(12, ec.Interval(-0.9, 0.9), fixed=[0.3])
    ),
    "node_design plane": lambda: plot.node_design(ec.choose_nodes(4, ec.Disk(0.8), fixed=[0.3])),
    "steering_plan one step": lambda: plot.steering_plan(ec.steer(ec.Ensemble([0.3]), [1], 1)),
    "steering_plan channels": lambda: plot.steering_plan(_steered(_channels(6), 30)),
    "steering_plan limits": lambda: plot.steering_plan(
        _steered(ec.Ensemble(np.linspace(0.5, 0.9, 40), dt=30.0), 400, ec.Limits(u_max=1e3))
    ),
    "steering_states one": lambda: plot.steering_states(ec.steer(ec.Ensemble([0.3]), [1], 1)),
    "steering_states 500": lambda: plot.steering_states(_steered(_crowd(500), 20)),
    "steering_states plane": lambda: plot.steering_states(_steered(_plane(7), 20)),
    "steering_states names": lambda: plot.steering_states(
        ec.steer(ec.Ensemble([0.2, 0.3, 0.5, 0.8], names=_LONG), [1e4, 0, 1, 0], 8)
    ),
    "tradeoff_curve": lambda: plot.tradeoff_curve(_curve_of_costs([1.0, 0.1, 0.01, 1e-4])),
    "tradeoff_curve near": lambda: plot.tradeoff_curve(_curve_of_costs([0.1, 0.09])),
    "mpc_plan": lambda: plot.mpc_plan(_mpc(1)),
    "mpc_plan channels": lambda: plot.mpc_plan(_mpc(6)),
    "fleet_power": lambda: plot.fleet_power(_fleet_run("alone")),
    "fleet_power five": lambda: plot.fleet_power(
        [_fleet_run(f"run {i} of a long name") for i in range(5)]
    ),
    "fleet_inputs five": lambda: plot.fleet_inputs(
        [_fleet_run(f"{_LONG[i % 4]} {i}") for i in range(5)]
    ),
    "fleet_errors five": lambda: plot.fleet_errors([_fleet_run(f"run {i}") for i in range(5)]),
    "continuum_plan": lambda: plot.continuum_plan(ec.continuum("sin(6*x)", (0.1, 0.9), 8)),
    "continuum_plan close": lambda: plot.continuum_plan(ec.continuum("x", (0.1, 0.9), 8)),
    "continuum_plan arc": lambda: plot.continuum_plan(ec.continuum(np.conj, ec.Arc(0.0, 1.0), 4)),
    "continuum_states": lambda: plot.continuum_states(ec.continuum("1e6*x", (0.1, 0.9), 8)),
    "continuum_states arc": lambda: plot.continuum_states(
        ec.continuum(np.conj, ec.Arc(0.0, 1.0), 4)
    ),
    "accuracy_energy": lambda: plot.accuracy_energy(
        ec.accuracy_energy_curve("sin(6*x)", (0.1, 0.9), 8, [2.0, 0.1, 0.01])
    ),
    "depth_curve": lambda: plot.depth_curve(drafting.optimal_depth(0.7, 0.1)),
    "depth_curve off": lambda: plot.depth_curve(drafting.optimal_depth(0.7, 0.1, 0)),
    "depth_curve 500": lambda: plot.depth_curve(drafting.optimal_depth(1.0, 0.01, 500)),
    "depth_curve band": lambda: plot.depth_curve(
        drafting.optimal_depth(drafting.Estimate(0.7, 0.6, 0.8, 0.05), 0.1)
    ),
    "depth_map": lambda: plot.depth_map(
        drafting.phase_map(np.linspace(0.05, 0.99, 60), np.geomspace(0.005, 0.8, 50))
    ),
    "depth_map small": lambda: plot.depth_map(drafting.phase_map([0.5, 0.7], [0.02, 0.1])),
    "survival_fit": lambda: plot.survival_fit(_window(3), {"i.i.d.": 0.7}),
    "survival_fit deep": lambda: plot.survival_fit(
        _window(30), {"i.i.d.": 0.7, "a model of a long name": 0.8, "renewal": 0.9}
    ),
    "measured_depth": lambda: plot.measured_depth(drafting.measured_depths(_window(5), 0.1)[0]),
    "plan_table": lambda: plot.plan_table(
        scheduling.plan_table(drafting.Estimate.normal(0.7, 0.02), _COST, 64, max_depth=5)
    ),
    "plan_table one": lambda: plot.plan_table(scheduling.plan_table(0.7, _COST, 1, max_depth=5)),
    "plan_table contexts": lambda: plot.plan_table(_contexts()),
    "plan_throughput": lambda: plot.plan_throughput(
        scheduling.plan_table(drafting.Estimate.normal(0.7, 0.02), _COST, 64, max_depth=5)
    ),
    "plan_throughput contexts": lambda: plot.plan_throughput(_contexts()),
    "allocation": lambda: plot.allocation(_pool(1)),
    "allocation 15": lambda: plot.allocation(_pool(15)),
    "regret_curves": lambda: plot.regret_curves(_replayed(_policies()[0])),
    "regret_curves five": lambda: plot.regret_curves(_replayed(*_policies())),
    "fleet_depth_speedup": lambda: plot.fleet_depth_speedup(_study()),
    "fleet_drafting_cycles": lambda: plot.fleet_drafting_cycles(_fleet_drafts()),
    "swarm_picture": lambda: plot.swarm_picture(
        simulation.Swarm.scattered(60).steer_to(plot.text_points("ab", 60))
    ),
}


def _contexts() -> Any:
    cost = drafting.BatchCost.h100_8b()
    return scheduling.plan_table(0.7, cost, 512, np.arange(8) * 1000.0, max_depth=10)


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    pyplot.close("all")


# Computing what is drawn takes a second or more.
_SLOW = {
    "continuum_plan close",
    "depth_map small",
    "node_design fixed",
    "node_design plane",
    "plan_table contexts",
    "plan_throughput contexts",
    "regret_curves five",
    "sampling_curve",
    "singular_values 60",
    "steering_plan channels",
    "steering_plan limits",
    "swarm_picture",
    "tradeoff_curve near",
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name in _SLOW)) for name in CASES],
)
def test_no_text_is_cut_or_hidden(name: str) -> None:
    settings = dict(matplotlib.rcParams)
    CASES[name]()
    assert dict(matplotlib.rcParams) == settings
    figure = pyplot.gcf()
    assert stumbles(figure) == []


def test_every_plot_is_here() -> None:
    drawn = {name.split()[0] for name in CASES}
    others = {"animate", "image_points", "region_points", "text_points", "to_svg"}
    saving = {name for name in plot.__all__ if name.startswith("save_")}
    assert drawn | others | saving == set(plot.__all__)


def stumbles(figure: Figure) -> list[str]:
    """What of the text of a figure is cut by its edge or lies on other text."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure.canvas.draw()
    whole = Bbox.from_extents(*(figure.bbox.extents + np.array([-1, -1, 1, 1]) * (_SLACK + _GAP)))
    boxes = list(_texts(figure))
    found = [f"cut: {text!r}" for text, box in boxes if not _inside(box, whole)]
    for (one, first), (other, second) in combinations(boxes, 2):
        if _overlap(first, second):
            found.append(f"{one!r} lies on {other!r}")
    return found


def _texts(figure: Figure) -> Iterator[tuple[str, Bbox]]:
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    for ax in figure.axes:
        texts = [ax.title, ax._left_title, ax._right_title, *ax.texts]  # type: ignore[attr-defined]
        for axis in (ax.xaxis, ax.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
                if low <= tick.get_loc() <= high:
                    texts += [tick.label1, tick.label2]
            texts += [axis.label, axis.offsetText]
        if (legend := ax.get_legend()) is not None:
            texts += legend.get_texts()
        for text in texts:
            if text.get_visible() and text.get_text().strip():
                box = text.get_window_extent(renderer)
                # Words side by side need a gap to be told apart.
                yield (
                    text.get_text(),
                    Bbox.from_extents(box.x0 - _GAP, box.y0, box.x1 + _GAP, box.y1),
                )


def _inside(box: Bbox, whole: Bbox) -> bool:
    return bool(
        box.x0 >= whole.x0 and box.y0 >= whole.y0 and box.x1 <= whole.x1 and box.y1 <= whole.y1
    )


def _overlap(first: Bbox, second: Bbox) -> bool:
    wide = min(first.x1, second.x1) - max(first.x0, second.x0)
    tall = min(first.y1, second.y1) - max(first.y0, second.y0)
    return bool(wide > _SLACK and tall > _SLACK)
