"""The result of steering a continuum: one input, and how far the worst λ misses."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_vector, read_only
from ensctl.display import Plotted
from ensctl.errors import InvalidInputError
from ensctl.formatting import horizon_text
from ensctl.serialization import versioned
from ensctl.synthesis.continuum_errors import error_function
from ensctl.synthesis.continuum_region import Region
from ensctl.synthesis.continuum_task import ContinuumTask

if TYPE_CHECKING:
    from control import TimeResponseData

    from ensctl.synthesis.continuum_curve import AccuracyEnergyCurve

Array = NDArray[Any]

_PROVED = {
    "polynomial": "proved: the error is a polynomial",
    "analytic": "proved: the target is analytic around the interval",
    "derivative": "proved from the given bound of a derivative",
    "sampled": "an estimate; derivative_bound, or a formula without abs, gives a proof",
}


@dataclass(frozen=True, eq=False)
class ContinuumPlan(Plotted):
    """Result of :func:`continuum`.

    Attributes
    ----------
    region : Interval or Arc
        Where λ lies.
    horizon : int
        H.
    objective : str
        "error", "energy" or "peak".
    tolerance : float or None
        Largest error asked for.
    u_max : float or None
        Largest |u| allowed.
    inputs : (H,)
        u_0 … u_{H−1}; u_{H−1−k} is the coefficient of λ^k.
    sup_error : float
        Largest |target(λ) − x_H(λ)| seen, at the peaks.
    sup_error_bound : float
        No λ of the region misses by more: the bound of the exact recursion with these float64
        inputs, and ``float_floor`` for a simulation in float64.
    bound_method : str
        "polynomial", "analytic", "derivative" or "sampled".
    rigorous : bool
        Whether the bound of the exact recursion is proved; "sampled" is an estimate.
    float_floor : float
        ε max (Σ_k |u_k||b||λ|^{H−1−k} + |λ|^H |x_0|): what rounding may leave in a simulation.
    lower_bound : float
        No inputs do better in the objective: of the error, the energy or the peak.
    peaks : (m,)
        λ where the error is largest.
    message : str
        The outcome in words.
    """

    region: Region
    horizon: int
    objective: str
    tolerance: float | None
    u_max: float | None
    inputs: Array
    sup_error: float
    sup_error_bound: float
    bound_method: str
    rigorous: bool
    float_floor: float
    lower_bound: float
    peaks: Array
    message: str
    _task: ContinuumTask

    _plot_function: ClassVar[str] = "continuum_plan"

    @property
    def energy(self) -> float:
        """Σ |u|²."""
        return float(np.sum(np.abs(self.inputs) ** 2))

    @property
    def fuel(self) -> float:
        """Σ |u|."""
        return float(np.sum(np.abs(self.inputs)))

    @property
    def peak(self) -> float:
        """max |u|."""
        return float(np.max(np.abs(self.inputs)))

    def samples(self, count: int = 201) -> Array:
        """``count`` λ of the region, evenly spaced."""
        if count < 2:
            raise InvalidInputError(f"count must be ≥ 2, got {count}")
        return read_only(self.region.at(np.linspace(-1.0, 1.0, count)))

    def targets(self, lam: ArrayLike) -> Array:
        """The target at λ."""
        return read_only(self._task.target(self._inside(lam)))

    def errors(self, lam: ArrayLike) -> Array:
        """target(λ) − x_H(λ), evaluated without the cancellation of powers."""
        t = self.region.parameter(self._inside(lam))
        return read_only(error_function(self._task, self.inputs[::-1])(t))

    def states(self, lam: ArrayLike) -> Array:
        """x_0 … x_H of the members λ, (N, H+1), by the recursion in float64."""
        points = self._inside(lam)
        gains, start = self._task.gains(points), self._task.start(points)
        kind = np.result_type(points, gains, start, self.inputs)
        out = np.empty((points.size, self.horizon + 1), dtype=kind)
        out[:, 0] = start
        for t, u in enumerate(self.inputs):
            out[:, t + 1] = points * out[:, t] + gains * u
        return read_only(out)

    def curve(self, tolerances: ArrayLike | None = None) -> AccuracyEnergyCurve:
        """What accuracy costs at this horizon; see :func:`accuracy_energy_curve`."""
        from ensctl.synthesis.continuum_curve import curve_of

        return curve_of(self._task, tolerances)

    def to_response(self, lam: ArrayLike | None = None) -> TimeResponseData:
        """Members λ (21 evenly spaced ones by default) as python-control time response.

        Parameters
        ----------
        lam : (N,) array_like, optional
            Members to simulate.

        Returns
        -------
        control.TimeResponseData
            H+1 points; outputs are the states, the last input is repeated.
        """
        from control import TimeResponseData

        points = self._inside(self.samples(21) if lam is None else lam)
        states = self.states(points)
        held = np.append(self.inputs, self.inputs[-1])[None, :]
        return TimeResponseData(
            time=np.arange(self.horizon + 1, dtype=float),
            outputs=states,
            states=states,
            inputs=held,
            issiso=False,
            state_labels=[f"x[{value:.6g}]" for value in points],
            input_labels=["u"],
            output_labels=[f"y[{value:.6g}]" for value in points],
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "continuum_plan",
            {
                "message": self.message,
                "target": self._task.target.text,
                "region": self.region,
                "horizon": self.horizon,
                "objective": self.objective,
                "tolerance": self.tolerance,
                "u_max": self.u_max,
                "inputs": self.inputs,
                "energy": self.energy,
                "fuel": self.fuel,
                "peak": self.peak,
                "sup_error": self.sup_error,
                "sup_error_bound": self.sup_error_bound,
                "bound_method": self.bound_method,
                "rigorous": self.rigorous,
                "float_floor": self.float_floor,
                "lower_bound": self.lower_bound,
                "peaks": self.peaks,
            },
        )

    def to_csv(self) -> str:
        """The inputs as CSV: time, u (or u_re, u_im), one step a line."""
        is_complex = np.iscomplexobj(self.inputs)
        lines = ["time,u_re,u_im" if is_complex else "time,u"]
        for t, u in enumerate(self.inputs.tolist()):
            parts = [u.real, u.imag] if is_complex else [u]
            lines.append(",".join([str(t), *(repr(float(part)) for part in parts)]))
        return "\n".join(lines) + "\n"

    def to_file(self, path: str | Path) -> Path:
        """Write everything as .json or the inputs as .csv.

        Parameters
        ----------
        path : str or Path
            Ends in .json or .csv.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        InvalidInputError
            Another suffix, or the file cannot be written.
        """
        from ensctl.synthesis.continuum_files import write_plan

        return write_plan(self, path)

    def __str__(self) -> str:
        kind = _PROVED[self.bound_method]
        return "\n".join(
            [
                self.message,
                f"sup error {self.sup_error:.6g}, at most {self.sup_error_bound:.6g} ({kind})",
                f"{horizon_text(self.horizon)}: energy {self.energy:.6g}, fuel {self.fuel:.6g}, "
                f"peak {self.peak:.6g}; rounding may leave {self.float_floor:.3g}",
            ]
        )

    def _inside(self, lam: ArrayLike) -> Array:
        points = as_vector(lam, "lam", real=self.region.is_real)
        back = self.region.at(self.region.parameter(points))
        outside = np.abs(back - points) > 1e-9 * (1.0 + np.abs(points))
        if np.any(outside):
            raise InvalidInputError(
                f"lam must lie in {self.region.text}, got {points[int(np.argmax(outside))]:.8g}"
            )
        return points
