"""Named ensembles: populations from practice, node sets from the literature, hard cases.

Every function returns an :class:`~ensctl.ensemble.ensemble.Ensemble`.  Where gains are not spoken
of they are b = 1, and the aggregate is the mean.  Random families repeat: the same seed gives the
same members.
"""

from __future__ import annotations

from ensctl.ensemble.node_families import (
    chebyshev,
    clustered,
    equispaced,
    hilbert,
    leja,
    random_disk,
    roots_of_unity,
)
from ensctl.ensemble.populations import oscillators, thermostats, time_constants

__all__ = [
    "chebyshev",
    "clustered",
    "equispaced",
    "hilbert",
    "leja",
    "oscillators",
    "random_disk",
    "roots_of_unity",
    "thermostats",
    "time_constants",
]
