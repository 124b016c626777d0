"""Counts of a trained model in the user's cache folder: whole, checked, or not used at all."""

from __future__ import annotations

import io
import os
import sys
import tempfile
import warnings
import zipfile
from pathlib import Path

import numpy as np

from ensctl.errors import InvalidInputError
from ensctl.files import write_whole
from ensctl.simulation.ngram.corpus import SYMBOLS
from ensctl.simulation.ngram.counting import BITS, NgramCounts

# Raised when what is stored changes, so that older files are not read.
_FORMAT = 1


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
    return folder / f"ngrams-{_FORMAT}-{order}-{max_bytes}-{fingerprint}.npz"


def read_counts(path: Path, order: int) -> NgramCounts | None:
    """Counts of a file, or None where there is none or it is damaged, which is said in a warning.

    A damaged file is replaced by the caller, so that it is said once.
    """
    if not path.is_file():
        return None
    try:
        # The CRC of the archive tells damage; entries are checked against what is counted.
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as content:
            keys, counts = content["keys"], content["counts"]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        reason = f"{type(error).__name__}: {error}"
    else:
        reason = _wrong(keys, counts, order)
        if not reason:
            return NgramCounts(order, keys, counts)
    warnings.warn(
        f"the cached n-gram model {path} is damaged and is built again ({reason})",
        UserWarning,
        stacklevel=3,
    )
    return None


def write_counts(path: Path, counts: NgramCounts) -> None:
    """Keep counts; a folder that cannot be written is said in a warning, and nothing is kept."""
    buffer = io.BytesIO()
    np.savez(buffer, keys=counts.keys, counts=counts.counts)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, buffer.getvalue())
    except (OSError, InvalidInputError) as error:
        warnings.warn(
            f"the n-gram model is not kept for the next run: {error}; set ENSCTL_CACHE to a "
            "folder that can be written",
            UserWarning,
            stacklevel=3,
        )


def _wrong(keys: np.ndarray, counts: np.ndarray, order: int) -> str:
    if keys.dtype != np.uint64 or counts.dtype != np.int64 or keys.ndim != 1:
        return "unexpected types"
    if keys.shape != counts.shape or not keys.size or counts.min() < 1:
        return "unexpected counts"
    if not np.all(keys[1:] > keys[:-1]) or int(keys[-1]) >> (BITS * order):
        return "unexpected n-grams"
    if int((keys & np.uint64((1 << BITS) - 1)).max()) >= SYMBOLS:
        return "unexpected symbols"
    return ""
