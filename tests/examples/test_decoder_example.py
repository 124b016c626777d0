"""The decoder example: lossless text, lengths as predicted, pools in the right order."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest


@pytest.mark.slow
def test_speculative_decoder(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENSCTL_CACHE", str(tmp_path))
    spec = importlib.util.spec_from_file_location(
        "example_speculative_decoder", repository / "examples" / "speculative_decoder.py"
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    result = module.main(3_000, 500_000)
    assert len(result.text) >= 3_000
    assert [row.name for row in result.drafters][:3] == ["order 2", "order 3", "order 4"]
    for row in result.drafters:
        assert abs(row.length - row.exact_length) < 3.5 * row.standard_error
        assert row.lossless_p > 0.001
    alphas = [row.alpha for row in result.drafters[:3]]
    assert alphas == sorted(alphas) and 0.25 < alphas[0] < 0.5 < alphas[2]
    assert result.policy_throughput > 1.0
    assert sum(result.policy_shares.values()) == pytest.approx(1.0, abs=0.05)
    assert result.tampered_p < 1e-6
    for pool in result.pools:
        assert pool.recursive < pool.optimum < pool.formula
        for measured, exact in (pool.decoded_optimum, pool.decoded_recursive):
            # Some 170 cycles, each a trial with a variance of at most 1/4.
            assert abs(measured - exact) < 4 * 0.5 / 170**0.5
    assert list(tmp_path.iterdir())
