"""The exact observability verdict from the aggregate output, the dual of controllability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ensctl.analysis.controllability import as_choice_of_inputs, exact_verdict, groups_as_data
from ensctl.analysis.groups import LockedGroup
from ensctl.analysis.reasons import OBSERVATION
from ensctl.arguments import as_horizon
from ensctl.display import Documented
from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.require import require_ensemble
from ensctl.serialization import versioned


@dataclass(frozen=True)
class Observability(Documented):
    """Result of :func:`observability`; every field is exact.

    Attributes
    ----------
    observable : bool
        ``horizon`` outputs (some number of outputs when None) determine every initial state.
    reconstructible : bool
        Enough outputs determine the present state: what they miss has λ = 0.
    detectable : bool
        What outputs miss dies out: nothing with |λ| ≥ 1 is invisible.
    rank : int
        Number of independent combinations of the initial state in ``horizon`` outputs.
    total_rank : int
        The same for enough outputs.
    dimension : int
        Number of dimensions N; real dimensions when only the real part is measured.
    locked : tuple of tuple of int
        Members that outputs cannot tell apart, group by group.
    silent : tuple of int
        Members with zero output weight.
    groups : tuple of LockedGroup
        The locked groups with λ and rank; ``directions`` are the states the outputs do not show.
    reasons : tuple of str
        Why the verdict is no, and what to do; empty when observable.
    min_horizon : int or None
        Fewest output samples that determine every state; None when not observable, and for several
        outputs when p N² > 5e8, where it is not computed.
    horizon : int or None
        The number of output samples asked about.
    real_inputs : bool
        Whether only the real part of the outputs is measured and dimensions are real.
    """

    observable: bool
    reconstructible: bool
    detectable: bool
    rank: int
    total_rank: int
    dimension: int
    locked: tuple[tuple[int, ...], ...]
    silent: tuple[int, ...]
    groups: tuple[LockedGroup, ...]
    reasons: tuple[str, ...]
    min_horizon: int | None
    horizon: int | None
    real_inputs: bool

    _html_function: ClassVar[str] = "observability_html"

    @property
    def sentence(self) -> str:
        """The verdict in one line."""
        real = " real" if self.real_inputs else ""
        verdict = "observable" if self.observable else "not observable"
        within = "" if self.horizon is None else f" from {_samples(self.horizon)}"
        needed = ""
        if self.observable and self.min_horizon is not None and self.horizon is None:
            needed = f", from {_samples(self.min_horizon)} or more"
        return f"{verdict}{within}: rank {self.rank} of {self.dimension}{real}{needed} (exact)"

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "observability",
            {
                "observable": self.observable,
                "reconstructible": self.reconstructible,
                "detectable": self.detectable,
                "rank": self.rank,
                "total_rank": self.total_rank,
                "dimension": self.dimension,
                "locked": self.locked,
                "silent": self.silent,
                "groups": groups_as_data(self.groups),
                "reasons": self.reasons,
                "min_horizon": self.min_horizon,
                "horizon": self.horizon,
                "real_inputs": self.real_inputs,
            },
        )

    def __str__(self) -> str:
        notions = (
            f"reconstructible: {'yes' if self.reconstructible else 'no'}, "
            f"detectable: {'yes' if self.detectable else 'no'}"
        )
        return "\n".join([self.sentence, notions, *(f"- {reason}" for reason in self.reasons)])


def observability(
    ens: Ensemble, horizon: int | None = None, *, real_inputs: bool | None = None
) -> Observability:
    """Decide exactly whether the aggregate outputs determine the state of every member.

    y_t = Σ_i c_i x_{i,t} (plus a known d u_t) is observable if and only if for every z the columns
    {c_i : λ_i = z} are linearly independent; for one output: all λ differ and no c_i is zero.

    Parameters
    ----------
    ens : Ensemble
        The population; λ and output weights are taken as exact numbers.
    horizon : int, optional
        Number of output samples y_0 … y_{H−1}, H ≥ 1.  None asks whether some number does it.
    real_inputs : bool, optional
        True: the dual of real inputs; only the real part of each output is measured, and dimensions
        are counted as real ones.  None and False: outputs are complex where λ or c are.

    Returns
    -------
    Observability
        ``observable``, ``rank``, ``locked`` and ``min_horizon`` equal ``reachable`` and so on of
        ``controllability(ens.dual())``; ``silent`` equals its ``dead``.

    Raises
    ------
    InvalidInputError
        H is not an integer ≥ 1, or several outputs, H < N and p N² > 5e8.

    Notes
    -----
    Exact, as :func:`~ensctl.analysis.controllability.controllability`: O(N log N) for one output.

    Examples
    --------
    >>> import ensctl as ec
    >>> print(ec.observability(ec.Ensemble([0.2, 0.5, 0.8], c=[1.0, 0.0, 1.0])))
    not observable: rank 2 of 3 (exact)
    reconstructible: no, detectable: yes
    - member 1 has c = 0: no output shows it
    """
    require_ensemble(ens)
    steps = None if horizon is None else int(as_horizon(horizon))
    real = as_choice_of_inputs(real_inputs)
    dual = exact_verdict(ens, ens.lam, ens.output_weights.T, steps, real, OBSERVATION)
    return Observability(
        observable=dual.reachable,
        reconstructible=dual.null_controllable,
        detectable=dual.stabilizable,
        rank=dual.rank,
        total_rank=dual.total_rank,
        dimension=dual.dimension,
        locked=dual.locked,
        silent=dual.dead,
        groups=dual.groups,
        reasons=dual.reasons,
        min_horizon=dual.min_horizon,
        horizon=dual.horizon,
        real_inputs=dual.real_inputs,
    )


def _samples(count: int) -> str:
    return "1 output sample" if count == 1 else f"{count} output samples"
