"""Lines of several containers, hosts and ranks in one log, and lines that ran into each other."""

from __future__ import annotations

import json

import pytest

from ensctl.drafting import read_counters
from ensctl.errors import FormatError


def metrics(positions: tuple[int, ...], drafts: int = 100, seconds: float = 10.0) -> str:
    accepted, drafted = sum(positions), len(positions) * drafts
    shares = ", ".join(f"{count / drafts:.3f}" for count in positions)
    return (
        f"INFO 07-09 20:32:01 [metrics.py:120] SpecDecoding metrics: Mean acceptance length: "
        f"{1 + accepted / drafts:.2f}, Accepted throughput: {accepted / seconds:.2f} tokens/s, "
        f"Drafted throughput: {drafted / seconds:.2f} tokens/s, Accepted: {accepted} tokens, "
        f"Drafted: {drafted} tokens, Per-position acceptance rate: {shares}, "
        f"Avg Draft acceptance rate: {100 * accepted / drafted:.1f}%"
    )


GOOD, POOR = metrics((80, 50, 20)), metrics((40, 10, 5))
SENDERS = {
    "compose": ("vllm-1  | (APIServer pid=1) ", "vllm-2  | (APIServer pid=1) "),
    "kubectl": ("[pod/a/vllm] (APIServer pid=1) ", "[pod/b/vllm] (APIServer pid=1) "),
    "journal": ("Jul 09 20:32:01 gpu1 vllm[7]: ", "Jul 09 20:32:01 gpu2 vllm[7]: "),
    "iso journal": (
        "2025-07-09T20:32:01+0000 gpu1 vllm[7]: ",
        "2025-07-09T20:32:01+0000 gpu2 vllm[7]: ",
    ),
    "json": (
        '{"pod_name":"a","log":"(APIServer pid=1) ',
        '{"pod_name":"b","log":"(APIServer pid=1) ',
    ),
}


@pytest.mark.parametrize("kind", SENDERS)
def test_senders_are_kept_apart(kind: str) -> None:
    first, second = SENDERS[kind]
    end = '"}' if kind == "json" else ""
    windows = read_counters([first + GOOD + end, second + POOR + end, first + GOOD + end])
    assert [window.accepted for window in windows] == [150, 55, 150]
    assert windows[0].engine == windows[2].engine != windows[1].engine


def test_what_is_no_sender_is_not_taken_for_one() -> None:
    prefixes = (
        "",
        "2025-07-09T20:32:01.1Z stdout F ",
        "[1] ",
        "\x1b[0;36m(APIServer pid=1)\x1b[0m ",
    )
    engines = {read_counters([prefix + GOOD])[0].engine for prefix in prefixes}
    assert engines == {"", "APIServer pid=1"}
    docker = json.dumps({"log": f"(APIServer pid=1) {GOOD}\n", "stream": "stdout"})
    assert read_counters([docker])[0].engine == "APIServer pid=1"


def test_colours_of_compose() -> None:
    lines = [f"\x1b[36mvllm-{k}  | \x1b[0m(APIServer pid=1) {GOOD}" for k in (1, 2)]
    assert [w.engine for w in read_counters(lines)] == [
        "vllm-1, APIServer pid=1",
        "vllm-2, APIServer pid=1",
    ]


def test_a_line_within_a_line_is_not_counted_twice() -> None:
    torn = GOOD[:120] + GOOD
    with pytest.raises(FormatError, match="line 1: the metrics line is cut off"):
        read_counters([torn])
    windows = read_counters([torn, POOR], strict=False)
    assert [window.accepted for window in windows] == [150, 55]


def test_unreadable_positions_are_not_passed_over() -> None:
    with pytest.raises(FormatError, match="per-position"):
        read_counters([GOOD.replace("0.800, 0.500, 0.200", "[0.800, 0.500]")], depth=3)


def test_byte_order_mark_before_any_format() -> None:
    names = ("drafts", "draft_tokens", "accepted_tokens")
    text = "".join(
        f"vllm:spec_decode_num_{name} {n}\n" for name, n in zip(names, (10, 30, 15), strict=True)
    )
    assert read_counters(b"\xef\xbb\xbf" + text.encode())[0].accepted == 15
    assert read_counters(b"\xef\xbb\xbf" + GOOD.encode())[0].accepted == 150


def throughput(rate: float) -> str:
    return (
        "INFO 07-09 20:32:01 [loggers.py:273] Engine 000: Avg prompt throughput: 9.0 tokens/s, "
        f"Avg generation throughput: {rate:.1f} tokens/s, Running: 1 reqs"
    )


