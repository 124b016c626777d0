"""What is controlled: ensembles, named families, files, and the bridge to python-control."""


from ensctl.ensemble.discretization import zero_order_hold
from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.parsing import parse_ensemble, read_ensemble
from ensctl.ensemble.writing import replace_file, write_ensemble

__all__ = [
    "Ensemble",

    "parse_ensemble",
    "read_ensemble",
    "replace_file",
    "write_ensemble",
    "zero_order_hold",
]
