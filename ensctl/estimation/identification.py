"""The result of identification: λ and residues with their errors, and what was assumed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import as_scalar, read_only
from ensctl.display import Summarised
from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import NotIdentifiableError
from ensctl.estimation.identification_intervals import ErrorBars, MemberIntervals
from ensctl.estimation.output_error_profile import BetterMinimum
from ensctl.formatting import number_text
from ensctl.serialization import versioned

Array = NDArray[Any]

_SHOWN = 5


@dataclass(frozen=True, eq=False)
class Identification(Summarised):
    """Result of :func:`identify`; members sorted by λ.

    Standard deviations and interval ends of complex numbers are complex: real part for the real
    part, imaginary part for the imaginary part.

    Attributes
    ----------
    lam : (N,) float64 or complex128, read-only
        λ; conjugate-closed when the data are real.
    residues : (N,) float64 or complex128, read-only
        c_i b_i, in units of output per input.
    initial : (N,) float64 or complex128, read-only
        c_i x_{i,0}, in units of the output; zero where the state was taken to start at 0.
    feedthrough : float or complex
        d, in units of output per input; 0 where it was not asked for.
    lam_std, residue_std : (N,) float64 or complex128, read-only
        Standard deviations: Cramér–Rao at the estimate with the noise estimated, enlarged where
        the residuals are coloured, or those over bootstrap refits.
    noise_std : float
        Root mean square of the noise, P parameters accounted for, in units of the output.
    residual : (T,) float64 or complex128, read-only
        Measured minus fitted outputs.
    order : int
        N.
    singular_values : (rows,) float64, read-only
        Of the output Hankel matrix with the input removed, per √columns, in units of the output:
        white noise shows as about its standard deviation.
    gap : float
        The N-th of them over the next.
    level : float
        Level of the intervals that were checked.
    method : str
        "cramer-rao", "profile" (at least one interval was replaced by a profile-likelihood one)
        or "bootstrap".
    notes : tuple of str
        What was assumed, found strange or widened.
    distrust : str
        Why intervals are refused; empty when they are not.
    """

    lam: Array
    residues: Array
    initial: Array
    feedthrough: float | complex
    lam_std: Array
    residue_std: Array
    noise_std: float
    residual: Array
    order: int
    singular_values: Array
    gap: float
    level: float
    method: str
    notes: tuple[str, ...]
    distrust: str
    _bars: ErrorBars
    _intervals: MemberIntervals | None

    def interval(self, level: float | None = None) -> MemberIntervals:
        """Confidence intervals of every λ and residue, each at this level by itself.

        Parameters
        ----------
        level : float, optional
            Between 0 and 1; by default the level :func:`identify` was called with.

        Returns
        -------
        MemberIntervals
            ``lam_low, lam_high, residue_low, residue_high``.

        Raises
        ------
        NotIdentifiableError
            The model does not describe the data, so that no width would be honest, or an interval
            at this level does not close.
        InvalidInputError
            The level is not between 0 and 1, or too high for so few bootstrap refits.
        """
        if self.distrust:
            raise NotIdentifiableError(self.distrust)
        if self._intervals is not None and (level is None or level == self.level):
            return self._intervals
        asked = self.level if level is None else as_scalar(level, "level", above=0.0, below=1.0)
        try:
            return self._bars.intervals(asked)
        except BetterMinimum:
            raise NotIdentifiableError(
                f"at {100 * asked:g} % another minimum of the sum of squares comes into reach; ask "
                "for a lower level, or take more samples or less noise"
            ) from None

    def to_ensemble(self, *, dt: float = 1.0) -> Ensemble:
        """A population with the same response: b = residues, c = 1.

        Only the products c_i b_i are known; any other split answers inputs alike.

        Parameters
        ----------
        dt : float
            Length of a step, > 0.

        Returns
        -------
        Ensemble

        Examples
        --------
        >>> import ensctl as ec, numpy as np
        >>> u = np.random.default_rng(0).choice([-1.0, 1.0], 60)
        >>> y = ec.aggregate_output(ec.Ensemble([0.5, 0.9], b=[1.0, 2.0], c=1.0), u)
        >>> ec.identify(y, u).to_ensemble().b.round(6)
        array([1., 2.])
        """
        return Ensemble(self.lam, self.residues, 1.0, self.feedthrough, dt=dt)

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1; intervals null where they are refused."""
        content = {name: getattr(self, name) for name in _FIELDS}
        return versioned("identification", {**content, "intervals": self._intervals})

    def __str__(self) -> str:
        plural = "" if self.order == 1 else "s"
        gap = "" if np.isinf(self.gap) else f", singular-value gap {self.gap:.3g}"
        lines = [
            f"{self.order} member{plural} identified from {self.residual.size} samples, noise "
            f"{self.noise_std:.3g}{gap}"
        ]
        for k in range(min(self.order, _SHOWN)):
            lines.append(
                f"  λ = {number_text(complex(self.lam[k]))} ± {_std_text(self.lam_std[k])}, "
                f"c·b = {number_text(complex(self.residues[k]))} ± "
                f"{_std_text(self.residue_std[k])}"
            )
        if self.order > _SHOWN:
            lines.append(f"  … ({self.order - _SHOWN} more)")
        kind = "intervals refused" if self.distrust else f"± is one standard error ({self.method})"
        return "\n".join([*lines, kind, *(f"- {note}" for note in self.notes[:4])])


_FIELDS = (
    "lam",
    "residues",
    "initial",
    "feedthrough",
    "lam_std",
    "residue_std",
    "noise_std",
    "residual",
    "order",
    "singular_values",
    "gap",
    "level",
    "method",
    "notes",
    "distrust",
)


def _std_text(value: Any) -> str:
    return number_text(complex(value), 2)


def by_member(values: Array, keep_complex: bool) -> Array:
    """Read-only; real where nothing is complex."""
    return read_only(np.array(values if keep_complex else np.real(values)))
