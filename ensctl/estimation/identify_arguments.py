"""The arguments of identification: converted, scaled, and refused where too short or zero."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_array, as_count, as_scalar
from ensctl.errors import InvalidInputError, NotIdentifiableError, PrecisionError
from ensctl.estimation.output_error_model import Data

Array = NDArray[Any]

# Imaginary parts of this size are what is left of the conjugate pairs of a real population.
_ROUNDING = 1e-13


@dataclass(frozen=True, eq=False)
class Question:
    """Scaled data, the scales that were taken out, and what was asked.

    Attributes
    ----------
    data : Data
        Outputs and inputs of size about 1, inputs padded by a zero to the length of the outputs.
    output_unit, input_unit : float
        Powers of two they were divided by.
    order : int or None
        N where it was given.
    limit : int
        Largest order allowed.
    level : float
        Level of the intervals to check.
    resamples : int
        Refits of the bootstrap; 0 for Cramér–Rao.
    seed : int
        Seed of the bootstrap.
    """

    data: Data
    output_unit: float
    input_unit: float
    order: int | None
    limit: int
    level: float
    resamples: int
    seed: int


def as_question(
    outputs: ArrayLike,
    inputs: ArrayLike,
    order: int | None,
    initial_state: str,
    feedthrough: bool,
    errors: str,
    level: float,
    max_order: int,
    resamples: int,
    seed: int,
) -> Question:
    """Convert and check the arguments of :func:`~ensctl.estimation.identify.identify`."""
    y, u = _as_signal(outputs, "outputs"), _as_signal(inputs, "inputs")
    if not np.iscomplexobj(u) and np.abs(y.imag).max() <= _ROUNDING * np.abs(y).max():
        y = y.real.copy()
    if y.size not in (u.size, u.size + 1):
        raise InvalidInputError(
            f"outputs must have as many samples as inputs or one more, got {y.size} and {u.size}"
        )
    if not (isinstance(initial_state, str) and initial_state in ("free", "zero")):
        raise InvalidInputError(f'initial_state must be "free" or "zero", got {initial_state!r}')
    if not (isinstance(errors, str) and errors in ("cramer-rao", "bootstrap")):
        raise InvalidInputError(f'errors must be "cramer-rao" or "bootstrap", got {errors!r}')
    if not isinstance(feedthrough, bool | np.bool_):
        raise InvalidInputError(f"feedthrough must be True or False, got {feedthrough!r}")
    members = None if order is None else as_count(order, "order")
    limit = as_count(max_order, "max_order") if members is None else members
    draws = as_count(resamples, "resamples", minimum=100) if errors == "bootstrap" else 0
    needed = 3 * (members or 1) + 2
    if y.size < needed:
        raise NotIdentifiableError(
            f"{y.size} samples are fewer than the {needed} that order {members or 1} needs "
            "(3 N + 2); take more samples or a lower order"
        )
    for name, array in (("inputs", u), ("outputs", y)):
        if not np.any(array):
            raise NotIdentifiableError(
                f"{name} are zero throughout: nothing shows how members answer; excite them"
            )
    output_unit, input_unit = _power_of_two(y), _power_of_two(u)
    if not 1e-290 < output_unit / input_unit < 1e290:
        raise PrecisionError(
            f"residues c b of about {output_unit / input_unit:.1e} output per input leave the "
            "float64 range; choose other units"
        )
    padded = np.concatenate([u, np.zeros(y.size - u.size)])
    complex_data = bool(np.iscomplexobj(y) or np.iscomplexobj(u))
    data = Data(
        y / output_unit,
        padded / input_unit,
        initial_state == "free",
        bool(feedthrough),
        complex_data,
    )
    checked = as_scalar(level, "level", above=0.0, below=1.0)
    start = as_count(seed, "seed", minimum=0)
    return Question(data, output_unit, input_unit, members, limit, checked, draws, start)


def _power_of_two(signal: Array) -> float:
    # Powers of two scale without rounding.
    return 2.0 ** round(math.log2(float(np.abs(signal).max())))


def _as_signal(value: ArrayLike, name: str) -> Array:
    array = as_array(value, name)
    if array.ndim == 2 and array.shape[0] == 1:
        array = array[0]
    if array.ndim != 1:
        raise InvalidInputError(
            f"{name} must be one signal of shape (T,), got {array.shape}; identify one aggregate "
            "and one channel at a time"
        )
    if array.size == 0:
        raise InvalidInputError(f"{name} must have at least one sample, got none")
    return array
