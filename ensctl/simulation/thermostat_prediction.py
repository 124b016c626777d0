"""The power that a plan gives, and how it changes with every input of the plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.simulation.thermostat_model import DutyModel

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Prediction:
    """y of a plan and its Jacobian.

    Attributes
    ----------
    power : (H,) float64
        y_t … y_{t+H−1} in kW.
    jacobian : (H, H) float64
        ∂y_k/∂u_j, lower triangular: y_k feels u_k at once.
    """

    power: Array
    jacobian: Array


def predicted(model: DutyModel, z: Array, plan: Array, disturbance: Array) -> Prediction:
    """Follow a plan from z with a saturating model; members at 0 or 100 % duty do not react.

    Parameters
    ----------
    model : DutyModel
        M groups; O(M H²).
    z : (M,)
        Temperatures now.
    plan, disturbance : (H,)
        u_t … u_{t+H−1} and v_t … v_{t+H−1}.

    Returns
    -------
    Prediction
    """
    steps = plan.size
    power, jacobian = np.empty(steps), np.zeros((steps, steps))
    felt = np.zeros((steps, model.size))
    for k in range(steps):
        wanted = model.duty + model.slope * (z - plan[k])
        share = np.clip(wanted, 0.0, 1.0)
        reacts = np.where(share == wanted, model.slope, 0.0)
        power[k] = model.power @ share
        # felt[j] is ∂z_k/∂u_j.
        jacobian[k, :k] = felt[:k] @ (model.power * reacts)
        jacobian[k, k] = -float(model.power @ reacts)
        felt[:k] *= model.decay - model.cooling * reacts
        felt[k] = model.cooling * reacts
        gain = (1.0 - model.decay) * disturbance[k]
        z = model.decay * z + gain + model.cooling * (model.duty - share)
    return Prediction(power, jacobian)
