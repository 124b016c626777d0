"""A Kalman filter for the states of all members when only the aggregate is measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_scalar, read_only
from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.propagation_arguments import as_initial_state
from ensctl.ensemble.require import require_ensemble
from ensctl.errors import InvalidInputError
from ensctl.estimation.estimator_arguments import (
    as_covariance,
    as_factor,
    as_input,
    as_input_record,
    as_measurement,
    as_measurement_noise,
    as_measurements,
    as_variances,
)
from ensctl.estimation.estimator_information import KnownCombinations, known_combinations
from ensctl.estimation.estimator_model import FilterModel, filter_model
from ensctl.estimation.estimator_range import within_float_range
from ensctl.estimation.estimator_record import FilteredStates, filter_record
from ensctl.estimation.estimator_state import EstimatorState
from ensctl.estimation.estimator_steps import (
    initial_state,
    output_stds,
    predicted,
    require_state,
    updated,
)
from ensctl.estimation.noise_adaptation import LEARNT, NoiseAdaptation
from ensctl.estimation.smoother import SmoothedStates, smooth_record

Array = NDArray[Any]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class AggregateEstimator:
    """Kalman filter for x_{t+1} = Λ x_t + B u_t + w_t from the aggregate y_t = C x_t + d u_t + v_t.

    The configuration only; what is known at one instant is an :class:`EstimatorState`, which every
    method takes and returns.

    Parameters
    ----------
    ens : Ensemble
        The population, N members, m channels and p outputs.
    process_noise : scalar or array_like, (N,)
        Variance of the noise of each member, ≥ 0.
    measurement_noise : scalar or array_like, (p,) or (p, p)
        Covariance of v, positive definite.
    x0 : scalar or array_like, (N,)
        Mean of the states before the first measurement.
    x0_cov : scalar or array_like, (N,) or (N, N)
        Their covariance: one variance, N variances or a matrix.
    process_factor : array_like, (N,) or (N, k), optional
        G of noise shared by members (a common shock): w has covariance
        diag(process_noise) + G G*.
    real_outputs : bool, optional
        True: states come in conjugate pairs and outputs are real.  None: true where all data
        allow it.  False, or data that are complex: outputs are complex and all noise is
        circular (E|v|² is the variance given).
    adapt : NoiseAdaptation or {"both", "measurement", "process"}, optional
        Learn factors on the noise variances while filtering.

    Attributes
    ----------
    ens, process_noise, measurement_noise, x0, x0_cov, process_factor, real_outputs, adapt
        As given, converted: (N,), (p, p), (N,), (N, N), (N, k) read-only arrays.

    Raises
    ------
    InvalidInputError
        A value is not finite, has the wrong shape, a variance is negative, measurement_noise is
        not positive definite, or real_outputs is asked of data that are not conjugate.

    Notes
    -----
    A step costs O(N² (p + k)): in square-root form by Potter's update with noise columns
    appended and compressed now and then.  Noise on every member would cost O(N³) there, so the
    covariance form is used as long as it is proved definite with ten digits to spare; see
    :mod:`ensctl.estimation.kalman_covariance`.  Either way the covariance is exactly
    symmetric and definite at every step.  Learning noise costs 1 or 2 steps more.

    An aggregate can leave combinations of members unknown however long it is watched;
    :meth:`known` tells them apart.

    Examples
    --------
    >>> import ensctl as ec
    >>> ens = ec.Ensemble([0.5, 0.9], c=1.0)
    >>> est = ec.AggregateEstimator(ens, measurement_noise=0.01, x0_cov=1.0)
    >>> state = est.init()
    >>> for y in ec.aggregate_output(ens, [0.0] * 9, [1.0, -1.0]):
    ...     state = est.step(state, y, 0.0)
    >>> state.t, state.mean.round(2)
    (10, array([ 0.  , -0.34]))
    """

    ens: Ensemble
    process_noise: Array
    measurement_noise: Array
    x0: Array
    x0_cov: Array
    process_factor: Array
    real_outputs: bool
    adapt: NoiseAdaptation | None
    _model: FilterModel

    @within_float_range
    def __init__(
        self,
        ens: Ensemble,
        *,
        process_noise: ArrayLike = 0.0,
        measurement_noise: ArrayLike,
        x0: ArrayLike = 0.0,
        x0_cov: ArrayLike = 1.0,
        process_factor: ArrayLike | None = None,
        real_outputs: bool | None = None,
        adapt: NoiseAdaptation | str | None = None,
    ) -> None:
        require_ensemble(ens)
        named = isinstance(adapt, str) and adapt in LEARNT
        if not (adapt is None or isinstance(adapt, NoiseAdaptation) or named):
            raise InvalidInputError(
                f"adapt must be a NoiseAdaptation, 'both', 'measurement', 'process' or None, got "
                f"{adapt!r}"
            )
        learnt = NoiseAdaptation(adapt) if isinstance(adapt, str) else adapt
        model = filter_model(
            ens,
            variances=as_variances(process_noise, "process_noise", ens.size),
            shared=as_factor(process_factor, ens.size),
            noise=as_measurement_noise(measurement_noise, ens.outputs),
            mean=as_initial_state(x0, ens.size),
            covariance=as_covariance(x0_cov, "x0_cov", ens.size),
            real_outputs=real_outputs,
            adapt=learnt,
        )
        values = {
            "ens": ens,
            "process_noise": read_only(as_variances(process_noise, "process_noise", ens.size)),
            "measurement_noise": model.noise,
            "x0": model.mean,
            "x0_cov": model.covariance,
            "process_factor": read_only(as_factor(process_factor, ens.size)),
            "real_outputs": model.real_outputs,
            "adapt": learnt,
            "_model": model,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @within_float_range
    def init(self) -> EstimatorState:
        """The state at t = 0, before the first measurement.

        Returns
        -------
        EstimatorState
        """
        return initial_state(self._model)

    @within_float_range
    def update(
        self, state: EstimatorState, output: ArrayLike, input: ArrayLike = 0.0
    ) -> EstimatorState:
        """Use the measurement y_t = C x_t + d u_t + v_t.

        Parameters
        ----------
        state : EstimatorState
            Estimate of x_t before the measurement.
        output : scalar or array_like, (p,)
            y_t; NaN where it is missing.
        input : scalar or array_like, (m,)
            u_t; matters only where d is not zero.

        Returns
        -------
        EstimatorState
            Estimate of x_t after it.

        Raises
        ------
        InvalidInputError
            A value is infinite or has the wrong shape.

        Notes
        -----
        Several outputs are decorrelated by the Cholesky factor of their noise and used one by one.
        """
        require_state(self._model, state)
        y, u = self._sample(output, input)
        return updated(self._model, state, y, u)

    @within_float_range
    def predict(self, state: EstimatorState, input: ArrayLike = 0.0) -> EstimatorState:
        """Move the estimate on by one step of the model.

        Parameters
        ----------
        state : EstimatorState
            Estimate of x_t.
        input : scalar or array_like, (m,)
            u_t.

        Returns
        -------
        EstimatorState
            Estimate of x_{t+1}.

        Raises
        ------
        InvalidInputError
            The input is not finite or has the wrong shape.
        PrecisionError
            The estimate of an unstable member leaves the float64 range.
        """
        require_state(self._model, state)
        u = as_input(input, self.ens.channels, real=self._model.real_outputs)
        return predicted(self._model, state, u)

    @within_float_range
    def step(
        self, state: EstimatorState, output: ArrayLike, input: ArrayLike = 0.0
    ) -> EstimatorState:
        """Use y_t and u_t: ``predict(update(state, output, input), input)``.

        Parameters
        ----------
        state : EstimatorState
            Estimate of x_t before y_t is known.
        output : scalar or array_like, (p,)
            y_t; NaN where it is missing.
        input : scalar or array_like, (m,)
            u_t.

        Returns
        -------
        EstimatorState
            Estimate of x_{t+1}.

        Raises
        ------
        InvalidInputError, PrecisionError
            As for :meth:`update` and :meth:`predict`.
        """
        require_state(self._model, state)
        y, u = self._sample(output, input)
        return predicted(self._model, updated(self._model, state, y, u), u)

    @within_float_range
    def expected_output(self, state: EstimatorState, input: ArrayLike = 0.0) -> tuple[Array, Array]:
        """What y_t is expected to be before it is measured: C x + d u and its standard deviation.

        Parameters
        ----------
        state : EstimatorState
            Estimate of x_t.
        input : scalar or array_like, (m,)
            u_t.

        Returns
        -------
        mean, std : (p,), (p,)
            The standard deviation includes that of the measurement.
        """
        require_state(self._model, state)
        u = as_input(input, self.ens.channels, real=self._model.real_outputs)
        mean = self.ens.output_weights @ state.mean + self.ens.feedthrough @ u
        mean = mean.real if self._model.real_outputs else mean
        return read_only(np.array(mean)), read_only(output_stds(self._model, state))

    @within_float_range
    def filter(
        self,
        outputs: ArrayLike,
        inputs: ArrayLike | None = None,
        *,
        state: EstimatorState | None = None,
    ) -> FilteredStates:
        """Follow a record of measurements.

        Parameters
        ----------
        outputs : array_like, (T,) or (p, T)
            y_0 … y_{T−1}; NaN where missing.
        inputs : array_like, (T,) or (m, T), optional
            u_0 … u_{T−1}; the last one may be left out.  None is no input.
        state : EstimatorState, optional
            Where to start; the prior when it is not given.

        Returns
        -------
        FilteredStates
            ``means``, ``stds``, ``innovations`` and the last ``state``.

        Raises
        ------
        InvalidInputError, PrecisionError
            As for :meth:`step`.
        """
        y, u = self._records(outputs, inputs)
        start = self.init() if state is None else state
        require_state(self._model, start)
        return filter_record(self._model, start, y, u)

    @within_float_range
    def smooth(self, outputs: ArrayLike, inputs: ArrayLike | None = None) -> SmoothedStates:
        """Estimate every x_t from the whole record, past and future.

        Parameters
        ----------
        outputs : array_like, (T,) or (p, T)
            y_0 … y_{T−1}; NaN where missing.
        inputs : array_like, (T,) or (m, T), optional
            u_0 … u_{T−1}; the last one may be left out.  None is no input.

        Returns
        -------
        SmoothedStates
            ``means`` and ``stds``, (N, T).

        Raises
        ------
        InvalidInputError, PrecisionError
            As for :meth:`step`.

        Notes
        -----
        O(T N³) operations and O(√T N²) memory.  Where noise is learnt, a first pass learns it and
        the last values are used throughout.
        """
        y, u = self._records(outputs, inputs)
        model, factors = self._model, {}
        if self.adapt is not None:
            learnt = filter_record(model, self.init(), y, u).state.adaptation
            factors = {} if learnt is None else learnt.factors
            model = model.with_noise_factors(factors)
        return smooth_record(model, y, u, factors)

    @within_float_range
    def known(self, state: EstimatorState, threshold: float = 0.5) -> KnownCombinations:
        """Which combinations of members the measurements have told.

        Parameters
        ----------
        state : EstimatorState
            Estimate of x_t.
        threshold : float
            A combination counts as known when its standard deviation is at most this share,
            0 < threshold < 1, of what it would be without measurements.

        Returns
        -------
        KnownCombinations
            Independent combinations, best known first.

        Raises
        ------
        InvalidInputError
            The threshold is out of range.

        Notes
        -----
        Ratios are accurate to about 1e-15 absolutely; O(N³).
        """
        require_state(self._model, state)
        share = as_scalar(threshold, "threshold", above=0.0, below=1.0)
        return known_combinations(self._model, state, share)

    def _sample(self, output: ArrayLike, input: ArrayLike) -> tuple[Array, Array]:
        real = self._model.real_outputs
        y = as_measurement(output, self._model.whitening.variances.size, real=real)
        return y, as_input(input, self.ens.channels, real=real)

    def _records(self, outputs: ArrayLike, inputs: ArrayLike | None) -> tuple[Array, Array]:
        real = self._model.real_outputs
        y = as_measurements(outputs, self.ens.outputs, real=real)
        return y, as_input_record(inputs, self.ens.channels, y.shape[1], real=real)

    def __repr__(self) -> str:
        noise = "circular" if not self.real_outputs else "real"
        return f"AggregateEstimator({self.ens!r}, {noise} outputs, adapt={self.adapt!r})"
