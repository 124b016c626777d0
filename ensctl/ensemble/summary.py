"""An ensemble at a glance: a few lines of text, or a small table for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from ensctl.arguments import Array
from ensctl.formatting import number_text

if TYPE_CHECKING:
    from ensctl.ensemble.ensemble import Ensemble

_TEXT_MEMBERS = 4
_TABLE_MEMBERS = 8
_LONGEST_NAME = 40


def text_summary(ens: Ensemble) -> str:
    """At most nine lines: size and kind, the ranges of λ, b and c, the first members."""
    lines = [_headline(ens)]
    lines += [f"  {name:<4} {text}" for name, text in _ranges(ens)]
    for i in range(min(ens.size, _TEXT_MEMBERS)):
        lines.append(f"  {_label(ens, i)}: λ = {_number(ens.lam[i])}, b = {_gains(ens, i)}")
    if ens.size > _TEXT_MEMBERS:
        lines.append(f"  … {ens.size - _TEXT_MEMBERS} more")
    return "\n".join(lines)


def html_summary(ens: Ensemble) -> str:
    """The same as a table; names are escaped."""
    ranges = "; ".join(f"{name} {text}" for name, text in _ranges(ens))
    rows = [
        (_label(ens, i), _number(ens.lam[i]), _gains(ens, i), _weights(ens, i))
        for i in range(min(ens.size, _TABLE_MEMBERS))
    ]
    if ens.size > _TABLE_MEMBERS:
        rows.append((f"… {ens.size - _TABLE_MEMBERS} more", "", "", ""))
    head = "".join(f"<th>{title}</th>" for title in ("member", "λ", "b", "c"))
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return (
        f"<div><p><strong>{escape(_headline(ens))}</strong><br>{escape(ranges)}</p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _headline(ens: Ensemble) -> str:
    kind = "real" if ens.is_real else "complex"
    if not ens.is_real and ens.is_conjugate_closed:
        kind = "complex, closed under conjugation"
    parts = [
        f"Ensemble of {_counted(ens.size, 'member')}",
        kind,
        _counted(ens.channels, "input channel"),
        _counted(ens.outputs, "output"),
        f"dt = {ens.dt:g}",
    ]
    return ", ".join(parts)


def _ranges(ens: Ensemble) -> list[tuple[str, str]]:
    ranges = [_range("λ", ens.lam), _range("b", ens.gains), _range("c", ens.output_weights)]
    if np.any(ens.feedthrough):
        ranges.append(_range("d", ens.feedthrough))
    return ranges


def _range(name: str, values: Array) -> tuple[str, str]:
    if np.all(values == values.flat[0]):
        same = ", the same for all" if values.size > 1 else ""
        return name, f"{_number(values.flat[0])}{same}"
    if np.iscomplexobj(values):
        with np.errstate(over="ignore"):
            name, values = f"|{name}|", np.abs(values)
    low, high = _number(values.min()), _number(values.max())
    return name, low if low == high else f"{low} … {high}"


def _label(ens: Ensemble, i: int) -> str:
    label = ens.label(i)
    return label if len(label) <= _LONGEST_NAME else label[: _LONGEST_NAME - 1] + "…"


def _gains(ens: Ensemble, i: int) -> str:
    return _listed(ens.gains[i])


def _weights(ens: Ensemble, i: int) -> str:
    return _listed(ens.output_weights[:, i])


def _listed(values: Array) -> str:
    shown = [_number(value) for value in values[:_TEXT_MEMBERS]]
    if values.size == 1:
        return shown[0]
    return "(" + ", ".join(shown) + (", …)" if values.size > _TEXT_MEMBERS else ")")


def _number(value: complex) -> str:
    return number_text(complex(value))


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
