"""``ensctl simulate``: where given inputs take a population, or what its aggregate does.

JSON (schema 1): ``schema``, ``kind`` ("simulation"), ``members``, ``horizon``, ``dt`` and either
``final_state`` (one number a member) or ``output`` (y_0 … y_H, one list for each output if there
are several).
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ensctl.cli.number_tokens import is_number
from ensctl.cli.population import Format, Gains, Json, Lam, numbers, read_population
from ensctl.cli.standard_input import STDIN, text_of
from ensctl.cli.streams import data, message
from ensctl.cli.waiting import waiting
from ensctl.errors import FormatError, InvalidInputError

if TYPE_CHECKING:
    from ensctl.ensemble.ensemble import Ensemble

Inputs = Annotated[
    str,
    typer.Option(
        "--inputs",
        "-u",
        metavar="U|FILE",
        help="Inputs u_0 … u_{H-1}: numbers, comma separated; a CSV file with one step a line (as "
        "ensctl steer writes it: a time column is skipped, _re and _im columns are joined); or a "
        "JSON file, a list or a plan; - is stdin.",
    ),
]
Start = Annotated[
    str,
    typer.Option("--x0", metavar="X", help="Initial state: numbers, or one for all members."),
]
Aggregate = Annotated[
    bool,
    typer.Option("--aggregate", help="Print the aggregate output y_0 … y_H, not the final state."),
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write to a .csv or .json file instead."),
]
_TIME_COLUMNS = ("time", "step")


def simulate(
    lam: Lam,
    inputs: Inputs,
    x0: Start = "0",
    aggregate: Aggregate = False,
    output: Output = None,
    gains: Gains = None,
    file_format: Format = None,
    as_json: Json = False,
) -> None:
    """The final state of every member under given inputs, or the aggregate output over time.

    Prints CSV: member and state, or time and output.

    The population is given as numbers λ (complex ones as 0.5+0.2j), as one file (.csv, .json or
    .toml), or as - for stdin.

    \b
    Examples:
      ensctl simulate 0.3 0.6 0.9 --inputs 1,0,0.5
      ensctl simulate fleet.csv --inputs inputs.csv --x0 1 --aggregate -o output.csv
      ensctl steer 0.3 0.6 -t 1,0 -H 6 -o - | ensctl simulate 0.3 0.6 -u -
    """
    import numpy as np

    from ensctl.ensemble.aggregate_propagation import aggregate_output
    from ensctl.ensemble.propagation import final_state
    from ensctl.files import require_folder, write_whole
    from ensctl.serialization import versioned

    if output is not None:
        if output.suffix.lower() not in (".csv", ".json"):
            raise InvalidInputError(f"output must end in .csv or .json, got {output.name!r}")
        require_folder(output)
    ens = read_population(lam, gains, file_format)
    u = _read_inputs(inputs)
    start = numbers(x0, "x0")
    with waiting(f"simulating {ens.size} members"):
        found = np.asarray((aggregate_output if aggregate else final_state)(ens, u, start))

    if as_json or (output is not None and output.suffix.lower() == ".json"):
        content = {
            "members": ens.size,
            "horizon": u.shape[-1],
            "dt": ens.dt,
            "output" if aggregate else "final_state": found,
        }
        text = json.dumps(versioned("simulation", content), indent=1, ensure_ascii=False)
    else:
        text = _output_table(ens, found) if aggregate else _state_table(ens, found)
    if output is None:
        data(text)
    else:
        write_whole(output, text.rstrip("\n") + "\n")
        message(f"wrote {output}")


def _state_table(ens: Ensemble, states: Any) -> str:
    from ensctl.ensemble.number_cells import number_cell

    heading = "member" if ens.names is None else "name"
    labels = range(ens.size) if ens.names is None else ens.names
    rows = [[str(k), number_cell(x)] for k, x in zip(labels, states.tolist(), strict=True)]
    return _csv([[heading, "state"], *rows])


def _output_table(ens: Ensemble, outputs: Any) -> str:
    import numpy as np

    from ensctl.ensemble.number_cells import number_cell

    rows = np.atleast_2d(outputs)
    names = ["y"] if len(rows) == 1 else [f"y_{k}" for k in range(len(rows))]
    times = [repr(float(t * ens.dt)) for t in range(rows.shape[1])]
    body = [
        [time, *map(number_cell, values)]
        for time, values in zip(times, rows.T.tolist(), strict=True)
    ]
    return _csv([["time", *names], *body])


def _csv(rows: list[list[str]]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    return buffer.getvalue()


def _read_inputs(text: str) -> Any:
    """(H,) inputs of one channel, or (m, H)."""
    import numpy as np

    if all(is_number(piece) for piece in text.split(",")):
        return np.atleast_1d(np.array(numbers(text, "inputs")))
    if text != STDIN and not Path(text).exists():
        raise InvalidInputError(
            f"inputs must be numbers separated by commas or a file, got {text!r}: not numbers, and "
            f"no such file"
        )
    content = text_of(text)
    as_json = content.lstrip().startswith(("{", "["))
    return _from_json(content, text) if as_json else _from_csv(content, text)


def _from_json(content: str, source: str) -> Any:
    from ensctl.ensemble.number_cells import from_data

    try:
        found = json.loads(content)
    except ValueError as error:
        raise FormatError(f"is not JSON: {error}; mend it", source) from None
    values = found.get("inputs") if isinstance(found, dict) else found
    if not isinstance(values, list) or not values:
        raise FormatError("has no inputs; give a list, or an object with a list 'inputs'", source)
    rows = values if isinstance(values[0], list) else [values]
    try:
        channels = [[from_data(value) for value in row] for row in rows]
    except (TypeError, ValueError) as error:
        raise FormatError(f"inputs must be numbers, {error}", source) from None
    return _channels(channels, source)


def _from_csv(content: str, source: str) -> Any:
    from ensctl.ensemble.number_cells import parse_number

    lines = [line for line in csv.reader(io.StringIO(content, newline=None)) if "".join(line)]
    if not lines:
        raise FormatError("is empty; give one step a line", source)
    head = [cell.strip().lower() for cell in lines[0]]
    named = not all(is_number(cell) for cell in head)
    if not named:
        head = [f"u_{k}" for k in range(len(head))]
    columns: list[list[complex]] = [[] for _ in head]
    for number, row in enumerate(lines[1:] if named else lines, start=2 if named else 1):
        if len(row) != len(head):
            raise FormatError(
                f"has {len(row)} cells where {len(head)} are expected", source, number
            )
        for column, cell in zip(columns, row, strict=True):
            try:
                column.append(parse_number(cell))
            except ValueError as error:
                raise FormatError(f"inputs must be numbers, {error}", source, number) from None
    kept = {
        name: column
        for name, column in zip(head, columns, strict=True)
        if name not in _TIME_COLUMNS
    }
    return _channels(_joined(kept), source)


def _joined(columns: dict[str, list[complex]]) -> list[list[complex]]:
    """Columns u_re and u_im as one channel."""
    channels = []
    for name, values in columns.items():
        if name.endswith("_im") and f"{name[:-3]}_re" in columns:
            continue
        other = columns.get(f"{name[:-3]}_im") if name.endswith("_re") else None
        channels.append(
            values if other is None else [x + 1j * y for x, y in zip(values, other, strict=True)]
        )
    return channels


def _channels(channels: list[list[complex]], source: str) -> Any:
    import numpy as np

    if not channels or not channels[0] or len({len(channel) for channel in channels}) > 1:
        raise FormatError("must have as many numbers for each channel, at least one", source)
    array = np.array(channels)
    return array[0] if len(channels) == 1 else array
