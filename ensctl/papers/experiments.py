"""All experiments, in the order of the papers' claims."""

from __future__ import annotations

from collections.abc import Callable

from ensctl.arguments import as_count
from ensctl.papers.experiment import Experiment
from ensctl.papers.experiments_aggregation import correlation_test, root_law_test
from ensctl.papers.experiments_pooling import pooling_test
from ensctl.papers.experiments_throughput import memory_test, throughput_test, verify_cost_test
from ensctl.papers.experiments_vandermonde import vandermonde_test
from ensctl.progress import Progress, progress_of

_EXPERIMENTS: tuple[Callable[..., Experiment], ...] = (
    throughput_test,
    root_law_test,
    correlation_test,
    vandermonde_test,
    pooling_test,
    memory_test,
    verify_cost_test,
)


def run_experiments(
    seed: int = 0, *, progress: Progress | bool | None = None
) -> tuple[Experiment, ...]:
    """Run every falsification experiment of both papers.

    Parameters
    ----------
    seed : int
        Of the random numbers, ≥ 0.
    progress : callable, bool or None
        ``progress(done, total)``; True draws a bar on stderr when that is a terminal.

    Returns
    -------
    tuple of Experiment
        The papers' own throughput test first.

    Raises
    ------
    InvalidInputError
        The seed is not an integer ≥ 0.

    Examples
    --------
    >>> from ensctl.papers import run_experiments
    >>> results = run_experiments()  # doctest: +SKIP
    >>> [result.outcome.value for result in results]  # doctest: +SKIP
    ['depends', 'stands', 'stands', 'stands', 'depends', 'stands', 'stands']
    """
    start = as_count(seed, "seed", minimum=0)
    done = []
    with progress_of(progress, len(_EXPERIMENTS), "experiments") as report:
        for number, experiment in enumerate(_EXPERIMENTS, start=1):
            done.append(experiment(seed=start))
            report(number)
    return tuple(done)
