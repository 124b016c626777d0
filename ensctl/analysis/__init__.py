"""Answers about an ensemble: verdicts, conditioning, matrices, Gramians and distances."""

from ensctl.analysis.conditioning import Conditioning, conditioning
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
from ensctl.analysis.horizon_sweep import HorizonSweep, horizon_sweep
from ensctl.analysis.matrices import ctrb, obsv, reachability_matrix
from ensctl.analysis.node_design import choose_nodes
from ensctl.analysis.node_design_result import NodeDesign
from ensctl.analysis.observability import Observability, observability
from ensctl.analysis.practicality import PracticalVerdict, practicality

__all__ = [
    "Conditioning",
    "Controllability",
    "HorizonSweep",
    "LockedGroup",
    "NearestPair",
    "NodeDesign",
    "Observability",
    "PracticalVerdict",
    "StructuredDistance",
    "UncontrollabilityDistance",
    "choose_nodes",
    "conditioning",
    "controllability",
    "ctrb",
    "eising_distance",
    "gramian",
    "horizon_sweep",
    "nearest_pair",
    "observability",
    "obsv",
    "practicality",
    "reachability_matrix",
    "structured_distance",
]
