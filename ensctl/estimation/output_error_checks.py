"""What the residuals of a fit say: coloured, still driven by the input, or not linear.

Each test asks how likely residuals of a right model with white noise would look this strange.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.estimation.output_error import Fit

Array = NDArray[Any]

# Noise whose strangeness is less likely than this is not taken for white.
UNLIKELY = 1e-4
_LAGS = 20


@dataclass(frozen=True)
class ResidualTests:
    """Probabilities under the hypothesis that the model is right and its noise white.

    Attributes
    ----------
    white : float
        Ljung–Box test of the autocorrelation.
    driven : float
        F test of the residual on inputs of the last steps.
    linear : float
        F test of the residual on the square and cube of the fitted output.
    """

    white: float
    driven: float
    linear: float


def residual_tests(fit: Fit) -> ResidualTests:
    """All tests; O(T (P + 20)²)."""
    data = fit.model.data
    lags = min(_LAGS, max(fit.freedom // 5, 0))
    if lags == 0:
        return ResidualTests(1.0, 1.0, 1.0)
    basis = np.linalg.qr(fit.jacobian)[0]
    length = data.inputs.size
    delayed = np.zeros((length, lags), dtype=data.inputs.dtype)
    for lag in range(lags):
        delayed[lag:, lag] = data.inputs[: length - lag]
    fitted = data.target - fit.residual
    size = np.abs(fitted).max()
    curved = np.column_stack([(fitted / size) ** 2, (fitted / size) ** 3]) if size > 0 else None
    columns = data.as_rows(delayed)
    if data.complex_data:
        columns = np.hstack([columns, data.as_rows(1j * delayed)])
    white = _ljung_box(fit, lags)
    # Coloured noise looks like an explanation at the frequencies where it is strong.
    peak = 1.0 if white > UNLIKELY else _spectral_peak(fit)
    return ResidualTests(
        white,
        _explains(fit, basis, columns, peak),
        1.0 if curved is None else _explains(fit, basis, curved, peak),
    )


def _samples(fit: Fit) -> Array:
    if not fit.model.data.complex_data:
        return fit.residual
    half = fit.residual.size // 2
    return np.asarray(fit.residual[:half] + 1j * fit.residual[half:])


def autocorrelation(fit: Fit, lags: int) -> Array:
    """Σ_t e_t ē_{t+k} / Σ |e_t|² for k = 0 … lags, real part."""
    e = _samples(fit)
    size = e.size
    sums = [np.sum(e[: size - k] * e[k:].conj()).real for k in range(lags + 1)]
    return np.asarray(sums) / sums[0] if sums[0] > 0 else np.eye(1, lags + 1)[0]


def _ljung_box(fit: Fit, lags: int) -> float:
    from scipy.special import chdtrc

    size = _samples(fit).size
    correlation = autocorrelation(fit, lags)[1:]
    weight = 2.0 if fit.model.data.complex_data else 1.0
    statistic = size * (size + 2) * np.sum(correlation**2 / (size - np.arange(1, lags + 1)))
    return float(chdtrc(lags, weight * statistic))


def _spectral_peak(fit: Fit) -> float:
    """Largest spectral density of the residuals over their variance, ≥ 1."""
    correlation = _tapered_autocorrelation(fit)
    return max(float(2 * np.fft.fft(correlation, 512).real.max() - correlation[0]), 1.0)


def _tapered_autocorrelation(fit: Fit) -> Array:
    """Over about 2 T^{1/3} lags, weighted after Bartlett."""
    length = _samples(fit).size
    lags = max(min(int(2 * length ** (1 / 3)), length // 4), 1)
    return autocorrelation(fit, lags) * (1 - np.arange(lags + 1) / (lags + 1))


def _explains(fit: Fit, basis: Array, columns: Array, peak: float) -> float:
    """Probability of the F statistic, over ``peak``, for columns added to the linearised model."""
    from scipy.special import fdtrc

    rest = columns - basis @ (basis.T @ columns)
    norms = np.linalg.norm(columns, axis=0)
    left, values, _ = np.linalg.svd(rest / np.where(norms > 0, norms, 1.0), full_matrices=False)
    left = left[:, values > 1e-8]
    used = left.shape[1]
    freedom = fit.freedom - used
    if used == 0 or freedom < 1:
        return 1.0
    gain = float(np.sum((left.T @ fit.residual) ** 2))
    statistic = (gain / used) / max((fit.cost - gain) / freedom, np.finfo(float).tiny)
    return float(fdtrc(used, freedom, statistic / peak))


def gain_probability(fit: Fit, smaller: Fit) -> float:
    """Probability that noise alone lowers the sum of squares from ``smaller`` to ``fit``."""
    from scipy.special import fdtrc

    added = smaller.freedom - fit.freedom
    if fit.freedom < 1 or added < 1 or fit.cost == 0.0:
        return 0.0
    return float(fdtrc(added, fit.freedom, (smaller.cost - fit.cost) / added / fit.variance))


def colour_inflation(fit: Fit) -> Array:
    """Factors ≥ 1 by which coloured noise widens the standard error of each real parameter.

    From (JᵀJ)⁻¹ Jᵀ R J (JᵀJ)⁻¹ with the autocorrelation R of the residuals, weighted after
    Bartlett over about 2 T^{1/3} lags.
    """
    parts = 2 if fit.model.data.complex_data else 1
    length = fit.residual.size // parts
    correlation = _tapered_autocorrelation(fit)
    blocks = fit.jacobian.reshape(parts, length, -1)
    middle = np.einsum("pti,ptj->ij", blocks, blocks)
    for k in range(1, correlation.size):
        cross = np.einsum("pti,ptj->ij", blocks[:, :-k], blocks[:, k:])
        middle += correlation[k] * (cross + cross.T)
    inverse = fit.inverse_information()
    with np.errstate(invalid="ignore"):
        ratio = np.diag(inverse @ middle @ inverse) / np.diag(inverse)
    return np.sqrt(np.maximum(np.where(np.isfinite(ratio), ratio, 1.0), 1.0))
