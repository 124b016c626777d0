"""Ten million members on a cluster: one input from 3r sums per block.

A fleet of first-order members with pole λ in [0.1, 0.9] and its own gain each shall end on a
profile that depends on λ.  The members are made on the workers, block by block, and never gather
in one place: each block sends back a few hundred sums, twice.

Run: python examples/cluster_population.py (needs the extra: pip install "ensctl[cluster]")
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from ensctl.errors import MissingDependencyError
from ensctl.synthesis.population import steer_population_arrays

_HORIZON = 200
_BLOCK = 1_000_000


class Result(NamedTuple):
    """What was steered where, and how long it took."""

    members: int
    blocks: int
    horizon: int
    terms: int
    method: str
    rms_error: float
    energy: float
    input_error: float
    seconds: float


def main(members: int = 10**7, workers: int = 2, ridge: float = 1e-2) -> Result:
    """Steer ``members`` on a local cluster of ``workers`` processes (0: on threads)."""
    try:
        import dask.array as da
    except ImportError:
        raise MissingDependencyError(
            "this example needs dask; run pip install 'ensctl[cluster]'"
        ) from None
    rng = da.random.default_rng(1)
    block = min(_BLOCK, members)
    lam = rng.uniform(0.1, 0.9, size=members, chunks=block)
    gains = 1.0 - lam
    target = da.tanh(4.0 * (lam - 0.5))
    if workers == 0:
        return _steered(lam, gains, target, ridge)
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        # The blocks are read twice: keep them on the workers.
        kept = client.persist([lam, gains, target])
        return _steered(*kept, ridge)


def _steered(lam: object, gains: object, target: object, ridge: float) -> Result:
    start = time.perf_counter()
    plan = steer_population_arrays(lam, gains, target, _HORIZON, ridge=ridge, interval=(0.1, 0.9))
    return Result(
        members=plan.size,
        blocks=int(np.size(lam.chunks[0])),
        horizon=plan.horizon,
        terms=plan.terms,
        method=plan.method,
        rms_error=plan.rms_error,
        energy=plan.energy,
        input_error=plan.error,
        seconds=time.perf_counter() - start,
    )


def _print(result: Result) -> None:
    print(
        f"{result.members} members in {result.blocks} blocks, {result.horizon} steps: "
        f"{result.seconds:.2f} s"
    )
    print(f"  {result.terms} Chebyshev terms, {result.method}")
    print(f"  rms error {result.rms_error:.6f}, energy {result.energy:.3f}")
    print(f"  inputs right within {result.input_error:.1e} relative (estimate)")


if __name__ == "__main__":
    _print(main())
