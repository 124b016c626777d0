"""The optimal depth over a grid of acceptance and drafting cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_scalar, as_vector, read_only
from ensctl.display import Plotted, Summarised
from ensctl.drafting.convention import Convention, as_convention, as_depth
from ensctl.drafting.phase_map_search import length_table, search
from ensctl.errors import InvalidInputError
from ensctl.serialization import versioned

Array = NDArray[Any]

# Columns treated together: their tables of lengths and thresholds stay below 10 MB.
_COLUMNS = 4096


@dataclass(frozen=True, eq=False)
class PhaseMap(Plotted, Summarised):
    """Result of :func:`phase_map`; rows are drafting costs, columns are acceptances.

    Attributes
    ----------
    alphas : (n_a,) array, read-only
        α of the columns.
    draft_costs : (n_c,) array, read-only
        Cost of one drafted unit of the rows, in the unit of ``fixed``.
    depth : (n_c, n_a) array of int, read-only
        Optimal K; 0 where drafting does not pay.
    max_depth : int
        Depths 0 … max_depth were compared.
    convention : Convention or str
        How units are counted.
    fixed : float
        C_0, what a cycle costs besides its drafts.
    off_cost : float
        What a verifier pass without drafts costs.
    """

    alphas: Array
    draft_costs: Array
    depth: Array
    max_depth: int
    convention: Convention
    fixed: float
    off_cost: float

    _plot_function: ClassVar[str] = "depth_map"

    @property
    def off(self) -> Array:
        """Where drafting does not pay, (n_c, n_a) bool."""
        return read_only(self.depth == 0)

    @property
    def throughput(self) -> Array:
        """E[L]/C at the optimal depth, (n_c, n_a), in units per unit of cost."""
        found = np.empty(self.depth.shape[::-1])
        with np.errstate(over="ignore"):
            for first in range(0, self.alphas.size, _COLUMNS):
                part = slice(first, first + _COLUMNS)
                lengths = length_table(self.alphas[part], self.max_depth, self.convention).T
                depths = self.depth.T[part]
                rows = np.arange(lengths.shape[0])[:, None] * lengths.shape[1]
                cycles = depths * self.draft_costs
                cycles += self.fixed
                if self.off_cost != self.fixed:
                    cycles[depths == 0] = self.off_cost
                np.divide(lengths.ravel().take(depths + rows), cycles, out=found[part])
        return read_only(found.T)

    @property
    def speedup(self) -> Array:
        """Throughput over that of a verifier that never drafts, (n_c, n_a); at least 1."""
        return read_only(self.throughput * self.off_cost)

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "phase_map",
            {
                "alphas": self.alphas,
                "draft_costs": self.draft_costs,
                "depth": self.depth,
                "max_depth": self.max_depth,
                "convention": self.convention,
                "fixed": self.fixed,
                "off_cost": self.off_cost,
            },
        )

    def __str__(self) -> str:
        rows, columns = self.depth.shape
        share = float(np.mean(self.depth == 0))
        lines = [
            f"depths 0 to {int(self.depth.max())} over {rows} drafting costs × {columns} α",
            f"drafting does not pay in {share:.1%} of the cells",
            f"convention {self.convention.name.lower()}, costs in the unit of the fixed cost "
            f"{self.fixed:g}; without drafts {self.off_cost:g}",
        ]
        capped = float(np.mean(self.depth == self.max_depth))
        if capped > 0:
            lines.append(f"{capped:.1%} of the cells stop at the limit of {self.max_depth}")
        return "\n".join(lines)


def phase_map(
    alphas: ArrayLike,
    draft_costs: ArrayLike,
    max_depth: int = 64,
    *,
    convention: Convention | str = Convention.WITH_BONUS,
    verify: float = 1.0,
    overhead: float = 0.0,
    off: float | None = None,
) -> PhaseMap:
    """Optimal depth for every pair of an acceptance and a drafting cost.

    K maximises E_K/(C_0 + K c) over 0 … max_depth, with C_0 = verify + overhead and one unit per
    ``off`` at K = 0; of equal quotients the smaller depth is taken.

    Parameters
    ----------
    alphas : array_like, (n_a,)
        Acceptances α in [0, 1], independent from unit to unit.
    draft_costs : array_like, (n_c,)
        Costs c ≥ 0 of one drafted unit, in the unit of ``verify``.
    max_depth : int
        Largest depth considered, ≥ 1.
    convention : Convention or str
        How the units of a cycle are counted.
    verify : float
        Cost of a verifier pass, > 0.
    overhead : float
        Further cost of a cycle, ≥ 0.
    off : float, optional
        Cost of a pass without drafts, > 0; default verify + overhead.

    Returns
    -------
    PhaseMap

    Raises
    ------
    InvalidInputError
        α outside [0, 1], a negative cost, or max_depth < 1.

    Notes
    -----
    Cell for cell the first maximum of the float64 quotients, with E_K summed from powers of α.
    Break-even costs are searched in the sorted costs: O(n_a K log n_c + n_a n_c).  Cells so close
    to a break-even cost that rounding may decide are scanned.

    Examples
    --------
    >>> from ensctl.drafting import phase_map
    >>> phase_map([0.5, 0.7, 0.9], [0.02, 0.1, 0.6]).depth
    array([[ 4,  8, 19],
           [ 2,  4, 10],
           [ 0,  1,  2]])
    """
    columns = as_vector(alphas, "alphas", real=True)
    rows = as_vector(draft_costs, "draft_costs", real=True)
    deepest = as_depth(max_depth, "max_depth", minimum=1)
    counting = as_convention(convention)
    fixed = as_scalar(verify, "verify", above=0) + as_scalar(overhead, "overhead", at_least=0)
    off_cost = fixed if off is None else as_scalar(off, "off", above=0)
    _require_range(columns, "alphas", 1.0)
    _require_range(rows, "draft_costs", np.inf)
    order = np.argsort(rows, kind="stable")
    ordered = rows[order]
    parts = []
    with np.errstate(over="ignore"):
        for first in range(0, columns.size, _COLUMNS):
            lengths = length_table(columns[first : first + _COLUMNS], deepest, counting)
            parts.append(search(lengths, ordered, fixed, off_cost))
    found = parts[0] if len(parts) == 1 else np.concatenate(parts)
    if np.any(order[1:] < order[:-1]):
        depth = np.empty_like(found)
        depth[:, order] = found
    else:
        depth = found
    return PhaseMap(
        read_only(columns),
        read_only(rows),
        read_only(depth).T,
        deepest,
        counting,
        fixed,
        off_cost,
    )


def _require_range(values: Array, name: str, most: float) -> None:
    wrong = np.flatnonzero((values < 0) | (values > most))
    if wrong.size:
        where = int(wrong[0])
        allowed = "≥ 0" if most == np.inf else f"in [0, {most:g}]"
        raise InvalidInputError(f"{name} must be {allowed}, got {values[where]:g} at index {where}")
