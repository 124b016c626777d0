"""Acceptance of a sampled draft, from the distributions of verifier and drafter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import read_only
from ensctl.drafting.distributions import as_distributions
from ensctl.errors import InvalidInputError

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class SampledAcceptance:
    """Result of :func:`sampled_acceptance`, over any leading axes.

    Attributes
    ----------
    alpha : (…) array, read-only
        α = Σ min(p, q), the chance that a draft from q is kept; 1 − α is the total variation.
    accept : (…, V) array, read-only
        min(1, p/q): the chance that this token is kept when it is drafted; 1 where q = 0.
    residual : (…, V) array, read-only
        max(p − q, 0)/(1 − α): what is drawn from after a rejection; p itself where p = q.
    """

    alpha: Array
    accept: Array
    residual: Array

    @property
    def mean(self) -> float:
        """Mean α over all positions."""
        return float(np.mean(self.alpha))


def sampled_acceptance(target: ArrayLike, draft: ArrayLike) -> SampledAcceptance:
    """Acceptance of one token sampled from q when the verifier samples from p.

    α = Σ_x min(p(x), q(x)) = 1 − TV(p, q), kept with chance min(1, p/q); after a rejection
    max(p − q, 0)/(1 − α) is sampled, so that the outcome has law p exactly.

    Parameters
    ----------
    target : array_like, (…, V)
        p, the verifier's distributions.
    draft : array_like, (…, V)
        q, the drafter's; leading axes are broadcast against those of ``target``.

    Returns
    -------
    SampledAcceptance

    Raises
    ------
    InvalidInputError
        Not distributions, other numbers of tokens, or leading axes that do not fit.

    Notes
    -----
    No lossless rule accepts more of a single draft (maximal coupling).  1 − α is summed from
    max(p − q, 0), so a small rejection probability keeps its digits.

    Examples
    --------
    >>> from ensctl.drafting import sampled_acceptance
    >>> result = sampled_acceptance([0.6, 0.3, 0.1], [0.2, 0.2, 0.6])
    >>> round(float(result.alpha), 12), result.residual
    (0.5, array([0.8, 0.2, 0. ]))
    """
    p = as_distributions(target, "target")
    q = as_distributions(draft, "draft", size=p.shape[-1])
    try:
        p, q = np.broadcast_arrays(p, q)
    except ValueError:
        raise InvalidInputError(
            f"draft must have leading axes like the target {p.shape[:-1]}, got {q.shape[:-1]}"
        ) from None
    missing = np.maximum(p - q, 0.0)
    rejected = np.asarray(missing.sum(axis=-1))
    residual = np.divide(
        missing,
        rejected[..., None],
        out=np.array(p, dtype=np.float64),
        where=rejected[..., None] > 0,
    )
    accept = np.divide(np.minimum(p, q), q, out=np.ones_like(residual), where=q > 0)
    alpha = np.asarray(np.clip(1.0 - rejected, 0.0, 1.0))
    return SampledAcceptance(read_only(alpha), read_only(accept), read_only(residual))
