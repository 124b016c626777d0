"""Text as symbols, and the source of the Python standard library as a text that is always there."""

from __future__ import annotations

import hashlib
import os
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.errors import InvalidInputError

Array = NDArray[Any]

# The newline is symbol 0, so that a context cut short reads like the start of a line.
OTHER = "�"
ALPHABET = "\n" + "".join(map(chr, range(32, 127))) + OTHER
SYMBOLS = len(ALPHABET)

MOST_BYTES = 8_000_000
_LEFT_OUT = {"test", "tests", "idle_test", "site-packages", "dist-packages", "__pycache__"}

_CODE = np.full(128, SYMBOLS - 1, dtype=np.uint8)
for _code, _symbol in enumerate(ALPHABET[:-1]):
    _CODE[ord(_symbol)] = _code


def encode(text: str) -> bytes:
    """One byte per character: its place in the alphabet, the last one for what is not in it."""
    points = np.frombuffer(text.encode("utf-32-le", "replace"), dtype=np.uint32)
    codes = _CODE[np.minimum(points, 127)]
    return bytes(np.where(points < 127, codes, np.uint8(SYMBOLS - 1)))


def decode(symbols: bytes) -> str:
    """Text of symbols."""
    return "".join(ALPHABET[code] for code in symbols)


@dataclass(frozen=True)
class SourceFiles:
    """Files of a corpus, and what tells them from others.

    Attributes
    ----------
    paths : tuple of Path
        The files in the order they are read.
    fingerprint : str
        Hash of their names and sizes.
    """

    paths: tuple[Path, ...]
    fingerprint: str


def standard_library(max_bytes: int = MOST_BYTES) -> SourceFiles:
    """Python files of the standard library in order of name, tests left out, ``max_bytes`` in all.

    Raises InvalidInputError where the interpreter comes without its source.
    """
    folder = Path(sysconfig.get_paths()["stdlib"])
    paths, room = [], max_bytes
    digest = hashlib.sha256(repr(sys.version_info[:3]).encode())
    for path, size in _sources(folder):
        if room <= 0:
            break
        paths.append(path)
        digest.update(f"{path.relative_to(folder).as_posix()} {size}\n".encode())
        room -= size
    if not paths:
        raise InvalidInputError(
            f"corpus must not be empty: there is no Python source in {folder}; give a text"
        )
    return SourceFiles(tuple(paths), digest.hexdigest()[:16])


def read_symbols(files: SourceFiles, max_bytes: int) -> bytes:
    """Text of the files, encoded, one after the other, cut at ``max_bytes`` symbols."""
    parts, room = [], max_bytes
    for path in files.paths:
        if room <= 0:
            break
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise InvalidInputError(
                f"the corpus must be readable, got {path}: {error.strerror}; give a text instead"
            ) from None
        parts.append(encode(text.rstrip("\n") + "\n")[:room])
        room -= len(parts[-1])
    return b"".join(parts)


def _sources(folder: Path) -> Iterator[tuple[Path, int]]:
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _LEFT_OUT)
        for name in sorted(names):
            path = Path(place, name)
            if name.endswith(".py") and path.is_file():
                yield path, path.stat().st_size
