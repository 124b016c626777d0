"""Results that can be written as a document: text, Markdown, JSON or one HTML page."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from ensctl.errors import InvalidInputError
from ensctl.files import write_whole

_SUFFIXES = (".html", ".json", ".md", ".txt")


def require_document_suffix(path: Path) -> None:
    """Check that the suffix names a format: .html, .json, .md or .txt.

    Raises
    ------
    InvalidInputError
        It does not.
    """
    if path.suffix.lower() not in _SUFFIXES:
        raise InvalidInputError(
            f"path must end in .html, .json, .md or .txt, got {str(path)!r}; the suffix decides "
            "on the format"
        )


class SavedDocument(ABC):
    """A result that renders itself in four formats and is written whole."""

    @abstractmethod
    def to_text(self) -> str:
        """Plain text."""

    @abstractmethod
    def to_markdown(self) -> str:
        """GitHub-flavoured Markdown."""

    @abstractmethod
    def to_html(self) -> str:
        """One HTML page without external resources."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""

    def to_json(self) -> str:
        """``to_dict`` as JSON text; ends in a newline."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the report whole; the suffix decides: .html, .json, .md or .txt.

        Parameters
        ----------
        path : str or path
            Where to.

        Returns
        -------
        pathlib.Path
            The file.

        Raises
        ------
        InvalidInputError
            Another suffix, or a place that cannot be written to.
        """
        place = Path(path)
        require_document_suffix(place)
        renderers = {
            ".html": self.to_html,
            ".json": self.to_json,
            ".md": self.to_markdown,
            ".txt": self.to_text,
        }
        write_whole(place, renderers[place.suffix.lower()]())
        return place
