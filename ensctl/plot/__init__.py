"""Drawing: one function for each kind of result, f(result, *, ax=None) → what was drawn.

The only room that loads matplotlib.  Functions compute nothing, never show a figure and leave
rcParams alone; without ``ax`` they open a new pyplot figure, so that notebooks and ``plt.show()``
find it.
"""

from ensctl.plot.horizon_sweep import horizon_sweep
from ensctl.plot.lam_plane import lam_plane
from ensctl.plot.member_energies import member_energies
from ensctl.plot.singular_values import singular_values
from ensctl.plot.steering_figure import save_steering_figure
from ensctl.plot.steering_plan import steering_plan, steering_states
from ensctl.plot.svg import to_svg

__all__ = [
    "horizon_sweep",
    "lam_plane",
    "member_energies",
    "save_steering_figure",
    "singular_values",
    "steering_plan",
    "steering_states",
    "to_svg",
]
