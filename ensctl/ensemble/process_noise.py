"""What disturbs a population: noise on the states, and inputs that come in steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_array, as_scalar, read_only
from ensctl.errors import InvalidInputError

Array = NDArray[Any]


@dataclass(frozen=True, init=False, eq=False)
class ProcessNoise:
    """Independent Gaussian noise on every member at every step: x_{t+1} = λ x_t + b u_t + w_t.

    Parameters
    ----------
    std : scalar or array_like, (N,)
        Standard deviation of w, ≥ 0, for all members or one each.  Where states are complex,
        w is circular: E|w|² = std².
    rng : numpy.random.Generator
        Where the noise comes from; drawing moves it on.

    Raises
    ------
    InvalidInputError
        A negative standard deviation, or no generator.

    Examples
    --------
    >>> import ensctl as ec, numpy as np
    >>> noise = ec.ProcessNoise(0.1, np.random.default_rng(0))
    >>> ec.final_state(ec.Ensemble([0.5, 0.9]), [1.0, 1.0], noise=noise).shape
    (2,)
    """

    std: Array
    rng: np.random.Generator

    def __init__(self, std: ArrayLike, rng: np.random.Generator) -> None:
        values = as_array(std, "std", real=True)
        if values.ndim > 1 or values.size == 0:
            raise InvalidInputError(
                f"std must be a number or have one entry per member, got shape {values.shape}"
            )
        if np.any(values < 0.0):
            raise InvalidInputError(f"std must be ≥ 0, got {values.min():.6g}; take its modulus")
        if not isinstance(rng, np.random.Generator):
            raise InvalidInputError(
                f"rng must be a numpy Generator, got {type(rng).__name__}; pass "
                f"numpy.random.default_rng(seed)"
            )
        object.__setattr__(self, "std", read_only(values))
        object.__setattr__(self, "rng", rng)

    def check(self, size: int) -> None:
        """Refuse standard deviations that do not match ``size`` members."""
        if self.std.ndim == 1 and self.std.size != size:
            raise InvalidInputError(
                f"std must be a number or have one entry for each of the {size} members, got "
                f"{self.std.size}"
            )

    def draw(self, size: int, dtype: Any) -> Array:
        """One step of noise for ``size`` members."""
        return np.asarray(self.std * unit_noise(self.rng, size, dtype))


def unit_noise(rng: np.random.Generator, size: int, dtype: Any) -> Array:
    """Standard normal numbers, circular where ``dtype`` is complex (E|w|² = 1)."""
    if np.issubdtype(dtype, np.complexfloating):
        pair = rng.standard_normal((size, 2))
        return np.asarray((pair[:, 0] + 1j * pair[:, 1]) * np.sqrt(0.5))
    return rng.standard_normal(size)


def accumulated_std(lam: Array, steps: int, std: Array) -> Array:
    """Standard deviation of Σ_k λ^k w_k over ``steps`` steps: std √Σ|λ|^{2k}."""
    log_size = np.log(np.maximum(np.abs(lam), 1e-300)) * 2.0
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        variance = np.expm1(steps * log_size) / np.expm1(log_size)
    return np.asarray(std * np.sqrt(np.where(log_size == 0.0, float(steps), variance)))


def quantised(inputs: Array, resolution: float | None) -> Array:
    """Inputs rounded to multiples of ``resolution`` (real and imaginary parts; None: as given)."""
    if resolution is None:
        return inputs
    unit = as_scalar(resolution, "resolution", above=0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = inputs / unit
    if not np.all(np.isfinite(scaled)):
        raise InvalidInputError(
            f"resolution must not be so small that inputs / resolution overflows, got {unit:.6g}"
        )
    return np.asarray(np.rint(scaled) * unit)
