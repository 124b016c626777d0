"""Error bars from refitting outputs whose residuals were drawn again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import read_only
from ensctl.errors import NotIdentifiableError
from ensctl.estimation.output_error import Fit, fit_output_error
from ensctl.estimation.output_error_model import Data, Model

Array = NDArray[Any]

# Share of refits that may fail before their spread says nothing.
_FAILURES = 0.05


@dataclass(frozen=True, eq=False)
class Resamples:
    """What refits say about the real parameters.

    Attributes
    ----------
    std : (P,)
        Standard deviations over the refits.
    pivots : (R, P)
        (θ* − θ) / std*, sorted along each column.
    """

    std: Array
    pivots: Array

    def quantiles(self, position: int, level: float) -> tuple[float, float]:
        """Those of the pivot that leave (1 − level)/2 outside on either side."""
        column = self.pivots[:, position]
        low, high = np.quantile(column, [(1 - level) / 2, (1 + level) / 2])
        return float(low), float(high)


def residual_bootstrap(fit: Fit, resamples: int, seed: int) -> Resamples:
    """Refit ``resamples`` times with centred residuals drawn with replacement.

    Residuals are blown up by √(rows/freedom) to the size of the noise.

    Raises
    ------
    NotIdentifiableError
        More than 5 % of the refits fail.
    """
    rng = np.random.default_rng(seed)
    data = fit.model.data
    parts = 2 if data.complex_data else 1
    residual = fit.residual.reshape(parts, -1)
    length = residual.shape[1]
    residual = residual - residual.mean(axis=1, keepdims=True)
    residual = residual * np.sqrt(fit.residual.size / fit.freedom)
    fitted = (data.target - fit.residual).reshape(parts, -1)
    theta = fit.theta
    found, pivots = [], []
    for _ in range(resamples):
        drawn = fitted + residual[:, rng.integers(0, length, length)]
        outputs = drawn[0] + 1j * drawn[1] if parts == 2 else drawn[0]
        again = _refit(fit, outputs)
        if again is not None:
            std = np.sqrt(np.diag(again.inverse_information()) * again.variance)
            found.append(again.theta)
            pivots.append((again.theta - theta) / std)
    if len(found) < (1 - _FAILURES) * resamples:
        raise NotIdentifiableError(
            f"{resamples - len(found)} of {resamples} bootstrap refits did not end; the data do "
            "not fix λ: take more samples, less noise or a lower order"
        )
    return Resamples(
        read_only(np.std(found, axis=0, ddof=1)), read_only(np.sort(np.array(pivots), axis=0))
    )


def _refit(fit: Fit, outputs: Array) -> Fit | None:
    old = fit.model.data
    data = Data(outputs, old.inputs, old.free, old.feedthrough, old.complex_data)
    again = fit_output_error(Model(data, fit.model.modes, fit.model.pair))
    if again is None or not np.all(np.isfinite(again.inverse_information())):
        return None
    return again
