"""Per-request JSON of vLLM, AIPerf, TensorRT-LLM, SGLang, MLC and llama.cpp."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ensctl.drafting import Convention, read_counters
from ensctl.errors import FormatError

VLLM: dict[str, Any] = {
    "mean_acceptance_length": 1.0 + 26 / 20,
    "draft_acceptance_rate": 26 / 60,
    "acceptance_histogram": [6, 4, 8, 2],
    "num_spec_steps": 20,
    "num_accepted_draft_tokens": 26,
    "num_draft_tokens": 60,
    "num_spec_tokens": 3,
}


def response(stats: dict[str, Any]) -> str:
    return json.dumps(
        {
            "model": "m",
            "choices": [],
            "usage": {"completion_tokens": 50},
            "metrics": {"speculative_decoding": stats},
        }
    )


def test_a_vllm_request() -> None:
    [window] = read_counters(response(VLLM))
    assert (window.format, window.model, window.generated) == ("vllm-request", "m", 50)
    assert window.histogram == {0: 6, 1: 4, 2: 8, 3: 2}
    assert window.accepted_per_position == (14, 10, 2)
    # 50 tokens in 50 − 26 = 24 steps, four of them without a draft.
    assert window.tokens_per_step == pytest.approx(50 / 24)
    assert window.mean_acceptance_length(Convention.COMMITTED) == 1 + (26 - 2) / 20


@pytest.mark.parametrize(
    "text",
    [
        response(VLLM),
        json.dumps({"draft_count": [20, 20, 20, 20], "accept_count": [20, 14, 9, 1]}),
        "vllm:spec_decode_num_drafts 10\nvllm:spec_decode_num_draft_tokens 30\n"
        "vllm:spec_decode_num_accepted_tokens 6\n"
        'vllm:spec_decode_num_accepted_tokens_per_pos{position="0"} 6\n'
        'vllm:spec_decode_num_accepted_tokens_per_pos{position="1"} 0\n'
        'vllm:spec_decode_num_accepted_tokens_per_pos{position="2"} 0\n',
    ],
)
def test_another_depth_than_the_printed_one_is_refused(text: str) -> None:
    assert read_counters(text, depth=3) == read_counters(text)
    with pytest.raises(FormatError, match="depth is 4, but what is read has K = 3"):
        read_counters(text, depth=4)


def test_requests_line_by_line_and_as_an_event_stream() -> None:
    text = "\n".join([response(VLLM), "", f"data: {response(VLLM)}", "data: [DONE]"])
    assert [window.line for window in read_counters(text)] == [1, 3]


def test_a_document_over_many_lines() -> None:
    text = json.dumps(json.loads(response(VLLM)), indent=2)
    [window] = read_counters(text)
    assert window.accepted == 26


def test_varying_drafts_keep_their_histograms() -> None:
    stats = VLLM | {
        "acceptance_histogram": [7, 4, 8, 2],
        "acceptance_histogram_by_draft_length": {"3": [1, 2, 8, 2], "1": [5, 2], "0": [1]},
        "num_spec_steps": 21,
        "mean_acceptance_length": 1 + 26 / 21,
        "num_draft_tokens": 46,
        "draft_acceptance_rate": 26 / 46,
    }
    [window] = read_counters(response(stats))
    assert (window.drafts, window.draftless) == (20, 1)
    assert window.histogram == {0: 6, 1: 4, 2: 8, 3: 2}
    assert window.histogram_by_depth == {1: {0: 5, 1: 2}, 3: {0: 1, 1: 2, 2: 8, 3: 2}}
    assert window.fully_accepted() == 4


def test_steps_of_detailed_records() -> None:
    stats = VLLM | {
        "acceptance_histogram": [1, 2, 1, 0],
        "num_spec_steps": 4,
        "num_accepted_draft_tokens": 4,
        "num_draft_tokens": 8,
        "mean_acceptance_length": 2.0,
        "draft_acceptance_rate": 0.5,
        "per_step_accepted": [0, 1, 2, 1],
        "per_step_drafted": [3, 1, 3, 1],
    }
    [window] = read_counters(response(stats))
    assert window.histogram_by_depth == {1: {1: 2}, 3: {0: 1, 2: 1}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mean_acceptance_length": 2.9}, "mean_acceptance_length is 2.9"),
        ({"draft_acceptance_rate": float("nan")}, "draft_acceptance_rate is nan"),
        ({"acceptance_histogram": [6, 4, 8, 3]}, "histogram has 21 drafts|positions add"),
        ({"acceptance_histogram": [6, -4, 8, 2]}, "must hold counts"),
        ({"num_accepted_draft_tokens": -3}, "must be a whole number"),
        ({"num_accepted_draft_tokens": None}, "are needed"),
        ({"num_spec_tokens": 2}, "60 tokens in 20 drafts of depth 2"),
        ({"per_step_accepted": [4], "per_step_drafted": [3]}, "a step accepts 4 of 3"),
        ({"per_step_accepted": [4], "per_step_drafted": []}, "1 steps in per_step_accepted"),
    ],
)
def test_contradictory_requests(change: dict[str, Any], message: str) -> None:
    text = response(VLLM) + "\n" + response(VLLM | change)
    with pytest.raises(FormatError, match=message) as caught:
        read_counters(text)
    assert caught.value.line == 2
    windows = read_counters(text, strict=False)
    assert any("line 2" in note for window in windows for note in window.notes)


def test_a_record_without_a_limit_takes_the_caller_s() -> None:
    stats = VLLM | {"num_spec_tokens": None, "num_draft_tokens": 50, "draft_acceptance_rate": 0.52}
    with pytest.raises(FormatError, match="give depth="):
        read_counters(response(stats))
    [window] = read_counters(response(stats), depth=3)
    assert window.depth == 3


def test_aiperf_records() -> None:
    record = {
        "metadata": {"request_num": 0},
        "metrics": {},
        "spec_decode_acceptance": VLLM
        | {"engine": "sglang", "acceptance_histogram": {"0": 6, "1": 4, "2": 8, "3": 2}},
    }
    missing = {"metadata": {"request_num": 1}, "metrics": {}, "spec_decode_acceptance": None}
    text = "\n".join(json.dumps(item) for item in (record, missing, record))
    first, second = read_counters(text)
    assert (first.format, first.engine, first.histogram) == (
        "aiperf",
        "sglang",
        {0: 6, 1: 4, 2: 8, 3: 2},
    )
    assert second.line == 3


def trt(**change: Any) -> str:
    stats = {
        "acceptance_rate": 26 / 60,
        "total_accepted_draft_tokens": 26,
        "total_draft_tokens": 60,
        "num_spec_steps": 20,
        "acceptance_histogram": [6, 4, 8, 2],
        "num_spec_tokens": 3,
    }
    choice = {
        "index": 0,
        "avg_decoded_tokens_per_iter": 2.3,
        "speculative_decoding": stats | change,
    }
    return json.dumps({"model": "m", "choices": [choice], "usage": {"completion_tokens": 46}})


def test_tensorrt_llm_requests() -> None:
    [window] = read_counters(trt())
    assert (window.format, window.depth, window.model) == ("tensorrt-llm", 3, "m")
    assert (window.accepted_per_position, window.generated) == ((14, 10, 2), 46)
    scheduled = trt(num_spec_tokens=None, total_draft_tokens=47, acceptance_rate=26 / 47)
    with pytest.raises(FormatError, match="give depth="):
        read_counters(scheduled)
    assert read_counters(scheduled, depth=3)[0].draft_tokens == 47


def test_tensorrt_llm_iterations() -> None:
    text = json.dumps(
        [
            {
                "iter": 4,
                "specDecodingStats": {
                    "numDraftTokens": 12,
                    "numAcceptedTokens": 7,
                    "numRequestsWithDraftTokens": 4,
                },
            }
        ]
    )
    with pytest.raises(FormatError, match="do not carry K; give depth="):
        read_counters(text)
    [window] = read_counters(text, depth=3)
    assert (window.drafts, window.accepted) == (4, 7)


def test_sglang_requests() -> None:
    present = {
        "spec_accept_rate": 26 / 60,
        "spec_accept_length": 2.3,
        "spec_num_correct_drafts": 26,
        "spec_num_proposed_drafts": 60,
        "spec_verify_ct": 20,
        "spec_correct_drafts_histogram": [6, 4, 8, 2],
        "completion_tokens": 46,
    }
    older = {
        "completion_tokens": 200,
        "spec_accept_rate": 11 / 940,
        "spec_verify_ct": 188,
        "spec_accept_token_num": 11,
        "spec_draft_token_num": 940,
    }
    first, second = read_counters(
        json.dumps({"meta_info": present}) + "\n" + json.dumps({"meta_info": older})
    )
    assert (first.depth, first.histogram) == (3, {0: 6, 1: 4, 2: 8, 3: 2})
    assert (second.depth, second.accepted, second.generated) == (5, 11, 200)
    bare = json.dumps({"meta_info": {"completion_tokens": 106, "spec_verify_ct": 43}})
    with pytest.raises(FormatError, match="give depth="):
        read_counters(bare)
    assert read_counters(bare, depth=5)[0].accepted == 63
    wrong = json.dumps({"meta_info": present | {"spec_accept_rate": 0.9}})
    with pytest.raises(FormatError, match=r"spec_accept_rate is 0\.9"):
        read_counters(wrong)


def test_mlc_counts_with_and_without_the_target_s_own_token() -> None:
    own = json.dumps({"spec_decode": {"draft_count": [20, 20, 20], "accept_count": [20, 14, 9]}})
    [window] = read_counters(own)
    assert (window.format, window.depth, window.drafts) == ("mlc", 2, 20)
    assert window.survival() == (1.0, 0.7, 0.45)
    assert "the target's own" in window.notes[0]
    bare = json.dumps({"spec_decode": {"draft_count": [20, 18], "accept_count": [14, 9]}})
    [window] = read_counters(bare)
    assert (window.accepted_per_position, window.draft_tokens) == ((14, 9), 38)


@pytest.mark.parametrize(
    ("drafted", "kept", "message"),
    [
        ([20, 21], [14, 9], "draft_count rises at 1"),
        ([20, 20], [14], "counts of one length"),
        ([20, 20], [14, -1], "counts of one length"),
        ([20, 20], [14, 15], "must not increase"),
    ],
)
def test_mlc_violations(drafted: list[int], kept: list[int], message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read_counters(json.dumps({"draft_count": drafted, "accept_count": kept}))


def test_llama_cpp_timings() -> None:
    timings = {"predicted_n": 200, "draft_n": 347, "draft_n_accepted": 65}
    text = json.dumps({"model": "m", "timings": timings})
    with pytest.raises(FormatError, match="give depth="):
        read_counters(text)
    [window] = read_counters(text, depth=16)
    assert (window.format, window.drafts, window.generated) == ("llama.cpp", 22, 200)
    assert "at least" in window.notes[0]
    exact = json.dumps({"timings": timings | {"draft_n_verif_steps": 30}})
    assert read_counters(exact, depth=16)[0].drafts == 30


def test_broken_json() -> None:
    with pytest.raises(FormatError, match="the line is not JSON") as caught:
        read_counters(response(VLLM) + "\n" + response(VLLM)[:-20] + "\n")
    assert caught.value.line == 2
    with pytest.raises(FormatError, match="the text is not JSON"):
        read_counters(response(VLLM)[:-20])
