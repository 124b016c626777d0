"""What accuracy costs over a continuum: the least energy at each uniform error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_horizon, as_vector, read_only
from ensctl.display import Plotted
from ensctl.errors import InvalidInputError
from ensctl.formatting import horizon_text
from ensctl.serialization import versioned
from ensctl.synthesis.continuum_energy import least_energy
from ensctl.synthesis.continuum_functions import as_function
from ensctl.synthesis.continuum_region import as_region
from ensctl.synthesis.continuum_solution import best_error
from ensctl.synthesis.continuum_task import ContinuumTask, check_task

Array = NDArray[Any]
Function = Callable[[Any], Any] | ArrayLike | str

_POINTS = 13
# The finest default tolerance, over the best error: nearer to it energy rises without end.
_ABOVE_BEST = 1.5
_FINEST_SHARE = 1e-9
_ALL = 1.0 + 1e-9
_SOLVED = 1e-5


@dataclass(frozen=True, eq=False)
class AccuracyEnergyCurve(Plotted):
    """Result of :func:`accuracy_energy_curve`: tolerances from coarse to fine, with their cost.

    Attributes
    ----------
    horizon : int
        H.
    tolerances : (k,) float64
        Largest errors allowed, descending.
    energies : (k,) float64
        Least Σu² at each; inf below the best error, nan where float64 could not find it.
    lower_bounds : (k,) float64
        No input within the tolerance costs less (dual values); inf below the best error.
    best_error : float
        No input in so many steps is nearer.
    """

    horizon: int
    tolerances: Array
    energies: Array
    lower_bounds: Array
    best_error: float

    _plot_function: ClassVar[str] = "accuracy_energy"

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "accuracy_energy_curve",
            {
                "horizon": self.horizon,
                "tolerances": self.tolerances,
                "energies": self.energies,
                "lower_bounds": self.lower_bounds,
                "best_error": self.best_error,
            },
        )

    def __str__(self) -> str:
        lines = [
            f"least energy in {horizon_text(self.horizon)} by sup error; no input comes nearer "
            f"than {self.best_error:.6g}"
        ]
        shown = np.unique(np.linspace(0, self.tolerances.size - 1, 9).round().astype(int))
        for k in shown:
            energy = self.energies[k]
            text = f"{energy:.6g}" if np.isfinite(energy) else "out of reach"
            text = "beyond float64" if np.isnan(energy) else text
            lines.append(f"  {self.tolerances[k]:9.3g}: {text}")
        if shown.size < self.tolerances.size:
            lines.append(f"  {shown.size} of {self.tolerances.size} points shown")
        return "\n".join(lines)


def accuracy_energy_curve(
    target: Function,
    interval: tuple[float, float],
    horizon: int,
    tolerances: ArrayLike | None = None,
    *,
    gain: Function = 1.0,
    x0: Function = 0.0,
) -> AccuracyEnergyCurve:
    """The least energy that brings every λ of an interval within each of several tolerances.

    E(ε) = min Σu² with |target(λ) − x_H(λ)| ≤ ε for every λ: convex and falling in ε.

    Parameters
    ----------
    target, gain, x0 : callable, array_like, str or float
        As in :func:`continuum`; real.
    interval : (float, float)
        low < high.
    horizon : int
        Number of steps H ≥ 1.
    tolerances : (k,) array_like, optional
        > 0; by default 13 in geometric steps from max|target − λ^H x_0|, which costs nothing, to
        1.5 times the best error (at least 1e-9 of the largest).

    Returns
    -------
    AccuracyEnergyCurve
        Energies do not fall as the tolerance shrinks; each with a lower bound.

    Raises
    ------
    InvalidInputError, NotReachableError
        As in :func:`continuum`.

    Examples
    --------
    >>> import ensctl as ec
    >>> curve = ec.accuracy_energy_curve("sin(6*x)", (0.1, 0.9), 10, [1e-1, 1e-2])
    >>> curve.energies.round(1)
    array([163. , 569.5])
    """
    region = as_region(interval)
    if not region.is_real:
        raise InvalidInputError("interval must be a pair (low, high) here, got an Arc")
    task = ContinuumTask(
        region,
        cast(int, as_horizon(horizon)),
        as_function(target, "target", region),
        as_function(gain, "gain", region),
        as_function(x0, "x0", region),
    )
    check_task(task)
    return curve_of(task, tolerances)


def curve_of(task: ContinuumTask, tolerances: ArrayLike | None) -> AccuracyEnergyCurve:
    """The curve of a checked task."""
    if not task.is_real:
        raise InvalidInputError("interval, target, gain and x0 must be real for a curve")
    best = best_error(task)
    chosen = _chosen(task, tolerances, best.error)
    energies, bounds = np.full(chosen.size, np.inf), np.full(chosen.size, np.inf)
    for k, tolerance in enumerate(chosen.tolist()):
        if tolerance <= best.error * (1.0 + 1e-9):
            continue
        found = least_energy(task, tolerance)
        bounds[k] = found.lower_bound
        energies[k] = found.energy if found.excess <= _SOLVED else np.nan
    return AccuracyEnergyCurve(
        task.horizon, read_only(chosen), read_only(energies), read_only(bounds), best.error
    )


def _chosen(task: ContinuumTask, tolerances: ArrayLike | None, best: float) -> Array:
    if tolerances is not None:
        values = as_vector(tolerances, "tolerances", real=True)
        if np.any(values <= 0):
            raise InvalidInputError(f"tolerances must be > 0, got {values.min():g}; leave it out")
        return np.array(np.sort(values)[::-1])
    lam = task.region.at(np.linspace(-1.0, 1.0, 4001))
    size = float(np.abs(task.wanted(lam)).max())
    if size == 0.0:
        raise InvalidInputError(
            "target must differ from where x0 drifts by itself: every tolerance costs nothing; "
            "choose another target, or give tolerances"
        )
    finest = min(max(_ABOVE_BEST * best, _FINEST_SHARE * size), 0.9 * size)
    return np.geomspace(_ALL * size, finest, _POINTS)
