"""The example of the papers: its slips, the reading that decides, and the cost that outweighs."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from ensctl.papers import ClaimVerdict, Outcome


@pytest.fixture(scope="module")
def example(repository: Path) -> Any:
    path = repository / "examples" / "papers_to_the_test.py"
    spec = importlib.util.spec_from_file_location("example_papers_to_the_test", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_it_shows(example: Any, capsys: pytest.CaptureFixture[str]) -> None:
    found = example.main(40_000)
    assert {result.claim.printed for result in found.slips} == {
        "2.270076473",
        "1.251877",
        "0.078906…",
    }
    assert found.counts[ClaimVerdict.NOT_AS_STATED] == 3
    assert found.own_test.outcome is Outcome.DEPENDS
    assert found.pooling.outcome is Outcome.DEPENDS
    # S(.75, 2ρ) = S(.5, ρ): 2.734375/(1 + 8ρ) = 1.75/(1 + 3ρ), k = 4 and 3.
    assert found.even_cost == pytest.approx((2.734375 - 1.75) / (8 * 1.75 - 3 * 2.734375))
    example._print(found)
    assert "is 2.27007616" in capsys.readouterr().out
