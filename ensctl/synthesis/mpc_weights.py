"""What a receding-horizon controller weighs, and the quadratic program that follows from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_vector, read_only
from ensctl.convex.mpc_program import RecedingProgram, receding_program
from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import InvalidInputError
from ensctl.synthesis.limits import Limits
from ensctl.synthesis.mpc_prediction import OutputMap, StateCost, output_map, state_cost

Array = NDArray[Any]

_MOST_CONDITION = 1e11
# Several dense matrices of this size squared: 200 MB each.
_MOST_INPUTS = 5000


@dataclass(frozen=True, eq=False)
class Horizon:
    """A horizon condensed to its inputs: everything that does not change from step to step.

    Attributes
    ----------
    length, inputs, disturbances : int
        H, m and the number of disturbances.
    outputs : OutputMap
    states : StateCost or None
    weights : (p H,)
        Of the squared output errors.
    pull : (m H, p H)
        Forcedᵀ W.
    slew : (m,)
        Weights of the squared changes.
    lower, upper : (m,)
        Input limits.
    slew_max : (m,) or None
    output_max : (p,) or None
    program : RecedingProgram
    later : (k,) int
        For each row the same row one step later; −1 at the end of the horizon.
    """

    length: int
    inputs: int
    disturbances: int
    outputs: OutputMap
    states: StateCost | None
    weights: Array
    pull: Array
    slew: Array
    lower: Array
    upper: Array
    slew_max: Array | None
    output_max: Array | None
    program: RecedingProgram
    later: Array

    def bounds(self, previous: Array, undisturbed: Array) -> Array:
        """b of the rows A u ≤ b, for the last input and the outputs without further inputs."""
        parts = [np.tile(self.upper, self.length), np.tile(-self.lower, self.length)]
        if self.slew_max is not None:
            change = np.tile(self.slew_max, (2, self.length, 1))
            change[0, 0] += previous
            change[1, 0] -= previous
            parts.append(change.ravel())
        if self.output_max is not None:
            limit = np.tile(self.output_max, self.length)
            parts += [limit - undisturbed, limit + undisturbed]
        return np.concatenate(parts)

    def within(self, inputs: Array, previous: Array) -> Array:
        """The inputs of one step, moved by rounding errors so that their limits hold exactly."""
        inside = np.clip(inputs, self.lower, self.upper)
        if self.slew_max is not None:
            inside = np.clip(inside, previous - self.slew_max, previous + self.slew_max)
            far = np.abs(inside - previous) > self.slew_max
            inside = np.where(far, np.nextafter(inside, previous), inside)
        return inside


def condensed(
    ens: Ensemble,
    horizon: int,
    inputs: int,
    limits: Limits,
    *,
    output_weight: ArrayLike,
    state_weight: ArrayLike,
    terminal_weight: ArrayLike,
    input_weight: ArrayLike,
    slew_weight: ArrayLike,
    soft_weight: float,
) -> Horizon:
    """Check the weights and limits and condense the horizon."""
    if inputs * horizon > _MOST_INPUTS:
        raise InvalidInputError(
            f"horizon must be at most {_MOST_INPUTS // inputs} for {inputs} inputs, got {horizon}; "
            f"the plan is one dense program"
        )
    with np.errstate(all="ignore"):
        outputs = output_map(ens, horizon, inputs)
    weights = np.tile(_weights(output_weight, "output_weight", ens.outputs), horizon)
    on_states = _weights(state_weight, "state_weight", ens.size)
    at_end = _weights(terminal_weight, "terminal_weight", ens.size)
    on_inputs = _weights(input_weight, "input_weight", inputs)
    on_slew = _weights(slew_weight, "slew_weight", inputs)
    if np.any((on_inputs == 0.0) & (on_slew == 0.0)):
        raise InvalidInputError(
            "input_weight or slew_weight must be > 0 for every input; give one of them a small "
            "weight"
        )
    states = None
    if on_states.any() or at_end.any():
        with np.errstate(all="ignore"):
            states = state_cost(ens, horizon, inputs, on_states, at_end)
    elif not weights.any():
        raise InvalidInputError(
            "output_weight, state_weight or terminal_weight must be > 0, got none; say what to "
            "track"
        )
    lower, upper = _input_limits(limits, horizon, inputs)
    slew_max = _limit(limits.slew_max, "slew_max", inputs)
    output_max = _limit(limits.output_max, "output_max", ens.outputs)
    size = inputs * horizon
    change = np.eye(size) - np.eye(size, k=-inputs)
    with np.errstate(all="ignore"):
        pull = outputs.forced.T * weights
        hessian = pull @ outputs.forced + np.diag(np.tile(on_inputs, horizon))
        hessian += (change.T * np.tile(on_slew, horizon)) @ change
        if states is not None:
            hessian += states.hessian
    rows, softness = [np.eye(size), -np.eye(size)], [np.zeros(2 * size)]
    widths = [inputs, inputs]
    if slew_max is not None:
        rows += [change, -change]
        softness.append(np.zeros(2 * size))
        widths += [inputs, inputs]
    if output_max is not None:
        rows += [outputs.forced, -outputs.forced]
        softness.append(np.full(2 * weights.size, _softness(soft_weight)))
        widths += [ens.outputs, ens.outputs]
    return Horizon(
        horizon,
        inputs,
        ens.channels - inputs,
        outputs,
        states,
        weights,
        pull,
        on_slew,
        read_only(lower),
        read_only(upper),
        slew_max,
        output_max,
        _program(ens, horizon, hessian, np.concatenate(rows), np.concatenate(softness)),
        _later(widths, horizon),
    )


def _program(
    ens: Ensemble, horizon: int, hessian: Array, rows: Array, softness: Array
) -> RecedingProgram:
    """The program, refused where float64 does not hold the effect of first and last inputs."""
    fastest = int(np.argmax(np.abs(ens.lam)))
    if not np.all(np.isfinite(hessian)):
        raise InvalidInputError(_too_much(ens, horizon, fastest, "leaves the float64 range"))
    unstable = np.abs(ens.lam[fastest]) > 1.0
    try:
        program = receding_program(hessian, rows, softness)
    except InvalidInputError:
        if not unstable:
            raise InvalidInputError(
                "input_weight or slew_weight must be larger: beside the other weights float64 "
                "does not see it, and many inputs cost the same"
            ) from None
        condition = np.inf
    else:
        condition = 1.0 / max(program.reciprocal_condition, 1e-300)
    # Rounding moves the first input by about 2e-17 of the condition number.
    if unstable and condition > _MOST_CONDITION:
        told = f"makes the condition number {condition:.1e}, beyond {_MOST_CONDITION:.0e}"
        raise InvalidInputError(_too_much(ens, horizon, fastest, told))
    return program


def _too_much(ens: Ensemble, horizon: int, member: int, what: str) -> str:
    return (
        f"horizon and weights must stay within float64: |λ| = {abs(ens.lam[member]):.4g} of "
        f"{ens.label(member)} over {horizon} steps {what}; shorten the horizon, bring the weights "
        f"nearer together, or stabilise such members first (ec.lqr, ec.place)"
    )


def _softness(soft_weight: float) -> float:
    if not 1e-150 < soft_weight < 1e150:
        raise InvalidInputError(f"soft_weight must be within 1e-150 … 1e150, got {soft_weight:g}")
    return 1.0 / soft_weight


def _weights(value: ArrayLike, name: str, size: int) -> Array:
    weights = as_vector(value, name, size=size, real=True)
    if np.any(weights < 0.0):
        raise InvalidInputError(f"{name} must be ≥ 0, got {weights.min():g}; give a weight")
    return weights


def _input_limits(limits: Limits, horizon: int, inputs: int) -> tuple[Array, Array]:
    low, high = limits.input_range(horizon, inputs)
    lower, upper = low.reshape(horizon, inputs), high.reshape(horizon, inputs)
    if np.any(lower != lower[0]) or np.any(upper != upper[0]):
        raise InvalidInputError(
            "limits must be the same at every step of a receding horizon, got u_max or u_min that "
            "change; give one number for each input"
        )
    if limits.state_max is not None:
        raise InvalidInputError(
            "state_max cannot be limited in MPC; make what has to be limited an output of the "
            "ensemble and use output_max"
        )
    return lower[0].copy(), upper[0].copy()


def _limit(value: ArrayLike | None, name: str, size: int) -> Array | None:
    return None if value is None else read_only(as_vector(value, name, size=size, real=True))


def _later(widths: list[int], horizon: int) -> Array:
    """Row numbers one step later within each block of ``horizon`` steps."""
    parts, start = [], 0
    for width in widths:
        numbers = start + np.arange(width * horizon)
        parts.append(np.append(numbers[width:], np.full(width, -1)))
        start += width * horizon
    return np.concatenate(parts)
