"""Acceptance from mean lengths at several depths, without counters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ensctl.arguments import Array, as_scalar, as_vector
from ensctl.drafting.acceptance import IID, AcceptanceModel
from ensctl.drafting.acceptance_positions import PerPosition
from ensctl.drafting.acceptance_renewal import MarkovRenewal
from ensctl.drafting.convention import as_depth
from ensctl.errors import InvalidInputError

# (logit u, logit v) to start from.
_STARTS = ((0.0, 0.0), (2.0, -2.0), (-1.0, 1.0))
_EDGE = 30.0

# Tolerances by which Markov renewal must miss before it is given up.
_CLEARLY = 5.0


def fit_lengths(
    depths: Sequence[int], lengths: ArrayLike, *, tolerance: float = 0.005
) -> tuple[AcceptanceModel, str]:
    """Fit i.i.d. or Markov renewal to mean lengths E[with bonus] at several depths.

    Least squares in ln E; i.i.d. where it is within ``tolerance`` at every depth.  Where renewal
    misses clearly and first units that are surer than later ones do not, those.

    Parameters
    ----------
    depths : sequence of int
        K ≥ 1.
    lengths : array_like
        Tokens per cycle at each depth, the bonus included; NaN entries are left out.
    tolerance : float
        Relative error up to which i.i.d. is as good.

    Returns
    -------
    (AcceptanceModel, str)
        The model and the reason for it.

    Raises
    ------
    InvalidInputError
        No depth with a length, or a length ≤ 0.

    Examples
    --------
    >>> from ensctl.drafting import fit_lengths
    >>> model, reason = fit_lengths([1, 3], [1.6, 2.176])
    >>> print(round(model.alpha, 6), "-", reason)
    0.6 - i.i.d. meets every length within 0.5 %
    >>> fit_lengths([1, 3], [1.12, 1.26])[0].u > 0.7
    True
    """
    if not isinstance(depths, Iterable):
        raise InvalidInputError(f"depths must be one K per length, got {depths!r}")
    axis = np.array([as_depth(depth, "depths", minimum=1) for depth in depths])
    try:
        values = np.asarray(lengths, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInputError(f"lengths must be numbers, got {lengths!r}") from None
    close = as_scalar(tolerance, "tolerance", above=0)
    if values.shape != axis.shape:
        raise InvalidInputError(f"lengths must have one entry per depth, got {values.shape}")
    known = np.isfinite(values)
    if not known.any():
        raise InvalidInputError("lengths must be known at one depth at least, got none")
    measured = as_vector(values[known], "lengths", real=True)
    if np.any(measured <= 0):
        raise InvalidInputError("lengths must be > 0")
    axis = axis[known]
    alpha, misfit = _iid(axis, measured)
    if axis.size < 2:
        return IID(alpha), "i.i.d. is assumed: one depth does not identify dependence"
    if misfit <= close:
        return IID(alpha), f"i.i.d. meets every length within {100 * close:g} %"
    model, remaining = _renewal(axis, measured)
    if remaining > _CLEARLY * close:
        # Renewal ties how cycles begin to how they go on; a surer first unit breaks the tie.  The
        # noise of a benchmark alone must not.
        uneven, left = _first_unit(axis, measured)
        if left <= close and uneven.alphas[0] > (uneven.tail or 0.0):
            return uneven, (
                f"i.i.d. misses lengths by {100 * misfit:.2g} % and Markov renewal by "
                f"{100 * remaining:.2g} %; surer first units meet every length"
            )
    if remaining >= misfit:
        return IID(alpha), f"Markov renewal fits no better than i.i.d., {100 * misfit:.2g} % off"
    return model, (
        f"i.i.d. misses lengths by {100 * misfit:.2g} %, Markov renewal by {100 * remaining:.2g} %"
    )


def _iid(depths: Array, lengths: Array) -> tuple[float, float]:
    from scipy.optimize import minimize_scalar

    def errors(alpha: float) -> Array:
        modelled = [float(np.sum(alpha ** np.arange(depth + 1.0))) for depth in depths]
        return np.log(np.array(modelled) / lengths)

    found = minimize_scalar(
        lambda alpha: float(np.sum(errors(alpha) ** 2)),
        bounds=(0.0, 1.0),
        method="bounded",
        options={"xatol": 1e-12},
    )
    alpha = float(found.x)
    return alpha, float(np.max(np.abs(errors(alpha))))


def _renewal(depths: Array, lengths: Array) -> tuple[MarkovRenewal, float]:
    def first(u: float, v: float) -> Array:
        return np.asarray(v / (1.0 - u**depths * (u - v)))

    (u, v), misfit = _two_shares(depths, lengths, first)
    return MarkovRenewal(u, v), misfit


def _first_unit(depths: Array, lengths: Array) -> tuple[PerPosition, float]:
    (later, first), misfit = _two_shares(depths, lengths, lambda _, first: np.asarray(first))
    return PerPosition((first,), tail=later), misfit


def _two_shares(
    depths: Array, lengths: Array, first: Callable[[float, float], Array]
) -> tuple[tuple[float, float], float]:
    """(u, v) of E = 1 + s_1(u, v)(1 + u + … + u^{K−1}) by least squares in ln E, and the misfit."""
    from scipy.optimize import least_squares

    exponents = np.arange(float(depths.max()))
    inside = exponents < depths[:, None]
    logarithms = np.log(lengths)

    def errors(point: Array) -> Array:
        u, v = 1.0 / (1.0 + np.exp(-point))
        sums = np.sum(inside * u**exponents, axis=1)
        return np.asarray(np.log1p(first(u, v) * sums) - logarithms)

    found = min(
        (
            least_squares(errors, start, bounds=(-_EDGE, _EDGE), xtol=1e-12, max_nfev=200)
            for start in _STARTS
        ),
        key=lambda result: float(result.cost),
    )
    u, v = 1.0 / (1.0 + np.exp(-found.x))
    return (float(u), float(v)), float(np.max(np.abs(found.fun)))
