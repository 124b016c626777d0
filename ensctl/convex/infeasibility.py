"""Proofs that no input meets the target and the limits.

Multipliers y_j of the row blocks M_j u − t_j in E_j, u in a domain U, prove infeasibility when

    margin = Σ_j [y_jᵀt_j + floor_j(y_j)] − max_{u in U} gᵀu  > 0,    g = Σ_j M_jᵀ y_j.

For R u = d and l ≤ u ≤ h this reads ηᵀd > Σ_k max(l_k g_k, h_k g_k), g = Rᵀη.  The margin is
computed in float64 with a bound of its rounding error; where that does not decide, exactly, in
rational numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.convex.domains import Box, Domain
from ensctl.convex.exact_multipliers import exact_proof
from ensctl.convex.implied_bounds import implied_bounds
from ensctl.convex.lq import LQ
from ensctl.convex.rows import Rows
from ensctl.convex.stacking import moduli

Array = NDArray[Any]

_EPS = float(np.finfo(float).eps)
# Below it floats lose digits.
_NORMAL = float(np.finfo(float).tiny)


@dataclass(frozen=True, eq=False)
class InfeasibilityCertificate:
    """Multipliers that prove infeasibility, and how they were checked.

    Attributes
    ----------
    eta : (N,) float64
        Multipliers of R u − d, rounded where the proof is rational.
    multipliers : tuple of arrays
        Of the limits, one per block, signed so that y ≤ 0 for inequalities.
    margin : float
        Positive when verified; for multipliers with max|y| = 1 (½ to 1 when rational).
    error_bound : float
        The true margin is at least ``margin`` − ``error_bound``; 0 when computed exactly.
    arithmetic : str
        "float64", "rational", or "none" when nothing was proved.
    exact : tuple of tuples of Fraction
        The multipliers the rational proof is about, target first; empty for float64.  Check them
        with :func:`ensctl.convex.exact_margin`.
    """

    eta: Array
    multipliers: tuple[Array, ...]
    margin: float
    error_bound: float
    arithmetic: str
    exact: tuple[tuple[Fraction, ...], ...] = ()

    @property
    def verified(self) -> bool:
        """True when the margin exceeds its error bound."""
        return self.margin > self.error_bound


def infeasibility_certificate(
    terminal: Rows,
    system: LQ,
    eta: Array,
    domain: Domain,
    *,
    limits: tuple[Rows, ...] = (),
    multipliers: tuple[Array, ...] = (),
    exact: bool = True,
) -> InfeasibilityCertificate:
    """Check that no u in the domain meets the target and the limits.

    Parameters
    ----------
    terminal : Rows
        The data the proof is about: R, d and the terminal region; ``terminal.exact`` supplies
        the true rows where R holds rounded powers.
    system : LQ
        R = L Qᵀ.
    eta : (N,) float64
        Candidate multipliers of Qᵀu = c, from :func:`ensctl.convex.newton_box` or a program.
    domain : Box or Discs
    limits, multipliers : tuples
        Slew, state and output limits with their candidate multipliers.
    exact : bool
        Whether rational arithmetic may be used when float64 does not decide.  It also needs
        exact rows for every block whose floats are rounded.

    Returns
    -------
    InfeasibilityCertificate
        ``verified`` is False when the candidate proves nothing; that says nothing about
        feasibility.

    Notes
    -----
    float64: O(N n), with true rows rounded once where they are known; where inputs lack limits,
    limits on states or outputs that determine them stand in
    (:mod:`ensctl.convex.implied_bounds`).  Rational: R_Pᵀy = g_P is solved for N anchor columns
    P of Rᵀ, so that the conditioning of R does not matter, and everything after that is exact.

    Source: Rockafellar, Convex Analysis, §§21–22 (theorems of the alternative).

    Examples
    --------
    Three inputs of at most 0.3 do not add up to 1:

    >>> import numpy as np
    >>> from ensctl.convex import Rows, Zero, box, infeasibility_certificate, lq, newton_box
    >>> R, d, limits = np.ones((1, 3)), np.array([1.0]), box(-0.3, 0.3, 3)
    >>> system = lq(R)
    >>> found = newton_box(system.basis, system.coordinates(d), limits)
    >>> proof = infeasibility_certificate(Rows(R, d, Zero()), system, found.multipliers, limits)
    >>> proof.verified, round(proof.margin, 6), proof.arithmetic
    (True, 0.1, 'float64')
    """
    peak = max([float(np.abs(y).max(initial=0.0)) for y in (eta, *multipliers)])
    if not 0.0 < peak < math.inf:
        return InfeasibilityCertificate(eta, multipliers, -math.inf, 0.0, "none")
    eta = eta / peak
    allowed = tuple(
        rows.region.admissible(y / peak) for rows, y in zip(limits, multipliers, strict=True)
    )
    blocks, parts = (terminal, *limits), (system.multipliers(eta), *allowed)
    margin, bound = float_margin(blocks, parts, domain)
    if margin > bound:
        return _in_floats(parts, margin, bound)
    known = all(rows.exact is not None or rows.rounding == 0.0 for rows in blocks)
    proof = exact_proof(blocks, allowed, system, eta, domain) if exact and known else None
    if proof is None:
        blocks = tuple(_sharpened(rows) for rows in blocks) if exact else blocks
        # Only a gradient that is zero exactly survives unlimited inputs: limit them by the rows.
        limited = None if domain.bounded.all() else implied_bounds(blocks, domain)
        margin, bound = float_margin(blocks, parts, domain if limited is None else limited)
        if margin > bound:
            return _in_floats(parts, margin, bound)
    if proof is None:
        return InfeasibilityCertificate(parts[0], allowed, margin, bound, "none")
    rounded = tuple(np.array([float(y) for y in part]) for part in proof.parts)
    return InfeasibilityCertificate(
        rounded[0], rounded[1:], float(proof.margin), 0.0, "rational", proof.parts
    )


def _sharpened(rows: Rows) -> Rows:
    """The block with its true entries rounded once, where they are known and in range."""
    if rows.exact is None or rows.rounding <= _EPS:
        return rows
    entries, ends = rows.exact()
    try:
        matrix = np.array([[float(entry) for entry in row] for row in entries])
        target = np.array([float(end) for end in ends])
    except OverflowError:
        return rows
    lost = any(0 < abs(entry) < _NORMAL for row in (*entries, ends) for entry in row)
    return rows if lost else replace(rows, matrix=matrix, target=target, rounding=_EPS, exact=None)


def _in_floats(parts: tuple[Array, ...], margin: float, bound: float) -> InfeasibilityCertificate:
    """The float64 proof, for multipliers with max|y| = 1."""
    scale = float(max(np.abs(y).max(initial=0.0) for y in parts))
    return InfeasibilityCertificate(
        parts[0] / scale,
        tuple(y / scale for y in parts[1:]),
        margin / scale,
        bound / scale,
        "float64",
    )


def float_margin(
    blocks: tuple[Rows, ...], parts: tuple[Array, ...], domain: Domain
) -> tuple[float, float]:
    """A margin m and a bound b with true margin ≥ m − b; m is −inf where nothing is proved.

    Every sum of k products is taken with the bound γ_k Σ|·|, γ_k = k ε/(1 − k ε) (Higham, Accuracy
    and Stability of Numerical Algorithms, §3.1), whatever order it is added in.
    """
    total = sum(rows.count for rows in blocks)
    count = total + domain.size
    gradient, gradient_error = np.zeros(domain.size), np.zeros(domain.size)
    gain, magnitude, data_error = 0.0, 0.0, 0.0
    for rows, y in zip(blocks, parts, strict=True):
        pulled, size = rows.pulled(y), rows.magnitude(y)
        gradient += pulled
        gradient_error += _product(size, np.asarray(_gamma(total + 2) + rows.rounding))
        floor = rows.region.floor(y)
        gain += float(rows.target @ y) + floor
        terms = float(np.abs(rows.target) @ np.abs(y))
        magnitude += terms + abs(floor)
        data_error += rows.rounding * terms if terms else 0.0
    if isinstance(domain, Box):
        # The worst case over everything the gradient could be.
        ends = np.stack([gradient - gradient_error, gradient + gradient_error])
        sides = np.maximum(_product(ends, domain.lower), _product(ends, domain.upper))
        reach = float(sides.max(axis=0).sum())
        spread = float(np.abs(sides).max(axis=0).sum())
    else:
        sides = _product(moduli(gradient) + moduli(gradient_error), domain.radius)
        reach = spread = float(sides.sum())
    if not (math.isfinite(reach) and math.isfinite(gain) and math.isfinite(data_error)):
        return -math.inf, 0.0
    return gain - reach, 2.0 * data_error + 2.0 * _gamma(count + 4) * (magnitude + spread)


def _product(gradient: Array, limit: Array) -> Array:
    """gradient · limit with 0 · inf = 0."""
    with np.errstate(invalid="ignore", over="ignore"):
        return np.where((gradient == 0.0) | (limit == 0.0), 0.0, gradient * limit)


def _gamma(count: int) -> float:
    return count * _EPS / (1.0 - count * _EPS)
