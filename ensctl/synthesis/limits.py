"""Limits on inputs, their changes, states and the aggregate, as a user states them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_array, read_only
from ensctl.errors import InvalidInputError

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Limits:
    """What a steering input has to respect; everything left out is free.

    Parameters
    ----------
    u_max : scalar, (H,) or (m, H), optional
        Largest input; alone it means |u| ≤ u_max (the modulus for complex inputs), > 0.
    u_min : scalar, (H,) or (m, H), optional
        Smallest input (real inputs only); with u_max: u_min ≤ u ≤ u_max.
    slew_max : scalar or (m,), optional
        |u_{t+1} − u_t| ≤ slew_max, > 0.
    state_max : scalar or (N,), optional
        |x_{i,t}| ≤ state_max for t = 1 … H, > 0.
    output_max : scalar or (p,), optional
        |y_t| ≤ output_max for t = 1 … H, > 0; y_H is taken without feed-through.

    Raises
    ------
    InvalidInputError
        Not real, NaN, not positive where it has to be, or u_min > u_max.

    Examples
    --------
    >>> import ensctl as ec
    >>> ec.Limits(u_max=1.5)
    Limits(u_max=1.5)
    >>> ec.Limits(u_min=0.0, u_max=2.0, slew_max=0.5)
    Limits(u_max=2, u_min=0, slew_max=0.5)
    """

    u_max: ArrayLike | None = None
    u_min: ArrayLike | None = None
    slew_max: ArrayLike | None = None
    state_max: ArrayLike | None = None
    output_max: ArrayLike | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None:
                converted = read_only(as_array(value, field.name, real=True))
                object.__setattr__(self, field.name, converted)
        for name in ("slew_max", "state_max", "output_max"):
            self._require_positive(name)
        if self.u_min is None:
            self._require_positive("u_max")
        elif self.u_max is not None:
            self._require_order()

    def __repr__(self) -> str:
        stated = [
            f"{field.name}={_text(getattr(self, field.name))}"
            for field in fields(self)
            if getattr(self, field.name) is not None
        ]
        return f"Limits({', '.join(stated)})"

    @property
    def inputs_only(self) -> bool:
        """Whether nothing but the inputs themselves is limited."""
        return self.slew_max is None and self.state_max is None and self.output_max is None

    @property
    def constant_in_time(self) -> bool:
        """Whether the input limits are the same at every step, whatever the horizon."""
        return all(np.ndim(value) == 0 for value in (self.u_max, self.u_min) if value is not None)

    @property
    def allow_rest(self) -> bool:
        """Whether u = 0 is within the input limits at every step."""
        low = -np.inf if self.u_min is None else float(np.max(np.asarray(self.u_min)))
        high = np.inf if self.u_max is None else float(np.min(np.asarray(self.u_max)))
        return low <= 0.0 <= high

    def input_range(self, horizon: int, channels: int) -> tuple[Array, Array]:
        """(lower, upper), each (m H,): time order, the channels of a step together; ±inf is free.

        Raises
        ------
        InvalidInputError
            A shape that is not scalar, (H,) or (m, H).
        """
        size = horizon * channels
        upper = np.full(size, np.inf)
        if self.u_max is not None:
            upper = _per_input(np.asarray(self.u_max), "u_max", horizon, channels)
        if self.u_min is not None:
            lower = _per_input(np.asarray(self.u_min), "u_min", horizon, channels)
        else:
            lower = -upper
        return lower, upper

    def _require_positive(self, name: str) -> None:
        value = getattr(self, name)
        if value is not None and np.any(value <= 0):
            raise InvalidInputError(
                f"{name} must be > 0, got {np.min(value):g}; leave it out for no limit"
            )

    def _require_order(self) -> None:
        low, high = np.asarray(self.u_min), np.asarray(self.u_max)
        try:
            crossed = np.any(low > high)
        except ValueError:
            raise InvalidInputError(
                f"u_min and u_max must have shapes that fit, got {low.shape} and {high.shape}"
            ) from None
        if crossed:
            raise InvalidInputError(
                f"u_min must be ≤ u_max, got {np.max(low):g} > {np.min(high):g}; swap or widen them"
            )


def _per_input(value: Array, name: str, horizon: int, channels: int) -> Array:
    if value.ndim == 0:
        return np.full(horizon * channels, value[()])
    if value.shape == (horizon,):
        return np.repeat(value, channels)
    if value.shape == (channels, horizon):
        return np.asarray(value.T.ravel())
    raise InvalidInputError(
        f"{name} must be a scalar, ({horizon},) or ({channels}, {horizon}), got shape {value.shape}"
    )


def _text(value: Array) -> str:
    return f"{value[()]:g}" if value.ndim == 0 else f"array{value.shape}"
