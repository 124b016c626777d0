"""Ensembles into files that read back bit by bit: CSV, JSON and TOML."""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.number_cells import number_cell
from ensctl.errors import InvalidInputError

Array = NDArray[Any]

_FORMATS = ("csv", "json", "toml")


def write_ensemble(ens: Ensemble, path: str | Path, *, format: str | None = None) -> None:
    """Write an ensemble; the file appears complete or not at all.

    Raises
    ------
    InvalidInputError
        Unknown format or suffix, a folder that is not there, or feed-through in a CSV.
    """
    file = Path(path)
    chosen = format if format is not None else file.suffix.lower().removeprefix(".")
    if chosen not in _FORMATS:
        raise InvalidInputError(
            f"path must end in .csv, .json or .toml (or give format), got {file.name!r}"
        )
    text = {"csv": csv_text, "json": json_text, "toml": toml_text}[chosen](ens)
    replace_file(file, text)


def csv_text(ens: Ensemble) -> str:
    """CSV with the columns lam, b, c and name; complex numbers as 0.5+0.2j."""
    if np.any(np.asarray(ens.d) != 0):
        raise InvalidInputError("format csv cannot hold the feed-through d; write .json or .toml")
    columns: list[tuple[str, list[str]]] = [("lam", _cells(ens.lam))]
    columns += _columns("b", ens.b if ens.b.ndim == 1 else ens.b.T)
    columns += _columns("c", ens.c)
    if ens.names is not None:
        columns.append(("name", list(ens.names)))
    out = io.StringIO()
    if ens.dt != 1.0:
        out.write(f"# dt = {number_cell(ens.dt)}\n")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([name for name, _ in columns])
    writer.writerows(zip(*(cells for _, cells in columns), strict=True))
    return out.getvalue()


def json_text(ens: Ensemble) -> str:
    """JSON, schema 1."""
    return json.dumps(ens.to_dict(), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def toml_text(ens: Ensemble) -> str:
    """TOML with the same keys; complex numbers as strings."""
    lines = [f"lam = {_toml(ens.lam)}", f"b = {_toml(ens.b)}", f"c = {_toml(ens.c)}"]
    lines += [f"d = {_toml(np.asarray(ens.d))}", f"dt = {number_cell(ens.dt)}"]
    if ens.names is not None:
        lines.append(f"names = {json.dumps(list(ens.names))}")
    return "\n".join(lines) + "\n"


def replace_file(file: Path, text: str) -> None:
    """Write under a temporary name in the same folder, then rename.

    Raises
    ------
    InvalidInputError
        The folder is missing or not writable.
    """
    try:
        handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    except OSError as error:
        raise InvalidInputError(f"path must lie in a writable folder, got {file}: {error.strerror}") from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
        os.chmod(temporary, 0o644)
        os.replace(temporary, file)
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        raise InvalidInputError(f"path must be writable, got {file}: {error.strerror}") from None


def _columns(name: str, values: Array) -> list[tuple[str, list[str]]]:
    if values.ndim == 1:
        return [(name, _cells(values))]
    return [(f"{name}_{k}", _cells(row)) for k, row in enumerate(values)]


def _cells(values: Array) -> list[str]:
    return [number_cell(value) for value in values.tolist()]


def _toml(values: Array) -> str:
    if values.ndim == 0:
        cell = number_cell(values.item())
        return json.dumps(cell) if np.iscomplexobj(values) else cell
    return "[" + ", ".join(_toml(item) for item in values) + "]"
