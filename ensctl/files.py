"""Writing files whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from ensctl.errors import InvalidInputError


def write_whole(path: Path, content: str | bytes) -> None:
    """Write text (as UTF-8) or bytes under a temporary name in the folder, then rename it.

    A link is followed; the permissions of a file that is replaced are kept.

    Raises
    ------
    InvalidInputError
        The file cannot be written; nothing is left behind.
    """
    target = Path(os.path.realpath(path))
    try:
        handle, name = tempfile.mkstemp(
            dir=target.parent, prefix=f".{target.name}.", suffix=".part"
        )
    except OSError as error:
        raise _not_writable(path, error) from None
    temporary = Path(name)
    try:
        with open(handle, "wb") as file:
            file.write(content.encode("utf-8") if isinstance(content, str) else content)
        temporary.chmod(_usual_mode(target))
        os.replace(temporary, target)
    except OSError as error:
        raise _not_writable(path, error) from None
    finally:
        temporary.unlink(missing_ok=True)


def require_folder(path: Path) -> None:
    """Refuse a file whose folder does not exist, before any work is done for it.

    Raises
    ------
    InvalidInputError
        There is no such folder.
    """
    if not path.parent.is_dir():
        raise InvalidInputError(
            f"path must be in a folder that exists, got {path}: there is no {path.parent}; make it "
            f"first"
        )


def _not_writable(path: Path, error: OSError) -> InvalidInputError:
    reason = (error.strerror or type(error).__name__).lower()
    return InvalidInputError(f"path must be writable, got {path}: {reason}; choose another place")


def _usual_mode(path: Path) -> int:
    """Permissions of the file that is replaced, or what an ordinary new file gets."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
