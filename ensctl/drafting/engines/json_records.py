"""JSON documents of a source, one by one, and the objects in them that carry counters."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ensctl.drafting.engines.identities import MOST_COUNT
from ensctl.drafting.engines.reading import Block, Reading

_MOST_BYTES = 1 << 28


@dataclass(frozen=True)
class Record:
    """An object with counters, the line its document begins on and what stands around it."""

    fields: Mapping[str, Any]
    line: int
    model: str
    generated: int | None

    def count(self, name: str, reading: Reading) -> int | None:
        """A whole number ≥ 0; None where it is missing or null, a problem where it is not one."""
        value = self.fields.get(name)
        if value is None:
            return None
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < MOST_COUNT:
            reading.problem(self.line, f"{name} must be a whole number ≥ 0, got {value!r}")
            return None
        return value


def records(blocks: Iterable[Block], reading: Reading, *wanted: frozenset[str]) -> Iterator[Record]:
    """Every object that has all keys of one of the ``wanted`` sets, in order."""
    for line, document in documents(blocks, reading):
        yield from _matching(document, wanted, line)


def documents(blocks: Iterable[Block], reading: Reading) -> Iterator[tuple[int, Any]]:
    """JSON values: one per line, or one over all lines; ``data:`` of an event stream is dropped."""
    whole: list[bytes] = []
    size = 0
    seen = False
    for block in blocks:
        for number, text in block.lines():
            line = text.strip().removeprefix(b"\xef\xbb\xbf")
            if line.startswith(b"data:"):
                line = line[5:].strip()
                if not line.startswith((b"{", b"[{")):
                    continue
            if whole:
                whole.append(text)
                size += len(text)
                if size > _MOST_BYTES:
                    raise reading.error(
                        1, "the JSON document is too long; give one record per line"
                    )
            elif line:
                document, problem = _parsed(line)
                if problem is None:
                    seen = True
                    yield number, document
                elif not seen:
                    # A document over several lines; its lines count from the first.
                    whole = [b"\n" * (number - 1) + text]
                else:
                    reading.problem(number, f"the line is not JSON ({problem})")
    if whole:
        document, problem = _parsed(b"\n".join(whole))
        if problem is not None:
            reading.problem(problem.lineno, f"the text is not JSON ({problem.msg})")
            return
        yield 1, document


def _parsed(text: bytes) -> tuple[Any, json.JSONDecodeError | None]:
    try:
        return json.loads(text.decode("utf-8", "replace")), None
    except json.JSONDecodeError as error:
        return None, error
    except (RecursionError, ValueError):
        return None, json.JSONDecodeError("nested too deeply, or a number too long", "", 0)


def _matching(document: Any, wanted: Sequence[frozenset[str]], line: int) -> Iterator[Record]:
    pending: list[tuple[Any, str, int | None]] = [(document, "", None)]
    while pending:
        value, model, generated = pending.pop()
        if isinstance(value, list):
            pending.extend((item, model, generated) for item in reversed(value))
        elif isinstance(value, dict):
            named = value.get("model") or value.get("model_name")
            model = named if isinstance(named, str) else model
            generated = _completion_tokens(value, generated)
            if any(keys <= value.keys() for keys in wanted):
                yield Record(value, line, model, generated)
            else:
                pending.extend((item, model, generated) for item in reversed(value.values()))


def _completion_tokens(value: Mapping[str, Any], known: int | None) -> int | None:
    for holder in (value, value.get("usage")):
        if isinstance(holder, Mapping):
            tokens = holder.get("completion_tokens")
            if isinstance(tokens, int) and tokens >= 0:
                return tokens
    return known
