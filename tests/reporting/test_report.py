"""The report: what it computes, that its parts agree, and how short its str() is."""

from __future__ import annotations

import json
import math
import time

import numpy as np
import pytest

import ensctl as ec
from ensctl.reporting.horizons import sweep_horizons


def test_parts_are_those_of_the_functions() -> None:
    ens = ec.Ensemble([0.2, 0.5, 0.8], [1.0, 2.0, 1.0])
    result = ec.report(ens, 12)
    assert result.horizon == 12
    assert result.controllability == ec.controllability(ens, 12)
    assert result.observability == ec.observability(ens)
    assert result.conditioning.to_dict() == ec.conditioning(ens, 12).to_dict()
    assert 12 in result.sweep.horizons
    at_12 = list(result.sweep.horizons).index(12)
    assert result.sweep.log10_cond[at_12] == pytest.approx(result.conditioning.log10_cond)


def test_default_horizon_is_the_number_of_members() -> None:
    assert ec.report(ec.Ensemble([0.2, 0.5, 0.8])).horizon == 3


def test_str_is_short_and_begins_with_the_verdicts(any_report: ec.Report) -> None:
    lines = str(any_report).splitlines()
    assert 4 <= len(lines) <= 12
    assert lines[0] == any_report.controllability.sentence
    assert any(line.startswith(("practical", "impractical")) for line in lines[:4])


def test_json_round_trip_has_no_nan(any_report: ec.Report) -> None:
    content = json.loads(any_report.to_json(), parse_constant=_refuse)
    assert content == any_report.to_dict()
    assert (content["schema"], content["kind"]) == (1, "report")
    assert set(content) == {
        "schema",
        "kind",
        "ensctl",
        "fingerprint",
        "ensemble",
        "horizon",
        "target",
        "controllability",
        "observability",
        "conditioning",
        "horizon_sweep",
        "practicality",
    }
    if any_report.horizon == math.inf:
        assert content["horizon"] == "inf"


def test_json_keys_are_documented() -> None:
    text = ec.Report.to_dict.__doc__ or ""
    assert all(f"``{key}``" in text for key in ec.report(ec.Ensemble([0.5])).to_dict())


def test_every_format_is_the_same_twice(any_report: ec.Report) -> None:
    again = ec.report(any_report.ensemble, any_report.horizon)
    assert again.to_text() == any_report.to_text()
    assert again.to_json() == any_report.to_json()
    assert again.to_html() == any_report.to_html()


def test_fingerprint_depends_on_the_data_alone() -> None:
    def of(ens: ec.Ensemble) -> str:
        return str(ec.report(ens).to_dict()["fingerprint"])

    assert of(ec.Ensemble([0.0, 0.5])) == of(ec.Ensemble([-0.0, 0.5]))
    assert of(ec.Ensemble([0.0, 0.5])) != of(ec.Ensemble([0.0, np.nextafter(0.5, 1.0)]))


def test_target_is_judged() -> None:
    ens = ec.Ensemble(np.linspace(0.1, 0.9, 15))
    hard = ec.report(ens, 30, target=np.resize([1.0, -1.0], 15))
    assert hard.practicality is not None
    assert "target" in hard.to_text()
    assert hard.to_dict()["practicality"]["log10_energy"] == hard.practicality.log10_energy


@pytest.mark.parametrize(
    ("target", "horizon", "named"),
    [([1.0, 2.0], 3, "target"), ([1.0, 2.0, math.nan], 3, "target"), (1.0, math.inf, "horizon")],
)
def test_wrong_targets_are_refused(target: object, horizon: float, named: str) -> None:
    with pytest.raises(ec.InvalidInputError, match=f"^{named} must"):
        ec.report(ec.Ensemble([0.2, 0.5, 0.8]), horizon, target=target)  # type: ignore[arg-type]


@pytest.mark.parametrize("horizon", [0, -1, 2.5, "3", True, math.nan])
def test_wrong_horizons_are_refused(horizon: object) -> None:
    with pytest.raises(ec.InvalidInputError, match=r"^horizon must"):
        ec.report(ec.Ensemble([0.2, 0.5, 0.8]), horizon)  # type: ignore[arg-type]


def test_sweep_horizons_include_the_one_asked_for() -> None:
    assert sweep_horizons(3, 1, 1000)[-1] == 1000
    assert sweep_horizons(3, 1, math.inf)[-1] == 24
    assert sweep_horizons(4, 2, 5)[0] == 2
    assert max(sweep_horizons(1000, 1, 1000)) <= 2000
    assert sweep_horizons(4000, 1, math.inf) == [4000]


def test_report_of_50_members_and_200_steps_takes_less_than_two_seconds() -> None:
    ens = ec.Ensemble(np.linspace(0.0, 0.99, 50))
    ec.report(ec.Ensemble([0.5]))
    begun = time.perf_counter()
    ec.report(ens, 200).to_text()
    assert time.perf_counter() - begun < 2.0


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
