"""Qualities of drafters that drift while they are not looked at: one scalar Kalman filter each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_count, as_scalar, as_vector, read_only
from ensctl.errors import InvalidInputError
from ensctl.serialization import versioned

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class DriftState:
    """What is known of all drafters at one time.

    Attributes
    ----------
    step : int
        Cycles so far.
    estimates : (n,) array, read-only
        Expected quality of each drafter now.
    variances : (n,) array, read-only
        Variance of its error.
    """

    step: int
    estimates: Array
    variances: Array

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "drift_state",
            {"step": self.step, "estimates": self.estimates, "variances": self.variances},
        )


@dataclass(frozen=True, eq=False)
class DriftTracker:
    """Kalman tracking of drifting qualities when one drafter is polled in each cycle.

    q_{i,t+1} = μ_i + λ_i (q_{i,t} − μ_i) + w, Var w = (1 − λ_i²) σ_i², so that σ_i is the spread of
    the quality in the long run.  A cycle with drafter i on B streams shows its mean with variance
    v_i/B; the others only drift.  Drafters are independent, so each has a filter of its own.

    Parameters
    ----------
    drifts : array_like, (n,)
        λ in [0, 1): correlation of the quality from one cycle to the next.
    means : array_like, (n,)
        μ.
    spreads : array_like, (n,)
        σ ≥ 0.
    noise : array_like, (n,)
        v > 0, variance of one stream's result.

    Examples
    --------
    >>> from ensctl import scheduling
    >>> tracker = scheduling.DriftTracker([0.9, 0.99], 2.0, 0.5, 1.0)
    >>> state = tracker.init()
    >>> state = tracker.step(state, 0, 2.6, streams=16)
    >>> state.estimates.round(3), state.variances.round(3)
    (array([2.432, 2.   ]), array([0.088, 0.25 ]))
    """

    drifts: Array
    means: Array
    spreads: Array
    noise: Array

    def __init__(
        self, drifts: ArrayLike, means: ArrayLike, spreads: ArrayLike, noise: ArrayLike
    ) -> None:
        lam = as_vector(drifts, "drifts", real=True)
        size = lam.size
        values = {
            "drifts": lam,
            "means": as_vector(means, "means", size=size, real=True),
            "spreads": as_vector(spreads, "spreads", size=size, real=True),
            "noise": as_vector(noise, "noise", size=size, real=True),
        }
        if lam.min() < 0 or lam.max() >= 1:
            raise InvalidInputError("drifts must be in [0, 1)")
        if values["spreads"].min() < 0:
            raise InvalidInputError("spreads must be ≥ 0")
        if values["noise"].min() <= 0:
            raise InvalidInputError("noise must be > 0: a total is never exact")
        for name, value in values.items():
            object.__setattr__(self, name, read_only(value))

    def init(self) -> DriftState:
        """The long-run mean and variance of every drafter."""
        return DriftState(0, self.means, read_only(self.spreads**2))

    def step(
        self, state: DriftState, drafter: int, quality: float, *, streams: float = 1
    ) -> DriftState:
        """Take in a cycle's mean over ``streams`` streams, then drift to the next cycle.

        ``drafter`` is the one that was broadcast; NaN for ``quality`` means that nothing was seen.
        """
        if not isinstance(state, DriftState) or state.estimates.shape != self.means.shape:
            raise InvalidInputError("state must be a DriftState of this tracker; start with init()")
        index = as_count(drafter, "drafter", minimum=0)
        if index >= self.means.size:
            raise InvalidInputError(f"drafter must be < {self.means.size}, got {index}")
        count = as_scalar(streams, "streams", above=0.0)
        estimates, variances = state.estimates.copy(), state.variances.copy()
        # NaN, the one number that differs from itself, marks a cycle without a reading.
        if quality == quality:
            seen = as_scalar(quality, "quality")
            gain = variances[index] / (variances[index] + self.noise[index] / count)
            estimates[index] += gain * (seen - estimates[index])
            variances[index] *= 1.0 - gain
        estimates = self.means + self.drifts * (estimates - self.means)
        variances = self.drifts**2 * variances + (1.0 - self.drifts**2) * self.spreads**2
        return DriftState(state.step + 1, read_only(estimates), read_only(variances))
