"""Bytes in blocks of whole lines, of constant size, from a file, a text or lines."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import IO, Any

from ensctl.drafting.engines.identities import CounterFormat
from ensctl.errors import FormatError

BLOCK = 1 << 19
LONGEST_LINE = 1 << 26

_GZIP = b"\x1f\x8b"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True)
class Block:
    """Whole lines of a source; only the last block may end without a newline."""

    data: bytes
    first_line: int

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Numbers and contents of the lines, without their ends."""
        lines = self.data.split(b"\n")
        if not lines[-1]:
            lines.pop()
        # A carriage return alone, of a progress bar, does not end a line.
        return ((k, line.rstrip(b"\r")) for k, line in enumerate(lines, self.first_line))

    def line_at(self, offset: int) -> int:
        """Number of the line that holds byte ``offset``."""
        return self.first_line + self.data.count(b"\n", 0, offset)


@dataclass
class Reading:
    """What the caller said about a source, and what reading it brought up.

    ``problem`` raises under ``strict`` and is kept as a note of the next window otherwise.
    """

    source: str = ""
    depth: int | None = None
    drafts: float | None = None
    strict: bool = True
    lines: int = 0
    seen: CounterFormat | None = None
    standing: tuple[str, ...] = ()
    pending: list[str] = field(default_factory=list)

    def error(self, line: int | None, text: str) -> FormatError:
        """The error that blames ``line``."""
        return FormatError(text, path=self.source or "text", line=line)

    def require_depth(self, line: int | None, printed: int) -> None:
        """Refuse a K of the caller that is not the printed one."""
        if self.depth not in (None, printed):
            raise self.error(
                line, f"depth is {self.depth}, but what is read has K = {printed}; leave depth out"
            )

    def problem(self, line: int | None, text: str, cause: Exception | None = None) -> None:
        """Raise, or note, that ``line`` does not hold what it must."""
        if self.strict:
            raise self.error(line, f"{text}; mend the line, or read with strict=False") from cause
        self.pending.append(text if line is None else f"line {line}: {text}")

    def notes(self) -> tuple[str, ...]:
        """Notes for the window that is about to be given out."""
        if not self.pending:
            return self.standing
        taken = (*self.standing, *self.pending)
        self.pending.clear()
        return taken


def blocks(source: Any, reading: Reading) -> Iterator[Block]:
    """Blocks of whole lines of a path, text, bytes, open file or iterable of lines.

    Raises
    ------
    FormatError
        The file cannot be opened, is binary or UTF-16, or its compression is broken.
    """
    line = 1
    first = True
    for data in _whole_lines(_chunks(source, reading), reading):
        if first:
            _require_text(data, reading)
            data = data.removeprefix(b"\xef\xbb\xbf")
            first = False
        elif b"\0" in data:
            raise reading.error(None, f"binary data after line {line}; give the text log")
        block = Block(data, line)
        line += data.count(b"\n")
        reading.lines = line if data[-1:] != b"\n" else line - 1
        yield block


def resumed(first: Iterable[Block], rest: Iterator[Block]) -> Iterator[Block]:
    """The blocks already looked at and then the rest."""
    yield from first
    yield from rest


def _require_text(data: bytes, reading: Reading) -> None:
    if data.startswith(_UTF16):
        raise reading.error(1, "the file is UTF-16 text; save it as UTF-8")
    if b"\0" in data:
        raise reading.error(None, "the file is binary; give the text the engine printed")


def _whole_lines(chunks: Iterator[bytes], reading: Reading) -> Iterator[bytes]:
    rest = b""
    for chunk in chunks:
        cut = chunk.rfind(b"\n") + 1
        if cut:
            yield rest + chunk[:cut]
            rest = chunk[cut:]
        else:
            rest += chunk
            if len(rest) > LONGEST_LINE:
                raise reading.error(
                    None, f"a line is longer than {LONGEST_LINE >> 20} MiB; give a text log"
                )
    if rest:
        yield rest


def _chunks(source: Any, reading: Reading) -> Iterator[bytes]:
    if isinstance(source, str):
        source = source.encode("utf-8", "surrogateescape")
    if isinstance(source, bytes | bytearray | memoryview):
        yield from _from_file(io.BytesIO(source), reading)
    elif isinstance(source, os.PathLike):
        try:
            with open(source, "rb") as file:
                yield from _from_file(file, reading)
        except OSError as error:
            reason = (error.strerror or type(error).__name__).lower()
            raise reading.error(None, f"cannot be read: {reason}") from None
    else:
        yield from _from_lines(source, reading)


def _from_file(file: IO[bytes], reading: Reading) -> Iterator[bytes]:
    start = file.read(2)
    file.seek(0)
    if start != _GZIP:
        while chunk := file.read(BLOCK):
            yield chunk
        return
    reading.standing = (*reading.standing, "the file is gzip and was decompressed")
    try:
        with gzip.open(file, "rb") as text:
            while chunk := text.read(BLOCK):
                yield chunk
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise reading.error(
            None, f"the gzip file is broken ({error}); decompress it and give the text"
        ) from None


def _from_lines(source: Iterable[str | bytes], reading: Reading) -> Iterator[bytes]:
    """Lines with or without their ends, packed into chunks."""
    held: list[bytes] = []
    size = 0
    for item in source:
        if isinstance(item, str):
            item = item.encode("utf-8", "surrogateescape")
        if not isinstance(item, bytes):
            raise reading.error(None, f"lines must be text, got {type(item).__name__}")
        held.append(item if item.endswith(b"\n") else item + b"\n")
        size += len(item)
        if size >= BLOCK:
            yield b"".join(held)
            held, size = [], 0
    if held:
        yield b"".join(held)
