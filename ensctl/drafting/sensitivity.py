"""How throughput answers to α and to costs, and what a wrong α loses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ensctl.arguments import as_scalar
from ensctl.display import Summarised
from ensctl.drafting.acceptance import IID, AcceptanceModel, as_acceptance
from ensctl.drafting.convention import Convention, as_convention, as_depth
from ensctl.drafting.cost import CostModel, LinearCost, as_cost
from ensctl.drafting.optimum import optimal_depth
from ensctl.drafting.optimum_rules import best_by_comparison
from ensctl.drafting.throughput import lengths_and_cycles, throughput
from ensctl.serialization import versioned


@dataclass(frozen=True)
class Sensitivity(Summarised):
    """Result of :func:`sensitivity`, at one depth.

    Attributes
    ----------
    depth : int
        K.
    throughput : float
        T(K), in units per unit of cost.
    per_alpha : float
        ∂T/∂α.
    per_draft_cost : float
        ∂T/∂c: change with the cost of every drafted unit, −T K/C.
    per_fixed_cost : float
        ∂T/∂C_0: change with what a cycle costs besides its drafts, −T/C.
    alpha_elasticity : float
        (α/T) ∂T/∂α: per cent of throughput per per cent of α.
    draft_cost_elasticity : float
        (c/T) ∂T/∂c = −(share of the cycle spent on drafts).
    convention : Convention
        How the units of a cycle are counted.
    """

    depth: int
    throughput: float
    per_alpha: float
    per_draft_cost: float
    per_fixed_cost: float
    alpha_elasticity: float
    draft_cost_elasticity: float
    convention: Convention

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "sensitivity",
            {
                "depth": self.depth,
                "throughput": self.throughput,
                "per_alpha": self.per_alpha,
                "per_draft_cost": self.per_draft_cost,
                "per_fixed_cost": self.per_fixed_cost,
                "alpha_elasticity": self.alpha_elasticity,
                "draft_cost_elasticity": self.draft_cost_elasticity,
                "convention": self.convention,
            },
        )

    def __str__(self) -> str:
        return (
            f"K = {self.depth}: 1 % more α gives {self.alpha_elasticity:+.3g} % throughput, "
            f"1 % more drafting cost {self.draft_cost_elasticity:+.3g} % "
            f"({self.convention.name.lower()})"
        )


@dataclass(frozen=True)
class DepthRegret(Summarised):
    """Result of :func:`depth_regret`.

    Attributes
    ----------
    depth : int
        The depth chosen on the assumption.
    best_depth : int
        The depth that is best in truth.
    throughput : float
        What the chosen depth yields in truth, in units per unit of cost.
    best_throughput : float
        What the best depth yields.
    loss : float
        1 − throughput/best_throughput, ≥ 0.
    convention : Convention
        How the units of a cycle are counted.
    """

    depth: int
    best_depth: int
    throughput: float
    best_throughput: float
    loss: float
    convention: Convention

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "depth_regret",
            {
                "depth": self.depth,
                "best_depth": self.best_depth,
                "throughput": self.throughput,
                "best_throughput": self.best_throughput,
                "loss": self.loss,
                "convention": self.convention,
            },
        )

    def __str__(self) -> str:
        return (
            f"K = {self.depth} instead of {self.best_depth} loses {self.loss:.2%} of throughput "
            f"({self.convention.name.lower()})"
        )


def sensitivity(
    alpha: float,
    cost: CostModel | float,
    depth: int,
    *,
    convention: Convention | str = Convention.WITH_BONUS,
    batch: float = 1,
    context: float = 0.0,
) -> Sensitivity:
    """Derivatives and elasticities of the throughput at a fixed depth.

    ∂T/∂α = (Σ_j j α^{j−1})/C over the drafted units that count; ∂T/∂c = −T K/C.

    Parameters
    ----------
    alpha : float
        Acceptance of one unit, in [0, 1], independent from unit to unit.
    cost : CostModel or float
        What a cycle costs; a number c_d is LinearCost(c_d), in verify passes.
    depth : int
        K ≥ 0.
    convention : Convention or str
        How the units of a cycle are counted.
    batch : float
        Sequences verified together, ≥ 1.
    context : float
        Mean tokens per sequence in the KV cache, ≥ 0.

    Returns
    -------
    Sensitivity
        For costs that are not linear the share of drafts is (C(K) − C(0))/C(K).

    Raises
    ------
    InvalidInputError
        α outside [0, 1], K < 0 or a cost out of range.

    Notes
    -----
    At the best depth these are the derivatives of the optimal throughput too (envelope theorem).

    Examples
    --------
    >>> from ensctl.drafting import sensitivity
    >>> print(sensitivity(0.7, 0.1, 4))
    K = 4: 1 % more α gives +1.32 % throughput, 1 % more drafting cost -0.286 % (with_bonus)
    """
    rate = as_scalar(alpha, "alpha", at_least=0, at_most=1)
    price, units, counting = as_cost(cost), as_depth(depth), as_convention(convention)
    value = throughput(IID(rate), price, units, convention=counting, batch=batch, context=context)
    cycle = price.cycle(units, batch, context)
    last = max(0, counting.last(units)) if units else 0
    orders = np.arange(1.0, last + 1.0)
    slope = float(orders @ rate ** (orders - 1.0)) / cycle
    if isinstance(price, LinearCost):
        share = units * price.draft / cycle
    else:
        share = 1.0 - price.cycle(0, batch, context) / cycle
    return Sensitivity(
        depth=units,
        throughput=value,
        per_alpha=slope,
        per_draft_cost=-value * units / cycle,
        per_fixed_cost=-value / cycle,
        # The limit at α = 0: accepted units only, where T ∝ α.
        alpha_elasticity=rate * slope / value if value > 0 else 1.0,
        draft_cost_elasticity=-share,
        convention=counting,
    )


def depth_regret(
    assumed: AcceptanceModel | float,
    actual: AcceptanceModel | float,
    cost: CostModel | float,
    max_depth: int = 64,
    *,
    convention: Convention | str = Convention.WITH_BONUS,
    batch: float = 1,
    context: float = 0.0,
) -> DepthRegret:
    """What is lost by choosing the depth for an acceptance that is not the true one.

    1 − T(K_assumed)/max_K T(K), both with the actual acceptance.

    Parameters
    ----------
    assumed : AcceptanceModel or float
        What the depth is chosen for.
    actual : AcceptanceModel or float
        What happens.
    cost : CostModel or float
        What a cycle costs; a number c_d is LinearCost(c_d), in verify passes.
    max_depth : int
        Largest K considered, ≥ 0.
    convention : Convention or str
        How the units of a cycle are counted.
    batch : float
        Sequences verified together, ≥ 1.
    context : float
        Mean tokens per sequence in the KV cache, ≥ 0.

    Returns
    -------
    DepthRegret

    Raises
    ------
    InvalidInputError
        α outside [0, 1], max_depth < 0 or a cost out of range.

    Examples
    --------
    >>> from ensctl.drafting import depth_regret
    >>> print(depth_regret(0.9, 0.6, 0.1))
    K = 10 instead of 3 loses 25.59% of throughput (with_bonus)
    """
    model, price = as_acceptance(actual, "actual"), as_cost(cost)
    counting = as_convention(convention)
    guess = optimal_depth(
        as_acceptance(assumed, "assumed"),
        price,
        max_depth,
        convention=counting,
        batch=batch,
        context=context,
    )
    lengths, cycles = lengths_and_cycles(model, price, max_depth, counting, batch, context)
    best = best_by_comparison(lengths, cycles)
    curve = lengths / cycles
    return DepthRegret(
        depth=guess.depth,
        best_depth=best,
        throughput=float(curve[guess.depth]),
        best_throughput=float(curve[best]),
        loss=float(1.0 - curve[guess.depth] / curve[best]),
        convention=counting,
    )
