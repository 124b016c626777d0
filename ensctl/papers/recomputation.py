"""A recomputation as data: which function of the package, with which inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from ensctl.errors import InvalidInputError


@dataclass(frozen=True)
class Recomputation:
    """A call that can be shown and made.

    Parameters
    ----------
    function : str
        Dotted path of a public function, ``"ensctl.drafting.throughput"``.
    inputs : mapping
        Its arguments by name.
    attribute : str
        Which attribute of its result is the value; empty for the result itself.

    Notes
    -----
    The function is looked up at every evaluation: what is computed is always what the package
    computes now.

    Examples
    --------
    >>> from ensctl.papers import Recomputation
    >>> inputs = {"alpha": 0.7, "depth": 4, "convention": "committed"}
    >>> call = Recomputation("ensctl.drafting.expected_length", inputs)
    >>> print(call)
    drafting.expected_length(alpha=0.7, depth=4, convention=committed)
    >>> round(call.value(), 12)
    2.533
    """

    function: str
    inputs: Mapping[str, Any] = field(default_factory=dict)
    attribute: str = ""

    def value(self) -> Any:
        """What the function returns now."""
        result = self._function()(**self.inputs)
        return getattr(result, self.attribute) if self.attribute else result

    def with_inputs(self, changes: Mapping[str, Any]) -> Recomputation:
        """The same call with some inputs changed."""
        return Recomputation(self.function, {**self.inputs, **changes}, self.attribute)

    def _function(self) -> Any:
        room, _, name = self.function.rpartition(".")
        if not room.startswith("ensctl"):
            raise InvalidInputError(
                f"function must be a dotted path in ensctl, got {self.function!r}"
            )
        try:
            return getattr(import_module(room), name)
        except (ImportError, AttributeError):
            raise InvalidInputError(
                f"function must exist, got {self.function!r}; look it up in the public names"
            ) from None

    @property
    def arguments(self) -> str:
        """The inputs as ``name=value``, separated by commas."""
        return ", ".join(f"{name}={_short(value)}" for name, value in self.inputs.items())

    def __str__(self) -> str:
        tail = f".{self.attribute}" if self.attribute else ""
        return f"{self.function.removeprefix('ensctl.')}({self.arguments}){tail}"


def _short(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_short(entry) for entry in value) + "]"
    return f"{value:.12g}" if isinstance(value, float) else str(value)
