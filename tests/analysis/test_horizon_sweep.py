"""κ and worst energy against the horizon."""

import numpy as np
import pytest

import ensctl as ec


def test_worst_energy_never_rises_with_the_horizon():
    sweep = ec.horizon_sweep(ec.families.equispaced(8, -0.9, 0.9))
    assert sweep.horizons[0] == 8
    assert sweep.horizons[-1] == 64
    assert np.all(np.diff(sweep.log10_worst_energy) <= 1e-12)


def test_values_are_those_of_conditioning():
    ens = ec.families.equispaced(5, 0.1, 0.9)
    sweep = ec.horizon_sweep(ens, [7, 5, 7])
    assert list(sweep.horizons) == [5, 7]
    for k, horizon in enumerate([5, 7]):
        one = ec.conditioning(ens, horizon)
        assert sweep.log10_cond[k] == one.log10_cond
        assert sweep.log10_worst_energy[k] == one.log10_worst_energy


def test_bad_horizons():
    with pytest.raises(ec.InvalidInputError, match="horizons must be an integer ≥ 1"):
        ec.horizon_sweep(ec.Ensemble([0.1]), [0])
    with pytest.raises(ec.InvalidInputError, match="at least one entry"):
        ec.horizon_sweep(ec.Ensemble([0.1]), [])


def test_progress_is_called_after_each_horizon():
    seen = []
    ec.horizon_sweep(
        ec.Ensemble([0.1, 0.5]), [2, 4, 8], progress=lambda done, total: seen.append((done, total))
    )
    assert seen == [(1, 3), (2, 3), (3, 3)]
