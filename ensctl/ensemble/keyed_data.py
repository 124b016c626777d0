"""The JSON and TOML forms of an ensemble: the keys lam, b, c, d, dt and names."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections import Counter
from typing import Any

import numpy as np

from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.number_cells import from_data, shortened
from ensctl.ensemble.spelling import nearest_word
from ensctl.errors import FormatError
from ensctl.serialization import SCHEMA

_NUMBERS = ("lam", "b", "c", "d", "dt")
_KEYS = (*_NUMBERS, "names")
_HEADERS = ("schema", "kind")


def parse_json(text: str, source: str) -> Ensemble:
    """Make an ensemble from JSON: a list of λ, or an object with the keys.

    Raises
    ------
    FormatError
        Names ``source`` and the line or the key.
    """
    try:
        data = json.loads(text, parse_constant=_refuse, object_pairs_hook=_without_duplicates)
    except json.JSONDecodeError as error:
        reason = error.msg[:1].lower() + error.msg[1:]
        raise FormatError(f"is not valid JSON: {reason}", source, error.lineno) from None
    except RecursionError:
        raise FormatError("is nested too deeply; give lam as a flat list", source) from None
    except ValueError as error:
        raise FormatError(f"is not valid here: {error}", source) from None
    try:
        return _from_data({"lam": data} if isinstance(data, list) else data, source)
    except RecursionError:
        raise FormatError("is nested too deeply; give lam as a flat list", source) from None


def parse_toml(text: str, source: str) -> Ensemble:
    """Make an ensemble from TOML with the keys.

    Raises
    ------
    FormatError
        Names ``source`` and the line or the key.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r" \(at line (\d+), column \d+\)$", str(error))
        reason = str(error)[: place.start()] if place else str(error)
        line = int(place.group(1)) if place else None
        reason = reason[:1].lower() + reason[1:]
        raise FormatError(f"is not valid TOML: {reason}", source, line) from None
    except RecursionError:
        raise FormatError("is nested too deeply; give lam as a flat list", source) from None
    except ValueError as error:
        raise FormatError(f"is not valid here: {error}", source) from None
    return _from_data(data, source)


def number_lists(value: Any, key: str) -> Any:
    """Numbers, or lists of numbers of any depth, from parsed JSON or TOML.

    Raises
    ------
    ValueError
        Names the entry, such as ``lam[3]``.
    """
    if isinstance(value, list):
        if value and all(type(item) is float and math.isfinite(item) for item in value):
            return np.array(value)
        return [number_lists(item, f"{key}[{k}]") for k, item in enumerate(value)]
    try:
        return from_data(value)
    except ValueError as error:
        raise ValueError(
            f"key {key} must be a number, {error}" if "key " not in str(error) else str(error)
        ) from None


def _from_data(data: Any, source: str) -> Ensemble:
    if not isinstance(data, dict):
        raise FormatError(f"must hold a list of λ or the key lam, got {shortened(data)}", source)
    _require_known_keys(data, source)
    if data.get("lam") is None:
        raise FormatError("key lam is missing; give the list of λ", source)
    try:
        given = {key: number_lists(data[key], key) for key in _NUMBERS if data.get(key) is not None}
    except ValueError as error:
        raise FormatError(str(error), source) from None
    return Ensemble(
        given["lam"],
        given.get("b", 1.0),
        given.get("c"),
        given.get("d", 0.0),
        dt=given.get("dt", 1.0),
        names=data.get("names"),
    )


def _require_known_keys(data: dict[str, Any], source: str) -> None:
    for key in data:
        if key not in (*_KEYS, *_HEADERS):
            raise FormatError(
                f"key {shortened(key)} is unknown{nearest_word(key, _KEYS) or ';'} known keys are "
                f"{', '.join(_KEYS)}; rename or remove it",
                source,
            )
    if data.get("kind", "ensemble") != "ensemble":
        raise FormatError(
            f"key kind must be 'ensemble', got {shortened(data['kind'])}; give an ensemble's file",
            source,
        )
    if data.get("schema", SCHEMA) != SCHEMA:
        raise FormatError(
            f"key schema must be {SCHEMA}, got {shortened(data['schema'])}; the file was written "
            f"by another version",
            source,
        )


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not a finite number; remove or replace it")


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = Counter(key for key, _ in pairs)
    twice = next((key for key, count in keys.items() if count > 1), None)
    if twice is not None:
        raise ValueError(f"key {shortened(twice)} stands twice; keep one")
    return dict(pairs)
