"""A decoder that drafts and verifies, on any machine with Python and without a download.

A character model of order 6, trained on the source of the standard library, writes Python; models
of order 2, 3 and 4 draft for it.  The text has the law of the large model exactly, which is tested;
the acceptance α_t of every character is known exactly, so what is measured can be compared with it.

Such small models gain no time.  What cycles would be worth is told by a cost table.

Run: python examples/speculative_decoder.py
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ensctl.drafting import LinearCost, optimal_pooled_acceptance, recursive_rejection
from ensctl.scheduling import policies
from ensctl.simulation import (
    NgramModel,
    PromptLookup,
    losslessness_test,
    speculative_decode,
    train_ngrams,
)
from ensctl.simulation.ngram.corpus import encode

# Illustrative: a verification costs 1, a drafted character a tenth of it or next to nothing.
_COST = LinearCost(0.1)
_LOOKUP = LinearCost(0.01)
_DEPTH = 4


class Drafted(NamedTuple):
    """One drafter at depth 4."""

    name: str
    alpha: float
    length: float
    exact_length: float
    standard_error: float
    lossless_p: float
    throughput: float


class Pooled(NamedTuple):
    """m drafts of the order-3 model at one unit: means over contexts of one text; and a text of its
    own for each rule, accepted share beside the mean of its exact chances."""

    drafts: int
    formula: float
    optimum: float
    recursive: float
    decoded_optimum: tuple[float, float]
    decoded_recursive: tuple[float, float]


class Result(NamedTuple):
    """What the example shows."""

    text: str
    drafters: list[Drafted]
    pools: list[Pooled]
    policy_throughput: float
    policy_shares: dict[str, float]
    tampered_p: float


def main(length: int = 20_000, max_bytes: int = 8_000_000) -> Result:
    """Decode ``length`` characters with each drafter."""
    target = train_ngrams(max_bytes=max_bytes)
    drafters: dict[str, NgramModel | PromptLookup] = {
        f"order {order}": target.of_order(order) for order in (2, 3, 4)
    }
    drafters["prompt lookup"] = PromptLookup()
    rows, text = [], ""
    for name, drafter in drafters.items():
        found = speculative_decode(target, drafter, length, _DEPTH, prompt="import os\n", seed=1)
        exact = found.run.expected_accepted()
        cost = _LOOKUP if isinstance(drafter, PromptLookup) else _COST
        rows.append(
            Drafted(
                name,
                float(found.run.chances.mean()),
                float(found.run.accepted.mean()) + 1.0,
                exact.value + 1.0,
                exact.std_error,
                found.losslessness().p_value,
                found.run.throughput(cost),
            )
        )
        text = text or found.text
    arms = policies.arm_set({"order 4": _COST, "prompt lookup": _LOOKUP}, [1, 2, 4, 8])
    chosen = speculative_decode(
        target,
        {name: drafters[name] for name in arms.pool},
        length,
        policies.KFUCB(arms),
        prompt="import os\n",
        seed=2,
    )
    spent = np.where(
        chosen.run.owners == _position(chosen.run.drafters, "prompt lookup"),
        1.0 + 0.01 * chosen.run.drafted,
        1.0 + 0.1 * chosen.run.drafted,
    )
    shares = {
        name: float(np.mean(chosen.run.owners == i)) for i, name in enumerate(chosen.run.drafters)
    }
    # What a wrong acceptance rule would look like: some characters replaced by the drafter's taste.
    order_2 = target.of_order(2)
    tampered = losslessness_test(_tampered(text, order_2), target, order_2, prompt="import os\n")
    return Result(
        text,
        rows,
        [_pooled(target, text[: length // 10], count) for count in (2, 4)],
        chosen.run.units / float(spent.sum()),
        shares,
        tampered.p_value,
    )


def _position(names: tuple[str, ...], name: str) -> int:
    return names.index(name) if name in names else -2


def _tampered(text: str, drafter: NgramModel) -> str:
    """Every tenth character is drawn from the drafter."""
    rng = np.random.default_rng(0)
    symbols = list(text)
    for k in range(9, len(symbols), 10):
        law = drafter.distribution("".join(symbols[k - 1 : k]))
        symbols[k] = drafter.alphabet[rng.choice(law.size, p=law)]
    return "".join(symbols)


def _pooled(target: NgramModel, text: str, count: int) -> Pooled:
    drafter = target.of_order(3)
    p, q = (model.rows_along(b"", encode(text)) for model in (target, drafter))
    alpha = float(np.minimum(p, q).sum(axis=1).mean())
    pairs = list(zip(p, q, strict=True))
    decoded = [
        speculative_decode(target, drafter, len(text), 1, drafts=count, rule=rule, seed=3).run
        for rule in ("optimal coupling", "recursive rejection")
    ]
    return Pooled(
        count,
        1.0 - (1.0 - alpha) ** count,
        float(np.mean([optimal_pooled_acceptance(*x, count=count).acceptance for x in pairs])),
        float(np.mean([recursive_rejection(*x, count=count).acceptance for x in pairs])),
        *((float(run.accepted.mean()), float(run.chances.mean())) for run in decoded),
    )


if __name__ == "__main__":
    result = main()
    print(result.text[:400])
    print(f"\nDepth {_DEPTH}, lengths with bonus; p tests that the text has the target's law.")
    for row in result.drafters:
        print(
            f"{row.name:14} α {row.alpha:.3f}  E[L] {row.length:.4f}, from exact α_t "
            f"{row.exact_length:.4f} ± {row.standard_error:.4f}  p {row.lossless_p:.3f}  "
            f"{row.throughput:.3f} characters per verify pass"
        )
    shares = ", ".join(f"{name} {share:.0%}" for name, share in result.policy_shares.items())
    print(f"KF-UCB on both cheap drafters: {result.policy_throughput:.3f} ({shares})")
    print(f"Every tenth character taken from the drafter instead: p {result.tampered_p:.1g}")
    for pool in result.pools:
        print(
            f"{pool.drafts} drafts of order 3: 1 − (1 − α)^m {pool.formula:.3f}, optimum "
            f"{pool.optimum:.3f}, recursive rejection {pool.recursive:.3f}"
        )
        print(
            f"  decoded with the optimal coupling {pool.decoded_optimum[0]:.3f} (exact chances "
            f"{pool.decoded_optimum[1]:.3f}), with recursive rejection "
            f"{pool.decoded_recursive[0]:.3f} ({pool.decoded_recursive[1]:.3f})"
        )
