"""Identification from the aggregate: λ and c_i b_i from inputs and outputs, with error bars."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.errors import NotIdentifiableError
from ensctl.estimation.identification import Identification
from ensctl.estimation.identification_assembly import assembled
from ensctl.estimation.identification_search import best_fit, is_exact
from ensctl.estimation.identify_arguments import Question, as_question
from ensctl.estimation.order_selection import OrderSelection, select_order
from ensctl.estimation.output_error import Fit
from ensctl.estimation.output_error_checks import UNLIKELY, residual_tests
from ensctl.estimation.pencil import ResponseSpace, response_space

Array = NDArray[Any]

_EPS = float(np.finfo(float).eps)
_ROWS = 20
# Smallest singular value, columns of length 1, that is not rounding.
_SINGULAR = 1e-13
_CONFOUNDED = 1e-5


def identify(
    outputs: ArrayLike,
    inputs: ArrayLike,
    order: int | None = None,
    *,
    initial_state: Literal["free", "zero"] = "free",
    feedthrough: bool = False,
    errors: Literal["cramer-rao", "bootstrap"] = "cramer-rao",
    level: float = 0.95,
    max_order: int = 8,
    resamples: int = 500,
    seed: int = 0,
) -> Identification:
    """Find λ and c_i b_i of a population from its aggregate output and the input it heard.

    y_t = Σ_i c_i x_{i,t} + d u_t + e_t with x_{i,t+1} = λ_i x_{i,t} + b_i u_t and white noise e.
    Only λ and the products c_i b_i (and c_i x_{i,0}) can be known: not c and b apart, and not
    which member is which; members come sorted by λ.  Members with equal λ are one.

    Parameters
    ----------
    outputs : array_like, (T,), (T+1,) or (1, T)
        y_0 …, one aggregate; real or complex.  One more output than inputs is allowed, as
        :func:`ensctl.aggregate_output` returns it: the last has no feed-through.
    inputs : array_like, (T,)
        u_0 … u_{T−1}, one channel.
    order : int, optional
        Number of members N ≥ 1.  By default the number of singular values above the noise, and
        more while the residual still depends on the input or on powers of the fitted output;
        fewer where that many are refused.
        Intervals hold for the order chosen.
    initial_state : {"free", "zero"}
        Whether c_i x_{i,0} are estimated too, or the state is known to start at 0.
    feedthrough : bool
        Whether d is estimated; otherwise d = 0.
    errors : {"cramer-rao", "bootstrap"}
        Where standard errors and intervals come from.
    level : float
        Level of the intervals that are checked, between 0 and 1.
    max_order : int
        Largest order to choose, ≥ 1, when ``order`` is not given.
    resamples : int
        Refits of the bootstrap, ≥ 100 and ≥ 5/(1 − level).
    seed : int
        Seed of the bootstrap, ≥ 0.

    Returns
    -------
    Identification
        ``lam``, ``residues``, ``lam_std``, ``residue_std``, ``interval(level)``, ``order``,
        ``noise_std``, ``singular_values``, ``notes``.

    Raises
    ------
    InvalidInputError
        An argument is not finite, has the wrong shape or is out of range.
    NotIdentifiableError
        Fewer than 3 N + 2 samples, a zero input or output, more members asked for than the data
        have, an input that does not tell residues from initial states (an impulse at t = 0, a
        constant), or intervals of two λ that overlap, do not close or hold a zero residue.

    Notes
    -----
    Start: pencil of the output Hankel matrix with the input rows removed (MOESP; exact without
    noise, unbiased by white noise).  Then output-error maximum likelihood by variable
    projection.  Without noise λ = (.2, .5, .8) comes back to 1e-12.  Standard errors are
    Cramér–Rao's, σ²(JᵀJ)⁻¹ with Student's t; an interval at whose ends the sum of squares is not
    what they promise is replaced by the profile-likelihood interval.  Coloured residuals
    enlarge the errors; residuals that depend on the input or on powers of the fitted output
    make :meth:`Identification.interval` refuse.  Covers λ = (.2, .5, .8), c b = 1, ±1 input,
    T = 1000 at 60 dB in 95 ± 2 % of trials.  O(T (20 + N)²).

    Examples
    --------
    >>> import ensctl as ec, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> u = rng.choice([-1.0, 1.0], 1000)
    >>> y = ec.aggregate_output(ec.Ensemble([0.2, 0.5, 0.8], c=1.0), u)
    >>> ec.identify(y, u).lam.round(10)
    array([0.2, 0.5, 0.8])
    >>> found = ec.identify(y + 0.002 * rng.standard_normal(1001), u)
    >>> found.order, bool(np.all(abs(found.lam - [0.2, 0.5, 0.8]) < 3 * found.lam_std))
    (3, True)
    >>> bool(np.all(found.interval(0.99).lam_low < found.lam))
    True
    """
    asked = as_question(
        outputs,
        inputs,
        order,
        initial_state,
        feedthrough,
        errors,
        level,
        max_order,
        resamples,
        seed,
    )
    space, selection = _response(asked)
    fit, chosen = _fit(asked, space, selection)
    while True:
        try:
            _refuse_singular(fit)
            return assembled(asked, fit, selection, chosen)
        except NotIdentifiableError:
            if asked.order is not None or chosen == 1:
                raise
            chosen -= 1
            fit = _searched(asked, space, chosen)


def _response(asked: Question) -> tuple[ResponseSpace, OrderSelection]:
    data, order = asked.data, asked.order
    length = data.outputs.size
    rows = min(max(_ROWS, 2 * (order or 1)), (length + 1) // 3)
    space = response_space(data.outputs, data.inputs, rows)
    selection = select_order(space, min(asked.limit, rows - 1))
    rank = int(np.sum(space.values > 100 * _EPS * np.abs(data.outputs).max()))
    if order is not None and rank == 0:
        raise NotIdentifiableError(
            "the outputs show no memory: present and past inputs explain them without any member; "
            "excite with an input that varies"
        )
    if order is not None and rank < order:
        raise NotIdentifiableError(
            f"order {order} is larger than the rank of the data, {rank}: equal λ, zero residues or "
            f"an input that excites too little; ask for {rank} or excite more"
        )
    if order is None and selection.order == 0:
        raise NotIdentifiableError(
            "no response stands out of the noise: the largest singular value is "
            f"{selection.singular_values[0] * asked.output_unit:.3g}, the noise shows "
            f"{selection.noise_floor * asked.output_unit:.3g}; excite more or give an order"
        )
    return space, selection


def _fit(asked: Question, space: ResponseSpace, selection: OrderSelection) -> tuple[Fit, int]:
    """The fit, raised in order while the residual depends on the input and it helps."""
    order = asked.order or selection.order
    fit = _searched(asked, space, order)
    highest = min(asked.limit, (asked.data.outputs.size - 2) // 3, space.values.size - 1)
    while asked.order is None and order < highest and not is_exact(fit):
        tests = residual_tests(fit)
        # A missing member shows in either: its response follows the input and the other ones.
        if min(tests.driven, tests.linear) > UNLIKELY:
            break
        larger = best_fit(asked.data, space, order + 1)
        if larger is None or larger.variance >= fit.variance:
            break
        fit, order = larger, order + 1
    return fit, order


def _searched(asked: Question, space: ResponseSpace, order: int) -> Fit:
    fit = best_fit(asked.data, space, order)
    if fit is None:
        raise NotIdentifiableError(
            f"no start with order {order} gives finite outputs: λ far outside the unit circle; "
            "take a shorter record"
        )
    return fit


def _refuse_singular(fit: Fit) -> None:
    """Refuse parameters that leave the outputs as they are when moved together."""
    values, right = fit.scaled_singular_values()
    if values[-1] > _SINGULAR * values[0]:
        return
    slots = fit.model.slots
    forced = fit.unit_columns()[:, slots : 2 * slots]
    # Residues and initial states make up for each other, or residues among themselves.
    if fit.model.data.free and np.linalg.norm(forced @ right[-1, slots : 2 * slots]) > _CONFOUNDED:
        raise NotIdentifiableError(
            "the input does not tell residues from initial states (an impulse at t = 0 or a "
            'constant does not); pass initial_state="zero" where the state starts at 0, or excite '
            "with an input that varies"
        )
    raise NotIdentifiableError(
        "some λ are too near each other, or have too little response, to be told apart; ask for a "
        "lower order or excite more"
    )
