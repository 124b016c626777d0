"""``ensctl replay``: a policy against measured or public traces, beside the best fixed arm.

JSON (schema 1): ``schema``, ``kind`` ("replay_result"), ``policy``, ``batches``, ``seeds``,
``unit``, ``throughput``, ``gain`` with ``gain_std_error``, ``best_arms``, ``best_throughput``,
``foresight_gain`` (null without --foresight), ``shares`` of the arms, ``switches``, and ``regret``
with ``regret_std_error`` at the cycles ``marks``; a list of these with several policies.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ensctl.cli.population import Json, NoColor
from ensctl.cli.standard_input import as_file
from ensctl.cli.streams import data, message, painted
from ensctl.cli.waiting import waiting
from ensctl.errors import InvalidInputError

if TYPE_CHECKING:
    from ensctl.drafting.cost import CostModel
    from ensctl.scheduling.load_walk import LoadWalk
    from ensctl.scheduling.policies.arm_set import ArmSet
    from ensctl.scheduling.policies.policy import Policy
    from ensctl.scheduling.position_traces import PositionTraces

_POLICIES = ("kf-ucb", "kf-ucb-unguarded", "ahs", "ucb", "kl-ucb", "thompson")
_NGRAM = "ngram"

Traces = Annotated[
    Path | None,
    typer.Argument(
        metavar="TRACES",
        help="JSON lines, a request each: acc_<drafter> lists accepted + 1 at every position; - is "
        "stdin.",
        show_default=False,
    ),
]
Fixture = Annotated[
    str | None,
    typer.Option("--fixture", metavar="KIND", help="Public traces instead: code, chat or iid."),
]
Fault = Annotated[
    bool,
    typer.Option("--fault", help="The fixture's neural drafter breaks down from 40 % to 70 %."),
]
Names = Annotated[
    list[str] | None,
    typer.Option(
        "--policy",
        metavar="NAME",
        help=f"{', '.join(_POLICIES)}, or an arm: off, eagle:3.  Can be given several times.  "
        "[default: kf-ucb]",
    ),
]
Batch = Annotated[
    str, typer.Option("--batch", metavar="B", help="Streams, or 'walk': 1 to 128 by time.")
]
Cycles = Annotated[
    int | None,
    typer.Option("--cycles", metavar="N", help="Cycles.  [default: every request once]"),
]
Seeds = Annotated[int, typer.Option("--seeds", metavar="S", help="Number of seeds, from 0 on.")]
Switch = Annotated[
    float, typer.Option("--switch-cost", metavar="MS", help="Time of each change of drafter.")
]
Unmatched = Annotated[
    float | None,
    typer.Option(
        "--unmatched",
        metavar="P",
        help="Probability that an n-gram drafter of TRACES drafts where nothing is accepted.  "
        "[default: 0.3]",
    ),
]
Foresight = Annotated[
    bool, typer.Option("--foresight", help="Also replay the choice that knows what comes.")
]
Picture = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        "--plot",
        metavar="FILE",
        help="Draw the regret into a .svg, .png or .pdf file.",
    ),
]


def replay(
    traces: Traces = None,
    fixture: Fixture = None,
    fault: Fault = False,
    policy: Names = None,
    batch: Batch = "16",
    cycles: Cycles = None,
    seeds: Seeds = 8,
    switch_cost: Switch = 0.0,
    unmatched: Unmatched = None,
    foresight: Foresight = False,
    output: Picture = None,
    as_json: Json = False,
    no_color: NoColor = False,
) -> None:
    """Replay policies that choose drafter and depth from totals, beside the best fixed arm.

    Costs are published ones of an 8B model on one H100, in ms; a drafter whose name has "ngram"
    in it costs a fraction of verification, any other .713 ms for each unit of depth.

    \b
    Examples:
      ensctl replay --fixture code --batch 16 --cycles 20000 --policy kf-ucb --policy ahs
      ensctl replay traces.jsonl --policy kf-ucb --batch 16 --cycles 20000 --seeds 8 --json
      ensctl replay --fixture code --fault --policy kf-ucb --policy kf-ucb-unguarded
    """
    from ensctl.scheduling.replay_oracles import replay_oracles
    from ensctl.scheduling.replay_policy import replay as play

    if (traces is None) == (fixture is None):
        raise typer.BadParameter("give either a file of TRACES or --fixture KIND")
    if fault and fixture is None:
        raise typer.BadParameter("--fault goes with --fixture")
    if unmatched is not None and fixture is not None:
        raise typer.BadParameter("--unmatched goes with TRACES; the fixture has its own")
    if seeds < 1:
        raise InvalidInputError(f"seeds must be ≥ 1, got {seeds}")
    load = _load(batch)
    _require_picture(output)
    requests, arms = _requests(traces, fixture, fault, 0.3 if unmatched is None else unmatched)
    wanted = policy or ["kf-ucb"]
    chosen = [_policy(name, arms) for name in wanted]
    every = list(range(seeds))
    message(f"replaying {requests}")
    with waiting("replaying every fixed arm"):
        oracles = replay_oracles(
            requests, arms, batch=load, cycles=cycles, seed=every, foresight=foresight
        )
    results = []
    for name, one in zip(wanted, chosen, strict=True):
        with waiting(f"replaying {name}") as done:
            results.append(
                play(
                    requests,
                    one,
                    None,
                    load,
                    cycles,
                    every,
                    switch_cost=switch_cost,
                    oracles=oracles,
                    progress=done,
                )
            )
    if as_json:
        contents = [result.to_dict() for result in results]
        answer: Any = contents[0] if len(contents) == 1 else contents
        data(json.dumps(answer, indent=1, ensure_ascii=False))
    else:
        for result in results:
            head, *rest = str(result).splitlines()
            good = result.gain().value >= -0.01
            data("\n".join([painted(head, good=good, allowed=not no_color), *rest]))
    if output is not None:
        from ensctl.plot.regret_figure import save_regret_figure

        message(f"wrote {save_regret_figure(results, output)}")


def _load(text: str) -> int | LoadWalk:
    if text.strip().lower() == "walk":
        from ensctl.scheduling.load_walk import LoadWalk

        return LoadWalk()
    try:
        return int(text)
    except ValueError:
        raise InvalidInputError(f"batch must be an integer ≥ 1 or 'walk', got {text!r}") from None


def _requests(
    path: Path | None, fixture: str | None, fault: bool, unmatched: float
) -> tuple[PositionTraces, ArmSet]:
    from ensctl.drafting.cost_serving import BatchCost
    from ensctl.drafting.fitting.position_traces import read_traces
    from ensctl.scheduling.policies.arm_set import arm_set
    from ensctl.scheduling.position_traces import read_position_traces
    from ensctl.scheduling.token_chain import fixture_arms, token_chain

    if path is None:
        return token_chain(fixture or "", fault=fault), fixture_arms()
    with as_file(path) as file:
        names = list(read_traces(file))
        ngrams = {name: unmatched for name in names if _NGRAM in name.lower()}
        requests = read_position_traces(file, unmatched=ngrams)
    models: dict[str, CostModel | float] = {
        name: BatchCost.h100_8b("ngram" if name in ngrams else "linear") for name in names
    }
    return requests, arm_set(models)


def _policy(name: str, arms: ArmSet) -> Policy[Any]:
    from ensctl.scheduling import policies

    makers: dict[str, Any] = {
        "kf-ucb": policies.KFUCB,
        "kf-ucb-unguarded": lambda arms: policies.KFUCB(arms, guard=False),
        "ahs": policies.HysteresisSwitch,
        "ucb": policies.UCB,
        "kl-ucb": policies.KLUCB,
        "thompson": policies.Thompson,
    }
    wanted = name.strip()
    if wanted in makers:
        made: Policy[Any] = makers[wanted](arms)
        return made
    drafter, _, depth = wanted.partition(":")
    if wanted != "off" and not (depth.isdecimal() and drafter in arms.pool):
        raise InvalidInputError(
            f"policy must be one of {', '.join(_POLICIES)}, off, or drafter:depth with one of "
            f"{', '.join(arms.pool)}, got {name!r}"
        )
    return policies.Fixed(arms, arms.index(drafter, int(depth or 0)))


def _require_picture(plot: Path | None) -> None:
    """Refuse a file that cannot be written, before any work is done for it."""
    if plot is not None:
        from ensctl.files import require_folder
        from ensctl.plot.steering_figure import require_picture

        require_picture(plot)
        require_folder(plot)
