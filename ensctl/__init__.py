"""ensctl: controllability, conditioning and control of a population with one broadcast input.

Every member of the population x_{i,t+1} = λ_i x_{i,t} + b_i u_t hears the same input.  The
public names are found here and loaded on first use, so that ``import ensctl`` costs nothing.

Examples
--------
>>> import ensctl as ec
>>> ec.controllability(ec.Ensemble([0.2, 0.5, 0.8])).reachable
True
>>> ec.controllability(ec.Ensemble([0.3, 0.3, 0.9])).reachable
False
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ensctl.analysis.conditioning import Conditioning as Conditioning
    from ensctl.analysis.conditioning import conditioning as conditioning
    from ensctl.analysis.controllability import Controllability as Controllability
    from ensctl.analysis.controllability import controllability as controllability
    from ensctl.analysis.gramian import gramian as gramian
    from ensctl.analysis.horizon_sweep import HorizonSweep as HorizonSweep
    from ensctl.analysis.horizon_sweep import horizon_sweep as horizon_sweep
    from ensctl.analysis.matrices import ctrb as ctrb
    from ensctl.analysis.matrices import obsv as obsv
    from ensctl.analysis.matrices import reachability_matrix as reachability_matrix
    from ensctl.analysis.observability import Observability as Observability
    from ensctl.analysis.observability import observability as observability
    from ensctl.analysis.practicality import PracticalVerdict as PracticalVerdict
    from ensctl.analysis.practicality import practicality as practicality
    from ensctl.ensemble import families as families
    from ensctl.ensemble.ensemble import Ensemble as Ensemble
    from ensctl.errors import EnsctlError as EnsctlError
    from ensctl.errors import FormatError as FormatError
    from ensctl.errors import InfeasibleError as InfeasibleError
    from ensctl.errors import InvalidInputError as InvalidInputError
    from ensctl.errors import MissingDependencyError as MissingDependencyError
    from ensctl.errors import NotIdentifiableError as NotIdentifiableError
    from ensctl.errors import NotReachableError as NotReachableError
    from ensctl.errors import PrecisionError as PrecisionError
    from ensctl.errors import SolverError as SolverError
    from ensctl.reporting.report import Report as Report
    from ensctl.reporting.report import report as report
    from ensctl.status import Status as Status
    from ensctl.synthesis.feasible_horizons import FeasibleHorizons as FeasibleHorizons
    from ensctl.synthesis.feasible_horizons import feasible_horizons as feasible_horizons
    from ensctl.synthesis.limits import Limits as Limits
    from ensctl.synthesis.min_energy import MinEnergy as MinEnergy
    from ensctl.synthesis.min_energy import min_energy as min_energy
    from ensctl.synthesis.min_time import min_time as min_time
    from ensctl.synthesis.min_time_result import MinTime as MinTime
    from ensctl.synthesis.plan import SteeringPlan as SteeringPlan
    from ensctl.synthesis.problem import SteeringProblem as SteeringProblem
    from ensctl.synthesis.problem import steer_problem as steer_problem
    from ensctl.synthesis.robust import robust as robust
    from ensctl.synthesis.robust_result import RobustPlan as RobustPlan
    from ensctl.synthesis.steer import steer as steer
    from ensctl.synthesis.terminal import Rms as Rms
    from ensctl.synthesis.terminal import TerminalCost as TerminalCost
    from ensctl.synthesis.tradeoff import Tradeoff as Tradeoff
    from ensctl.synthesis.tradeoff import tradeoff as tradeoff

__version__ = "0.1.0"

# Public name → module that defines it.
_DEFINED_IN = {
    "Conditioning": "ensctl.analysis.conditioning",
    "Controllability": "ensctl.analysis.controllability",
    "EnsctlError": "ensctl.errors",
    "Ensemble": "ensctl.ensemble.ensemble",
    "FeasibleHorizons": "ensctl.synthesis.feasible_horizons",
    "FormatError": "ensctl.errors",
    "HorizonSweep": "ensctl.analysis.horizon_sweep",
    "InfeasibleError": "ensctl.errors",
    "InvalidInputError": "ensctl.errors",
    "Limits": "ensctl.synthesis.limits",
    "MinEnergy": "ensctl.synthesis.min_energy",
    "MinTime": "ensctl.synthesis.min_time_result",
    "MissingDependencyError": "ensctl.errors",
    "NotIdentifiableError": "ensctl.errors",
    "NotReachableError": "ensctl.errors",
    "Observability": "ensctl.analysis.observability",
    "PracticalVerdict": "ensctl.analysis.practicality",
    "PrecisionError": "ensctl.errors",
    "Report": "ensctl.reporting.report",
    "Rms": "ensctl.synthesis.terminal",
    "RobustPlan": "ensctl.synthesis.robust_result",
    "SolverError": "ensctl.errors",
    "Status": "ensctl.status",
    "SteeringPlan": "ensctl.synthesis.plan",
    "SteeringProblem": "ensctl.synthesis.problem",
    "TerminalCost": "ensctl.synthesis.terminal",
    "Tradeoff": "ensctl.synthesis.tradeoff",
    "conditioning": "ensctl.analysis.conditioning",
    "controllability": "ensctl.analysis.controllability",
    "ctrb": "ensctl.analysis.matrices",
    "feasible_horizons": "ensctl.synthesis.feasible_horizons",
    "gramian": "ensctl.analysis.gramian",
    "horizon_sweep": "ensctl.analysis.horizon_sweep",
    "min_energy": "ensctl.synthesis.min_energy",
    "min_time": "ensctl.synthesis.min_time",
    "observability": "ensctl.analysis.observability",
    "obsv": "ensctl.analysis.matrices",
    "practicality": "ensctl.analysis.practicality",
    "reachability_matrix": "ensctl.analysis.matrices",
    "report": "ensctl.reporting.report",
    "robust": "ensctl.synthesis.robust",
    "steer": "ensctl.synthesis.steer",
    "steer_problem": "ensctl.synthesis.problem",
    "tradeoff": "ensctl.synthesis.tradeoff",
}

# Public name → the module it stands for.
_MODULES = {
    "families": "ensctl.ensemble.families",
}

__all__ = [*_DEFINED_IN, *_MODULES, "__version__"]


def __getattr__(name: str) -> Any:
    if name in _DEFINED_IN:
        value = getattr(import_module(_DEFINED_IN[name]), name)
    elif name in _MODULES:
        value = import_module(_MODULES[name])
    else:
        raise AttributeError(f"module 'ensctl' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
