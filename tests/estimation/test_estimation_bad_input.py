"""Estimation from arguments of the wrong kind or size: one error of the package, or an answer."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import ensctl as ec
from ensctl.errors import EnsctlError, InvalidInputError, PrecisionError

_ENS = ec.Ensemble([0.2, 0.5, 0.8], c=1.0)
_U = np.random.default_rng(0).choice([-1.0, 1.0], 40)
_Y = ec.aggregate_output(_ENS, _U)[:-1]
_STRANGE: list[Any] = [
    None,
    object(),
    "a",
    [],
    [[]],
    {},
    slice(3),
    np.nan,
    [np.inf, 1.0, 2.0],
    1j,
    10**400,
    1e308,
    -1.0,
    1e-320,
    np.ones(2),
    np.array(["a", "b", "c"]),
    np.zeros((3, 3)),
    -np.eye(3),
    np.ones((3, 0)),
]


def _estimated(**changes: Any) -> ec.EstimatorState:
    estimator = ec.AggregateEstimator(_ENS, **{"measurement_noise": 0.1} | changes)
    return estimator.step(estimator.init(), 1.0)


_FILTER = ec.AggregateEstimator(_ENS, measurement_noise=0.1)
_STATE = _FILTER.step(_FILTER.init(), 1.0)
_ENTRIES = {
    **{
        name: lambda v, name=name: _estimated(**{name: v})
        for name in (
            "process_noise",
            "measurement_noise",
            "x0",
            "x0_cov",
            "process_factor",
            "real_outputs",
            "adapt",
        )
    },
    "adapted noise": lambda v: ec.NoiseAdaptation(v),
    "output": lambda v: _FILTER.update(_STATE, v),
    "input": lambda v: _FILTER.predict(_STATE, v),
    "state": lambda v: _FILTER.update(v, 1.0),
    "filtered outputs": _FILTER.filter,
    "smoothed inputs": lambda v: _FILTER.smooth([1.0, 2.0, 3.0], v),
    "identified outputs": lambda v: ec.identify(v, _U, 2),
    "identified inputs": lambda v: ec.identify(_Y, v, 2),
    "order": lambda v: v is None or ec.identify(_Y, _U, v),
    "initial_state": lambda v: ec.identify(_Y, _U, 3, initial_state=v),
    "feedthrough": lambda v: ec.identify(_Y, _U, 3, feedthrough=v),
    "errors": lambda v: ec.identify(_Y, _U, 3, errors=v),
    "samples": lambda v: ec.noise_amplification(_ENS, v),
    "reconstructed outputs": lambda v: ec.reconstruct_initial_state(_ENS, v),
    "noise_std": lambda v: ec.reconstruct_initial_state(_ENS, _Y[:5], noise_std=v),
}


@pytest.mark.parametrize("name", _ENTRIES)
def test_strange_values_give_an_answer_or_one_error(name: str) -> None:
    for value in _STRANGE:
        try:
            found = _ENTRIES[name](value)
        except EnsctlError as error:
            assert len(str(error)) > 20 and "truth value" not in str(error)
            continue
        if hasattr(found, "to_dict"):
            json.dumps(found.to_dict(), allow_nan=False)


def test_masked_and_none_are_missing_measurements() -> None:
    told = _FILTER.filter([1.0, np.nan, 2.0])
    for record in (np.ma.array([1.0, 99.0, 2.0], mask=[0, 1, 0]), [1.0, None, 2.0]):
        found = _FILTER.filter(record)
        assert found.state.measured == 2
        np.testing.assert_array_equal(found.means, told.means)
    assert _FILTER.update(_STATE, None).measured == _STATE.measured
    masked = np.ma.array([1.0, 99.0, 0.5, 0.2], mask=[0, 1, 0, 0])
    assert ec.reconstruct_initial_state(_ENS, masked).samples == 3


def test_flags_are_not_guessed() -> None:
    with pytest.raises(InvalidInputError, match="real_outputs must be True, False or None"):
        _estimated(real_outputs="no")
    with pytest.raises(InvalidInputError, match="feedthrough must be True or False"):
        ec.identify(_Y, _U, 3, feedthrough="no")


def test_residues_beyond_float64_are_refused() -> None:
    with pytest.raises(PrecisionError, match="other units"):
        ec.identify(1e300 * _Y, 1e-300 * _U, 3)
