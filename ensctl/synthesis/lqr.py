"""The linear quadratic regulator of a population, with an answer that is checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.analysis.controllability import controllability
from ensctl.analysis.reasons import who
from ensctl.analysis.unit_circle import on_or_outside_unit_circle
from ensctl.arguments import read_only
from ensctl.display import Summarised
from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.propagation_arguments import as_initial_state
from ensctl.ensemble.require import require_ensemble
from ensctl.errors import InvalidInputError, NotReachableError, PrecisionError
from ensctl.serialization import versioned
from ensctl.synthesis.lqr_equation import RiccatiData, solve_riccati
from ensctl.synthesis.lqr_weights import as_weight

Array = NDArray[Any]

_LARGEST_RESIDUAL = 1e-8
_RANK_TOLERANCE = 1e-12
_ON_CIRCLE = 1e-9


@dataclass(frozen=True, eq=False)
class LinearQuadratic(Summarised):
    """Result of :func:`lqr`.

    Attributes
    ----------
    ensemble : Ensemble
        The population.
    gain : (m, N)
        K of u_t = −K x_t.
    cost_matrix : (N, N)
        X, Hermitian: the optimal cost from x is x*Xx.
    poles : (N,)
        Eigenvalues of A − BK in float64.
    spectral_radius : float
        max |pole|, below 1.
    residual : float
        Residual of the Riccati equation, relative to the norms of its terms.
    cost_error : float
        Estimated relative error of X in the Frobenius norm: the last Newton correction.
    """

    ensemble: Ensemble
    gain: Array
    cost_matrix: Array
    poles: Array
    spectral_radius: float
    residual: float
    cost_error: float

    def cost(self, x0: ArrayLike) -> float:
        """The optimal cost from an initial state, x0*X x0.

        Parameters
        ----------
        x0 : scalar or array_like, (N,)
            Initial state; a scalar stands for all members.

        Returns
        -------
        float

        Raises
        ------
        PrecisionError
            The cost is beyond the float64 range.
        """
        start = as_initial_state(x0, self.ensemble.size)
        with np.errstate(all="ignore"):
            total = float(np.real(start.conj() @ self.cost_matrix @ start))
        if not np.isfinite(total):
            raise PrecisionError("the cost from x0 leaves the float64 range; scale x0 down")
        return total

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "linear_quadratic",
            {
                "gain": self.gain,
                "cost_matrix": self.cost_matrix,
                "poles": self.poles,
                "spectral_radius": self.spectral_radius,
                "residual": self.residual,
                "cost_error": self.cost_error,
            },
        )

    def __str__(self) -> str:
        return "\n".join(
            [
                f"stable: spectral radius {self.spectral_radius:.6g} under u = −Kx, "
                f"max |K| {np.max(np.abs(self.gain)):.4g}",
                f"Riccati residual {self.residual:.1e} of its terms, relative error of the cost "
                f"about {self.cost_error:.1e}",
            ]
        )


def lqr(
    ens: Ensemble,
    Q: ArrayLike | None = None,
    R: ArrayLike = 1.0,
    *,
    output_weight: ArrayLike | None = None,
) -> LinearQuadratic:
    """The feedback u = −Kx of least Σ_t x*Qx + u*Ru (+ y*Wy) that stabilises every member.

    X = A*XA + Q − A*XB (R + B*XB)^{-1} B*XA and K = (R + B*XB)^{-1} B*XA.

    Parameters
    ----------
    ens : Ensemble
        The population, N members and m channels.
    Q : scalar or array_like, (N,) or (N, N), optional
        Weight of the states, positive semidefinite.  By default 1, or 0 with an output weight.
    R : scalar or array_like, (m,) or (m, m)
        Weight of the inputs, positive definite.
    output_weight : scalar or array_like, (p,) or (p, p), optional
        Weight W of the aggregate y = Cx + Du, feed-through included.

    Returns
    -------
    LinearQuadratic
        ``gain``, ``cost_matrix``, ``poles``, ``residual``, ``spectral_radius``.

    Raises
    ------
    NotReachableError
        Not stabilisable: ``members`` with |λ| ≥ 1 that the inputs do not reach, decided exactly.
    InvalidInputError
        A weight is out of range, or the cost does not see a member with |λ| = 1, so that no
        optimal feedback stabilises it.
    PrecisionError
        float64 does not give a stabilising gain with a Riccati residual below 1e-8.

    Notes
    -----
    Doubling and Newton steps, O(N³) about 30 times.  Where the cost does not see a member with
    |λ| > 1 the stabilising solution is taken, not the smallest one: its pole is mirrored to 1/λ̄.

    Examples
    --------
    >>> import ensctl as ec
    >>> regulator = ec.lqr(ec.Ensemble([1.2, 0.9]))
    >>> regulator.spectral_radius < 1, regulator.residual < 1e-14
    (True, True)
    >>> ec.lqr(ec.Ensemble([2.0]), Q=0.0).poles
    array([0.5])
    """
    require_ensemble(ens)
    state_weight = as_weight(_default_weight(Q, output_weight), "Q", ens.size)
    input_weight = as_weight(R, "R", ens.channels, definite=True)
    cross = np.zeros((ens.size, ens.channels))
    if output_weight is not None:
        weight = as_weight(output_weight, "output_weight", ens.outputs)
        C, D = ens.output_weights, ens.feedthrough
        state_weight = state_weight + C.conj().T @ weight @ C
        input_weight = input_weight + D.conj().T @ weight @ D
        cross = C.conj().T @ weight @ D
    _require_stabilizable(ens)
    detectable = _sees_all_unstable(ens, state_weight, check_circle=not np.any(cross))
    data = RiccatiData(np.diag(ens.lam), ens.gains, state_weight, input_weight, cross)
    found = solve_riccati(data, detectable and not np.any(cross))
    poles = np.linalg.eigvals(data.A - data.B @ found.gain)
    radius = float(np.max(np.abs(poles)))
    if not (radius < 1 and found.residual <= _LARGEST_RESIDUAL):
        raise PrecisionError(
            f"the Riccati solution is not good enough in float64: spectral radius {radius:.6g}, "
            f"residual {found.residual:.1e}; some |λ| ≥ 1 is moved or weighed too weakly"
        )
    return LinearQuadratic(
        ensemble=ens,
        gain=read_only(found.gain),
        cost_matrix=read_only(found.X),
        poles=read_only(poles),
        spectral_radius=radius,
        residual=found.residual,
        cost_error=found.error,
    )


def _default_weight(Q: ArrayLike | None, output_weight: ArrayLike | None) -> ArrayLike:
    if Q is not None:
        return Q
    return 1.0 if output_weight is None else 0.0


def _require_stabilizable(ens: Ensemble) -> None:
    verdict = controllability(ens)
    if verdict.stabilizable:
        return
    members = {i for g in verdict.groups if abs(g.value) > 0.5 for i in g.members}
    members |= set(verdict.dead)
    unstable = on_or_outside_unit_circle(ens.lam)
    blamed = tuple(sorted(i for i in members if unstable[i]))
    reasons = "; ".join(verdict.reasons)
    raise NotReachableError(
        f"not stabilisable: {who(ens, blamed)} with |λ| ≥ 1 cannot be moved independently, so no "
        f"feedback makes the cost finite: {reasons}",
        blamed,
    )


def _sees_all_unstable(ens: Ensemble, weight: Array, *, check_circle: bool) -> bool:
    """Whether the cost sees each |λ| ≥ 1; refuses |λ| = 1 that it does not see."""
    unstable = on_or_outside_unit_circle(ens.lam)
    scale = float(np.max(np.abs(weight)))
    seen = True
    for value in np.unique(ens.lam[unstable]):
        group = np.flatnonzero(ens.lam == value)
        columns = weight[:, group]
        size = np.linalg.svd(columns, compute_uv=False)
        if scale > 0 and size[-1] > _RANK_TOLERANCE * scale and size.size == group.size:
            continue
        seen = False
        if check_circle and abs(value) <= 1 + _ON_CIRCLE:
            raise InvalidInputError(
                f"Q must weigh every direction of {who(ens, group.tolist())}, |λ| = 1: the cost "
                f"does not see one, so no optimal feedback makes it decay; give it a weight > 0"
            )
    return seen
