"""Ensembles from files: CSV, JSON and TOML, with the line or key in every error.

CSV: a header with the columns ``lam`` (or ``lam_re`` and ``lam_im``) and, each optional, ``b``,
``c`` and ``name``; several channels are ``b_0``, ``b_1``, …, several outputs ``c_0``, ``c_1``, …;
``b_re``/``b_im`` and ``c_re``/``c_im`` hold complex values, and so does a cell such as 0.5+0.2j.
Without a header: one λ a line.  Lines that start with # are skipped, except ``# dt = 30``.
Separators are commas, semicolons or tabs.

JSON and TOML: keys ``lam`` and, each optional, ``b``, ``c``, ``d``, ``dt``, ``names``; JSON may also
be a plain list of λ.  A complex number is {"re": …, "im": …} or a string such as "0.5+0.2j".
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

from ensctl.ensemble.csv_table import parse_csv
from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.number_cells import from_data
from ensctl.ensemble.spelling import nearest_word
from ensctl.errors import FormatError, InvalidInputError

FORMATS = ("csv", "json", "toml")
_KEYS = ("lam", "b", "c", "d", "dt", "names")
_HEADERS = ("schema", "kind")


def read_ensemble(path: str | Path, *, format: str | None = None) -> Ensemble:
    """Read an ensemble from a file; the suffix decides the format (CSV when it is unknown).

    Parameters
    ----------
    path : str or Path
        The file, UTF-8 text.
    format : {"csv", "json", "toml"}, optional
        The format.

    Returns
    -------
    Ensemble

    Raises
    ------
    FormatError
        Missing, binary, or malformed; names the file and the line or key.
    """
    source = str(path)
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise FormatError(f"cannot be read: {reason}", source) from None
    if b"\x00" in content:
        raise FormatError("is a binary file; CSV, JSON or TOML text is needed", source)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FormatError("is not UTF-8 text; save it as CSV, JSON or TOML in UTF-8", source) from None
    suffix = Path(path).suffix.lower().removeprefix(".")
    chosen = format if format is not None else suffix if suffix in FORMATS else "csv"
    return parse_ensemble(text, format=chosen, source=source)


def parse_ensemble(text: str, *, format: str | None = None, source: str = "-") -> Ensemble:
    """Make an ensemble from text.

    Parameters
    ----------
    text : str
        Content of a file.
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
        Malformed; names ``source`` and the line or key.

    Examples
    --------
    >>> parse_ensemble("lam,b\\n0.2,1\\n0.5,2\\n").b
    array([1., 2.])
    >>> parse_ensemble("0.2\\n0.5\\n").lam
    array([0.2, 0.5])
    """
    if format is not None and format not in FORMATS:
        raise InvalidInputError(f"format must be one of csv, json and toml, got {format!r}")
    if "\x00" in text:
        raise FormatError("is binary data; CSV, JSON or TOML text is needed", source)
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise FormatError("is empty; give one λ a line, or columns lam, b, c, name", source)
    chosen = format or _told_from(text)
    try:
        if chosen == "json":
            return _from_mapping(_json(text, source), source)
        if chosen == "toml":
            return _from_mapping(_toml(text, source), source)
        return parse_csv(text, source)
    except InvalidInputError as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(str(error), source) from None


def _told_from(text: str) -> str:
    start = text.lstrip()
    if start[0] == "{" or (start[0] == "[" and not re.match(r"\[\w", start)):
        return "json"
    if re.search(r"^\s*lam\s*=", text, re.MULTILINE):
        return "toml"
    return "csv"


def _json(text: str, source: str) -> Any:
    def refuse(constant: str) -> Any:
        raise FormatError(f"holds {constant}, which is not finite; remove or replace it", source)

    try:
        return json.loads(text, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise FormatError(f"is not valid JSON: {error.msg}", source, error.lineno) from None
    except RecursionError:
        raise FormatError("is nested too deeply; give lam as a flat list", source) from None


def _toml(text: str, source: str) -> Any:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"at line (\d+)", str(error))
        line = int(found.group(1)) if found else None
        reason = re.sub(r"\s*\(at .*\)$", "", str(error)).lower()
        raise FormatError(f"is not valid TOML: {reason}", source, line) from None


def _from_mapping(data: Any, source: str) -> Ensemble:
    if isinstance(data, list):
        data = {"lam": data}
    if not isinstance(data, dict):
        raise FormatError("must hold a list of λ or the key lam", source)
    for key in data:
        if key not in (*_KEYS, *_HEADERS):
            raise FormatError(
                f"key {key!r} is unknown{nearest_word(key, _KEYS)}; known keys are {', '.join(_KEYS)}",
                source,
            )
    if "kind" in data and data["kind"] != "ensemble":
        raise FormatError(f"holds a {data['kind']!r}, an ensemble is needed", source)
    if data.get("lam") is None:
        raise FormatError("key 'lam' is missing; give the list of λ", source)
    fields: dict[str, Any] = {}
    for key in ("lam", "b", "c", "d", "dt"):
        if data.get(key) is not None:
            fields[key] = _numbers(data[key], key, source)
    names = data.get("names")
    return Ensemble(
        fields["lam"],
        fields.get("b", 1.0),
        fields.get("c"),
        fields.get("d", 0.0),
        dt=fields.get("dt", 1.0),
        names=names,
    )


def _numbers(value: Any, key: str, source: str) -> Any:
    if isinstance(value, list):
        return [_numbers(item, f"{key}[{k}]", source) for k, item in enumerate(value)]
    try:
        return from_data(value)
    except ValueError as error:
        raise FormatError(f"key {key} must be a number, {error}", source) from None
