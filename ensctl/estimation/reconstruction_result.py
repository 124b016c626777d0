"""The result of reconstruction: initial states, their error bars, and what is known at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import read_only
from ensctl.display import Summarised
from ensctl.serialization import versioned

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Reconstruction(Summarised):
    """Result of :func:`reconstruct_initial_state`.

    Attributes
    ----------
    x0 : (N,)
        Least-squares estimate of the initial states.
    std : (N,)
        Standard error of each from the noise; 0 where N outputs were taken as exact.
    rounding : (N,)
        Error of each from float64 roundings of the outputs and of the arithmetic, to first order.
    noise_std : float or (p,)
        Standard deviation of the noise: as given, or as estimated.
    noise_estimated : bool
        Whether it was estimated from the residual.
    residual : float
        Root mean square of V x_0 − z (in units of ``noise_std`` where that was given).
    samples : int
        Number of output samples used.
    combinations : (N, N)
        Combinations w x_0 with ‖w‖ = 1 that the outputs determine independently of each other, one
        per row, best known first.
    combination_values, combination_stds : (N,)
        Estimates of w x_0 and their standard errors, roundings included.
    scale : float
        Size of x_0: no ‖x_0‖ below this explains the outputs.
    root : (N, N)
        K with K K* the covariance of ``x0`` from the noise.
    labels : tuple of str
        Names of the members.
    """

    x0: Array
    std: Array
    rounding: Array
    noise_std: float | Array
    noise_estimated: bool
    residual: float
    samples: int
    combinations: Array
    combination_values: Array
    combination_stds: Array
    scale: float
    root: Array
    labels: tuple[str, ...]

    @property
    def error(self) -> Array:
        """Standard error and rounding together, (N,)."""
        return read_only(self.std + self.rounding)

    @property
    def known(self) -> Array:
        """Whether each combination is known: its standard error is below ``scale``, (N,) bool."""
        return read_only(self.combination_stds < self.scale)

    @property
    def known_count(self) -> int:
        """How many combinations are known."""
        return int(np.count_nonzero(self.known))

    @property
    def known_members(self) -> Array:
        """Whether each member is known by itself: its error is below ``scale``, (N,) bool."""
        return read_only(self.error < self.scale)

    def covariance(self) -> Array:
        """The covariance of ``x0`` from the noise, (N, N), exactly Hermitian."""
        product = self.root @ self.root.conj().T
        return read_only(0.5 * (product + product.conj().T))

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "reconstruction",
            {
                "x0": self.x0,
                "std": self.std,
                "rounding": self.rounding,
                "noise_std": self.noise_std,
                "noise_estimated": self.noise_estimated,
                "residual": self.residual,
                "samples": self.samples,
                "combinations": self.combinations,
                "combination_values": self.combination_values,
                "combination_stds": self.combination_stds,
                "scale": self.scale,
                "known_count": self.known_count,
            },
        )

    def __str__(self) -> str:
        size = self.x0.size
        members = int(np.count_nonzero(self.known_members))
        worst = int(np.argmax(self.error))
        noise = np.max(self.noise_std)
        source = "estimated from the residual" if self.noise_estimated else "as given"
        if not self.noise_estimated and noise == 0.0:
            source = "outputs taken as exact up to rounding"
        lines = [
            f"initial state of {size} members from {self.samples} samples: {members} known one by "
            f"one, {self.known_count} of {size} combinations known",
            f"std of the noise {noise:.4g} ({source}); error {self.error.min():.3g} … "
            f"{self.error[worst]:.3g} (1 σ and rounding), largest for {self.labels[worst]}",
        ]
        for i in range(min(size, 5)):
            lines.append(f"  {self.labels[i]}: {self.x0[i]:.6g} ± {self.error[i]:.2g}")
        if size > 5:
            lines.append("  …")
        lost = size - self.known_count
        if lost:
            lead = np.argsort(-np.abs(self.combinations[-1]))[:4]
            names = ", ".join(self.labels[i] for i in lead)
            lines.append(f"least known is a combination of {names}")
        return "\n".join(lines)
