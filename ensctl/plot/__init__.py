"""Drawing: one function for each kind of result, f(result, *, ax=None) → what was drawn.

The only room that loads matplotlib.  Functions compute nothing, never show a figure and leave
rcParams alone; without ``ax`` they open a new pyplot figure, so that notebooks and ``plt.show()``
find it.
"""

from ensctl.plot.allocation import allocation
from ensctl.plot.continuum import (
    accuracy_energy,
    continuum_plan,
    continuum_states,
    save_continuum_figure,
)
from ensctl.plot.depth_figure import save_depth_curves
from ensctl.plot.drafting_depth_curve import depth_curve, measured_depth
from ensctl.plot.drafting_depth_map import depth_map
from ensctl.plot.drafting_survival import survival_fit
from ensctl.plot.fleet_drafting import fleet_depth_speedup, fleet_drafting_cycles
from ensctl.plot.horizon_sweep import horizon_sweep
from ensctl.plot.lam_plane import lam_plane
from ensctl.plot.member_energies import member_energies
from ensctl.plot.mpc_inputs import mpc_plan
from ensctl.plot.node_design import node_design, save_node_design_figure
from ensctl.plot.plan_table import plan_table, plan_throughput
from ensctl.plot.regret_figure import save_regret_figure
from ensctl.plot.regret_lines import regret_curves
from ensctl.plot.repair import repair, sampling_curve
from ensctl.plot.shapes import image_points, region_points, text_points
from ensctl.plot.singular_values import singular_values
from ensctl.plot.steering_figure import save_steering_figure
from ensctl.plot.steering_plan import steering_plan, steering_states
from ensctl.plot.svg import to_svg
from ensctl.plot.swarm_animation import animate, save_animation
from ensctl.plot.swarm_files import save_swarm_picture
from ensctl.plot.swarm_picture import swarm_picture
from ensctl.plot.thermostat_tracking import fleet_errors, fleet_inputs, fleet_power
from ensctl.plot.tradeoff_curve import tradeoff_curve

__all__ = [
    "accuracy_energy",
    "allocation",
    "animate",
    "continuum_plan",
    "continuum_states",
    "depth_curve",
    "depth_map",
    "fleet_depth_speedup",
    "fleet_drafting_cycles",
    "fleet_errors",
    "fleet_inputs",
    "fleet_power",
    "horizon_sweep",
    "image_points",
    "lam_plane",
    "measured_depth",
    "member_energies",
    "mpc_plan",
    "node_design",
    "plan_table",
    "plan_throughput",
    "region_points",
    "regret_curves",
    "repair",
    "sampling_curve",
    "save_animation",
    "save_continuum_figure",
    "save_depth_curves",
    "save_node_design_figure",
    "save_regret_figure",
    "save_steering_figure",
    "save_swarm_picture",
    "singular_values",
    "steering_plan",
    "steering_states",
    "survival_fit",
    "swarm_picture",
    "text_points",
    "to_svg",
    "tradeoff_curve",
]
