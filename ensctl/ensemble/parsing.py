"""Ensembles from files: CSV, JSON and TOML, with the line or key in every error.

**CSV.**  A header, then one member a line.  Columns: ``lam``, or ``lam_re`` and ``lam_im``; and,
each optional, ``b``, ``c`` (or their ``_re`` and ``_im``) and ``name``.  Several channels are
``b_0``, ``b_1``, …, several outputs ``c_0``, ``c_1``, …, complex ones ``b_0_re``, ``b_0_im``, ….
A cell may hold a complex number such as 0.5+0.2j.  Without a header: one λ a line.  Separators
are commas, semicolons or tabs; the decimal mark is a point.  Empty lines and lines that start
with # are skipped, but for ``# dt = 30.0`` and ``# d = -1.5`` (or ``# d = [[…], …]``).

**JSON.**  A list of λ, or an object with the keys ``lam`` and, each optional, ``b``, ``c``, ``d``,
``dt``, ``names``, as ``Ensemble.to_dict`` makes it.  A complex number is ``{"re": …, "im": …}`` or
a string such as "0.5+0.2j".

**TOML.**  The same keys and numbers.
"""

from __future__ import annotations

import codecs
import os
import re
from pathlib import Path

from ensctl.ensemble.csv_table import parse_csv
from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.keyed_data import parse_json, parse_toml
from ensctl.errors import FormatError, InvalidInputError

_PARSERS = {"csv": parse_csv, "json": parse_json, "toml": parse_toml}
_SUFFIXES = {".csv": "csv", ".tsv": "csv", ".txt": "csv", ".json": "json", ".toml": "toml"}


def read_ensemble(path: str | os.PathLike[str], *, format: str | None = None) -> Ensemble:
    """Read an ensemble from a file.

    Parameters
    ----------
    path : str or path
        The file, UTF-8 (a byte order mark and CRLF are fine).
    format : {"csv", "json", "toml"}, optional
        By default taken from the suffix (.txt and .tsv are CSV), or from the content where the
        suffix says nothing.

    Returns
    -------
    Ensemble

    Raises
    ------
    FormatError
        Missing, binary or malformed; names the file, the line or key, and what to do.
    InvalidInputError
        ``format`` is unknown.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "fleet.txt")
    >>> _ = path.write_text("0.2\\n0.5\\n0.8\\n")
    >>> read_ensemble(path).size
    3
    """
    source = os.fspath(path)
    try:
        content = Path(source).read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FormatError(f"cannot be read: {reason.lower()}; check the path", source) from None
    chosen = _SUFFIXES.get(Path(source).suffix.lower()) if format is None else format
    return parse_ensemble(_decoded(content, source), format=chosen, source=source)


def parse_ensemble(text: str, *, format: str | None = None, source: str = "-") -> Ensemble:
    """Make an ensemble from text, as it comes from a stream.

    Parameters
    ----------
    text : str
        What the file holds.
    format : {"csv", "json", "toml"}, optional
        By default told from the content.
    source : str
        How errors name the text.

    Returns
    -------
    Ensemble

    Raises
    ------
    FormatError
        Malformed; names ``source``, the line or key, and what to do.
    InvalidInputError
        ``format`` is unknown.

    Examples
    --------
    >>> parse_ensemble("lam,b\\n0.2,1\\n0.5,2\\n").b
    array([1., 2.])
    >>> parse_ensemble('{"lam": [0.2, "0.5+0.1j"]}').lam
    array([0.2+0.j , 0.5+0.1j])
    """
    if format is not None and format not in _PARSERS:
        raise InvalidInputError(f"format must be csv, json or toml, got {format!r}")
    if "\0" in text:
        raise _binary(source)
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise FormatError("is empty; give one λ a line, or columns lam, b, c, name", source)
    parse = _PARSERS[format or _told_from(text)]
    try:
        return parse(text, source)
    except FormatError:
        raise
    except InvalidInputError as error:
        raise FormatError(str(error), source) from None


def _told_from(text: str) -> str:
    lines = (line.strip() for line in text.splitlines())
    first = next((line for line in lines if line and not line.startswith("#")), "")
    if re.match(r"[\w\"'.-]+\s*=|\[+[A-Za-z]", first):
        return "toml"
    return "json" if first.startswith(("{", "[")) else "csv"


def _decoded(content: bytes, source: str) -> str:
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise FormatError("is UTF-16 text; save it as UTF-8", source)
    if b"\0" in content:
        raise _binary(source)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FormatError(
            f"is not UTF-8 text (byte 0x{content[error.start]:02x}); save it as UTF-8", source, line
        ) from None


def _binary(source: str) -> FormatError:
    return FormatError("is a binary file; save it as CSV, JSON or TOML", source)
