"""The result of steering: inputs, what they cost, where they lead, and the proof."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import read_only
from ensctl.convex.infeasibility import InfeasibilityCertificate
from ensctl.convex.optimality import OptimalityCertificate
from ensctl.display import Plotted, Summarised
from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import (
    EnsctlError,
    InfeasibleError,
    InvalidInputError,
    NotReachableError,
    PrecisionError,
    SolverError,
)
from ensctl.files import write_whole
from ensctl.formatting import horizon_text
from ensctl.serialization import versioned
from ensctl.status import Status
from ensctl.synthesis.limits import Limits

if TYPE_CHECKING:
    from control import TimeResponseData

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class SteeringPlan(Plotted, Summarised):
    """Result of :func:`steer`, :func:`min_time` and a compiled problem's ``solve``.

    Attributes
    ----------
    ensemble : Ensemble
        The population.
    target, x0 : (N,)
        State asked for and initial state.
    horizon : int
        Number of steps H.
    objective : str
        "energy", "fuel" or "peak".
    limits : Limits
        What was respected.
    status : Status
        How it ended; only ``Status.OPTIMAL`` has inputs that count.
    message : str
        The outcome in words: cost and error, or which members and limits stand in the way.
    certificate : OptimalityCertificate, InfeasibilityCertificate or None
        Recomputed from the data, never a solver's word.
    members : tuple of int
        Members that stand in the way, when the answer is no.
    terminal_error : float
        max_i |x_{i,H} − target_i| of a float64 simulation with these inputs; inf without inputs.
    float_floor : float
        ε max_i (Σ_k |u_k||b_i||λ_i|^{H−1−k} + |λ_i|^H |x_{0,i}|): what rounding may leave.
    solver : str
        What found the answer.
    """

    ensemble: Ensemble
    target: Array
    x0: Array
    horizon: int
    objective: str
    limits: Limits
    status: Status
    message: str
    certificate: OptimalityCertificate | InfeasibilityCertificate | None
    members: tuple[int, ...]
    terminal_error: float
    float_floor: float
    solver: str
    _inputs: Array | None
    _advise: Callable[[], str] = field(repr=False)

    _plot_function: ClassVar[str] = "steering_plan"

    @property
    def success(self) -> bool:
        """Whether the inputs are optimal, with a verified certificate."""
        return self.status.success

    @property
    def inputs(self) -> Array:
        """u_0 … u_{H−1}, (H,) for one channel and (m, H) for several.

        Raises
        ------
        InfeasibleError, NotReachableError, PrecisionError, SolverError
            There are none; the message says why.
        """
        if self._inputs is None:
            raise self.error()
        return self._inputs

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

    @property
    def advice(self) -> str:
        """What would make an infeasible task feasible: smallest u_max, or horizon; else ''."""
        return self._advise()

    def states(self) -> Array:
        """x_0 … x_H, (N, H+1), simulated in float64."""
        return read_only(simulate(self.ensemble, self.inputs, self.x0))

    def to_response(self) -> TimeResponseData:
        """The plan as python-control time response: time in units of dt, inputs, states, outputs.

        Returns
        -------
        control.TimeResponseData
            H+1 points; the last input is repeated, as a zero-order hold would show it.
        """
        from control import TimeResponseData

        states = self.states()
        u = np.atleast_2d(self.inputs)
        held = np.column_stack([u, u[:, -1]])
        ens = self.ensemble
        outputs = ens.output_weights @ states + ens.feedthrough @ held
        names = [ens.label(i) for i in range(ens.size)]
        return TimeResponseData(
            time=ens.dt * np.arange(self.horizon + 1),
            outputs=outputs,
            states=states,
            inputs=held,
            issiso=False,
            state_labels=names,
            input_labels=[f"u[{k}]" for k in range(u.shape[0])],
            output_labels=[f"y[{k}]" for k in range(outputs.shape[0])],
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        found = self._inputs is not None
        return versioned(
            "steering_plan",
            {
                "status": self.status,
                "success": self.success,
                "message": self.message,
                "objective": self.objective,
                "limits": self.limits,
                "horizon": self.horizon,
                "dt": self.ensemble.dt,
                "target": self.target,
                "x0": self.x0,
                "inputs": self._inputs,
                "energy": self.energy if found else None,
                "fuel": self.fuel if found else None,
                "peak": self.peak if found else None,
                "terminal_error": self.terminal_error,
                "float_floor": self.float_floor,
                "members": self.members,
                "solver": self.solver,
                "certificate": _certificate_data(self.certificate),
            },
        )

    def to_csv(self) -> str:
        """The inputs as CSV: time, u (u_0, u_1, … for several channels), one step a line."""
        return _csv(np.atleast_2d(self.inputs), self.ensemble.dt)

    def to_file(self, path: str | Path) -> Path:
        """Write the plan as JSON, or its inputs alone as CSV (one step a line).

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
        import json

        file = Path(path)
        if file.suffix.lower() == ".json":
            text = json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        elif file.suffix.lower() == ".csv":
            text = self.to_csv()
        else:
            raise InvalidInputError(f"path must end in .json or .csv, got {file.name!r}")
        write_whole(file, text)
        return file

    def __getstate__(self) -> dict[str, Any]:
        # Advice is a search that needs the task; a plan on its way elsewhere goes without.
        return {**self.__dict__, "_advise": no_advice}

    def error(self) -> EnsctlError:
        """The error that this outcome raises when ``throw`` is True."""
        if self.status is Status.NOT_REACHABLE:
            return NotReachableError(self.message, self.members)
        if self.status is Status.INFEASIBLE:
            return InfeasibleError(self.message, self.certificate)
        if self.status is Status.PRECISION_LIMITED:
            return PrecisionError(self.message)
        return SolverError(self.message, self.solver)

    def __str__(self) -> str:
        lines = [self.message]
        if self._inputs is not None:
            lines.append(
                f"{horizon_text(self.horizon)}: energy {self.energy:.6g}, fuel {self.fuel:.6g}, "
                f"peak {self.peak:.6g}"
            )
            lines.append(
                f"terminal error {self.terminal_error:.3g} (rounding may leave "
                f"{self.float_floor:.3g}); solved by {self.solver}"
            )
        return "\n".join(lines)


