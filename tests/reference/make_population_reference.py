"""Exact minimisers of Σ w|b p(λ) + λ^H x0 − target|² + ρ‖u‖² for a population, at 1500 bits.

The members are dyadic fractions or quotients of small integers, so every machine has the same
doubles.  The normal equations are formed from exact power sums and solved in ball arithmetic.

Run: python tests/reference/make_population_reference.py, which writes population.json beside it.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from flint import arb, arb_mat, ctx, fmpq

BITS = 1500
CASES = (
    {"size": 2000, "horizon": 60, "lo": -0.95, "hi": 0.95, "ridge": 1e-8, "x0": 0.0},
    {"size": 2000, "horizon": 60, "lo": 0.1, "hi": 0.9, "ridge": 1e-8, "x0": 0.5},
    {"size": 3000, "horizon": 150, "lo": -1.0, "hi": 1.0, "ridge": 1e-6, "x0": 0.0},
)


def members(size: int, lo: float, hi: float) -> dict[str, np.ndarray]:
    """λ, b, target and weights by correctly rounded operations on integers."""
    i = np.arange(size)
    lam = lo + (hi - lo) * (((i * 40503) % 65536) / 65536.0)
    b = 1.0 + ((i * 7919) % 1024) / 1024.0
    target = lam / (0.25 + lam * lam) + ((i * 104729) % 64) / 256.0
    weights = 0.5 + ((i * 31) % 16) / 16.0
    return {"lam": lam, "b": b, "target": target, "weights": weights}


def exact(value: float) -> arb:
    """A double as a ball of radius zero."""
    numerator, denominator = float(value).as_integer_ratio()
    return arb(fmpq(numerator, denominator))


def minimiser(case: dict[str, float]) -> list[str]:
    """u_0 … u_{H−1} with 25 digits."""
    horizon = int(case["horizon"])
    data = members(int(case["size"]), case["lo"], case["hi"])
    columns = [list(map(exact, data[name])) for name in ("lam", "b", "target", "weights")]
    x0, ridge = exact(case["x0"]), exact(case["ridge"])
    gram = [arb(0) for _ in range(2 * horizon - 1)]
    right = [arb(0) for _ in range(horizon)]
    for lam, b, target, weight in zip(*columns, strict=True):
        size, wanted = weight * b * b, weight * b * (target - lam**horizon * x0)
        for k in range(2 * horizon - 1):
            gram[k] += size
            size *= lam
            if k < horizon:
                right[k] += wanted
                wanted *= lam
    matrix = arb_mat(
        [
            [gram[i + j] + (ridge if i == j else arb(0)) for j in range(horizon)]
            for i in range(horizon)
        ]
    )
    found = matrix.solve(arb_mat([[value] for value in right]))
    # Power k belongs to u_{H−1−k}.
    inputs = [found[horizon - 1 - t, 0] for t in range(horizon)]
    if max(float(value.rel_accuracy_bits()) for value in inputs) < 100:
        raise SystemExit("raise BITS: the solution has too few digits")
    return [value.str(25, radius=False) for value in inputs]


def main() -> None:
    """Write the cases with their minimisers."""
    ctx.prec = BITS
    cases = [{**case, "inputs": minimiser(case)} for case in CASES]
    source = "tests/reference/make_population_reference.py, python-flint, 1500 bits"
    text = json.dumps({"source": source, "cases": cases}, indent=1) + "\n"
    Path(__file__).with_name("population.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
