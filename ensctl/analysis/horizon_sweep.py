"""How conditioning changes with the horizon: what more steps buy, and where they stop helping."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ensctl.analysis.steering_map import singular_values_of_map, steering_map
from ensctl.arguments import as_horizon, read_only
from ensctl.display import Plotted
from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.require import require_ensemble
from ensctl.errors import InvalidInputError
from ensctl.progress import Progress, progress_of
from ensctl.serialization import versioned

Array = NDArray[Any]

_DEFAULT_POINTS = 8


@dataclass(frozen=True, eq=False)
class HorizonSweep(Plotted):
    """Result of :func:`horizon_sweep`.

    Attributes
    ----------
    horizons : (k,) int
        Numbers of steps, ascending.
    log10_cond : (k,) float64
        log10 κ2 over the reachable directions at each horizon.
    log10_worst_energy : (k,) float64
        log10 1/σ_min² over the reachable directions: the energy of the worst unit target.
    relative_error_bound : float
        Largest bound over the sweep, for every singular value.
    """

    horizons: Array
    log10_cond: Array
    log10_worst_energy: Array
    relative_error_bound: float

    _plot_function: ClassVar[str] = "horizon_sweep"

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "horizon_sweep",
            {
                "horizons": self.horizons,
                "log10_cond": self.log10_cond,
                "log10_worst_energy": self.log10_worst_energy,
                "relative_error_bound": self.relative_error_bound,
            },
        )


def horizon_sweep(
    ens: Ensemble,
    horizons: Sequence[int] | None = None,
    *,
    real_inputs: bool | None = None,
    progress: Progress | bool | None = None,
) -> HorizonSweep:
    """Condition number and worst energy of the steering map at several horizons.

    Parameters
    ----------
    ens : Ensemble
        The population.
    horizons : sequence of int, optional
        Numbers of steps; by default eight from the minimal horizon to eight times it.
    real_inputs : bool, optional
        True counts real dimensions (inputs must be real).
    progress : callable or bool, optional
        Called with (done, total) after each horizon; True draws a bar on stderr where that is a
        terminal.

    Returns
    -------
    HorizonSweep

    Raises
    ------
    InvalidInputError
        A horizon is not an integer ≥ 1, or a factorisation would not fit in memory.

    Notes
    -----
    One factorisation for each horizon: O(Σ r² (N + H)).

    Examples
    --------
    >>> import ensctl as ec
    >>> sweep = ec.horizon_sweep(ec.families.equispaced(6, 0.1, 0.9), [6, 12, 24])
    >>> bool(sweep.log10_worst_energy[0] > sweep.log10_worst_energy[2])
    True
    """
    require_ensemble(ens)
    if horizons is None:
        first = max(1, math.ceil(ens.size / ens.channels))
        points = first * np.power(8.0, np.linspace(0.0, 1.0, _DEFAULT_POINTS))
        chosen = sorted({round(float(point)) for point in points})
    else:
        chosen = sorted({int(as_horizon(value, "horizons")) for value in horizons})
        if not chosen:
            raise InvalidInputError("horizons must have at least one entry, got none")
    cond, energy, bound = [], [], 0.0
    with progress_of(progress, len(chosen), "horizons") as report:
        for done, steps in enumerate(chosen, start=1):
            sigma = singular_values_of_map(steering_map(ens, steps, real_inputs))
            cond.append(sigma.log10_cond_of_range)
            energy.append(-2.0 * float(sigma.log10[sigma.rank - 1]) if sigma.rank else math.inf)
            bound = max(bound, sigma.relative_error_bound)
            report(done)
    return HorizonSweep(
        read_only(np.array(chosen)), read_only(np.array(cond)), read_only(np.array(energy)), bound
    )
