"""The terminal equations of a steering task, reduced to independent ones: what has to be met.

x_H = Λ^H x_0 + Σ_k Λ^{H−1−k} B u_k = target is one equation Σ_k λ^{H−1−k} B u_k = d a member, with
d = target − λ^H x_0.  Members that one input cannot tell apart make equations dependent: those that
follow from the others are checked and left out, those that contradict them refuse the task.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.analysis.controllability import Controllability, controllability
from ensctl.analysis.exact_rank import independent_rows, left_null_space
from ensctl.analysis.matrices import reachability_matrix
from ensctl.analysis.real_inputs import expand_for_real_inputs
from ensctl.analysis.steering_map import require_dense_size
from ensctl.arguments import as_horizon, as_vector, read_only
from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.require import require_ensemble
from ensctl.errors import NotReachableError
from ensctl.formatting import horizon_text, listed
from ensctl.vandermonde.certified_targets import certified_displacement
from ensctl.vandermonde.singular_values import check_nodes_within_range

Array = NDArray[Any]

_EPS = float(np.finfo(float).eps)
# Rounding of the numbers that state a target, in units of ε: they may be products and powers.
_STATED = 8.0


@dataclass(frozen=True, eq=False)
class SteeringRows:
    """Independent terminal equations of one steering task.

    Attributes
    ----------
    ensemble : Ensemble
        The population.
    horizon : int
        Number of steps H.
    target, x0 : (N,)
        State asked for and initial state, of the members.
    lam, gains : (r,), (r, m)
        The rows kept; under real inputs a complex member brings its conjugate row.
    members : (r,) int
        The member behind each row.
    row_target, row_x0 : (r,)
        Target and initial state of each row, exact.
    displacement : (r,)
        d = row_target − Λ^H row_x0, each entry correctly rounded; not finite where it overflows.
    real : bool
        Whether the inputs are real: asked for, or because all data are closed under conjugation.
    verdict : Controllability
        The exact verdict of the ensemble at this horizon.
    """

    ensemble: Ensemble
    horizon: int
    target: Array
    x0: Array
    lam: Array
    gains: Array
    members: Array
    row_target: Array
    row_x0: Array
    displacement: Array
    real: bool
    verdict: Controllability

    @property
    def channels(self) -> int:
        """Number of inputs m."""
        return int(self.gains.shape[1])

    @property
    def short(self) -> bool:
        """Whether a longer horizon would reach more targets."""
        return self.verdict.rank < self.verdict.total_rank

    def matrix(self) -> Array:
        """R_H of the rows, (r, m H): columns u_0 … u_{H−1}, the channels of a step together."""
        if self.lam.size == 0:
            return np.zeros((0, self.horizon * self.channels))
        return reachability_matrix(Ensemble(self.lam, self.gains), self.horizon)


def steering_rows(
    ens: Ensemble,
    target: ArrayLike,
    horizon: int,
    x0: ArrayLike = 0.0,
    *,
    real_inputs: bool | None = None,
) -> SteeringRows:
    """Reduce a steering task to independent equations, or refuse it with the members named.

    Parameters
    ----------
    ens : Ensemble
        The population.
    target : (N,) array_like
        State to reach.
    horizon : int
        Number of steps H ≥ 1.
    x0 : scalar or (N,) array_like
        Initial state.
    real_inputs : bool, optional
        None: complex inputs, unless λ, b, target and x0 are closed under conjugation.  True: real
        inputs.

    Returns
    -------
    SteeringRows

    Raises
    ------
    InvalidInputError
        Wrong lengths, NaN, H not an integer ≥ 1.
    NotReachableError
        The target contradicts itself for members that cannot be moved independently (a difference
        within 8 ε of the stated numbers is rounding, not contradiction), or H is too short for it.
    """
    rows = _all_rows(ens, target, horizon, x0, real_inputs)
    return _independent(rows)


def all_rows(
    ens: Ensemble,
    target: ArrayLike,
    horizon: int,
    x0: ArrayLike = 0.0,
    *,
    real_inputs: bool | None = None,
) -> SteeringRows:
    """Every terminal equation, dependent ones too: for tolerances, which need not agree exactly.

    Parameters, returns and errors as for :func:`steering_rows`, except that nothing is refused as
    not reachable but targets of conjugate members that are not conjugate under real inputs.
    """
    return _all_rows(ens, target, horizon, x0, real_inputs)


def _all_rows(
    ens: Ensemble,
    target: ArrayLike,
    horizon: int,
    x0: ArrayLike,
    real_inputs: bool | None,
) -> SteeringRows:
    goal = as_vector(target, "target", size=ens.size)
    require_ensemble(ens)
    start = as_vector(x0, "x0", size=ens.size)
    steps = int(as_horizon(horizon))
    check_nodes_within_range(ens.lam)
    require_dense_size(ens.size, steps * ens.channels)
    verdict = controllability(ens, steps, real_inputs=real_inputs)

    rows = _Rows.of(ens, goal, start, bool(real_inputs))
    real = bool(real_inputs) or (real_inputs is None and _closed(ens, goal, start))
    return SteeringRows(
        ensemble=ens,
        horizon=steps,
        target=read_only(goal),
        x0=read_only(start),
        lam=rows.lam,
        gains=rows.gains,
        members=rows.members,
        row_target=rows.target,
        row_x0=rows.x0,
        displacement=_displacement(rows, steps),
        real=real,
        verdict=verdict,
    )


def _independent(rows: SteeringRows) -> SteeringRows:
    if rows.real:
        _require_conjugate_targets(rows)
    reduced = _kept(rows, _consistent_rows(rows))
    if reduced.short:
        _rows_within_horizon(reduced)
    return reduced


def within_horizon(rows: SteeringRows) -> SteeringRows:
    """As many equations as the horizon has room for; the others follow from them."""
    return _kept(rows, _rows_within_horizon(rows)) if rows.short else rows


def _kept(rows: SteeringRows, kept: Array) -> SteeringRows:
    return replace(
        rows,
        lam=rows.lam[kept],
        gains=rows.gains[kept],
        members=rows.members[kept],
        row_target=rows.row_target[kept],
        row_x0=rows.row_x0[kept],
        displacement=rows.displacement[kept],
    )


@dataclass(frozen=True, eq=False)
class _Rows:
    lam: Array
    gains: Array
    members: Array
    target: Array
    x0: Array

    @classmethod
    def of(cls, ens: Ensemble, target: Array, x0: Array, real_inputs: bool) -> _Rows:
        if not real_inputs:
            return cls(ens.lam, ens.gains, np.arange(ens.size), target, x0)
        form = expand_for_real_inputs(ens.lam, ens.gains)
        members = np.asarray(form.members)
        second = np.concatenate([[False], members[1:] == members[:-1]])
        goal, start = target[members], x0[members]
        return cls(
            form.lam,
            form.unscaled_gains,
            members,
            np.where(second, np.conj(goal), goal),
            np.where(second, np.conj(start), start),
        )


def _displacement(rows: _Rows, steps: int) -> Array:
    if not np.any(rows.x0):
        return np.asarray(rows.target)
    split = certified_displacement(rows.lam, steps, rows.target, rows.x0)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(np.ldexp(1.0, split.exponents) * split.high)


def _consistent_rows(rows: SteeringRows) -> Array:
    """Indices of independent rows; refuse what contradicts them."""
    ens, displacement = rows.ensemble, rows.displacement
    scale = np.abs(rows.row_target) + np.abs(displacement)
    slack = _EPS * (_STATED + rows.horizon)
    alive = np.any(rows.gains != 0, axis=1)
    stuck = np.flatnonzero(~alive & (np.abs(displacement) > slack * scale))
    if stuck.size:
        members = _unique(rows.members[stuck])
        raise NotReachableError(
            f"{_named(ens, members)} cannot be moved: b = 0, and the target differs from the free "
            f"motion λ^H x0; ask for that, or give a gain",
            members,
        )
    kept = np.flatnonzero(alive)
    order = kept[np.argsort(rows.lam[kept], kind="stable")]
    values = rows.lam[order]
    starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    dropped: list[int] = []
    for group in np.split(order, starts[1:]):
        if group.size == 1:
            continue
        independent = list(independent_rows(rows.gains[group]))
        if len(independent) == group.size:
            continue
        weights = left_null_space(rows.gains[group])
        defect = np.abs(weights @ displacement[group])
        allowed = slack * (np.abs(weights) @ scale[group])
        if np.any(defect > allowed):
            members = _unique(rows.members[group])
            raise NotReachableError(
                f"{_named(ens, members)} share λ = {rows.lam[group[0]]:.6g} and cannot be moved "
                f"independently: with these gains the inputs keep Σ w_i x_i fixed, and the target "
                f"changes it; change the target, λ or add a channel",
                members,
            )
        dropped.extend(np.delete(group, independent).tolist())
    return np.setdiff1d(kept, dropped)


def _rows_within_horizon(rows: SteeringRows) -> Array:
    """Indices of as many equations as a short horizon has room for, if the others follow."""
    from scipy.linalg import qr

    matrix, d = rows.matrix(), rows.displacement
    size = np.abs(matrix).max(axis=1)
    size[size == 0] = 1.0
    order = np.asarray(qr((matrix / size[:, None]).conj().T, mode="r", pivoting=True)[1])
    kept = np.sort(order[: rows.verdict.rank])
    u = np.linalg.lstsq(matrix[kept], d[kept], rcond=None)[0]
    scale = np.abs(matrix) @ np.abs(u) + np.abs(rows.row_target) + np.abs(d)
    missed = np.abs(matrix @ u - d) > 64.0 * _EPS * math.sqrt(rows.horizon) * scale
    if np.any(missed):
        needed = rows.verdict.min_horizon
        advice = "" if needed is None else f"; take at least {horizon_text(needed)}"
        members = _unique(rows.members[missed])
        raise NotReachableError(
            f"this target cannot be reached in {horizon_text(rows.horizon)}: the inputs that serve "
            f"the other members miss {_named(rows.ensemble, members)}{advice}",
            members,
        )
    return kept


def _closed(ens: Ensemble, target: Array, x0: Array) -> bool:
    """Whether λ, b, target and x0 are closed under conjugation together, exactly."""
    data = Ensemble(ens.lam, np.column_stack([ens.gains, target, x0]))
    return data.is_conjugate_closed


def _require_conjugate_targets(rows: SteeringRows) -> None:
    """Under real inputs members (λ, B) and (λ̄, B̄) move as conjugates; so must what is asked."""
    ens = rows.ensemble
    data = np.column_stack([rows.gains, rows.row_target, rows.row_x0])
    if Ensemble(rows.lam, data).is_conjugate_closed:
        return
    wrong = []
    for i in range(rows.lam.size):
        mate = (rows.lam == np.conj(rows.lam[i])) & np.all(data == np.conj(data[i]), axis=1)
        if not np.any(mate):
            wrong.append(i)
    members = _unique(rows.members[wrong])
    raise NotReachableError(
        f"real inputs keep the states of {_named(ens, members)} real, or conjugate to those of a "
        f"conjugate member; ask for such targets and initial states, or allow complex inputs",
        members,
    )


def _unique(members: Array) -> tuple[int, ...]:
    return tuple(int(member) for member in np.unique(members))


def _named(ens: Ensemble, members: tuple[int, ...]) -> str:
    if ens.names is None:
        return ("member " if len(members) == 1 else "members ") + listed(members)
    return listed([ens.label(member) for member in members])
