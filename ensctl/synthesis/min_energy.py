"""The minimum-energy input: exact energy, inputs of any magnitude, and what rounding leaves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import read_only
from ensctl.display import Summarised
from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import InvalidInputError, PrecisionError
from ensctl.formatting import horizon_text, power_text
from ensctl.serialization import versioned
from ensctl.synthesis.steering_rows import SteeringRows, steering_rows, within_horizon
from ensctl.threads import blas_threads_for
from ensctl.vandermonde.certified_residual import certified_residual
from ensctl.vandermonde.certified_results import CertifiedInputs
from ensctl.vandermonde.certified_solve import certified_energies, certified_inputs
from ensctl.vandermonde.factorization import factorize
from ensctl.vandermonde.minimum_norm import minimum_norm

Array = NDArray[Any]
Certify = Literal["auto", "always", "never"]

# float64 answers are given as they are while their own bound is below this.
_TRUSTED = 1e-10
_EPS = float(np.finfo(float).eps)
_LOG10_2 = math.log10(2.0)
# The largest input has to lie in this range of exponents to be written as float64.
_LOWEST_EXPONENT, _HIGHEST_EXPONENT = -1000, 1024


@dataclass(frozen=True, eq=False)
class MinEnergy(Summarised):
    """Result of :func:`min_energy`.

    Attributes
    ----------
    energy_mantissa, energy_exponent : float, int
        The least Σ|u|² = mantissa · 2^exponent, of any magnitude; 0 when no input is needed.
    relative_error_bound : float
        Bound of the relative error of the energy.
    input_error_bound : float
        Bound of max|δu|/max|u| of the inputs as returned, rounding to float64 included.
    realisability_error : float
        max_i |x_i − target_i| that the float64 inputs leave, in exact arithmetic: what rounding of
        the inputs alone does.
    certified : bool
        Whether energy and inputs come from ball arithmetic.
    real : bool
        Whether the inputs are real.
    rows : SteeringRows
        The equations that were solved.
    """

    energy_mantissa: float
    energy_exponent: int
    relative_error_bound: float
    input_error_bound: float
    realisability_error: float
    certified: bool
    real: bool
    rows: SteeringRows
    _inputs: Array | None

    @property
    def energy(self) -> float:
        """Σ|u|² as float64; inf when it overflows (use ``log10_energy``)."""
        with np.errstate(over="ignore", under="ignore"):
            return float(np.ldexp(self.energy_mantissa, np.clip(self.energy_exponent, -3000, 3000)))

    @property
    def log10_energy(self) -> float:
        """log10 Σ|u|², rounded to float64; −inf when no input is needed."""
        if self.energy_mantissa == 0:
            return -math.inf
        return math.log10(self.energy_mantissa) + self.energy_exponent * _LOG10_2

    @property
    def inputs(self) -> Array:
        """u_0 … u_{H−1}, (H,) for one channel and (m, H) for several, read-only float64/complex128.

        Raises
        ------
        PrecisionError
            The inputs leave the float64 range; :meth:`exact_inputs` has them.
        """
        if self._inputs is None:
            raise PrecisionError(
                f"the inputs leave the float64 range (energy {power_text(self.log10_energy)}); "
                f"use exact_inputs()"
            )
        return self._inputs

    def paired_inputs(self) -> tuple[Array, Array]:
        """Inputs as high + low, two float64 (complex128) arrays shaped like ``inputs``.

        Returns
        -------
        tuple of arrays
            About 32 digits; computed in ball arithmetic when it is asked for.
        """
        found = _certified_inputs(self.rows)
        if _representable(found.high, found.exponent) is None:
            raise PrecisionError("the inputs leave the float64 range; use exact_inputs()")
        high, low = (
            _shaped(_in_field(_scaled(part, found.exponent), self.real))
            for part in (found.high, found.low)
        )
        return high, low

    def exact_inputs(self) -> tuple[Array, Array]:
        """Real and imaginary parts of the inputs as Fractions (object arrays like ``inputs``).

        Returns
        -------
        tuple of arrays
            Midpoints of balls of about 36 digits.
        """
        found = _certified_inputs(self.rows)
        return _shaped(found.exact_real), _shaped(found.exact_imag)

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "min_energy",
            {
                "horizon": self.rows.horizon,
                "log10_energy": self.log10_energy,
                "energy": self.energy,
                "relative_error_bound": self.relative_error_bound,
                "inputs": self._inputs,
                "input_error_bound": self.input_error_bound,
                "realisability_error": self.realisability_error,
                "certified": self.certified,
                "real": self.real,
            },
        )

    def __str__(self) -> str:
        source = "ball arithmetic" if self.certified else "float64 factors"
        kind = "real" if self.real else "complex"
        return (
            f"reached in {horizon_text(self.rows.horizon)} with energy "
            f"{power_text(self.log10_energy, 6)} "
            f"(within {self.relative_error_bound:.1e} relative, {source})\n"
            f"inputs: {kind}, right within {self.input_error_bound:.1e} of the largest\n"
            f"rounding the inputs to float64 leaves a terminal error of "
            f"{self.realisability_error:.3g}"
        )


def min_energy(
    ens: Ensemble,
    target: ArrayLike,
    horizon: int,
    x0: ArrayLike = 0.0,
    *,
    certify: Certify | bool = "auto",
    real_inputs: bool | None = None,
) -> MinEnergy:
    """The input of least energy Σ_t |u_t|² that steers an ensemble from x0 to a target.

    u = R_H^+ d with d = target − Λ^H x_0, from the factors of the Cauchy kernel; the a-posteriori
    bound decides whether float64 was enough, otherwise ball arithmetic answers.

    Parameters
    ----------
    ens : Ensemble
        The population; λ, b, target and x0 are taken as exact numbers.
    target : (N,) array_like
        State to reach.
    horizon : int
        Number of steps H ≥ 1.
    x0 : scalar or (N,) array_like
        Initial state.
    certify : {"auto", "always", "never"} or bool
        "auto": ball arithmetic where the float64 bound exceeds 1e-10, and for several channels;
        True and "always": in any case; False and "never": float64 only, with its bound.
    real_inputs : bool, optional
        None: complex inputs, unless λ, b, target and x0 are closed under conjugation (then the
        optimum is real and returned real).  True: real inputs on complex members.

    Returns
    -------
    MinEnergy

    Raises
    ------
    InvalidInputError
        An argument has the wrong length, is not finite, or is out of range.
    NotReachableError
        The target asks of some members what no input does; ``members`` names them.
    PrecisionError
        float64 alone (certify="never") cannot give a digit of the energy, or ball arithmetic stops
        at its largest precision.

    Notes
    -----
    O(N² H) in float64, O(N² m) ball operations when certified (0.1 s at N = 100, 0.5 s at 200).
    Source: J. Demmel, SIAM J. Matrix Anal. Appl. 21 (1999) 562–580 for the factors.

    Examples
    --------
    >>> import ensctl as ec
    >>> plan = ec.min_energy(ec.Ensemble([0.3, 0.6, 0.9]), [1, 0, 0.5], 3)
    >>> plan.inputs
    array([  8.33333333, -10.83333333,   3.5       ])
    >>> round(plan.energy, 10)
    199.0555555556
    """
    mode = _mode(certify)
    rows = within_horizon(steering_rows(ens, target, horizon, x0, real_inputs=real_inputs))
    if rows.lam.size == 0 or not np.any(rows.displacement):
        return _nothing(rows)
    finite = bool(np.all(np.isfinite(rows.displacement)))
    if mode == "never" and not finite:
        raise PrecisionError("the free motion λ^H x0 leaves float64; call with certify='auto'")
    if rows.channels == 1 and mode != "always" and finite:
        plan = _from_factors(rows)
        if plan.relative_error_bound <= _TRUSTED:
            return plan
        if mode == "never":
            if plan.relative_error_bound >= 1.0:
                raise PrecisionError(
                    "float64 gives no digit of this energy; call with certify='auto'",
                    digits=math.inf,
                )
            return plan
    elif mode == "never":
        raise InvalidInputError("certify must be 'auto' or 'always' for several channels")
    return _from_balls(rows)


def _from_factors(rows: SteeringRows) -> MinEnergy:
    with blas_threads_for(rows.lam.size):
        factors = factorize(rows.lam, rows.gains[:, 0], rows.horizon)
        found = minimum_norm(factors, rows.displacement[:, None])
    bound = float(found.relative_error_bound[0])
    exponent = int(found.exponents[0])
    coefficients = found.coefficients[::-1]
    peak = float(np.abs(coefficients).max())
    norm = float(found.norm[0])
    scaled = _representable(coefficients, exponent)
    return _plan(
        rows,
        energy=(norm * norm, 2 * exponent),
        energy_bound=2.0 * bound + _EPS,
        # ‖δu‖ ≤ bound ‖u‖ and max|δu| ≤ ‖δu‖.
        input_bound=bound * norm / peak + _EPS if peak > 0 else math.inf,
        inputs=scaled,
        certified=False,
    )


def _from_balls(rows: SteeringRows) -> MinEnergy:
    energies = certified_energies(
        rows.lam, rows.gains, rows.horizon, rows.row_target, x0=_start(rows)
    )
    found = _certified_inputs(rows)
    return _plan(
        rows,
        energy=(float(energies.mantissa[0]), int(energies.exponent[0])),
        energy_bound=float(energies.relative_error_bound[0]),
        input_bound=found.relative_error_bound,
        inputs=_representable(found.high, found.exponent),
        certified=True,
    )


def _certified_inputs(rows: SteeringRows) -> CertifiedInputs:
    return certified_inputs(rows.lam, rows.gains, rows.horizon, rows.row_target, x0=_start(rows))


def _plan(
    rows: SteeringRows,
    *,
    energy: tuple[float, int],
    energy_bound: float,
    input_bound: float,
    inputs: Array | None,
    certified: bool,
) -> MinEnergy:
    """Put the result together and measure what the float64 inputs reach, in exact arithmetic."""
    error = math.inf
    if inputs is not None:
        inputs = _in_field(inputs, rows.real)
        missed = certified_residual(
            rows.ensemble.lam, rows.ensemble.gains, inputs, rows.target, x0=rows.x0
        )
        error = float(missed.max())
    return MinEnergy(
        energy_mantissa=energy[0],
        energy_exponent=energy[1],
        relative_error_bound=energy_bound,
        input_error_bound=input_bound,
        realisability_error=error,
        certified=certified,
        real=rows.real,
        rows=rows,
        _inputs=None if inputs is None else _shaped(inputs),
    )


def _nothing(rows: SteeringRows) -> MinEnergy:
    zero = np.zeros((rows.horizon, rows.channels))
    missed = certified_residual(
        rows.ensemble.lam, rows.ensemble.gains, zero, rows.target, x0=rows.x0
    )
    return MinEnergy(
        energy_mantissa=0.0,
        energy_exponent=0,
        relative_error_bound=0.0,
        input_error_bound=0.0,
        realisability_error=float(missed.max()),
        certified=True,
        real=True,
        rows=rows,
        _inputs=_shaped(zero),
    )


def _start(rows: SteeringRows) -> Array | None:
    return rows.row_x0 if np.any(rows.row_x0) else None


def _representable(mantissas: Array, exponent: int) -> Array | None:
    """mantissas · 2^exponent as float64, or None when the largest leaves its range."""
    largest = int(np.frexp(np.abs(mantissas).max())[1]) + exponent
    if not _LOWEST_EXPONENT <= largest <= _HIGHEST_EXPONENT:
        return None
    return _scaled(mantissas, exponent)


def _scaled(mantissas: Array, exponent: int) -> Array:
    """mantissas · 2^exponent in two steps, each of which stays in the float64 range."""
    half = exponent // 2
    return np.asarray(mantissas * np.ldexp(1.0, half) * np.ldexp(1.0, exponent - half))


def _in_field(inputs: Array, real: bool) -> Array:
    return np.asarray(inputs.real) if real else inputs


def _shaped(inputs: Array) -> Array:
    """(H, m) in time to (H,) for one channel and (m, H) for several."""
    return read_only(inputs[:, 0].copy() if inputs.shape[1] == 1 else inputs.T.copy())


def _mode(certify: Certify | bool) -> Certify:
    choices: dict[Certify | bool, Certify] = {
        True: "always",
        False: "never",
        "auto": "auto",
        "always": "always",
        "never": "never",
    }
    if certify not in choices:
        raise InvalidInputError(
            f"certify must be 'auto', 'always', 'never', True or False, got {certify!r}"
        )
    return choices[certify]
