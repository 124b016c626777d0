"""A few hundred members with the aggregate response of a million."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ensctl.arguments import Array, as_horizon, as_scalar, as_vector, read_only
from ensctl.ensemble.compression_nodes import Nodes, choose_nodes_for, power_rounding
from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import InvalidInputError

# Rounding of the sums over the members, whose chains of additions are kept short.
_SUMMATION = 256 * float(np.finfo(float).eps)
_LOG_LARGEST = math.log(np.finfo(float).max)


@dataclass(frozen=True, init=False, eq=False, repr=False)
class CompressedEnsemble(Ensemble):
    """The ensemble that :func:`compress` returns; it can be used wherever an Ensemble can.

    Each output has its own r members at the same nodes z_q: output weights 1, gains ω_q.

    Attributes
    ----------
    lam, b, c, d, dt, names
        As for :class:`Ensemble`.
    source : Ensemble
        The population that was compressed.
    horizon : int
        H, the number of steps within which the responses agree.
    method : str
        "chebyshev" (real λ), "fourier" (complex λ), or "exact" (the members themselves).
    weight_ratio : float
        Σ|ω|/Σ|m| with m = c b, the largest over inputs and outputs: how much cancels (1: nothing).
    error_bound : float
        |δy_t| ≤ error_bound · Σ|m| ‖u‖₁ · max(1, max|λ|^H) for t ≤ H: truncation, proved, and
        rounding of the weights and nodes, to first order.
    """

    source: Ensemble
    horizon: int
    method: str
    weight_ratio: float
    error_bound: float
    _nodes: Nodes

    def __init__(self, source: Ensemble, horizon: int, nodes: Nodes) -> None:
        gains, largest_sum = _gains(source, nodes)
        r = nodes.points.size
        outputs = source.outputs
        weights = np.ones(r) if outputs == 1 else np.kron(np.eye(outputs), np.ones(r))
        b = gains[:, 0] if source.channels == 1 else gains
        super().__init__(np.tile(nodes.points, outputs), b, weights, source.d, dt=source.dt)
        sizes = np.abs(gains).reshape(outputs, r, source.channels).transpose(0, 2, 1)
        relative = sizes / np.where(largest_sum > 0.0, largest_sum, 1.0)[..., None]
        ratio = relative.sum(axis=2)
        worst = relative.reshape(-1, r)[int(ratio.argmax())]
        own = {
            "source": source,
            "horizon": horizon,
            "method": nodes.method,
            "weight_ratio": float(ratio.max()) if np.any(largest_sum) else 1.0,
            "error_bound": nodes.truncation + _rounding(nodes, worst, horizon),
            "_nodes": nodes,
        }
        for name, value in own.items():
            object.__setattr__(self, name, value)

    def project(self, x0: ArrayLike) -> Array:
        """Initial state of the compressed ensemble with the free response of x0 in the source.

        Parameters
        ----------
        x0 : scalar or (N,) array_like
            Initial state of the source.

        Returns
        -------
        (r p,) array
            x̂ with Σ_q ĉ_q z_q^t x̂_q = Σ_i c_i λ_i^t x0_i for t ≤ H, within ``error_bound`` times
            Σ|c x0|.

        Raises
        ------
        InvalidInputError
            x0 has the wrong length or is not finite.

        Examples
        --------
        >>> import numpy as np, ensctl as ec
        >>> fleet = ec.families.equispaced(5000, 0.1, 0.9)
        >>> small = fleet.compress(20)
        >>> free = [small.c @ (small.lam**t * small.project(1.0)) for t in (0, 20)]
        >>> bool(np.allclose(free, [1.0, np.mean(fleet.lam**20)], rtol=1e-12))
        True
        """
        state = as_vector(x0, "x0", size=self.source.size)
        if self.method == "exact":
            return read_only((self.source.output_weights * state).ravel())
        rows = [
            self._nodes.carry(self.source.lam, (weights * state)[None])[0]
            for weights in self.source.output_weights
        ]
        return read_only(np.concatenate(rows))

    # Copies are made by construction, as for every ensemble.
    def __reduce__(self) -> tuple[Any, ...]:
        return partial(CompressedEnsemble, self.source, self.horizon, self._nodes), ()

    def __str__(self) -> str:
        lines = super().__str__().splitlines()
        lines[1:1] = [
            f"  stands for {self.source.size} members over {self.horizon} steps ({self.method}): "
            f"Σ|ω|/Σ|m| = {self.weight_ratio:.4g}, error ≤ {self.error_bound:.1e} Σ|m| ‖u‖₁"
        ]
        return "\n".join(lines)


def compress(ens: Ensemble, horizon: int, tol: float = 1e-13) -> CompressedEnsemble:
    """The small ensemble with the same aggregate response for H steps.

    y_t = Σ_i m_i Σ_s λ_i^{t−1−s} u_s, m = c b, sees the population through the power sums
    Σ m_i λ_i^k, k < H, alone.  For real λ, λ^k is a short Chebyshev series on the interval of the
    data, and the weights ω_q = (τ_0 + 2 Σ_j τ_j cos jθ_q)/r, τ_j = Σ_i m_i T_j(s_i), at the r zeros
    z_q of T_r have the same sums.  For complex λ, equispaced points of a circle do.

    Parameters
    ----------
    ens : Ensemble
        The population.
    horizon : int
        H ≥ 1, the number of steps that the response has to hold for.
    tol : float
        Truncation error allowed, relative to Σ|m| ‖u‖₁, 1e-16 … 0.1.

    Returns
    -------
    CompressedEnsemble
        r members for each output: about √(2H log(4/tol)) for λ in [−1, 1], some dozens whatever H
        where max|λ| < 1, and never more than H + 1, the number of values of a free response;
        for complex λ, H + 1 or as many steps as are remembered.  The members themselves where
        these are not more.

    Raises
    ------
    InvalidInputError
        An argument is out of range, or powers of λ overflow within the horizon.

    Notes
    -----
    O(N) for real λ and on the unit circle: about ten additions for a member.  Other complex λ:
    a matrix product of N H multiplications.  Weights of one sign and smooth density keep their
    sign, Σ|ω| = Σ|m|; few or clustered members give O(log r) times that.
    Source: anterpolation, as in A. Dutt, M. Gu, V. Rokhlin, SIAM J. Numer. Anal. 33 (1996)
    1689–1711; the number of nodes from Chernoff's bound for random walks.

    Examples
    --------
    >>> import ensctl as ec
    >>> fleet = ec.families.equispaced(100_000, 0.1, 0.9)
    >>> small = fleet.compress(10_000)
    >>> small.size, round(small.weight_ratio, 6), small.error_bound < 1e-12
    (47, 1.0, True)
    """
    if not isinstance(ens, Ensemble):
        raise InvalidInputError(f"ens must be an Ensemble, got {type(ens).__name__}")
    steps = int(as_horizon(horizon))
    allowed = as_scalar(tol, "tol", at_least=1e-16, at_most=0.1)
    check_powers(ens.lam, steps)
    return CompressedEnsemble(ens, steps, choose_nodes_for(ens.lam, steps, allowed))


def check_powers(lam: Array, horizon: int) -> None:
    """Refuse λ whose powers overflow float64 within the horizon.

    Raises
    ------
    InvalidInputError
        max|λ|^H > 1.8e308.
    """
    with np.errstate(over="ignore"):
        largest = float(np.abs(lam).max())
    # Twice log|λ| of headroom for sums and intermediate products.
    if largest > 1.0 and (horizon + 2) * math.log(largest) >= _LOG_LARGEST:
        raise InvalidInputError(
            f"lam must keep |λ|^horizon within float64, got |λ| = {largest:.6g} and horizon = "
            f"{horizon}; shorten the horizon or leave out the unstable members"
        )


def _gains(source: Ensemble, nodes: Nodes) -> tuple[Array, Array]:
    """ω for every node of every output, (p r, m), and Σ|m|, (p, m)."""
    columns, sums = [], []
    for weights in source.output_weights:
        products = weights * source.gains.T
        columns.append(nodes.carry(source.lam, products).T)
        sums.append(np.abs(products).sum(axis=1))
    return np.concatenate(columns), np.array(sums)


def _rounding(nodes: Nodes, relative: Array, horizon: int) -> float:
    """First-order rounding error of the response, relative to Σ|m| ‖u‖₁."""
    if nodes.method == "exact":
        return 0.0
    # The angles of the members are rounded as the nodes are.
    return 2.0 * power_rounding(nodes.points, relative, horizon) + _SUMMATION
