"""A python-control system as an ensemble: its modes are the members."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ensctl.arguments import Array, as_array, as_scalar, read_only
from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import InvalidInputError

if TYPE_CHECKING:
    from control import StateSpace

# Couplings up to so many units of rounding in A are rounding.
_ROUNDINGS = 100.0


@dataclass(frozen=True)
class Diagonalization:
    """The modes of a system, with the matrix that makes them and what it costs in accuracy.

    Attributes
    ----------
    ensemble : Ensemble
        λ, b = V⁻¹B, c = CV, d = D and dt.
    transform : ndarray, (n, n)
        V in A = V Λ V⁻¹: the states of the system from the members, ξ = V x.
    condition : float
        κ₂(V), how much of the accuracy of A is lost in λ and b; 1 if A is normal.
    lam_error_bound : float
        Every eigenvalue of A is within this distance of some λ (Bauer–Fike); 0 if A already was
        diagonal, or made of 2×2 blocks [[σ, −ω], [ω, σ]].
    """

    ensemble: Ensemble
    transform: Array
    condition: float
    lam_error_bound: float


def diagonalize(sys: StateSpace, *, max_condition: float = 1e8) -> Diagonalization:
    """Diagonalise a discrete-time system: A = V Λ V⁻¹, b = V⁻¹B, c = CV.

    Parameters
    ----------
    sys : control.StateSpace
        Discrete time; ``dt=True`` (period not said) is read as 1.
    max_condition : float
        Largest κ₂(V) that is accepted, ≥ 1.

    Returns
    -------
    Diagonalization
        Conjugate pairs stand next to each other and are exact conjugates.

    Raises
    ------
    InvalidInputError
        Not a discrete-time state-space system, or no states; κ₂(V) > ``max_condition``, or two
        eigenvalues that rounding cannot tell apart belong to coupled modes: then A is defective
        or nearly so, and no ensemble stands for it.

    Notes
    -----
    Where A already is diagonal, or made of 2×2 blocks [[σ, −ω], [ω, σ]], λ and b are copied
    without rounding.  Otherwise the columns of V have norm 1 and λ is as good as
    ``lam_error_bound``; equal eigenvalues of A rarely come out equal, and couplings between them
    up to 100 n ε‖A‖ are taken for rounding.  Cost O(n³).

    Source: F. L. Bauer, C. T. Fike, "Norms and exclusion theorems", Numer. Math. 2 (1960).

    Examples
    --------
    >>> import control
    >>> from ensctl.ensemble.diagonalization import diagonalize
    >>> modes = diagonalize(control.ss([[0.5, 1.0], [0.0, 0.2]], [[0], [1]], [[1, 0]], 0, 1.0))
    >>> modes.ensemble.lam, modes.condition
    (array([0.5, 0.2]), 6.813...)
    """
    limit = as_scalar(max_condition, "max_condition", at_least=1.0)
    A, B, C, D, dt = _matrices(sys)
    copied = _copied_modes(A)
    if copied is not None:
        lam, V, inverse = copied
        b, c, condition, error = inverse @ B, C @ V, 1.0, 0.0
    else:
        lam, V, b, condition, error = _computed_modes(A, B, limit)
        c = _conjugate_pairs(lam, (C @ V).T).T
    ensemble = Ensemble(
        lam,
        b[:, 0] if b.shape[1] == 1 else b,
        c[0] if c.shape[0] == 1 else c,
        D[0, 0] if D.size == 1 else D,
        dt=dt,
    )
    return Diagonalization(ensemble, read_only(V), condition, error)


def _matrices(sys: Any) -> tuple[Array, Array, Array, Array, float]:
    from control import StateSpace

    if not isinstance(sys, StateSpace):
        raise InvalidInputError(
            f"sys must be a control.StateSpace, got {type(sys).__name__}; convert it by control.ss"
        )
    if sys.dt is None:
        raise InvalidInputError(
            "sys must be discrete-time, got no dt; give one, as in control.ss(A, B, C, D, 1.0)"
        )
    if sys.dt is not True and sys.dt == 0:
        raise InvalidInputError(
            "sys must be discrete-time, got continuous time (dt = 0); sample it by "
            "control.sample_system(sys, dt), or give its rates to Ensemble.from_continuous"
        )
    if sys.nstates == 0 or sys.ninputs == 0 or sys.noutputs == 0:
        raise InvalidInputError(
            f"sys must have states, inputs and outputs, got {sys.nstates}, {sys.ninputs} and "
            f"{sys.noutputs}; an ensemble has at least one member"
        )
    names = ("A", "B", "C", "D")
    A, B, C, D = (as_array(getattr(sys, name), f"sys.{name}") for name in names)
    return A, B, C, D, float(sys.dt)


def _copied_modes(A: Array) -> tuple[Array, Array, Array] | None:
    """λ, V and V⁻¹ where A is diagonal or made of blocks [[σ, −ω], [ω, σ]]; else None."""
    n = len(A)
    rest = A.copy()
    np.fill_diagonal(rest, 0.0)
    if not np.any(rest):
        return np.diag(A).copy(), np.eye(n), np.eye(n)
    lower = np.diag(A, -1)
    first = np.flatnonzero(lower)
    second = first + 1
    rest[second, first] = rest[first, second] = 0.0
    blocks = (
        not np.any(rest)
        and not np.any(np.isin(first, second))
        and np.array_equal(A[first, second], -lower[first])
        and np.array_equal(A[first, first], A[second, second])
    )
    if not blocks:
        return None
    lam = np.diag(A).astype(np.complex128)
    lam[first] += 1j * lower[first]
    lam[second] -= 1j * lower[first]
    inverse = np.eye(n, dtype=np.complex128)
    # ξ₁ + jξ₂ is the first member of a block, ξ₁ − jξ₂ the second.
    inverse[first, second], inverse[second, first], inverse[second, second] = 1j, 1.0, -1j
    V = np.eye(n, dtype=np.complex128)
    V[first, first], V[first, second], V[second, first], V[second, second] = 0.5, 0.5, -0.5j, 0.5j
    return lam, V, inverse


def _computed_modes(A: Array, B: Array, limit: float) -> tuple[Array, Array, Array, float, float]:
    """λ, V, V⁻¹B, κ₂(V) and the error bound of λ."""
    from scipy import linalg

    # A symmetric matrix has orthogonal eigenvectors even where eigenvalues repeat; eig loses them.
    lam, V = linalg.eigh(A) if np.array_equal(A, A.T) else linalg.eig(A)
    if not np.any(lam.imag):
        lam, V = lam.real, np.real(V)
    spread = linalg.svdvals(V)
    condition = float(spread[0] / spread[-1]) if spread[-1] > 0 else math.inf
    if not condition <= limit:
        raise InvalidInputError(
            f"sys must have a basis of eigenvectors with condition number ≤ {limit:.3g}, got "
            f"{condition:.3g}: A is defective or nearly so; separate its eigenvalues, or keep the "
            f"system as it is"
        )
    scale = float(linalg.norm(A, 2))
    rounding = len(A) * np.finfo(float).eps * scale
    _require_separate_modes(A, lam, V, condition, rounding)
    b = _conjugate_pairs(lam, linalg.solve(V, B.astype(V.dtype)))
    residual = float(linalg.norm(A @ V - V * lam, 2)) + rounding * float(spread[0])
    return lam, V, b, condition, float(condition * residual / spread[-1])


def _require_separate_modes(
    A: Array, lam: Array, V: Array, condition: float, rounding: float
) -> None:
    """Refuse modes whose λ are equal to rounding while A does more than multiply their plane by λ.

    LAPACK perturbs a defective matrix until it has eigenvectors, and with a small coupling these
    look well-conditioned: [[1, 1e-9], [0, 1]] gives κ(V) = 9e6.
    """
    for i in range(len(lam) - 1):
        for j in i + 1 + np.flatnonzero(np.abs(lam[i + 1 :] - lam[i]) <= condition * rounding):
            plane = np.linalg.qr(V[:, np.array([i, j])])[0]
            coupling = plane.conj().T @ A @ plane - 0.5 * (lam[i] + lam[j]) * np.eye(2)
            size = float(np.linalg.norm(coupling, 2))
            if size > _ROUNDINGS * rounding:
                raise InvalidInputError(
                    f"sys must have modes that can be told apart, got the eigenvalues {lam[i]:.6g} "
                    f"and {lam[j]:.6g} coupled by {size:.3g} (condition number {condition:.3g}): A "
                    f"is defective or nearly so; separate its eigenvalues, or keep the system as "
                    f"it is"
                )


def _conjugate_pairs(lam: Array, rows: Array) -> Array:
    """Rows of modes of a real system: real for real λ, exact conjugates for conjugate λ."""
    if not np.iscomplexobj(lam):
        return rows
    # LAPACK puts the member with Im λ > 0 first.
    upper = np.flatnonzero(lam.imag > 0)
    made: Array = np.where(lam.imag[:, np.newaxis] == 0, rows.real, rows)
    made[upper + 1] = made[upper].conj()
    return made
