"""Two papers on ensemble drafting put to the test: printed numbers, recomputed ones, experiments.

Every printed number is compared, to the digits printed, with what a named function of the package
computes now; the papers' own falsification criteria are runnable experiments.
"""

from ensctl.papers.claim import Claim, ClaimResult, Paper, check_claim
from ensctl.papers.claims import claims
from ensctl.papers.experiment import Experiment, Measurement
from ensctl.papers.experiments import run_experiments
from ensctl.papers.experiments_aggregation import correlation_test, root_law_test
from ensctl.papers.experiments_pooling import pooling_test
from ensctl.papers.experiments_throughput import memory_test, throughput_test, verify_cost_test
from ensctl.papers.experiments_vandermonde import vandermonde_test
from ensctl.papers.printed import Printed
from ensctl.papers.recomputation import Recomputation
from ensctl.papers.reproduction import Reproduction, reproduce
from ensctl.papers.verdicts import ClaimVerdict, Outcome

__all__ = [
    "Claim",
    "ClaimResult",
    "ClaimVerdict",
    "Experiment",
    "Measurement",
    "Outcome",
    "Paper",
    "Printed",
    "Recomputation",
    "Reproduction",
    "check_claim",
    "claims",
    "correlation_test",
    "memory_test",
    "pooling_test",
    "reproduce",
    "root_law_test",
    "run_experiments",
    "throughput_test",
    "vandermonde_test",
    "verify_cost_test",
]
