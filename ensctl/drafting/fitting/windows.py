"""Variance from blocks of a run: batch means over windows or requests, for any dependence.

Blocks much longer than the memory of the process are nearly independent.  With residuals
r_i = A_i − α̂ T_i of block i (A_i successes in T_i trials),

    Var(α̂) = Σ r_i² / (1 − Σ w_i²) / (Σ T_i)²,   w_i = T_i/Σ T,

with 1/Σ w_i² − 1 degrees of freedom: n − 1 for n equal blocks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from ensctl.arguments import Array, as_count, as_vector
from ensctl.drafting.fitting.traces import CycleTraces
from ensctl.errors import InvalidInputError

FEWEST_BLOCKS = 10
# More blocks than this buy no degree of freedom that matters; longer ones buy independence.
MOST_BLOCKS = 64
CORRELATION_TIMES = 8
# The mean of a block of L correlation times has 1 − 1/L of its long-run variance.  L is between 8
# and ∞ where this is used: half of the greatest shortfall is made up for.
SHORTFALL = 1.0 / (2 * CORRELATION_TIMES)
_MOST_TRIALS = 1e15


@dataclass(frozen=True)
class BlockVariance:
    """Variance of a ratio α̂ = ΣA/ΣT from blocks.

    Attributes
    ----------
    inflation : float
        VIF: variance over α(1−α)/ΣT, its value for independent trials; 1 where α̂ is 0 or 1.
    freedom : float
        Degrees of freedom of the variance.
    blocks : int
        Number of blocks.
    neighbours : float
        Correlation of neighbouring blocks; far above 0 the blocks are too short.
    """

    inflation: float
    freedom: float
    blocks: int
    neighbours: float

    def __str__(self) -> str:
        return (
            f"variance inflation {self.inflation:.3g} from {self.blocks} blocks "
            f"({self.freedom:.3g} degrees of freedom, correlation of neighbours "
            f"{self.neighbours:.2g})"
        )


def block_variance(
    successes: ArrayLike, trials: ArrayLike, *, independent: bool = False
) -> BlockVariance:
    """Variance inflation of α̂ = ΣA/ΣT from the sums A_i, T_i of blocks, with its freedom.

    Parameters
    ----------
    successes : array_like
        A_i ≥ 0: accepted units of each block, (n,), n ≥ 2.
    trials : array_like
        T_i > 0: tested units of each block, (n,).
    independent : bool
        Whether blocks are independent, as requests are.  Otherwise they are stretches of one run
        and the variance is raised by 1/(1 − 1/16), half of what blocks of 8 correlation times
        miss.

    Returns
    -------
    BlockVariance
        VIF, degrees of freedom and the correlation of neighbours.

    Raises
    ------
    InvalidInputError
        Fewer than two blocks, or not 0 ≤ A_i ≤ T_i with T_i > 0.

    Examples
    --------
    >>> from ensctl.drafting import block_variance
    >>> print(block_variance([60, 75, 66, 81], [100, 100, 100, 100], independent=True))
    variance inflation 4.18 from 4 blocks (3 degrees of freedom, correlation of neighbours -0.44)
    """
    kept = as_vector(successes, "successes", real=True)
    tested = as_vector(trials, "trials", size=kept.size, real=True)
    if kept.size < 2:
        raise InvalidInputError(f"successes must have at least 2 blocks, got {kept.size}")
    room = 1e-9 * tested
    if np.any(tested <= 0) or np.any(kept < 0) or np.any(kept > tested + room):
        raise InvalidInputError("blocks must have 0 ≤ successes ≤ trials and trials > 0")
    if np.any(tested > _MOST_TRIALS):
        raise InvalidInputError(f"trials must be ≤ {_MOST_TRIALS:g}, got {float(tested.max()):g}")
    total = float(tested.sum())
    share = float(kept.sum()) / total
    concentration = float(np.sum((tested / total) ** 2))
    residual = kept - share * tested
    spread = share * (1.0 - share)
    # Below one rejection or success the residuals are rounding.
    if spread * total < 1e-6:
        return BlockVariance(1.0, math.inf, kept.size, 0.0)
    inflation = float(np.sum(residual**2)) / (1.0 - concentration) / (total * spread)
    if not independent:
        inflation /= 1.0 - SHORTFALL
    scaled = residual / np.sqrt(tested)
    power = float(scaled @ scaled)
    neighbours = float(scaled[1:] @ scaled[:-1]) / power if power > 0 else 0.0
    return BlockVariance(inflation, 1.0 / concentration - 1.0, kept.size, neighbours)


def batch_means(values: ArrayLike, batch: int) -> Array:
    """Means of consecutive batches of a run; a remainder joins the last batch.

    Parameters
    ----------
    values : array_like
        A run of numbers, (n,).
    batch : int
        Batch length, 1 ≤ batch ≤ n.

    Returns
    -------
    ndarray
        ⌊n/batch⌋ means.

    Raises
    ------
    InvalidInputError
        batch < 1 or > n.

    Examples
    --------
    >>> from ensctl.drafting import batch_means
    >>> batch_means([1, 3, 5, 7, 9], 2)
    array([2., 7.])
    """
    run = as_vector(values, "values", real=True)
    length = as_count(batch, "batch")
    if length > run.size:
        raise InvalidInputError(f"batch must be ≤ the {run.size} values, got {length}")
    starts = np.arange(run.size // length) * length
    sizes = np.diff(np.append(starts, run.size))
    means: Array = np.add.reduceat(run, starts) / sizes
    return means


def autocorrelation_time(values: ArrayLike) -> float:
    """1 + 2 Σ ρ_n, the variance of the mean of a run over that of independent values.

    Parameters
    ----------
    values : array_like
        A run of numbers, (n,).

    Returns
    -------
    float
        The sum up to the first lag that is at least five times the sum (Sokal's window), ≥ its
        value at lag 0 where the run is constant: 1.

    Notes
    -----
    Cost O(n log n).  With a run shorter than some hundred times the result it is too small.

    Examples
    --------
    >>> import numpy as np
    >>> from ensctl.drafting import autocorrelation_time
    >>> steps = np.repeat(np.random.default_rng(1).random(4000), 6)
    >>> round(autocorrelation_time(steps))
    6
    """
    run = as_vector(values, "values", real=True)
    centred = run - run.mean()
    if run.size < 4 or not np.any(np.abs(centred) > 1e-12 * (1.0 + np.abs(run).max())):
        return 1.0
    size = 1 << (2 * run.size - 1).bit_length()
    power = np.fft.irfft(np.abs(np.fft.rfft(centred, size)) ** 2, size)[: run.size // 2]
    sums = 2.0 * np.cumsum(power / power[0]) - 1.0
    inside = np.arange(sums.size) >= 5.0 * np.maximum(sums, 1.0)
    return float(max(sums[int(np.argmax(inside))] if inside.any() else sums[-1], 1e-3))


def request_blocks(traces: CycleTraces, residual: Array) -> tuple[Array, bool, str]:
    """Where blocks of the traces start, whether they are independent, and how they were made.

    Requests are the blocks where there are at least ten.  Fewer, long requests are cut into
    stretches of eight autocorrelation times of ``residual`` or more.
    """
    if traces.requests >= FEWEST_BLOCKS:
        return traces.starts, True, f"{traces.requests} requests"
    length = math.ceil(CORRELATION_TIMES * autocorrelation_time(residual))
    length = max(length, traces.cycles // MOST_BLOCKS)
    bounds = np.append(traces.starts, traces.cycles)
    starts = [
        begin + np.arange(max(1, (end - begin) // length)) * length
        for begin, end in pairwise(bounds)
    ]
    cut = np.concatenate(starts)
    return cut, False, f"{cut.size} stretches of {length} cycles"
