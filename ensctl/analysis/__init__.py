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
from ensctl.analysis.node_regions import Annulus, Candidates, Circle, Disk, Interval, Rates
from ensctl.analysis.observability import Observability, observability
from ensctl.analysis.practicality import PracticalVerdict, practicality
from ensctl.analysis.repair import repair
from ensctl.analysis.repair_result import Repair
from ensctl.analysis.sampling_curve import SamplingCurve, sampling_curve

__all__ = [
    "Annulus",
    "Candidates",
    "Circle",
    "Conditioning",
    "Controllability",
    "Disk",
    "HorizonSweep",
    "Interval",
    "LockedGroup",
    "NearestPair",
    "NodeDesign",
    "Observability",
    "PracticalVerdict",
    "Rates",
    "Repair",
    "SamplingCurve",
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
    "repair",
    "sampling_curve",
    "structured_distance",
]