def test_generated_tokens_after_an_idle_stretch() -> None:
    """A metrics line counts from the last one, the throughput is of the last ten seconds."""
    line = metrics((80, 50, 20), seconds=100.0)
    [window] = read_counters([throughput(25.0), line])
    assert window.generated == 250
    assert window.tokens_per_step == pytest.approx(2.5)
    # Reports that are further apart: ten seconds would not hold the drafted steps' tokens.
    [sparse] = read_counters([throughput(5.0), metrics((80, 50, 20), seconds=60.0)])
    assert sparse.generated == 300


def test_sglang_ranks_behind_a_container() -> None:
    line = (
        "sgl-1  | [2025-03-24 02:56:41 DP{rank} TP0] Decode batch. #running-req: 32, "
        "#token: 7352, token usage: 0.01, accept len: 2.54, gen throughput (token/s): 39.33, "
    )
    windows = read_counters([line.format(rank=k) for k in (0, 1)], depth=3)
    assert [window.engine for window in windows] == ["sgl-1, DP0 TP0", "sgl-1, DP1 TP0"]


@pytest.mark.parametrize("end", ["2.", "2.5", "2.54, accept rate: 0.", "2.54, accept rate: 0.5"])
def test_sglang_numbers_without_their_last_digits(end: str) -> None:
    with pytest.raises(FormatError, match="line 1: the accept length is cut off"):
        read_counters([f"Decode batch. #token: 7, accept len: {end}"], depth=3)


def gauges(**values: float) -> list[str]:
    return [f'sglang:spec_{name}{{model_name="m"}} {value}' for name, value in values.items()]


def test_sglang_gauges_that_carry_the_depth() -> None:
    chain = gauges(accept_length=2.5, accept_rate=0.5, num_steps=3, num_draft_tokens=4)
    [window] = read_counters(chain)
    assert (window.depth, window.accepted) == (3, 1.5)
    with pytest.raises(FormatError, match="depth is 5"):
        read_counters(chain, depth=5)
    tree = gauges(accept_length=2.5, num_steps=3, num_draft_tokens=16)
    with pytest.raises(FormatError, match="not those of a chain"):
        read_counters(tree)
    assert read_counters(tree, depth=3)[0].depth == 3


def slot(text: str, prefix: str = "") -> str:
    return f"{prefix}0.06.896.015 I slot print_timing: id  1 | task 0 | {text}"


def test_llama_mean_len_and_positions_on_a_line_of_their_own() -> None:
    lines = [
        slot("draft acceptance = 0.64479 (  167 accepted /   259 generated), mean len =  2.92"),
        slot("     acc per pos = (0.805, 0.632, 0.483)"),
    ]
    [window] = read_counters(lines)
    assert (window.drafts, window.accepted_per_position) == (87, (70, 55, 42))
    with pytest.raises(FormatError, match="does not carry K"):
        read_counters(lines[:1])
    # 5995/3.305 … 5995/3.295 drafts: T/K = 1137 would be those of another engine.
    [alone] = read_counters(
        [slot("draft acceptance = 0.65959 ( 5995 accepted /  9089 generated), mean len =  4.30")],
        depth=8,
    )
    assert alone.drafts == 1817
    assert "within 1814 … 1819" in alone.notes[0]


def test_llama_lengths_that_contradict_or_are_cut() -> None:
    line = slot("draft acceptance = 0.50000 (  100 accepted /   200 generated), mean len =  ")
    with pytest.raises(FormatError, match=r"is not 1 \+ A/D"):
        read_counters([line + "1.01"], depth=3)
    with pytest.raises(FormatError, match="cut off"):
        read_counters([line + "2."], depth=3)
    with pytest.raises(FormatError, match="cut off"):
        read_counters([line + "2.00, acceptance rate per position = (0.8, 0."], depth=3)


def test_llama_models_behind_a_router() -> None:
    text = "draft acceptance = 0.50000 (  150 accepted /   300 generated), mean len =  2.50"
    windows = read_counters([slot(text, "[53409] "), slot(text, "[53410] ")], depth=3)
    assert [window.engine for window in windows] == ["53409, slot 1", "53410, slot 1"]


def test_tensorrt_iteration_length() -> None:
    counts = {"numDraftTokens": 300, "numAcceptedTokens": 150, "numRequestsWithDraftTokens": 100}
    good = json.dumps({"specDecodingStats": {**counts, "acceptanceLength": 2.5}})
    assert read_counters(good, depth=3)[0].drafts == 100
    with pytest.raises(FormatError, match=r"acceptanceLength is 3\.1"):
        read_counters(good.replace("2.5", "3.1"), depth=3)
