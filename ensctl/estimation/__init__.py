"""What an aggregate tells: Kalman filters for diagonal dynamics, reconstruction, identification."""

from ensctl.estimation.estimator import AggregateEstimator
from ensctl.estimation.estimator_information import KnownCombinations
from ensctl.estimation.estimator_record import FilteredStates
from ensctl.estimation.estimator_state import EstimatorState
from ensctl.estimation.identification import Identification
from ensctl.estimation.identification_intervals import MemberIntervals
from ensctl.estimation.identify import identify
from ensctl.estimation.noise_adaptation import AdaptationState, NoiseAdaptation
from ensctl.estimation.noise_amplification import NoiseAmplification, noise_amplification
from ensctl.estimation.reconstruction import reconstruct_initial_state
from ensctl.estimation.reconstruction_result import Reconstruction
from ensctl.estimation.smoother import SmoothedStates

__all__ = [
    "AdaptationState",
    "AggregateEstimator",
    "EstimatorState",
    "FilteredStates",
    "Identification",
    "KnownCombinations",
    "MemberIntervals",
    "NoiseAdaptation",
    "NoiseAmplification",
    "Reconstruction",
    "SmoothedStates",
    "identify",
    "noise_amplification",
    "reconstruct_initial_state",
]
