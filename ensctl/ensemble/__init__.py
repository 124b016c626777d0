"""What is controlled: ensembles, named families, files, and the bridge to python-control."""

from ensctl.ensemble import families as families
from ensctl.ensemble.aggregate_propagation import AggregateOutput as AggregateOutput
from ensctl.ensemble.aggregate_propagation import aggregate_output as aggregate_output
from ensctl.ensemble.aggregate_propagation import aggregate_response as aggregate_response
from ensctl.ensemble.compression import CompressedEnsemble as CompressedEnsemble
from ensctl.ensemble.compression import compress as compress
from ensctl.ensemble.diagonalization import Diagonalization as Diagonalization
from ensctl.ensemble.diagonalization import diagonalize as diagonalize
from ensctl.ensemble.discretization import HeldInput as HeldInput
from ensctl.ensemble.discretization import zero_order_hold as zero_order_hold
from ensctl.ensemble.ensemble import Ensemble as Ensemble
from ensctl.ensemble.markov import markov_parameters as markov_parameters
from ensctl.ensemble.markov import markov_response as markov_response
from ensctl.ensemble.parsing import parse_ensemble as parse_ensemble
from ensctl.ensemble.parsing import read_ensemble as read_ensemble
from ensctl.ensemble.process_noise import ProcessNoise as ProcessNoise
from ensctl.ensemble.propagation import FinalState as FinalState
from ensctl.ensemble.propagation import final_state as final_state
from ensctl.ensemble.propagation import final_states as final_states
from ensctl.ensemble.propagation import propagate as propagate
from ensctl.ensemble.state_space import StateSpaceForm as StateSpaceForm
from ensctl.ensemble.state_space import to_state_space as to_state_space
from ensctl.ensemble.trajectories import TrajectoryChunk as TrajectoryChunk
from ensctl.ensemble.trajectories import trajectory as trajectory
from ensctl.ensemble.trajectories import trajectory_chunks as trajectory_chunks
from ensctl.ensemble.writing import write_ensemble as write_ensemble
