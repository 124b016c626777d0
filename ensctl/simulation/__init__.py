"""Processes that run: swarms and fleets that hear one broadcast signal, drafts that are verified.

Results are plans, trajectories and counts; drawing and animation are in :mod:`ensctl.plot`.
"""

from ensctl.simulation.draft_verify.acceptance_rules import (
    AcceptanceRule,
    OptimalCoupling,
    RecursiveRejectionSampling,
    SpeculativeSampling,
)
from ensctl.simulation.draft_verify.depth import PlannedDepth, PolicyDepth
from ensctl.simulation.draft_verify.loop import draft_then_verify
from ensctl.simulation.draft_verify.run import DraftRun
from ensctl.simulation.draft_verify.units import Block, Proposer, Verdict, Verifier
from ensctl.simulation.fleet_drafting_cost import FleetCostFit, FleetCycleCost, fit_fleet_cost
from ensctl.simulation.fleet_drafting_drafter import FleetDraft, FleetDrafter, FleetMoment
from ensctl.simulation.fleet_drafting_result import FleetDraftingRun, FleetLoopRun
from ensctl.simulation.fleet_drafting_run import fleet_drafting_run, fleet_one_step_run
from ensctl.simulation.fleet_drafting_study import FleetDepthStudy, fleet_depth_study
from ensctl.simulation.fleet_drafting_verifier import FleetVerifier
from ensctl.simulation.monte_carlo import simulate_drafting
from ensctl.simulation.monte_carlo_histogram import CycleHistogram, cycle_histogram
from ensctl.simulation.monte_carlo_result import DraftingSimulation
from ensctl.simulation.ngram.decoder import DecodedText, speculative_decode
from ensctl.simulation.ngram.drafters import NgramDrafter, PromptLookup
from ensctl.simulation.ngram.losslessness import LosslessnessTest, losslessness_test
from ensctl.simulation.ngram.model import NgramModel
from ensctl.simulation.ngram.training import train_ngrams
from ensctl.simulation.ngram.verifier import TokenVerifier
from ensctl.simulation.simulator import (
    SimulationState,
    Simulator,
    initial_simulation_state,
    simulation_step,
)
from ensctl.simulation.swarm import Swarm
from ensctl.simulation.swarm_broadcast import BroadcastPlan, BroadcastSwarm
from ensctl.simulation.swarm_plan import SwarmPlan
from ensctl.simulation.swarm_rates import HorizonRule
from ensctl.simulation.swarm_speed import RmsMultiple
from ensctl.simulation.thermostat_bias import BiasState, OutputBias
from ensctl.simulation.thermostat_controller import FleetController, FleetControllerState
from ensctl.simulation.thermostat_model import (
    DutyModel,
    FleetState,
    duty_model,
    fleet_step,
    initial_fleet_state,
    reduced_duty_model,
)
from ensctl.simulation.thermostat_rivals import FleetPI, FleetPIState, InputPlan
from ensctl.simulation.thermostat_runs import FleetRun, PowerController, run_fleet

__all__ = [
    "AcceptanceRule",
    "BiasState",
    "Block",
    "BroadcastPlan",
    "BroadcastSwarm",
    "CycleHistogram",
    "DecodedText",
    "DraftRun",
    "DraftingSimulation",
    "DutyModel",
    "FleetController",
    "FleetControllerState",
    "FleetCostFit",
    "FleetCycleCost",
    "FleetDepthStudy",
    "FleetDraft",
    "FleetDrafter",
    "FleetDraftingRun",
    "FleetLoopRun",
    "FleetMoment",
    "FleetPI",
    "FleetPIState",
    "FleetRun",
    "FleetState",
    "FleetVerifier",
    "HorizonRule",
    "InputPlan",
    "LosslessnessTest",
    "NgramDrafter",
    "NgramModel",
    "OptimalCoupling",
    "OutputBias",
    "PlannedDepth",
    "PolicyDepth",
    "PowerController",
    "PromptLookup",
    "Proposer",
    "RecursiveRejectionSampling",
    "RmsMultiple",
    "SimulationState",
    "Simulator",
    "SpeculativeSampling",
    "Swarm",
    "SwarmPlan",
    "TokenVerifier",
    "Verdict",
    "Verifier",
    "cycle_histogram",
    "draft_then_verify",
    "duty_model",
    "fit_fleet_cost",
    "fleet_depth_study",
    "fleet_drafting_run",
    "fleet_one_step_run",
    "fleet_step",
    "initial_fleet_state",
    "initial_simulation_state",
    "losslessness_test",
    "reduced_duty_model",
    "run_fleet",
    "simulate_drafting",
    "simulation_step",
    "speculative_decode",
    "train_ngrams",
]
