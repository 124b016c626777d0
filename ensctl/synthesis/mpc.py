"""Model-predictive control of a population: a plan at every step, of which the first input acts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_count, as_horizon, as_scalar, as_vector, read_only
from ensctl.convex.mpc_program import RecedingSolution, solve_receding
from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.require import require_ensemble
from ensctl.errors import InvalidInputError, PrecisionError
from ensctl.status import Status
from ensctl.synthesis.limits import Limits
from ensctl.synthesis.mpc_arguments import (
    as_outputs,
    as_present,
    over_horizon,
    require_estimator,
    require_own_state,
    require_real_response,
)
from ensctl.synthesis.mpc_state import MPCState
from ensctl.synthesis.mpc_weights import Horizon, condensed

if TYPE_CHECKING:
    from ensctl.estimation.estimator import AggregateEstimator
    from ensctl.estimation.estimator_state import EstimatorState

Array = NDArray[Any]

_FREE = Limits()
_LARGEST = 1e150


@dataclass(frozen=True, eq=False)
class MPC:
    """Receding-horizon control of an ensemble from its state or from its aggregate alone.

    At step t it minimises, over u_t … u_{t+H−1},

    Σ w_y (y_{t+k} − r_{t+k})² + Σ_{k=1}^{H} w_x |x_{t+k} − x*|² + w_H |x_{t+H} − x*|²
    + Σ w_u u² + Σ w_Δ (u_{t+k} − u_{t+k−1})² + w_s Σ max(0, |y| − y_max)²

    within u_min ≤ u ≤ u_max and |u_{t+k} − u_{t+k−1}| ≤ slew_max, and applies u_t.  Output limits
    are soft, so there always is a plan.  The H outputs start with y_t where the ensemble has
    feed-through, else with y_{t+1} (``first_output``).

    Parameters
    ----------
    ens : Ensemble
        The model: N members, real or closed under conjugation; a compressed ensemble stands for
        its source.
    horizon : int
        H ≥ 1.
    limits : Limits
        ``u_max``, ``u_min`` and ``slew_max`` hold exactly; ``output_max`` is soft.  The same at
        every step.
    output_weight : scalar or (p,)
        w_y ≥ 0.
    state_weight, terminal_weight : scalar or (N,)
        w_x and w_H ≥ 0.
    input_weight, slew_weight : scalar or (m,)
        w_u and w_Δ ≥ 0, not both 0.
    soft_weight : float
        w_s > 0.
    disturbances : int
        How many of the last channels of the ensemble are measured disturbances, not inputs; the
        other m channels are.
    estimator : AggregateEstimator, optional
        Of the same ensemble: states then come from the outputs given to :meth:`step`.
    measured : {"previous", "current"}
        Which output :meth:`step` is given at time t: y_{t−1}, or y_t, which needs an ensemble
        without feed-through.

    Raises
    ------
    InvalidInputError
        An argument is out of range, the ensemble has no real response, or an unstable member
        grows too much over the horizon (condition number above 1e11).

    Notes
    -----
    The horizon is condensed to its inputs once, O(H²(N + H) m²).  A step costs O(m H (N + p H))
    and one small linear system while the same limits stay active; every plan is checked against
    the optimality conditions.  u is within its limits exactly.

    A constant error of model or meter leaves an offset.  A further member with λ = 1, b = 0,
    c = 1 and process noise of its own learns it from the aggregate, and the offset goes.

    Examples
    --------
    >>> import ensctl as ec
    >>> ens = ec.Ensemble([0.2, 0.5, 0.8], c=1.0)
    >>> mpc = ec.MPC(ens, 20, ec.Limits(u_max=0.5), input_weight=1e-4)
    >>> plant, state = ec.Simulator(ens), mpc.init()
    >>> for _ in range(30):
    ...     u, state = mpc.step(state, reference=2.0, x=plant.state.x)
    ...     _ = plant.step(u)
    >>> round(float(plant.output), 3), state.out_of_reach
    (2.0, False)
    """

    ens: Ensemble
    horizon: int
    limits: Limits = _FREE
    output_weight: ArrayLike = field(default=1.0, kw_only=True)
    state_weight: ArrayLike = field(default=0.0, kw_only=True)
    terminal_weight: ArrayLike = field(default=0.0, kw_only=True)
    input_weight: ArrayLike = field(default=1e-3, kw_only=True)
    slew_weight: ArrayLike = field(default=0.0, kw_only=True)
    soft_weight: float = field(default=1e4, kw_only=True)
    disturbances: int = field(default=0, kw_only=True)
    estimator: AggregateEstimator | None = field(default=None, kw_only=True)
    measured: str = field(default="previous", kw_only=True)
    _horizon: Horizon = field(init=False, repr=False)

    def __post_init__(self) -> None:
        ens = require_ensemble(self.ens)
        steps = int(as_horizon(self.horizon))
        aside = as_count(self.disturbances, "disturbances", minimum=0)
        if not isinstance(self.limits, Limits):
            raise InvalidInputError(
                f"limits must be Limits, got {type(self.limits).__name__}; write Limits(u_max=…)"
            )
        if aside >= ens.channels:
            raise InvalidInputError(
                f"disturbances must leave an input, got {aside} of {ens.channels} channels"
            )
        require_real_response(ens)
        if not (isinstance(self.measured, str) and self.measured in ("previous", "current")):
            raise InvalidInputError(
                f"measured must be 'previous' or 'current', got {self.measured!r}"
            )
        if self.measured == "current" and np.any(ens.feedthrough):
            raise InvalidInputError(
                "measured must be 'previous' for an ensemble with feed-through: y_t depends on u_t"
            )
        if self.estimator is not None:
            require_estimator(ens, self.estimator)
        built = condensed(
            ens,
            steps,
            ens.channels - aside,
            self.limits,
            output_weight=self.output_weight,
            state_weight=self.state_weight,
            terminal_weight=self.terminal_weight,
            input_weight=self.input_weight,
            slew_weight=self.slew_weight,
            soft_weight=as_scalar(self.soft_weight, "soft_weight", above=0.0),
        )
        object.__setattr__(self, "_horizon", built)

    @property
    def first_output(self) -> int:
        """0: the reference starts with y_t (feed-through); 1: it starts with y_{t+1}."""
        return self._horizon.outputs.first

    def init(self, u: ArrayLike = 0.0) -> MPCState:
        """The state before the first step.

        Parameters
        ----------
        u : scalar or (m,)
            The input that acts now, from which changes are counted; within the limits.

        Returns
        -------
        MPCState

        Raises
        ------
        InvalidInputError
            u is not finite, or has the wrong shape.  When u = 0 is outside the limits, give one
            that is inside.
        """
        at = self._horizon
        last = as_vector(u, "u", size=at.inputs, real=True)
        if np.any(last < at.lower) or np.any(last > at.upper):
            if at.slew_max is not None:
                raise InvalidInputError(
                    f"u must be within the limits, got {last}; give the input that acts now"
                )
            last = np.clip(last, at.lower, at.upper)
        empty = np.zeros((at.inputs, 0))
        return MPCState(
            step=0,
            u=read_only(last),
            estimate=None if self.estimator is None else self.estimator.init(),
            plan=read_only(empty),
            outputs=read_only(np.zeros((self.ens.outputs, 0))),
            lower=at.lower,
            upper=at.upper,
            status=Status.OPTIMAL,
            residual=0.0,
            iterations=0,
            at_limits=False,
            tracking_error=0.0,
            unlimited_error=0.0,
            output_excess=0.0,
            _multipliers=None,
            _acted=read_only(np.zeros(self.ens.channels)),
        )

    def step(
        self,
        state: MPCState,
        *,
        reference: ArrayLike = 0.0,
        target: ArrayLike = 0.0,
        x: ArrayLike | None = None,
        output: ArrayLike | None = None,
        disturbance: ArrayLike = 0.0,
    ) -> tuple[Any, MPCState]:
        """Choose u_t.

        Parameters
        ----------
        state : MPCState
            From :meth:`init` or the last step; left as it is.
        reference : scalar, (p,), (H,) for one output, or (p, H)
            r for the H outputs from y_{t+first_output} on; held where no times are given.
        target : scalar or (N,)
            x*, when states are weighted.
        x : (N,) array_like, optional
            The state x_t, of the ensemble or of the source it was compressed from; needed unless
            there is an estimator.
        output : scalar or (p,), optional
            With an estimator: y_{t−1} or y_t, see ``measured``; NaN entries are missing.  May be
            left out (nothing was measured).
        disturbance : scalar, (v,), (H,) for one disturbance, or (v, H)
            Measured and foreseen disturbances from t on; held where no times are given.

        Returns
        -------
        u : float, or (m,) array for several inputs
            u_t.
        state : MPCState
            With the plan, its status and residual, and whether the reference is out of reach.

        Raises
        ------
        InvalidInputError
            Not finite, or the wrong shape; x is missing, or is given beside an estimator; the
            state is that of another controller.
        PrecisionError
            Predictions leave the range in which they can be squared.
        """
        at = self._horizon
        require_own_state(state, at.inputs, self.ens.outputs, at.later.size)
        wanted = over_horizon(reference, "reference", self.ens.outputs, at.length)
        foreseen = over_horizon(disturbance, "disturbance", at.disturbances, at.length)
        aim = as_vector(target, "target", size=self.ens.size)
        present, estimate = self._present(state, x, output)
        with np.errstate(all="ignore"):
            undisturbed = (at.outputs.free @ present).real + at.outputs.disturbed @ foreseen
            linear = at.pull @ (undisturbed - wanted)
            linear[: at.inputs] -= at.slew * state.u
            if at.states is not None:
                linear += (at.states.state @ present - at.states.target @ aim).real
                linear += at.states.disturbed @ foreseen
            # Products of two of them follow.
            size = float(np.abs(linear).sum() + np.abs(undisturbed).sum() + np.abs(wanted).sum())
        if not size < _LARGEST:
            raise PrecisionError(
                f"x, reference, target and disturbance must keep predictions below {_LARGEST:g}; "
                f"choose another unit"
            )
        bounds = at.bounds(state.u, undisturbed)
        start = None
        if state._multipliers is not None:
            start = np.where(at.later < 0, 0.0, state._multipliers[at.later])
        found = solve_receding(at.program, linear, bounds, start=start)
        after = self._after(state, found, undisturbed, wanted)
        acted = np.concatenate([after.u, foreseen[: at.disturbances]])
        if self.estimator is not None and estimate is not None and self.measured == "current":
            estimate = self.estimator.predict(estimate, acted)
        after = replace(after, estimate=estimate, _acted=read_only(acted))
        return (after.u if at.inputs > 1 else float(after.u[0])), after

    def _present(
        self, state: MPCState, x: ArrayLike | None, output: ArrayLike | None
    ) -> tuple[Array, EstimatorState | None]:
        """x_t, given or estimated, and the estimate behind it."""
        if self.estimator is None:
            if x is None or output is not None:
                raise InvalidInputError(
                    "x must be given, and no output, unless MPC has an estimator; pass x=, or "
                    "make MPC(…, estimator=AggregateEstimator(…))"
                )
            return as_present(self.ens, x), None
        if x is not None:
            raise InvalidInputError(
                "x must be left out where MPC has an estimator; pass output=, or leave out "
                "the estimator"
            )
        estimate = state.estimate
        if estimate is None:
            raise InvalidInputError("state must come from init() of an MPC with an estimator")
        measured = as_outputs(output, self.ens.outputs)
        if self.measured == "current":
            estimate = self.estimator.update(estimate, measured)
        elif state.step > 0:
            estimate = self.estimator.step(estimate, measured, state._acted)
        return estimate.mean, estimate

    def _after(
        self, state: MPCState, found: RecedingSolution, undisturbed: Array, wanted: Array
    ) -> MPCState:
        at = self._horizon
        plan = np.clip(found.inputs.reshape(at.length, at.inputs), at.lower, at.upper)
        plan[0] = at.within(plan[0], state.u)
        outputs = undisturbed + at.outputs.forced @ plan.ravel()
        free = undisturbed + at.outputs.forced @ found.free_inputs
        excess = 0.0
        if at.output_max is not None:
            over = np.abs(outputs).reshape(at.length, -1) - at.output_max
            excess = max(0.0, float(over.max()))
        return MPCState(
            step=state.step + 1,
            u=read_only(plan[0].copy()),
            estimate=None,
            plan=read_only(plan.T.copy()),
            outputs=read_only(outputs.reshape(at.length, -1).T.copy()),
            lower=at.lower,
            upper=at.upper,
            status=found.status,
            residual=found.residual,
            iterations=found.iterations,
            at_limits=bool(np.any(found.multipliers > 0.0)),
            tracking_error=_weighted_rms(outputs - wanted, at.weights),
            unlimited_error=_weighted_rms(free - wanted, at.weights),
            output_excess=excess,
            _multipliers=found.multipliers,
            _acted=state._acted,
        )


def _weighted_rms(errors: Array, weights: Array) -> float:
    total = float(weights.sum())
    return float(np.sqrt(weights @ errors**2 / total)) if total > 0.0 else 0.0