def no_advice() -> str:
    """Nothing to say."""
    return ""


def simulate(ens: Ensemble, inputs: Array, x0: Array) -> Array:
    """x_0 … x_H by the recursion x_{t+1} = λ x_t + B u_t, (N, H+1)."""
    u = np.atleast_2d(inputs)
    parts = (ens.lam, ens.gains, u, x0)
    dtype = complex if any(np.iscomplexobj(part) for part in parts) else float
    states = np.empty((ens.size, u.shape[1] + 1), dtype=dtype)
    states[:, 0] = x0
    drive = ens.gains @ u
    for t in range(u.shape[1]):
        states[:, t + 1] = ens.lam * states[:, t] + drive[:, t]
    return states


def float_floor(ens: Ensemble, inputs: Array, x0: Array) -> float:
    """ε max_i (Σ_k |u_k||b_i||λ_i|^{H−1−k} + |λ_i|^H |x_{0,i}|)."""
    u = np.abs(np.atleast_2d(inputs))
    size = simulate(
        Ensemble(np.abs(ens.lam), np.abs(ens.gains)), u, np.abs(np.broadcast_to(x0, ens.size))
    )
    return float(np.finfo(float).eps) * float(size[:, -1].max())


def _certificate_data(
    certificate: OptimalityCertificate | InfeasibilityCertificate | None,
) -> dict[str, Any] | None:
    if certificate is None:
        return None
    if isinstance(certificate, InfeasibilityCertificate):
        return {
            "kind": "infeasibility",
            "eta": certificate.eta,
            "margin": certificate.margin,
            "error_bound": certificate.error_bound,
            "arithmetic": certificate.arithmetic,
            "verified": certificate.verified,
        }
    return {
        "kind": "optimality",
        "primal_residual": certificate.primal_residual,
        "dual_residual": certificate.dual_residual,
        "gap": certificate.gap if math.isfinite(certificate.gap) else "inf",
        "complementarity": certificate.complementarity,
        "verified": certificate.verified,
    }


def _csv(inputs: Array, dt: float) -> str:
    """time, u_0, u_1, …: one step a line, numbers that read back bit by bit."""
    columns = [f"u_{k}" for k in range(inputs.shape[0])] if inputs.shape[0] > 1 else ["u"]
    if np.iscomplexobj(inputs):
        columns = [f"{name}_{part}" for name in columns for part in ("re", "im")]
    lines = [",".join(["time", *columns])]
    for t, values in enumerate(inputs.T):
        cells = [repr(float(t * dt))]
        for value in values.tolist():
            parts = (value.real, value.imag) if isinstance(value, complex) else (value,)
            cells.extend(repr(float(part)) for part in parts)
        lines.append(",".join(cells))
    return "\n".join(lines) + "\n"
