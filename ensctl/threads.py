"""One BLAS thread where a second one only costs: small matrices on a busy machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

# Below this order the synchronisation of BLAS threads costs more than they compute.
_SMALL_ORDER = 512


@contextmanager
def blas_threads_for(order: int) -> Iterator[None]:
    """Limit BLAS to one thread inside the block when matrices have at most ``order`` ≤ 512.

    Notes
    -----
    Entering and leaving costs about 10 µs after the first call.
    """
    if order > _SMALL_ORDER:
        yield
        return
    with _controller().limit(limits=1, user_api="blas"):
        yield


@lru_cache(maxsize=1)
def _controller() -> Any:
    # scipy.linalg brings its own BLAS: it has to be loaded before the libraries are listed.
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
