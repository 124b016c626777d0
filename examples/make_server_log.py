"""Write the small server log of the examples: what vLLM prints while it drafts five tokens deep.

Acceptance follows a Markov renewal (u = .78, v = .66): a token after an accepted one is accepted
more often.  Sixty windows of ten seconds; the counts are simulated, the format is the engine's.

Run: python examples/make_server_log.py [FILE]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from ensctl import drafting

U, V, DEPTH, WINDOWS, DRAFTS, SECONDS = 0.78, 0.66, 5, 60, 800, 10.0


def lines() -> list[str]:
    """One metrics line for each window, and the throughput line before it."""
    rng = np.random.default_rng(7)
    kept = drafting.MarkovRenewal(U, V).sample(WINDOWS * DRAFTS, DEPTH, rng)
    text = []
    for window, counts in enumerate(kept.reshape(WINDOWS, DRAFTS)):
        minute, second = divmod(10 * window, 60)
        stamp = f"INFO 11-30 09:{minute:02d}:{second:02d}"
        accepted, drafted = int(counts.sum()), DEPTH * DRAFTS
        shares = ", ".join(f"{np.mean(counts > j):.3f}" for j in range(DEPTH))
        text += [
            f"{stamp} [loggers.py:257] Engine 000: Avg prompt throughput: 95.0 tokens/s, "
            f"Avg generation throughput: {(accepted + DRAFTS) / SECONDS:.1f} tokens/s, "
            "Running: 16 reqs, Waiting: 0 reqs, GPU KV cache usage: 11.2%",
            f"{stamp} [metrics.py:101] SpecDecoding metrics: Mean acceptance length: "
            f"{1 + accepted / DRAFTS:.2f}, Accepted throughput: {accepted / SECONDS:.2f} tokens/s, "
            f"Drafted throughput: {drafted / SECONDS:.2f} tokens/s, Accepted: {accepted} tokens, "
            f"Drafted: {drafted} tokens, Per-position acceptance rate: {shares}, "
            f"Avg Draft acceptance rate: {100 * accepted / drafted:.1f}%",
        ]
    return text


def main(path: Path = Path("server.log")) -> int:
    """Write the log and return the number of windows."""
    path.write_text("\n".join(lines()) + "\n", encoding="utf-8")
    return WINDOWS


if __name__ == "__main__":
    print(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("server.log")))
