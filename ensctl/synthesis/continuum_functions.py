"""Functions of λ as users give them: numbers, coefficients, formulas, callables, samples."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import as_vector
from ensctl.errors import InvalidInputError
from ensctl.synthesis.chebyshev_basis import Exact, exact_floats, from_powers, nearest_floats
from ensctl.synthesis.continuum_expression import Expression, parse_expression
from ensctl.synthesis.continuum_region import Interval, Region

Array = NDArray[Any]

# What functions of users raise on values they were not written for.
_OF_USERS = (TypeError, ValueError, ArithmeticError, LookupError, AttributeError)


@dataclass(frozen=True, eq=False)
class LamFunction:
    """A function of λ that is checked wherever it is evaluated.

    Attributes
    ----------
    name : str
        The argument it came in as.
    text : str
        What it is, for messages.
    chebyshev : list of Fraction or None
        Exact Chebyshev coefficients on the interval where it is a polynomial.
    expression : Expression or None
        Where it is a formula.
    """

    name: str
    text: str
    chebyshev: Exact | None
    expression: Expression | None
    _function: Callable[[Array], Any]

    @property
    def constant(self) -> complex | None:
        """Its only value, where it is a number."""
        return getattr(self._function, "value", None)

    def __call__(self, lam: Array) -> Array:
        """Values at λ, finite and of the same shape.

        Raises
        ------
        InvalidInputError
            It fails, returns another shape, or is not finite; the message names λ.
        """
        points = np.asarray(lam)
        values = self.raw(points)
        if not np.all(np.isfinite(values)):
            bad = points.ravel()[np.argmin(np.isfinite(values).ravel())]
            raise InvalidInputError(
                f"{self.name} must be finite, got {values.ravel()[np.argmin(np.isfinite(values))]} "
                f"at λ = {bad:.10g}; a pole or a gap there cannot be reached"
            )
        return values

    def raw(self, lam: Array) -> Array:
        """Values at λ, finite or not."""
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                values = np.asarray(self._function(lam))
                if values.shape != lam.shape:
                    values = np.broadcast_to(values, lam.shape)
                values = values.astype(complex if values.dtype.kind == "c" else float)
            except _OF_USERS:
                # Whatever a function of a user does with an array, numbers are tried before blame.
                values = self._one_by_one(lam)
        if values.dtype.kind == "c" and not np.any(values.imag):
            values = values.real
        return np.array(values)

    def _one_by_one(self, lam: Array) -> Array:
        """For callables that take one number at a time."""
        try:
            found = [self._function(value) for value in lam.ravel().tolist()]
            values = np.array(found, dtype=complex).reshape(lam.shape)
        except ZeroDivisionError:
            return np.array([_guarded(self._function, x) for x in lam.ravel().tolist()]).reshape(
                lam.shape
            )
        except _OF_USERS as error:
            raise InvalidInputError(
                f"{self.name} must return one number for each λ it is called with, got "
                f"{type(error).__name__}: {error}"
            ) from error
        return values if np.any(values.imag) else values.real


@dataclass(frozen=True)
class _Constant:
    value: complex

    def __call__(self, lam: Array) -> Array:
        return np.full(np.shape(lam), self.value)


@dataclass(frozen=True, eq=False)
class _Powers:
    coefficients: Array
    region: Region
    chebyshev: Array | None

    def __call__(self, lam: Array) -> Array:
        from numpy.polynomial.polynomial import polyval

        if self.chebyshev is None or not isinstance(self.region, Interval):
            return np.asarray(polyval(lam, self.coefficients))
        from ensctl.synthesis.chebyshev_basis import clenshaw

        return clenshaw(self.chebyshev, self.region.parameter(lam))


def as_function(value: Any, name: str, region: Region) -> LamFunction:
    """A number, coefficients of powers (lowest first), a numpy series, a formula or a callable."""
    if isinstance(value, LamFunction):
        return value
    if isinstance(value, str):
        return _of_expression(parse_expression(value, name), name, region)
    if isinstance(value, Expression):
        return _of_expression(value, name, region)
    if type(value).__module__.startswith("numpy.polynomial"):
        return _of_series(value, name, region)
    if callable(value):
        text = getattr(value, "__name__", type(value).__name__)
        return LamFunction(name, f"the function {text}", None, None, value)
    array = as_vector(value, name)
    if array.size == 1:
        exact = exact_floats(array) if not np.iscomplexobj(array) else None
        return LamFunction(name, f"{array[0]:g}", exact, None, _Constant(array[0].item()))
    return _of_powers(array, name, region, f"a polynomial of degree {array.size - 1}")


def _of_expression(formula: Expression, name: str, region: Region) -> LamFunction:
    powers = formula.powers
    if powers is not None and len(powers) == 1:
        return LamFunction(name, formula.text, powers, None, _Constant(float(powers[0])))
    exact = None
    if powers is not None and isinstance(region, Interval):
        exact = from_powers(powers, Fraction(region.centre), Fraction(region.half))
    return LamFunction(name, formula.text, exact, formula, formula)


def _of_powers(array: Array, name: str, region: Region, text: str) -> LamFunction:
    exact = None
    if isinstance(region, Interval) and not np.iscomplexobj(array):
        exact = from_powers(exact_floats(array), Fraction(region.centre), Fraction(region.half))
    floats = None if exact is None else nearest_floats(exact)
    return LamFunction(name, text, exact, None, _Powers(array, region, floats))


def _of_series(series: Any, name: str, region: Region) -> LamFunction:
    """A numpy Polynomial, Chebyshev, … : its powers in float64."""
    from numpy.polynomial import Chebyshev, Polynomial

    text = f"a polynomial of degree {series.degree()}"
    own = isinstance(region, Interval) and np.array_equal(
        np.asarray(series.domain, dtype=float), [region.low, region.high]
    )
    if isinstance(series, Chebyshev) and own and np.array_equal(series.window, [-1, 1]):
        array = as_vector(series.coef, name)
        exact = exact_floats(array) if not np.iscomplexobj(array) else None
        return LamFunction(name, text, exact, None, series)
    powers = series.convert(kind=Polynomial, domain=[-1, 1], window=[-1, 1])
    return _of_powers(as_vector(powers.coef, name), name, region, text)


def _guarded(function: Callable[[Any], Any], lam: Any) -> complex:
    try:
        return complex(function(lam))
    except ZeroDivisionError:
        return complex("nan")
