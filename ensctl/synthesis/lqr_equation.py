"""The discrete Riccati equation of diagonal dynamics: doubling, then Newton steps that also check.

X = A*XA + Q − (A*XB + S)(R + B*XB)^{-1}(B*XA + S*).  Structure-preserving doubling computes the
cost of 2^k steps from that of 2^{k−1}; it only adds positive semidefinite matrices.  Newton's
method (Kleinman) then solves one Lyapunov equation a step from a stabilising gain and converges to
the stabilising solution, the last correction being the error estimate.

Sources: E. K.-W. Chu, H.-Y. Fan, W.-W. Lin, C.-S. Wang, "Structure-preserving algorithms for
periodic discrete-time algebraic Riccati equations", Int. J. Control 77 (2004) 767–788; G. Hewer,
"An iterative technique for the computation of the steady state gains for the discrete optimal
regulator", IEEE Trans. Automat. Control 16 (1971) 382–384.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.errors import PrecisionError

Array = NDArray[Any]

_EPS = float(np.finfo(float).eps)
_DOUBLINGS = 60
_NEWTON_STEPS = 60
_NO_GAIN = (
    "float64 finds no stabilising gain: some |λ| ≥ 1 is moved or weighed too weakly, several lie "
    "too close together, or Q and R are too far apart; add a channel, scale b, Q or R"
)


@dataclass(frozen=True, eq=False)
class RiccatiData:
    """A, B, Q, R and S of the cost Σ x*Qx + 2Re x*Su + u*Ru."""

    A: Array
    B: Array
    Q: Array
    R: Array
    S: Array


@dataclass(frozen=True, eq=False)
class RiccatiSolution:
    """X, the gain K of u = −Kx, the relative residual and the relative error estimate of X."""

    X: Array
    gain: Array
    residual: float
    error: float


def solve_riccati(data: RiccatiData, detectable: bool) -> RiccatiSolution:
    """The stabilising solution.

    Parameters
    ----------
    data : RiccatiData
        (A, B) stabilisable, R > 0, the whole cost matrix positive semidefinite.
    detectable : bool
        Whether the cost sees every |λ| ≥ 1.  If not, doubling starts from a cost that does, and
        Newton's method goes from there.

    Raises
    ------
    PrecisionError
        float64 finds no stabilising gain.
    """
    start = data.Q
    if not detectable:
        weight = max(float(np.max(np.abs(data.Q))), float(np.max(np.abs(data.R))))
        start = data.Q + weight * np.eye(data.A.shape[0])
    with np.errstate(all="ignore"):
        try:
            X = _doubled(data, start)
            return _newton(data, X, riccati_gain(data, X))
        except (PrecisionError, np.linalg.LinAlgError):
            # Doubling divides by R; Newton's method does not, and stable members need no gain.
            if not np.max(np.abs(np.diagonal(data.A))) < 1.0:
                raise PrecisionError(_NO_GAIN) from None
            none = np.zeros(data.B.T.shape, dtype=np.result_type(data.A, data.B, data.Q))
            try:
                return _newton(data, np.zeros_like(data.Q), none)
            except np.linalg.LinAlgError:
                raise PrecisionError(_NO_GAIN) from None


def riccati_gain(data: RiccatiData, X: Array) -> Array:
    """K = (R + B*XB)^{-1}(B*XA + S*)."""
    BX = data.B.conj().T @ X
    return np.asarray(np.linalg.solve(data.R + BX @ data.B, BX @ data.A + data.S.conj().T))


def riccati_residual(data: RiccatiData, X: Array) -> float:
    """‖X − closed-loop form‖ relative to the norms of its terms.

    The closed-loop form (A − BK)*X(A − BK) + K*RK + Q − SK − K*S* only adds what is positive.
    """
    K = riccati_gain(data, X)
    closed = data.A - data.B @ K
    moved = closed.conj().T @ X @ closed
    stage = _stage(data, K)
    scale = np.linalg.norm(X) + np.linalg.norm(moved) + np.linalg.norm(stage)
    return float(np.linalg.norm(X - moved - stage) / scale) if scale > 0 else 0.0


def lyapunov(closed: Array, stage: Array) -> Array:
    """Σ_k closed*^k stage closed^k by repeated squaring (Smith), for a stable closed loop."""
    total, power = stage, closed
    for _ in range(_DOUBLINGS):
        step = power.conj().T @ total @ power
        total = _hermitian(total + step)
        power = power @ power
        if not np.linalg.norm(step) > _EPS * np.linalg.norm(total):
            break
    return total


def _doubled(data: RiccatiData, Q: Array) -> Array:
    from scipy.linalg import cho_factor, cho_solve

    weights = cho_factor(data.R)
    cross = cho_solve(weights, data.S.conj().T)
    A = data.A - data.B @ cross
    G = _hermitian(data.B @ cho_solve(weights, data.B.conj().T))
    H = _hermitian(Q - data.S @ cross)
    unit = np.eye(A.shape[0])
    for _ in range(_DOUBLINGS):
        if not (np.all(np.isfinite(A)) and np.all(np.isfinite(G)) and np.all(np.isfinite(H))):
            break
        half = np.linalg.solve(unit + G @ H, np.hstack([A, G]))
        moved, shared = half[:, : A.shape[0]], half[:, A.shape[0] :]
        step = _hermitian(A.conj().T @ H @ moved)
        G = _hermitian(G + A @ shared @ A.conj().T)
        A, H = A @ moved, H + step
        if np.linalg.norm(step) <= _EPS * np.linalg.norm(H):
            return H
    raise PrecisionError(
        "the Riccati iteration left the float64 range: some |λ| ≥ 1 is moved or weighed too weakly"
    )


def _newton(data: RiccatiData, X: Array, gain: Array) -> RiccatiSolution:
    best: RiccatiSolution | None = None
    for _ in range(_NEWTON_STEPS):
        closed = data.A - data.B @ gain
        if not (np.all(np.isfinite(closed)) and np.max(np.abs(np.linalg.eigvals(closed))) < 1):
            break
        after = lyapunov(closed, _stage(data, gain))
        change = float(np.linalg.norm(after - X)) / max(float(np.linalg.norm(after)), 1e-300)
        if not np.isfinite(change):
            break
        gain = riccati_gain(data, after)
        residual = riccati_residual(data, after)
        if best is not None and change >= 0.5 * best.error and best.error < 1e-6:
            break
        best, X = RiccatiSolution(after, gain, residual, max(change, _EPS)), after
        if change <= _EPS:
            break
    if best is None:
        raise PrecisionError(_NO_GAIN)
    return best


def _stage(data: RiccatiData, K: Array) -> Array:
    cross = data.S @ K
    return _hermitian(data.Q + K.conj().T @ data.R @ K - cross - cross.conj().T)


def _hermitian(matrix: Array) -> Array:
    return np.asarray(0.5 * (matrix + matrix.conj().T))
