"""Formulas in λ as text: read safely, evaluated on arrays, enclosed by balls for proofs.

Allowed are numbers, the variable (x, lam or λ), pi, e, + − × ÷ **, and abs, cos, exp, log, sin,
sqrt, tanh, cosh, sinh, tan, atan.  Nothing else is ever evaluated.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.errors import InvalidInputError

Array = NDArray[Any]

_VARIABLES = ("x", "lam", "λ", "l")
_CONSTANTS: Mapping[str, float] = MappingProxyType({"pi": math.pi, "e": math.e})
_FUNCTIONS: Mapping[str, Callable[[Any], Any]] = MappingProxyType(
    {
        "abs": np.abs,
        "atan": np.arctan,
        "cos": np.cos,
        "cosh": np.cosh,
        "exp": np.exp,
        "log": np.log,
        "sin": np.sin,
        "sinh": np.sinh,
        "sqrt": np.sqrt,
        "tan": np.tan,
        "tanh": np.tanh,
    }
)
# log and sqrt are analytic off their cuts only; the flag makes a ball across one undefined.
_CUT = ("log", "sqrt")
_BINARY: Mapping[type, Callable[[Any, Any], Any]] = MappingProxyType(
    {
        ast.Add: lambda a, b: a + b,
        ast.Sub: lambda a, b: a - b,
        ast.Mult: lambda a, b: a * b,
        ast.Div: lambda a, b: a / b,
    }
)
_LONGEST = 2000
_LARGEST_POWER = 10_000
_LARGEST_DEGREE = 200
# Longer rationals than that are slow; the formula is then taken as an analytic one.
_MOST_BITS = 4000
# Each level is a frame or two of Python's stack.
_DEEPEST = 150


@dataclass(frozen=True, eq=False)
class Expression:
    """A formula in λ.

    Attributes
    ----------
    text : str
        As written.
    """

    text: str
    _tree: ast.expr

    def __call__(self, lam: Array) -> Array:
        """Values at an array of λ; NaN and infinities where the formula has none."""
        values = np.asarray(lam)
        with np.errstate(all="ignore"):
            return np.asarray(_on_array(self._tree, values) + np.zeros_like(values))

    @property
    def analytic(self) -> bool:
        """Whether the formula has no abs."""
        return not any(isinstance(n, ast.Name) and n.id == "abs" for n in ast.walk(self._tree))

    @property
    def powers(self) -> list[Fraction] | None:
        """Exact coefficients of 1, x, x², … where the formula is a polynomial."""
        return _as_powers(self._tree)

    def ball(self, z: Any) -> Any:
        """An enclosure over a complex ball of python-flint; not finite where not analytic."""
        return _on_ball(self._tree, z)


def parse_expression(text: str, name: str = "target") -> Expression:
    """Read a formula in x (or lam, λ).

    Parameters
    ----------
    text : str
        For example "sin(6*x)" or "abs(x - 0.3)**3 / 2".
    name : str
        Argument to blame.

    Returns
    -------
    Expression

    Raises
    ------
    InvalidInputError
        Not a formula of the allowed kind; the message shows the piece that is not.

    Examples
    --------
    >>> from ensctl.synthesis.continuum_expression import parse_expression
    >>> import numpy as np
    >>> parse_expression("x**2 + 1")(np.array([0.0, 2.0])).tolist()
    [1.0, 5.0]
    """
    if len(text) > _LONGEST:
        raise InvalidInputError(f"{name} must be a formula of at most {_LONGEST} characters")
    try:
        tree = ast.parse(text.strip().replace("^", "**"), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InvalidInputError(f"{name} must be a formula in x, got {text!r}") from None
    if _depth(tree) > _DEEPEST:
        raise InvalidInputError(
            f"{name} must be a formula of at most {_DEEPEST} levels (terms of a sum count, too); "
            f"give a function instead"
        )
    _check(tree, name)
    return Expression(text.strip(), tree)


def _depth(tree: ast.AST) -> int:
    """Levels of the tree, counted without recursion."""
    depth, level = 0, [tree]
    while level:
        depth += 1
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return depth


def _check(node: ast.expr, name: str) -> None:
    """Refuse everything that is not on the list, before anything is evaluated."""
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            if not math.isfinite(_number(value, name)):
                raise InvalidInputError(f"{name} must have finite numbers, got {value}")
        case ast.Name(id=word) if word in _VARIABLES or word in _CONSTANTS:
            pass
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            _check(operand, name)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div(), right=right):
            _check(left, name)
            _check(right, name)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            _check(left, name)
            _check(right, name)
            power = _constant(right)
            if power is None or abs(power) > _LARGEST_POWER:
                raise InvalidInputError(
                    f"{name} must have constant exponents of at most {_LARGEST_POWER}, got "
                    f"{ast.unparse(right)!r}; write exp(y*log(x)) for x**y"
                )
        case ast.Call(func=ast.Name(id=word), args=[inner], keywords=[]) if word in _FUNCTIONS:
            _check(inner, name)
        case _:
            raise InvalidInputError(
                f"{name} must be a formula of numbers, x, + - * / ** and "
                f"{', '.join(_FUNCTIONS)}; got {ast.unparse(node)!r}"
            )


def _number(value: float, name: str) -> float:
    try:
        return float(value)
    except OverflowError:
        raise InvalidInputError(f"{name} has a number outside the range of float64") from None


def _constant(node: ast.expr) -> float | None:
    """The value of a formula without a variable."""
    if any(isinstance(n, ast.Name) and n.id in _VARIABLES for n in ast.walk(node)):
        return None
    with np.errstate(all="ignore"):
        value = float(_on_array(node, np.zeros(())))
    return value if math.isfinite(value) else None


def _on_array(node: ast.expr, x: Array) -> Any:
    match node:
        case ast.Constant(value=value):
            return np.float64(value)  # type: ignore[arg-type]
        case ast.Name(id=word):
            return np.float64(_CONSTANTS[word]) if word in _CONSTANTS else x
        case ast.UnaryOp(op=op, operand=operand):
            inner = _on_array(operand, x)
            return -inner if isinstance(op, ast.USub) else inner
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _on_array(left, x) ** _on_array(right, x)
        case ast.BinOp(left=left, op=op, right=right):
            return _BINARY[type(op)](_on_array(left, x), _on_array(right, x))
        case ast.Call(func=ast.Name(id=word), args=[inner]):
            return _FUNCTIONS[word](_on_array(inner, x))
    raise InvalidInputError(f"cannot evaluate {ast.unparse(node)!r}")


def _as_powers(node: ast.expr) -> list[Fraction] | None:
    """The formula as a polynomial, or None."""
    match node:
        case ast.Constant(value=value):
            return [Fraction(value)]  # type: ignore[arg-type]
        case ast.Name(id=word):
            return (
                [Fraction(_CONSTANTS[word])] if word in _CONSTANTS else [Fraction(0), Fraction(1)]
            )
        case ast.UnaryOp(op=op, operand=operand):
            inner = _as_powers(operand)
            negative = isinstance(op, ast.USub)
            return [-value for value in inner] if inner is not None and negative else inner
        case ast.BinOp(left=left, op=op, right=right):
            one, other = _as_powers(left), _as_powers(right)
            if one is None or other is None:
                return None
            return _combined(one, op, other)
    return None


def _combined(
    one: list[Fraction], op: ast.operator, other: list[Fraction]
) -> list[Fraction] | None:
    if _bits(one) + _bits(other) > _MOST_BITS:
        return None
    if isinstance(op, ast.Add | ast.Sub):
        sign = 1 if isinstance(op, ast.Add) else -1
        size = max(len(one), len(other))
        pad = [Fraction(0)]
        left, right = one + pad * (size - len(one)), other + pad * (size - len(other))
        return [x + sign * y for x, y in zip(left, right, strict=True)]
    if isinstance(op, ast.Mult):
        if len(one) + len(other) > _LARGEST_DEGREE:
            return None
        return _times(one, other)
    if len(other) != 1:
        return None
    if isinstance(op, ast.Div):
        return None if other[0] == 0 else [x / other[0] for x in one]
    power = other[0]
    if power.denominator != 1 or not 0 <= power <= _LARGEST_DEGREE // max(1, len(one) - 1):
        return None
    if _bits(one) * power > _MOST_BITS:
        return None
    out = [Fraction(1)]
    for _ in range(int(power)):
        out = _times(out, one)
    return out


def _bits(values: list[Fraction]) -> int:
    """Of the longest numerator or denominator."""
    return max(max(abs(v.numerator), v.denominator).bit_length() for v in values)


def _times(one: list[Fraction], other: list[Fraction]) -> list[Fraction]:
    out = [Fraction(0)] * (len(one) + len(other) - 1)
    for i, x in enumerate(one):
        for j, y in enumerate(other):
            out[i + j] += x * y
    return out


def _on_ball(node: ast.expr, z: Any) -> Any:
    from flint import acb

    match node:
        case ast.Constant(value=value):
            return acb(value)  # type: ignore[arg-type]
        case ast.Name(id=word):
            # float64 on both sides: what is proved is the formula that was evaluated.
            return acb(_CONSTANTS[word]) if word in _CONSTANTS else z
        case ast.UnaryOp(op=op, operand=operand):
            inner = _on_ball(operand, z)
            return -inner if isinstance(op, ast.USub) else inner
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            power, base = _constant(right), _on_ball(left, z)
            if power is None:
                return acb("nan")
            if power == int(power):
                return base ** int(power)
            return (acb(power) * base.log(analytic=True)).exp()
        case ast.BinOp(left=left, op=op, right=right):
            return _BINARY[type(op)](_on_ball(left, z), _on_ball(right, z))
        case ast.Call(func=ast.Name(id=word), args=[inner]):
            value = _on_ball(inner, z)
            if word in _CUT:
                return getattr(value, word)(analytic=True)
            if word == "atan" and not (1 + value * value).sqrt(analytic=True).is_finite():
                # 1 + z² is on the cut of the root just where z is on one of the arctangent's.
                return acb("nan")
            return abs(value) if word == "abs" else getattr(value, word)()
    raise InvalidInputError(f"cannot enclose {ast.unparse(node)!r}")
