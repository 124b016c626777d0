"""Sums over powers of many nodes in ball arithmetic, by matrix products of blocks."""

from __future__ import annotations

import math
from typing import Any

from ensctl.vandermonde.balls import Ball, ball


def power_sums(nodes: list[Ball], columns: list[list[Ball]], count: int) -> list[list[Ball]]:
    """Σ_i ν_i^k y_ic for k < count and every column c, as one matrix product.

    k = q + B g with B ≈ √count: N (B + count/B) powers instead of N·count.
    """
    block = math.isqrt(count - 1) + 1
    powers, giant = _powers(nodes, block)
    right = []
    for column in columns:
        current = column
        for _ in range(-(-count // block)):
            right.append(current)
            current = [x * y for x, y in zip(current, giant, strict=True)]
    product = (_matrix(powers) * _matrix(right).transpose()).tolist()
    groups = len(right) // len(columns)
    return [
        [product[k % block][c * groups + k // block] for k in range(count)]
        for c in range(len(columns))
    ]


def evaluate(nodes: list[Ball], coefficients: list[Ball], count: int) -> list[Ball]:
    """Σ_k c_k λ^k at every node: blocks of B ≈ √count powers by a matrix product, then Horner."""
    block = math.isqrt(count - 1) + 1
    powers, giant = _powers(nodes, block)
    padded = coefficients + [ball(0)] * (-count % block)
    blocks = [padded[start : start + block] for start in range(0, count, block)]
    table = (_matrix(blocks) * _matrix(powers)).tolist()
    values = table[-1]
    for row in reversed(table[:-1]):
        values = [v * g + x for v, g, x in zip(values, giant, row, strict=True)]
    return list(values)


def _powers(nodes: list[Ball], count: int) -> tuple[list[list[Ball]], list[Ball]]:
    """ν^0 … ν^{count−1}, each for all nodes, and ν^count."""
    rows = []
    current = [ball(1)] * len(nodes)
    for _ in range(count):
        rows.append(current)
        current = [x * y for x, y in zip(current, nodes, strict=True)]
    return rows, current


def _matrix(rows: list[list[Ball]]) -> Any:
    from flint import acb, acb_mat, arb_mat

    is_complex = any(isinstance(item, acb) for row in rows for item in row)
    return (acb_mat if is_complex else arb_mat)(rows)
