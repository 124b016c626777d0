"""Convert what a receding-horizon controller is given at a step."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_array, as_vector
from ensctl.ensemble.compression import CompressedEnsemble
from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import InvalidInputError
from ensctl.synthesis.mpc_state import MPCState

Array = NDArray[Any]


def over_horizon(value: ArrayLike, name: str, rows: int, horizon: int) -> Array:
    """Values in time order, rows of a step together, (rows · H,); held where no times are given.

    Raises
    ------
    InvalidInputError
        Not real and finite, or not scalar, (rows,), (H,) for one row, or (rows, H).

    Examples
    --------
    >>> from ensctl.synthesis.mpc_arguments import over_horizon
    >>> over_horizon([1.0, 2.0], "reference", 2, 3)
    array([1., 2., 1., 2., 1., 2.])
    """
    values = as_array(value, name, real=True)
    if values.ndim == 0:
        return np.full(rows * horizon, float(values))
    if rows == 1 and values.shape == (horizon,):
        return values
    if values.shape == (rows,):
        return np.tile(values, horizon)
    if values.shape == (rows, horizon):
        return np.asarray(values.T.ravel())
    raise InvalidInputError(
        f"{name} must be a scalar, ({rows},) or ({rows}, {horizon}), got shape {values.shape}"
    )


def as_present(ens: Ensemble, x: ArrayLike) -> Array:
    """x_t of the ensemble, or of the source it was compressed from, as a state of the ensemble.

    Raises
    ------
    InvalidInputError
        Not finite, or of neither size.
    """
    state = as_array(x, "x")
    if isinstance(ens, CompressedEnsemble) and state.shape == (ens.source.size,):
        return ens.project(state)
    return as_vector(state, "x", size=ens.size)


def as_outputs(output: ArrayLike | None, count: int) -> Array:
    """Measured outputs, (p,); NaN where they are missing."""
    if output is None:
        return np.full(count, np.nan)
    try:
        if np.iscomplexobj(output):
            raise TypeError
        with np.errstate(all="ignore"):
            values = np.ma.filled(np.ma.asarray(output).astype(float), np.nan)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInputError(
            f"output must be {count} real numbers, NaN where missing, got {output!r}"
        ) from None
    if values.ndim == 0 and count == 1:
        values = values.reshape(1)
    if values.shape != (count,):
        raise InvalidInputError(f"output must have {count} entries, got shape {values.shape}")
    if np.isinf(values).any():
        raise InvalidInputError("output must be finite, or NaN where missing, got inf")
    return values


def require_estimator(ens: Ensemble, estimator: Any) -> None:
    """Refuse what is not an estimator of this very ensemble.

    Raises
    ------
    InvalidInputError
        Another type, or another ensemble.
    """
    from ensctl.estimation.estimator import AggregateEstimator

    if not isinstance(estimator, AggregateEstimator):
        raise InvalidInputError(
            f"estimator must be an AggregateEstimator, got {type(estimator).__name__}; make one of "
            f"the same ensemble"
        )
    if estimator.ens != ens:
        raise InvalidInputError(
            "estimator must be of the same ensemble as MPC; make both of the same one"
        )


def require_own_state(state: Any, inputs: int, outputs: int, rows: int) -> None:
    """Refuse what is not a state of this controller.

    Raises
    ------
    InvalidInputError
        Another type, or the state of a controller of another size.
    """
    if not isinstance(state, MPCState):
        raise InvalidInputError(
            f"state must be an MPCState, got {type(state).__name__}; start with init()"
        )
    known = rows if state._multipliers is None else state._multipliers.size
    if (state.u.size, state.outputs.shape[0], known) != (inputs, outputs, rows):
        raise InvalidInputError(
            "state must come from this MPC, got that of another one; start with init()"
        )


def require_real_response(ens: Ensemble) -> None:
    """Refuse an ensemble whose aggregate is complex for real inputs.

    Raises
    ------
    InvalidInputError
        λ, B and C are neither real nor closed under conjugation.
    """
    if ens.is_real and not np.iscomplexobj(ens.d):
        return
    for row in ens.output_weights:
        products = np.column_stack([ens.gains, row])
        if not Ensemble(ens.lam, products).is_conjugate_closed or np.iscomplexobj(ens.d):
            raise InvalidInputError(
                "ens must be real, or closed under conjugation with b and c, for real inputs and "
                "outputs; add the conjugate members"
            )
