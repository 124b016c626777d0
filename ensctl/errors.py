"""The error tree: what went wrong, and whether trying again can help.

Every error raised on purpose by ensctl is an :class:`EnsctlError`.  A wrong call is an
:class:`InvalidInputError`; a mathematical outcome (not reachable, infeasible, not enough
digits, solver stopped) has its own class and carries the numbers that prove it.
"""

from __future__ import annotations

from typing import Any


class EnsctlError(Exception):
    """Base of every error ensctl raises on purpose."""


class InvalidInputError(EnsctlError, ValueError):
    """An argument is wrong; the same call fails again until the named argument is changed."""


class NotReachableError(EnsctlError):
    """No input reaches the target; retrying is useless, changing λ, b or the horizon is not.

    Attributes
    ----------
    members : tuple of int
        The members that cannot be moved as asked.
    reason : str
        Why, in one sentence.
    """

    def __init__(self, reason: str, members: tuple[int, ...] = ()) -> None:
        super().__init__(reason)
        self.reason = reason
        self.members = members


class InfeasibleError(EnsctlError):
    """No input meets the limits; retry with looser limits or a longer horizon.

    Attributes
    ----------
    certificate : object
        The proof of infeasibility, recomputed from the data.
    """

    def __init__(self, message: str, certificate: Any = None) -> None:
        super().__init__(message)
        self.certificate = certificate


class PrecisionError(EnsctlError):
    """The number exists but this arithmetic cannot give it; retry with certify=True.

    Attributes
    ----------
    digits : float
        Decimal digits that were missing.
    """

    def __init__(self, message: str, digits: float = 0.0) -> None:
        super().__init__(message)
        self.digits = digits


class SolverError(EnsctlError):
    """A numerical solver stopped early; another solver may succeed.

    Attributes
    ----------
    solver : str
        The solver that stopped.
    native_status : str
        What it said.
    """

    def __init__(self, message: str, solver: str = "", native_status: str = "") -> None:
        super().__init__(message)
        self.solver = solver
        self.native_status = native_status


class NotIdentifiableError(EnsctlError):
    """The data do not determine the answer; retry with more or different data."""


class FormatError(InvalidInputError):
    """A file cannot be read; mend the named line and read it again.

    Attributes
    ----------
    path : str
        The file as it was named ('-' for standard input).
    line : int or None
        The line, counted from 1, where one is to blame.
    """

    def __init__(self, message: str, path: str = "", line: int | None = None) -> None:
        place = path if line is None else f"{path}, line {line}"
        super().__init__(f"{place}: {message}" if place else message)
        self.path = path
        self.line = line


class MissingDependencyError(EnsctlError, ImportError):
    """An optional package is not installed; install it and call again."""
