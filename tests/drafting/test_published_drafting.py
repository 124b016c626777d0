"""Published numbers: two seed papers to every printed digit, and tables of the literature."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ensctl.drafting import (
    Counters,
    LinearCost,
    TableCost,
    break_even_cost,
    continuous_optimum,
    expected_length,
    hazards_from_survival,
    implied_length,
    implied_verify_ratio,
    improvement,
    length_from_rate,
    mean_standard_deviation,
    operations,
    optimal_depth,
    pooled_acceptance,
    rate_from_length,
    speedup,
    throughput,
)

pytestmark = pytest.mark.reference

Rows = Callable[[str, str], list[dict[str, Any]]]


@pytest.fixture
def rows(reference: Callable[[str], Any]) -> Rows:
    """Rows of the published tables by source and table."""

    def find(source: str, table: str = "") -> list[dict[str, Any]]:
        found = [
            row
            for row in reference("published_drafting")["rows"]
            if source in row["source"] and table in row["table"]
        ]
        assert found
        return found

    return find


def committed(alpha: float, cost: float, depth: int) -> float:
    return throughput(alpha, cost, depth, convention="committed")


def test_population_level_paper_single_drafters() -> None:
    for alpha, cost, depth, printed in [(0.8, 0.1, 7, 2.324367), (0.5, 0.1, 3, 1.346154)]:
        best = optimal_depth(alpha, cost, convention="committed")
        assert (best.depth, round(best.throughput, 6)) == (depth, printed)


def test_population_level_paper_two_drafters() -> None:
    pooled = float(pooled_acceptance([0.5, 0.5]))
    assert pooled == 0.75
    best = optimal_depth(pooled, 0.2, convention="committed")
    assert (best.depth, round(best.throughput, 6)) == (5, 1.525391)
    single = optimal_depth(0.5, 0.1, convention="committed").throughput
    assert round(best.throughput / single, 6) == 1.133147


def test_population_level_paper_three_drafters_and_its_slips() -> None:
    pooled = float(pooled_acceptance([0.6, 0.6, 0.6]))
    assert round(pooled, 12) == 0.936
    together, single = committed(pooled, 0.15, 4), committed(0.6, 0.05, 4)
    assert round(single, 6) == 1.813333
    # Two printed last digits are slips of arithmetic: 2.270076473 and 1.251877.
    assert round(together, 8) == 2.27007616
    assert round(together, 9) != 2.270076473 and round(together, 6) == 2.270076
    assert round(together / single, 7) == 1.2518802
    assert round(together / single, 6) != 1.251877
    # Both sides at their own best depth.
    for alpha, cost, depth, value in [(pooled, 0.15, 12, 3.0570380), (0.6, 0.05, 5, 1.8444800)]:
        best = optimal_depth(alpha, cost, convention="committed")
        assert (best.depth, round(best.throughput, 7)) == (depth, value)


def test_broadcast_control_paper() -> None:
    assert round(expected_length(0.7, 4, convention="committed"), 3) == 2.533
    assert LinearCost(0.1).cycle(4) == pytest.approx(1.4)
    printed = {3: 1.6846, 4: 1.8093, 5: 1.8487, 6: 1.8382}
    for depth, value in printed.items():
        assert round(committed(0.7, 0.1, depth), 4) == value
    best = optimal_depth(0.7, 0.1, convention="committed")
    assert (best.depth, round(best.expected_length, 4), best.cycle) == (5, 2.7731, 1.5)
    continuous = continuous_optimum(0.7, 0.1, convention="committed")
    assert round(continuous.depth, 12) == 5.216389064702
    assert round(break_even_cost(0.7, 4, 5, convention="committed"), 9) == 0.152677095
    assert expected_length(0.5, 4, convention="committed") == 1.875
    assert round(committed(0.5, 0.1, 4), 4) == 1.3393
    deviation = mean_standard_deviation(0.3, 5)
    assert round(deviation, 6) == 0.134164
    assert round(deviation / 0.3, 4) == 0.4472


def test_broadcast_control_paper_in_its_own_words() -> None:
    """Counting accepted units only, as the paper defines L, gives other throughputs."""
    literal = {3: 1.1792, 4: 1.2665, 5: 1.2941, 6: 1.2868}
    for depth, value in literal.items():
        assert round(throughput(0.7, 0.1, depth, convention="accepted"), 4) == value
        assert abs(value - committed(0.7, 0.1, depth)) > 0.05


def test_leviathan_table_1_exactly(rows: Rows) -> None:
    table = rows("Leviathan", "Table 1")
    assert len(table) == 6
    for row in table:
        alpha, depth = row["inputs"]["alpha"], row["inputs"]["K"]
        printed = row["output_published"]
        assert round(improvement(alpha, depth), 2) == printed["speedup"]
        assert round(operations(alpha, depth), 2) == printed["operations"]


def test_leviathan_table_4_within_the_rounding_of_its_inputs(rows: Rows) -> None:
    table = rows("Leviathan", "Table 4")
    assert len(table) == 12
    for row in table:
        alpha, depth, cost = (row["inputs"][key] for key in ("alpha", "K", "c_d"))
        assert round(improvement(alpha, depth, cost), 3) == row["computed"]
        low = improvement(alpha - 0.005, depth, cost + 0.005)
        high = improvement(alpha + 0.005, depth, cost - 0.005)
        assert [round(low, 3), round(high, 3)] == row["interval_from_input_rounding"]
        printed = row["output_published"]["expected"]
        assert low - 0.05 <= printed <= high + 0.05
        exact = round(improvement(alpha, depth, cost), 1) == printed
        assert exact == row["rounds_to_published"]


def test_leviathan_section_3_6(rows: Rows) -> None:
    (row,) = rows("Leviathan", "sec 3.6")
    inputs = row["inputs"]
    found = improvement(inputs["alpha"], inputs["K"], inputs["c_d"])
    assert round(found, 2) == row["output_published"]["speedup"]


def test_chen_table_1_implies_lengths(rows: Rows) -> None:
    for row in rows("Chen et al. 2023"):
        inputs, printed = row["inputs"], row["output_published"]
        cycle = LinearCost(inputs["draft_ms"], inputs["target_ms"], unit="ms").cycle(inputs["K"])
        assert cycle == pytest.approx(row["computed"]["cycle_ms_if_linear"])
        length = implied_length(cycle, printed["ms_per_token"])
        assert round(length, 3) == row["computed"]["implied_E_L"]
        # The printed speedup is not the quotient of the printed times, but close.
        quotient = inputs["target_ms"] / printed["ms_per_token"]
        assert quotient == pytest.approx(printed["speedup"], rel=0.03)


def test_sequoia_tables_imply_verify_costs(rows: Rows) -> None:
    for row in rows("Sequoia", "Table 1"):
        inputs, printed, computed = row["inputs"], row["output_published"], row["computed"]
        length, per_unit = inputs["tokens_per_step"], printed["tbt_ms"]
        assert round(length * per_unit, 2) == computed["cycle_ms"]
        ratio = implied_verify_ratio(
            length, per_unit, inputs["depth"], inputs["draft_ms"], inputs["target_ms"]
        )
        assert round(ratio, 3) == computed["verify_128_over_1"]
        assert inputs["target_ms"] / per_unit == pytest.approx(printed["speedup"], rel=0.01)
    for row in rows("Sequoia", "Table 2"):
        inputs, printed = row["inputs"], row["output_published"]
        quotient = inputs["target_s"] / printed["tbt_s"]
        assert quotient == pytest.approx(printed["speedup"], rel=0.01)


def test_vllm_histogram_example(rows: Rows) -> None:
    (row,) = rows("vLLM docs", "example")
    histogram, depth = row["inputs"]["acceptance_histogram"], row["inputs"]["num_spec_tokens"]
    printed, computed = row["output_published"], row["computed"]
    steps = sum(histogram)
    survival = np.cumsum(histogram[::-1])[::-1][1:] / steps
    assert survival == pytest.approx(computed["per_position_survival"])
    assert hazards_from_survival(survival) == pytest.approx(computed["conditional"])
    length = 1 + survival.sum()
    assert length == pytest.approx(printed["mean_acceptance_length"], rel=1e-14)
    rate = rate_from_length(length, depth)
    assert rate == pytest.approx(printed["draft_acceptance_rate"], rel=1e-13)
    accepted = printed["num_accepted_draft_tokens"]
    tested = accepted + steps - histogram[-1]
    assert accepted / tested == pytest.approx(computed["alpha_mle_trials"], abs=0.005)


def test_vllm_log_lines(rows: Rows) -> None:
    for row in rows("vLLM V1 log line"):
        inputs, printed, computed = row["inputs"], row["output_published"], row["computed"]
        drafts = inputs["drafted"] / inputs["K"]
        assert drafts == computed["num_drafts"]
        rate = inputs["accepted"] / inputs["drafted"]
        assert round(100 * rate, 1) == printed["avg_draft_acceptance_rate_pct"]
        assert round(length_from_rate(rate, inputs["K"]), 2) == printed["mean_acceptance_length"]
        hazards = hazards_from_survival(inputs["per_position"])
        assert hazards == pytest.approx(computed["conditional"], abs=6e-4)
        full = round(inputs["per_position"][-1] * drafts)
        tested = inputs["accepted"] + drafts - full
        assert inputs["accepted"] / tested == pytest.approx(computed["alpha_mle"], abs=6e-4)


def test_steps_without_a_draft(rows: Rows) -> None:
    """n-gram drafters: 4.59 is printed, 2.96 is what a step yields."""
    (row,) = rows("vLLM PR #24344 n-gram")
    inputs, printed = row["inputs"], row["output_published"]
    window = Counters(
        inputs["num_drafts"],
        inputs["num_draft_tokens"],
        inputs["num_accepted_tokens"],
        draftless=inputs["tokens_without_sd"],
    )
    assert round(window.mean_acceptance_length(), 2) == printed["mean_acceptance_length"]
    whole = inputs["generated"] / (inputs["num_drafts"] + inputs["tokens_without_sd"])
    assert window.tokens_per_step == pytest.approx(whole)
    assert round(whole, 2) == printed["seq_normalized_acceptance_length"]


def test_llama_cpp_log(rows: Rows) -> None:
    (row,) = rows("llama.cpp PR #24536")
    inputs, printed = row["inputs"], row["output_published"]
    rate = inputs["accepted"] / inputs["generated"]
    assert round(rate, 5) == printed["draft_acceptance"]
    length = 1 + inputs["accepted"] / inputs["drafts"]
    assert round(length, 2) == printed["mean_acceptance_length"]


def test_the_tax_of_never_drafting(rows: Rows) -> None:
    """K = 0 with a drafter loaded, against none: 6.6 % at 2 streams, 21.6 % at 189."""
    (row,) = rows("vLLM issue #49548")
    printed = row["output_published"]
    taxes = (printed["tax_conc2_pct"], printed["tax_conc189_pct"])
    for (without, loaded), tax in zip(printed["tpot_ms"], taxes, strict=True):
        kept = speedup(0.7, LinearCost(0.0, loaded, unit="ms"), 0, off=without)
        assert 100 * (1 / kept - 1) == pytest.approx(tax, abs=0.01)


def test_a_high_rate_is_not_the_fastest(rows: Rows) -> None:
    table = rows("llama.cpp PR #24508")[0]["output_published"]["rows"]
    surest = max(table, key=lambda line: line["acc_pct"])
    fastest = max(table, key=lambda line: line["tok_s"])
    assert surest is not fastest


def test_verification_of_experts_on_cpu_is_not_free(rows: Rows) -> None:
    """t(8)/t(1) = 1.88: a measured verify curve moves the best depth."""
    (row,) = rows("llama.cpp PR #14132")
    relative = np.array(row["output_published"]["relative_cost_per_token"])
    positions = np.array(row["inputs"]["batch"])
    verify = positions * relative
    assert round(float(verify[7]), 2) == 1.88
    depths = positions - 1
    measured = optimal_depth(0.8, TableCost(depths, verify + 0.05 * depths), 31)
    free = optimal_depth(0.8, 0.05, 31)
    assert measured.throughput == max(measured.curve)
    assert measured.depth < free.depth and measured.speedup < free.speedup
    # A curve that was measured is not convex: the stopping rule alone would not do.
    assert not measured.exact_stopping


def test_published_serving_constants(rows: Rows) -> None:
    (row,) = rows("SpecDecode-Bench")
    printed = row["output_published"]
    step = printed["target_fixed_s"] + printed["overhead_per_step_s"]
    doubling = step / printed["target_per_token_s"]
    assert round(doubling) == row["computed"]["tokens_that_double_the_step"]


def test_deeper_drafts_were_slower_in_a_user_table(rows: Rows) -> None:
    table = rows("vLLM issue #21278")[0]["output_published"]["rows"]
    rates = {
        (drafter, depth): np.mean([float(part) for part in span.split("-")])
        for drafter, depth, span in table
    }
    for drafter in {name for name, _ in rates}:
        assert rates[drafter, 3] > rates[drafter, 5] > rates[drafter, 10]
