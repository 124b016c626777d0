"""Which drafters to run together, and how deep: subset and depth chosen jointly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ensctl.arguments import as_count, as_scalar
from ensctl.display import Summarised
from ensctl.drafting.acceptance import IID, AcceptanceModel
from ensctl.drafting.convention import Convention, as_convention, as_depth
from ensctl.drafting.cost import one_of
from ensctl.drafting.drafter import Drafter, as_drafters
from ensctl.drafting.pooled_chains import (
    ParallelChains,
    resynchronised,
    tree_is_too_large,
    verified_nodes,
)
from ensctl.errors import InvalidInputError
from ensctl.serialization import versioned

_MOST_SUBSETS = 100_000


@dataclass(frozen=True)
class PoolOption:
    """The best depth of one subset of the drafters.

    Attributes
    ----------
    members : tuple of str
        Names of the drafters; empty for off.
    depth : int
        K; 0 for off.
    expected_length : float
        Mean length of a cycle under the convention of the choice.
    cycle : float
        Cost of a cycle, in the unit of the drafters' costs.
    """

    members: tuple[str, ...]
    depth: int
    expected_length: float
    cycle: float

    @property
    def throughput(self) -> float:
        """Units per cost: expected_length / cycle."""
        return self.expected_length / self.cycle


@dataclass(frozen=True)
class PoolChoice(Summarised):
    """Result of :func:`choose_pool`.

    Attributes
    ----------
    best : PoolOption
        The subset and depth with the highest throughput.
    single : PoolOption
        The best drafter on its own.
    off : PoolOption or None
        The verifier alone; None where the convention counts nothing for it.
    options : tuple of PoolOption
        The best depth of every subset, highest throughput first.
    convention : Convention
        What lengths count.
    unit : str
        Unit of the costs.
    """

    best: PoolOption
    single: PoolOption
    off: PoolOption | None
    options: tuple[PoolOption, ...]
    convention: Convention
    unit: str

    @property
    def gain(self) -> float:
        """Throughput of the best real pool (two or more) over the best single drafter; 1 = equal.

        At most 1 means that pooling loses.  1 when no pool of two was allowed.
        """
        pools = [option.throughput for option in self.options if len(option.members) > 1]
        return max(pools) / self.single.throughput if pools else 1.0

    @property
    def sentence(self) -> str:
        """The choice in one line."""
        pool = " + ".join(self.best.members) or "off"
        depth = f" at K = {self.best.depth}" if self.best.depth else ""
        versus = f"best single {self.single.members[0]} at K = {self.single.depth}"
        return (
            f"{pool}{depth}: {self.best.throughput:.6g} units per {one_of(self.unit)}; {versus} "
            f"{self.single.throughput:.6g}; pooling {'gains' if self.gain > 1 else 'loses'} "
            f"({100 * (self.gain - 1):+.2f} %)"
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "pool_choice",
            {
                "best": self.best,
                "single": self.single,
                "off": self.off,
                "gain": self.gain,
                "options": self.options,
                "convention": self.convention,
                "unit": self.unit,
            },
        )

    def __str__(self) -> str:
        return f"{self.sentence}\n{self.convention}"


def choose_pool(
    drafters: Sequence[Drafter],
    max_depth: int = 16,
    *,
    max_size: int | None = None,
    scheme: str = "chains",
    drafting: str = "serial",
    correlation: float = 0.0,
    node_cost: float = 0.0,
    convention: Convention | str = Convention.WITH_BONUS,
    batch: float = 1,
    context: float = 0.0,
) -> PoolChoice:
    """Choose the subset of drafters and the depth with the highest throughput, by trying all.

    T = E[L_K]/C(K) with C(K) = V + Σ_i D_i(K) + node_cost · (verified units − K), where
    D_i(K) = C_i(K) − C_i(0) is what drafter i adds and V = max_i C_i(0) the verifier's pass.

    Parameters
    ----------
    drafters : sequence of Drafter
        The candidates, with different names and costs in one unit.
    max_depth : int
        Largest K, ≥ 1.
    max_size : int, optional
        Largest pool; all drafters when not given.
    scheme : {"chains", "resynchronised"}
        "chains": every drafter drafts its own K units and the longest accepted prefix counts.
        "resynchronised": every unit gets one candidate from each drafter, S(j) = α_m^j; this needs
        numbers α (or IID models) and a tree of m^K leaves.
    drafting : {"serial", "parallel"}
        Whether drafting costs of a pool add up or the largest counts.
    correlation : float
        Correlation of hits for "resynchronised", see :func:`pooled_acceptance`.
    node_cost : float
        Cost ≥ 0 of every verified unit beyond the K that single drafters' costs contain.
    convention : Convention
        What a length counts.
    batch, context : float
        Load at which costs are taken.

    Returns
    -------
    PoolChoice

    Raises
    ------
    InvalidInputError
        No drafter, equal names, costs in different units, more than 100,000 subsets, or a model
        that the scheme cannot pool.

    Notes
    -----
    Exhaustive and exact: O(subsets × max_depth).  Ties go to the smaller pool, then the smaller K.
    At equal depth a pool always accepts more; it pays only while E[L] grows faster than C.

    Examples
    --------
    >>> from ensctl import drafting
    >>> two = [drafting.Drafter("a", 0.6, 0.05), drafting.Drafter("b", 0.6, 0.05)]
    >>> drafting.choose_pool(two, convention="committed").gain > 1
    True
    >>> dear = [drafting.Drafter("a", 0.9, 0.3), drafting.Drafter("b", 0.9, 0.3)]
    >>> print(drafting.choose_pool(dear).sentence)
    a at K = 5: 1.87424 units per verify pass; best single a at K = 5 1.87424; pooling loses
        (-25.27 %)
    """
    pool = as_drafters(drafters)
    deepest = as_depth(max_depth, "max_depth", minimum=1)
    size = len(pool) if max_size is None else min(as_count(max_size, "max_size"), len(pool))
    _require_choice(scheme, "scheme", ("chains", "resynchronised"))
    _require_choice(drafting, "drafting", ("serial", "parallel"))
    rule = as_convention(convention)
    extra = as_scalar(node_cost, "node_cost", at_least=0.0)
    total = sum(math.comb(len(pool), k) for k in range(1, size + 1))
    if total > _MOST_SUBSETS:
        raise InvalidInputError(
            f"drafters give {total} subsets, at most {_MOST_SUBSETS}; set max_size"
        )
    subsets = [c for k in range(1, size + 1) for c in combinations(range(len(pool)), k)]
    depths = np.arange(deepest + 1)
    costs = np.array([drafter.cost.cycles(depths, batch, context) for drafter in pool])
    verify = float(costs[:, 0].max())
    added = costs - costs[:, :1]

    options = []
    for subset in subsets:
        rows = added[list(subset)]
        drafted = rows.sum(axis=0) if drafting == "serial" else rows.max(axis=0)
        model = _pooled([pool[i] for i in subset], scheme, correlation)
        options.append(
            _best_depth(
                model,
                verify + drafted,
                extra,
                rule,
                tuple(pool[i].name for i in subset),
                tree=scheme == "resynchronised",
            )
        )
    off = None
    if rule is Convention.WITH_BONUS:
        off = PoolOption((), 0, 1.0, float(costs[:, 0].min()))
    ranked = sorted(options, key=lambda option: (-option.throughput, len(option.members)))
    single = max((o for o in options if len(o.members) == 1), key=lambda o: o.throughput)
    best = off if off is not None and off.throughput >= ranked[0].throughput else ranked[0]
    return PoolChoice(best, single, off, tuple(ranked), rule, pool[0].cost.unit)


def _best_depth(
    model: AcceptanceModel,
    costs: Any,
    extra: float,
    rule: Convention,
    names: tuple[str, ...],
    *,
    tree: bool,
) -> PoolOption:
    options = []
    for depth in range(1, costs.size):
        if tree and tree_is_too_large(len(names), depth) and extra > 0:
            break
        nodes = verified_nodes(len(names), depth, tree=tree) - depth if extra > 0 else 0
        length = model.expected_length(depth, convention=rule)
        options.append(PoolOption(names, depth, length, float(costs[depth] + extra * nodes)))
    return max(options, key=lambda option: option.throughput)


def _pooled(members: list[Drafter], scheme: str, correlation: float) -> AcceptanceModel:
    if len(members) == 1:
        return members[0].acceptance
    if scheme == "chains":
        return ParallelChains([drafter.acceptance for drafter in members])
    alphas = []
    for drafter in members:
        if not isinstance(drafter.acceptance, IID):
            raise InvalidInputError(
                f"drafter {drafter.name!r} is {type(drafter.acceptance).__name__}; the scheme "
                '"resynchronised" needs a number α, or choose "chains"'
            )
        alphas.append(drafter.acceptance.alpha)
    return resynchronised(alphas, correlation)


def _require_choice(value: str, name: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise InvalidInputError(f"{name} must be {' or '.join(map(repr, allowed))}, got {value!r}")
