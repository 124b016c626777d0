"""``-`` where a file is read: stdin as bytes, as text, or as a file for readers of files."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ensctl.errors import EnsctlError, FormatError, InvalidInputError

STDIN = "-"


def stdin_bytes() -> bytes:
    """Everything on stdin.

    Raises
    ------
    InvalidInputError
        stdin is closed or cannot be read.
    """
    if sys.stdin is None:
        raise InvalidInputError("stdin is closed, and - reads it; pipe a file in, or name one")
    try:
        return sys.stdin.buffer.read()
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise InvalidInputError(f"stdin cannot be read: {reason}; name a file instead") from None


def text_of(token: str) -> str:
    """The UTF-8 text of a file, or of stdin for ``-``.

    Raises
    ------
    FormatError
        It cannot be read, or is not UTF-8.
    """
    try:
        content = stdin_bytes() if token == STDIN else Path(token).read_bytes()
        return content.decode("utf-8-sig")
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise FormatError(f"cannot be read: {reason}; check the path", token) from None
    except UnicodeDecodeError:
        raise FormatError("is not UTF-8 text; save it as UTF-8", token) from None


@contextmanager
def as_file(token: str | Path, suffix: str = "") -> Iterator[Path]:
    """The file of this name; for ``-`` a copy of stdin that goes away afterwards."""
    if str(token) != STDIN:
        yield Path(token)
        return
    content = stdin_bytes()
    with tempfile.TemporaryDirectory(prefix="ensctl-") as folder:
        copy = Path(folder, f"stdin{suffix}")
        copy.write_bytes(content)
        try:
            yield copy
        except EnsctlError as error:
            # A person who piped something in has never heard of the copy.
            error.args = tuple(
                part.replace(str(copy), "stdin") if isinstance(part, str) else part
                for part in error.args
            )
            raise
