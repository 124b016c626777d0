"""Answers about an ensemble: controllability, observability, matrices, Gramians and distances."""

from ensctl.analysis.controllability import Controllability, controllability
from ensctl.analysis.distances import (
    NearestPair,
    StructuredDistance,
    UncontrollabilityDistance,
    eising_distance,
    nearest_pair,
    structured_distance,
)
from ensctl.analysis.gramian import gramian
from ensctl.analysis.groups import LockedGroup
from ensctl.analysis.matrices import ctrb, obsv, reachability_matrix
from ensctl.analysis.observability import Observability, observability

__all__ = [
    "Controllability",
    "LockedGroup",
    "NearestPair",
    "Observability",
    "StructuredDistance",
    "UncontrollabilityDistance",
    "controllability",
    "ctrb",
    "eising_distance",
    "gramian",
    "nearest_pair",
    "observability",
    "obsv",
    "reachability_matrix",
    "structured_distance",
]
