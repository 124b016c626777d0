"""Noise amplification against 80-digit arithmetic, the published digits, and sampling."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import InvalidInputError, NotIdentifiableError
from ensctl.estimation import noise_amplification


@pytest.mark.reference
def test_every_member_against_multiprecision(reference: Callable[[str], Any]) -> None:
    for row in reference("noise_amplification")["rows"]:
        ens = Ensemble(np.linspace(0.1, 0.9, row["size"]), c=1.0)
        samples = math.inf if row["samples"] is None else row["samples"]
        found = noise_amplification(ens, samples)
        off = np.abs(found.members / row["members"] - 1.0)
        assert np.all(off <= found.relative_error_bound + 4e-16)
        assert np.all(off < 1e-6)


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (3, ("8.86", "2.90", "2.83")),
        (5, ("407", "47.8", "47.2")),
        (8, ("2.08e+05", "3.98e+03", "3.95e+03")),
        (10, ("1.56e+07", "8.92e+04", "8.87e+04")),
    ],
)
def test_table_to_three_digits(size: int, expected: tuple[str, ...]) -> None:
    ens = Ensemble(np.linspace(0.1, 0.9, size), c=1.0)
    found = [noise_amplification(ens, k * size).worst for k in (1, 5, 20)]
    assert [f"{value:#.3g}".rstrip(".") for value in found] == list(expected)


def test_more_samples_stop_helping() -> None:
    ens = Ensemble(np.linspace(0.1, 0.9, 12), c=1.0)
    sizes = [noise_amplification(ens, T).log10_members for T in (12, 24, 100, 400, math.inf)]
    for more, fewer in zip(sizes[1:], sizes[:-1], strict=True):
        assert np.all(more <= fewer + 1e-12)
    np.testing.assert_allclose(sizes[-1], sizes[-2], atol=1e-12)


def test_complex_members_and_several_outputs_agree_with_dense_algebra() -> None:
    rng = np.random.default_rng(0)
    for outputs in (1, 2):
        weights = rng.standard_normal((outputs, 4)) + 1j * rng.standard_normal((outputs, 4))
        ens = Ensemble([0.9, 0.5 + 0.5j, -0.7, 0.8j], c=weights)
        powers = ens.lam[None, :] ** np.arange(15)[:, None]
        matrix = np.concatenate([powers * row for row in weights])
        dense = np.sqrt(np.diagonal(np.linalg.inv(matrix.conj().T @ matrix)).real)
        found = noise_amplification(ens, 15)
        np.testing.assert_allclose(found.members, dense, rtol=1e-11)
        values = np.linalg.svd(matrix, compute_uv=False)
        assert 10.0**found.log10_cond == pytest.approx(values[0] / values[-1], rel=1e-11)


def test_unstable_members_are_seen_better_the_longer_they_are_watched() -> None:
    found = noise_amplification(Ensemble([0.5, 1.2], c=1.0), 60)
    assert found.members[1] == pytest.approx(1.2**-60 * math.sqrt(1.2**2 - 1) * 1.2, rel=0.2)
    assert found.worst_member == 0


def test_what_cannot_be_told_is_refused_by_name() -> None:
    cases = [
        (Ensemble([0.2, 0.2, 0.5], c=1.0), 9, "members 0 and 1"),
        (Ensemble([0.2, 0.5], c=[1.0, 0.0]), 9, "member 1"),
        (Ensemble([0.2, 0.5, 0.8], c=1.0), 2, "too few"),
    ]
    for ens, samples, words in cases:
        with pytest.raises(NotIdentifiableError, match=words):
            noise_amplification(ens, samples)
    with pytest.raises(InvalidInputError, match="samples must be finite"):
        noise_amplification(Ensemble([0.2, 1.0], c=1.0), math.inf)
    for samples in (0, 1.5, "x", True):
        with pytest.raises(InvalidInputError, match="samples"):
            noise_amplification(Ensemble([0.2, 0.5], c=1.0), samples)  # type: ignore[arg-type]


def test_text_and_data() -> None:
    ens = Ensemble(np.linspace(0.1, 0.9, 20), c=1.0, names=[f"unit {k}" for k in range(20)])
    found = noise_amplification(ens, 100)
    assert str(found).startswith("noise × 6.609e11 in the initial state of unit 7")
    assert found.to_dict()["worst_member"] == 7
    with pytest.raises(ValueError, match="read-only"):
        found.members[0] = 1.0
