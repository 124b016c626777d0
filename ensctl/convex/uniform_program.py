"""Uniform approximation on points with limited inputs, as a cone program with proved bounds.

|g_i − (R u)_i| ≤ t in every point and |u_k| ≤ ū; one of t, max|u| and ‖u‖² is made least.  For any
weights w with Σ|w_i| = 1, Hölder's inequality gives

    t ≥ Re Σ w̄_i g_i − ū Σ_k |(R* w)_k|,

and the like for the other two; the multipliers of the solver are good weights, and the bound is
computed from them afresh.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.convex.modelling import modelling
from ensctl.convex.solvers import Ability, able_backends
from ensctl.errors import SolverError

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class UniformSolution:
    """Inputs, and a bound that no inputs pass.

    Attributes
    ----------
    inputs : (H,) array or None
        None where the solver found the tolerance out of reach.
    value : float
        max|g − R u|, max|u| or ‖u‖² of ``inputs``; inf without any.
    lower_bound : float
        No inputs within the limits have less, recomputed from ``weights``.
    weights : (n,) array
        Of the points.
    """

    inputs: Array | None
    value: float
    lower_bound: float
    weights: Array


def least_error(rows: Array, wanted: Array, u_max: float | None) -> UniformSolution:
    """min max_i |g_i − (R u)_i| with |u_k| ≤ ū.

    Parameters
    ----------
    rows : (n, H) array
        R.
    wanted : (n,) array
        g.
    u_max : float, optional
        ū; without it the program is solved in an orthonormal basis of the columns of R.

    Returns
    -------
    UniformSolution

    Raises
    ------
    SolverError
        Every able solver stopped short.
    """
    if u_max is None:
        return _free_error(rows, wanted)
    cvxpy = modelling()
    real = not (np.iscomplexobj(rows) or np.iscomplexobj(wanted))
    # In units of ū and of the largest wanted value, so that the solver sees ones.
    size = float(np.abs(wanted).max()) or 1.0
    v = cvxpy.Variable(rows.shape[1], complex=not real)
    t = cvxpy.Variable()
    misses = cvxpy.abs(wanted / size - (rows * (u_max / size)) @ v) <= t
    problem = cvxpy.Problem(cvxpy.Minimize(t), [misses, cvxpy.abs(v) <= 1])
    word = _solved(problem, real)
    if v.value is None:
        raise SolverError(f"no solver found inputs for the least error ({word})")
    inputs = _clipped(np.asarray(v.value) * u_max, u_max)
    error = wanted - rows @ inputs
    weights = _weights(misses.dual_value, error)
    return UniformSolution(
        inputs,
        float(np.abs(error).max()),
        _bound(rows, wanted, weights, u_max),
        weights,
    )


def least_cost(
    rows: Array, wanted: Array, tolerance: float, objective: str, u_max: float | None
) -> UniformSolution:
    """min ‖u‖² ("energy") or max|u| ("peak") with |g_i − (R u)_i| ≤ ε and |u_k| ≤ ū.

    Parameters
    ----------
    rows, wanted : arrays
        R and g.
    tolerance : float
        ε.
    objective : {"energy", "peak"}
    u_max : float, optional
        ū.

    Returns
    -------
    UniformSolution
        Without inputs where the solver says that there are none.
    """
    cvxpy = modelling()
    real = not (np.iscomplexobj(rows) or np.iscomplexobj(wanted))
    size = float(np.linalg.norm(np.linalg.lstsq(rows, wanted, rcond=1e-10)[0])) or 1.0
    v = cvxpy.Variable(rows.shape[1], complex=not real)
    scale = max(tolerance, 1e-12)
    misses = cvxpy.abs(wanted / scale - (rows * (size / scale)) @ v) <= tolerance / scale
    limits = [misses] if u_max is None else [misses, cvxpy.abs(v) <= u_max / size]
    cost = cvxpy.norm(v, 2) if objective == "energy" else cvxpy.max(cvxpy.abs(v))
    problem = cvxpy.Problem(cvxpy.Minimize(cost), limits)
    word = _solved(problem, real and objective == "peak")
    if v.value is None or "infeasible" in word:
        return UniformSolution(None, np.inf, 0.0, np.zeros(wanted.size))
    inputs = np.asarray(v.value) * size
    if u_max is not None:
        inputs = _clipped(inputs, u_max)
    error = wanted - rows @ inputs
    weights = _weights(misses.dual_value, error)
    value = float(np.linalg.norm(inputs) ** 2 if objective == "energy" else np.abs(inputs).max())
    bound = 0.0
    if u_max is None or objective == "peak":
        image = rows.conj().T @ weights
        linear = float(np.real(np.vdot(weights, wanted))) - tolerance
        norm = float(np.linalg.norm(image) if objective == "energy" else np.abs(image).sum())
        bound = max(linear, 0.0) / norm if norm > 0 else 0.0
        bound = bound**2 if objective == "energy" else bound
    return UniformSolution(inputs, value, bound, weights)


def _free_error(rows: Array, wanted: Array) -> UniformSolution:
    """Without limits: in a basis Q of the columns, around the least squares fit."""
    cvxpy = modelling()
    basis, factor = np.linalg.qr(rows)
    fit = basis.conj().T @ wanted
    rest = wanted - basis @ fit
    size = float(np.abs(rest).max())
    if size <= 1e-14 * float(np.abs(wanted).max()) or rows.shape[0] <= rows.shape[1]:
        inputs = np.linalg.lstsq(factor, fit, rcond=None)[0]
        return UniformSolution(inputs, size, 0.0, np.zeros(wanted.size))
    real = not (np.iscomplexobj(rows) or np.iscomplexobj(wanted))
    v, t = cvxpy.Variable(rows.shape[1], complex=not real), cvxpy.Variable()
    misses = cvxpy.abs(rest / size - basis @ v) <= t
    word = _solved(cvxpy.Problem(cvxpy.Minimize(t), [misses]), real)
    if v.value is None:
        raise SolverError(f"no solver found inputs for the least error ({word})")
    coordinates = fit + size * np.asarray(v.value)
    error = rest - size * (basis @ np.asarray(v.value))
    weights = _weights(misses.dual_value, error)
    # What the columns see of the weights is rounding and tolerance: take it off exactly.
    weights = weights - basis @ (basis.conj().T @ weights)
    weights = weights / float(np.abs(weights).sum())
    bound = abs(complex(np.vdot(weights, rest)))
    inputs = np.linalg.lstsq(factor, coordinates, rcond=None)[0]
    return UniformSolution(inputs, float(np.abs(error).max()), bound, weights)


def _solved(problem: Any, linear: bool) -> str:
    cvxpy = modelling()
    words = []
    backends = able_backends(Ability.LP if linear else Ability.SOCP)
    # Errors of one size everywhere, as on a whole circle, can stop a solver short of its goal:
    # then it gets a nearer one.  Inaccuracy is measured afterwards, against the data.
    for backend, looser in [(one, 1.0) for one in backends] + [(one, 100.0) for one in backends]:
        settings = {
            key: value * looser if key.startswith("tol_") else value
            for key, value in backend.settings(None, None).items()
        }
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                problem.solve(solver=backend.cvxpy_name, **settings)
        except cvxpy.error.SolverError as error:
            words.append(f"{backend.name}: {error}")
            continue
        words.append(f"{backend.name}: {problem.status}")
        if problem.status in ("optimal", "optimal_inaccurate", "infeasible"):
            break
    return "; ".join(words)


def _weights(multipliers: Any, error: Array) -> Array:
    """w_i with the phase of the error and the size of the multiplier, Σ|w_i| = 1."""
    size = np.abs(np.asarray(multipliers)).ravel()
    total = float(size.sum())
    if total == 0.0:
        return np.zeros(error.size)
    modulus = np.abs(error)
    phase = np.divide(error, modulus, out=np.zeros_like(error), where=modulus > 0)
    return np.asarray(phase * (size / total))


def _bound(rows: Array, wanted: Array, weights: Array, u_max: float) -> float:
    seen = float(np.abs(rows.conj().T @ weights).sum())
    return max(0.0, float(np.real(np.vdot(weights, wanted))) - u_max * seen)


def _clipped(inputs: Array, u_max: float) -> Array:
    """Inputs within |u| ≤ ū exactly."""
    size = np.abs(inputs)
    out = np.where(size > u_max, inputs * (u_max / np.maximum(size, u_max)), inputs)
    # The product may round upwards.
    return np.asarray(np.where(np.abs(out) > u_max, out * (1.0 - 2.0**-52), out))
