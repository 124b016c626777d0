"""The result of pole placement: gains, the poles they really give, and how fragile those are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.display import Summarised
from ensctl.ensemble.ensemble import Ensemble
from ensctl.formatting import number_text
from ensctl.serialization import versioned

Array = NDArray[Any]

_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class Placement(Summarised):
    """Result of :func:`place` and :func:`observer_gain`.

    Attributes
    ----------
    ensemble : Ensemble
        The population.
    side : str
        "feedback": u = −Σ k x; "observer": the gains L of the output error.
    channel : int
        The input (or the output) that is used.
    poles : (N,)
        The poles asked for.
    gains : (N,)
        The gains, one per member.
    gain_error : float
        Bound of their relative error against exact arithmetic.
    achieved_poles : (N,) or None
        Poles of these very doubles, correct to 1e-13 of max(1, |μ|), each beside the pole asked
        for.  None where they could not be separated (large N with hopeless sensitivity) and for
        more than 128 poles.
    pole_sensitivity : (N,)
        |δμ_j| ≤ pole_sensitivity_j η to first order when every gain is off by a relative η; 0 for
        kept poles, inf for repeated ones (they move by the root of η).
    pole_condition : (N,)
        |δμ_j| ≤ pole_condition_j ‖E‖₂ to first order when the closed loop in balanced coordinates,
        Λ − s σ sᵀ with s_i = √|b_i k_i| and phases σ, is off by E; inf for repeated poles.
    kept : (N,) bool
        Which of the poles are λ that no gain moves.
    """

    ensemble: Ensemble
    side: str
    channel: int
    poles: Array
    gains: Array
    gain_error: float
    achieved_poles: Array | None
    pole_sensitivity: Array
    pole_condition: Array
    kept: Array

    @property
    def pole_error(self) -> float:
        """max|achieved − asked|; inf where the achieved poles are not known."""
        if self.achieved_poles is None:
            return float("inf")
        return float(np.max(np.abs(self.achieved_poles - self.poles)))

    @property
    def spectral_radius(self) -> float:
        """Largest modulus of the achieved poles; inf where they are not known."""
        if self.achieved_poles is None:
            return float("inf")
        return float(np.max(np.abs(self.achieved_poles)))

    @property
    def stable(self) -> bool:
        """Whether the achieved poles, not merely those asked for, are inside the unit circle."""
        return self.spectral_radius < 1

    @property
    def eigenvalue_blur(self) -> float:
        """How far float64 eigenvalues of the balanced closed loop can be off, to first order.

        ε max pole_condition · (max|λ| + Σ|b_i k_i|), and at most that matrix norm; ε^{1/m} in
        place of ε pole_condition for a pole repeated m times.
        """
        norm = float(np.max(np.abs(self.ensemble.lam)) + np.sum(np.abs(self._weights * self.gains)))
        if np.all(np.isfinite(self.pole_condition)):
            return norm * min(1.0, _EPS * float(np.max(self.pole_condition)))
        most = int(np.max(np.unique(self.poles, return_counts=True)[1]))
        return float(norm * _EPS ** (1.0 / most))

    @property
    def matrix(self) -> Array:
        """The closed loop: Λ − b kᵀ, or Λ − L cᵀ for an observer, (N, N).

        Its eigenvalues in float64 can be off by ``eigenvalue_blur``; ``achieved_poles`` are not.
        """
        loop = np.outer(self._weights, self.gains)
        return np.asarray(np.diag(self.ensemble.lam) - (loop.T if self._observes else loop))

    @property
    def _observes(self) -> bool:
        return self.side == "observer"

    @property
    def _weights(self) -> Array:
        """b of the channel, or c of the output."""
        if self._observes:
            return self.ensemble.output_weights[self.channel]
        return self.ensemble.gains[:, self.channel]

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "placement",
            {
                "side": self.side,
                "channel": self.channel,
                "poles": self.poles,
                "gains": self.gains,
                "gain_error": self.gain_error,
                "achieved_poles": self.achieved_poles,
                "pole_error": self.pole_error,
                "spectral_radius": self.spectral_radius,
                "pole_sensitivity": self.pole_sensitivity,
                "pole_condition": self.pole_condition,
                "kept": self.kept,
            },
        )

    def __str__(self) -> str:
        count = self.poles.size
        kept = int(np.sum(self.kept))
        fixed = f" ({kept} kept: no gain moves them)" if kept else ""
        lines = [
            f"{count} {'pole' if count == 1 else 'poles'} placed{fixed}: max |k| "
            f"{np.max(np.abs(self.gains)):.4g}, relative error of the gains ≤ "
            f"{self.gain_error:.1e}",
            f"poles of these very gains: {self._achieved_text()}",
        ]
        worst, condition = np.max(self.pole_sensitivity), np.max(self.pole_condition)
        if np.isinf(condition):
            lines.append("repeated poles move by roots of a perturbation, not in proportion to it")
        else:
            lines.append(
                f"a relative gain error η moves a pole by up to {worst:.3g} η, an error E of the "
                f"balanced matrix by up to {condition:.3g} ‖E‖"
            )
        blur = self.eigenvalue_blur
        if blur > 1e-6:
            say = "say nothing" if blur > 1 else f"can be off by {blur:.1g}"
            lines.append(f"float64 eigenvalues of the closed-loop matrix {say}")
        if 1 <= self.spectral_radius < np.inf and np.all(np.abs(self.poles) < 1):
            lines.append("the closed loop is NOT stable in float64 gains; choose poles nearer to λ")
        return "\n".join(lines)

    def _achieved_text(self) -> str:
        if self.achieved_poles is None:
            return "not known: lost in the rounding of the gains, or over 128 of them"
        radius = f"spectral radius {number_text(self.spectral_radius)}"
        if self.pole_error == 0:
            return f"as asked, to the last bit; {radius}"
        return f"within {self.pole_error:.2g} of those asked for; {radius}"
