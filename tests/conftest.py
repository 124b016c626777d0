"""What every test shares: repeatable hypothesis, one BLAS thread, reference numbers, real data."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

_ROOT = Path(__file__).resolve().parent.parent

# The same examples on every machine, so that a red test is a change of the code.  To search
# further afield: pytest --hypothesis-profile=explore
settings.register_profile("repeatable", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("explore", max_examples=1000, deadline=None, print_blob=True)
settings.load_profile("repeatable")

os.environ.setdefault("MPLBACKEND", "Agg")


@pytest.fixture(scope="session", autouse=True)
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread: test matrices are small, and ratios are stated for one thread."""
    # Both bring a BLAS of their own, which has to be loaded before it can be limited.
    import numpy  # noqa: F401
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        yield


@pytest.fixture(scope="session")
def repository() -> Path:
    """The folder that holds pyproject.toml."""
    return _ROOT


@pytest.fixture(scope="session")
def reference() -> Callable[[str], Any]:
    """``reference(name)``: the content of tests/reference/<name>.json, read once."""

    @cache
    def load(name: str) -> Any:
        path = _ROOT / "tests" / "reference" / f"{name}.json"
        return json.loads(path.read_text(encoding="utf-8"))

    return load


@pytest.fixture(scope="session")
def real_data() -> Callable[[str], Path]:
    """``real_data("drafting/x.csv")``: path of a measured file, or a skip that says why.

    Measurements are not part of the project.  They are looked for in the folder named by the
    environment variable ENSCTL_DATA, or else in ../shared/data beside the repository.
    """
    named = os.environ.get("ENSCTL_DATA")
    folder = Path(named) if named else _ROOT.parent / "shared" / "data"

    def find(name: str) -> Path:
        path = folder / name
        if not path.exists():
            pytest.skip(f"real data {name} not present; set ENSCTL_DATA to the folder that has it")
        return path

    return find
