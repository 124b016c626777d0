"""What is controlled: ensembles, named families, files, and the bridge to python-control."""

from ensctl.ensemble import families as families
from ensctl.ensemble.diagonalization import Diagonalization as Diagonalization
from ensctl.ensemble.diagonalization import diagonalize as diagonalize
from ensctl.ensemble.discretization import HeldInput as HeldInput
from ensctl.ensemble.discretization import zero_order_hold as zero_order_hold
from ensctl.ensemble.ensemble import Ensemble as Ensemble
from ensctl.ensemble.parsing import parse_ensemble as parse_ensemble
from ensctl.ensemble.parsing import read_ensemble as read_ensemble
from ensctl.ensemble.state_space import StateSpaceForm as StateSpaceForm
from ensctl.ensemble.state_space import to_state_space as to_state_space
from ensctl.ensemble.writing import write_ensemble as write_ensemble
