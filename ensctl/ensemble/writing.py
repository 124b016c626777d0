"""Ensembles into files that read back bit for bit: CSV, JSON and TOML."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ensctl.arguments import Array
from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.number_cells import number_cell
from ensctl.errors import InvalidInputError
from ensctl.files import write_whole

_SUFFIXES = {".csv": "csv", ".txt": "csv", ".json": "json", ".toml": "toml"}


def write_ensemble(
    ens: Ensemble, path: str | os.PathLike[str], *, format: str | None = None
) -> None:
    """Write an ensemble; the file appears whole or not at all.

    Parameters
    ----------
    ens : Ensemble
        What to write.
    path : str or path
        Where; an existing file is replaced.
    format : {"csv", "json", "toml"}, optional
        By default taken from the suffix; .txt is CSV.

    Raises
    ------
    InvalidInputError
        Neither the format nor the suffix is known, or the file cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile, ensctl as ec
    >>> path = pathlib.Path(tempfile.mkdtemp(), "fleet.csv")
    >>> write_ensemble(ec.Ensemble([0.2, 0.5], b=[1.0, 2.0], c=1.0, dt=30.0), path)
    >>> print(path.read_text(), end="")
    # dt = 30.0
    lam,b,c
    0.2,1.0,1.0
    0.5,2.0,1.0
    """
    file = Path(path)
    chosen = _SUFFIXES.get(file.suffix.lower()) if format is None else format
    makers = {"csv": csv_text, "json": json_text, "toml": toml_text}
    if format is not None and format not in makers:
        raise InvalidInputError(f"format must be csv, json or toml, got {format!r}")
    if chosen is None:
        raise InvalidInputError(
            f"path must end in .csv, .json or .toml, got {file.name!r}; rename it, or give format"
        )
    write_whole(file, makers[chosen](ens))


def csv_text(ens: Ensemble) -> str:
    """CSV with the columns of λ, b, c and the names; d and dt as comments where they matter."""
    columns = [*_columns("lam", ens.lam)]
    columns += _numbered("b", ens.b.T)
    columns += _numbered("c", ens.c)
    if ens.names is not None:
        columns.append(("name", list(ens.names)))
    out = io.StringIO()
    if ens.dt != 1.0:
        out.write(f"# dt = {ens.dt!r}\n")
    if isinstance(ens.d, np.ndarray):
        out.write(f"# d = {_nested(ens.d)}\n")
    elif ens.d != 0:
        out.write(f"# d = {number_cell(ens.d)}\n")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([name for name, _ in columns])
    writer.writerows(zip(*(cells for _, cells in columns), strict=True))
    return out.getvalue()


def json_text(ens: Ensemble) -> str:
    """The JSON of ``Ensemble.to_dict``, one key a line."""
    content = [
        f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False, allow_nan=False)}"
        for key, value in ens.to_dict().items()
    ]
    return "{\n " + ",\n ".join(content) + "\n}\n"


def toml_text(ens: Ensemble) -> str:
    """TOML with the keys of the JSON; complex numbers as strings."""
    lines = [f"{name} = {_nested(getattr(ens, name))}" for name in ("lam", "b", "c")]
    d = ens.d if isinstance(ens.d, np.ndarray) else np.asarray(ens.d)
    lines += [f"d = {_nested(d)}", f"dt = {ens.dt!r}"]
    if ens.names is not None:
        # A JSON string is a TOML string: names hold no control characters.
        names = [json.dumps(name, ensure_ascii=False) for name in ens.names]
        lines.append(f"names = [{', '.join(names)}]")
    return "\n".join(lines) + "\n"


def _numbered(name: str, values: Array) -> Iterator[tuple[str, list[str]]]:
    if values.ndim == 1:
        yield from _columns(name, values)
        return
    for k, row in enumerate(values):
        yield from _columns(f"{name}_{k}", row)


def _columns(name: str, values: Array) -> Iterator[tuple[str, list[str]]]:
    if np.iscomplexobj(values):
        yield f"{name}_re", list(map(repr, values.real.tolist()))
        yield f"{name}_im", list(map(repr, values.imag.tolist()))
    else:
        yield name, list(map(repr, values.tolist()))


def _nested(values: Array) -> str:
    """Numbers as a TOML or JSON list; complex ones as strings."""
    if values.ndim == 0:
        cell = number_cell(values.item())
        return f'"{cell}"' if np.iscomplexobj(values) else cell
    return "[" + ", ".join(_nested(item) for item in values) + "]"
