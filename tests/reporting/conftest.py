"""Reports of a few kinds of populations, computed once."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ensctl as ec

POPULATIONS = {
    "real": (ec.Ensemble([0.2, 0.5, 0.8]), 12),
    "impractical": (ec.Ensemble([0.3, 0.1 + 0.2]), None),
    "complex": (ec.Ensemble([0.5 + 0.2j, 0.5 - 0.2j, -0.3j]), 6),
    "locked": (ec.Ensemble([0.3, 0.3, 0.9]), None),
    "dead": (ec.Ensemble([0.1, 0.5], 0.0), None),
    "one member": (ec.Ensemble([0.5]), 1),
    "infinite horizon": (ec.Ensemble([0.2, 0.5, 0.8]), math.inf),
    "short horizon": (ec.Ensemble([0.2, 0.5, 0.8]), 2),
    "unstable": (ec.Ensemble([-1.5, 0.5, 2.0]), 5),
    "two channels": (ec.Ensemble([0.3, 0.3, 0.9], [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), 4),
    "names": (ec.Ensemble([0.2, 0.8], names=["<script>a&b", "p|q *r* `s`"]), 4),
    "large": (ec.Ensemble(np.linspace(0.0, 0.99, 50)), 60),
}


@pytest.fixture(scope="session", params=POPULATIONS)
def any_report(request: pytest.FixtureRequest) -> ec.Report:
    """A report of each kind."""
    ens, horizon = POPULATIONS[request.param]
    return ec.report(ens, horizon)


@pytest.fixture(scope="session")
def large_report() -> ec.Report:
    """Fifty members, so that tables are folded."""
    return ec.report(*POPULATIONS["large"])


@pytest.fixture(scope="session")
def named_report() -> ec.Report:
    """Members whose names are markup everywhere."""
    return ec.report(*POPULATIONS["names"])
