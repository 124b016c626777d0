"""Counts of a trained model in the user's cache folder: whole, checked, or not used at all."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

from ensctl.errors import InvalidInputError
from ensctl.files import write_whole
from ensctl.simulation.ngram.counting import NgramCounts

# A file is this line, the digest of the rest, order and size, the n-grams, how often each was seen.
# The number is raised when what is stored changes, so that older files are not read.
_MAGIC = b"ensctl n-grams 2\n"
_DIGEST = 32


def cache_folder() -> Path:
    """ENSCTL_CACHE, or ``ensctl`` in the cache folder of the user."""
    named = os.environ.get("ENSCTL_CACHE")
    if named:
        return Path(named)
    place = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME")
    if place:
        return Path(place) / "ensctl"
    try:
        home = Path.home()
    except RuntimeError:
        # Users without a home, as in some containers, keep the model as long as temporary files.
        return Path(tempfile.gettempdir()) / "ensctl"
    inside = Path("Library", "Caches") if sys.platform == "darwin" else Path(".cache")
    return home / inside / "ensctl"


def cache_file(folder: Path, order: int, max_bytes: int, fingerprint: str) -> Path:
    """Where the counts of this order and corpus are kept."""
    return folder / f"{order}-{max_bytes}-{fingerprint}.ngrams"


def read_counts(path: Path, order: int) -> NgramCounts | None:
    """Counts of a file, or None where there is none or it is damaged, which is said in a warning.

    A damaged file is replaced by the caller, so that it is said once.
    """
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        reason = str(error)
    else:
        counts = _parsed(content, order)
        if counts is not None:
            return counts
        reason = "its digest is another one"
    warnings.warn(
        f"the cached n-gram model {path} is damaged and is built again ({reason})",
        UserWarning,
        stacklevel=3,
    )
    return None


def write_counts(path: Path, counts: NgramCounts) -> None:
    """Keep counts; a folder that cannot be written is said in a warning, and nothing is kept."""
    head = np.array([counts.order, counts.keys.size], dtype="<u8")
    body = b"".join(
        part.astype("<u8", copy=False).tobytes() for part in (head, counts.keys, counts.counts)
    )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, _MAGIC + hashlib.sha256(body).digest() + body)
    except (OSError, ValueError, InvalidInputError) as error:
        warnings.warn(
            f"the n-gram model is not kept for the next run: {error}; set ENSCTL_CACHE to a "
            "folder that can be written",
            UserWarning,
            stacklevel=3,
        )


def _parsed(content: bytes, order: int) -> NgramCounts | None:
    """Counts, or None where the digest, the order or the size is another one."""
    view = memoryview(content)
    start = len(_MAGIC) + _DIGEST
    digest, body = view[len(_MAGIC) : start], view[start:]
    if view[: len(_MAGIC)] != _MAGIC or digest != hashlib.sha256(body).digest() or len(body) % 8:
        return None
    numbers = np.frombuffer(body, dtype="<u8").astype(np.uint64, copy=False)
    if numbers.size < 4 or numbers[0] != order or numbers.size != 2 + 2 * int(numbers[1]):
        return None
    keys, counts = np.split(numbers[2:], 2)
    return NgramCounts(order, keys, counts.astype(np.int64))
