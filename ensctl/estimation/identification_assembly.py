"""From a fit to a result: error bars, what is strange about them, and numbers in given units."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import read_only
from ensctl.errors import NotIdentifiableError
from ensctl.estimation.identification import Identification, by_member
from ensctl.estimation.identification_intervals import ErrorBars, MemberIntervals, members_of
from ensctl.estimation.identification_search import best_fit, is_exact
from ensctl.estimation.identify_arguments import Question
from ensctl.estimation.order_selection import CLEAR_GAP, OrderSelection, gap_after
from ensctl.estimation.output_error import Fit, fit_output_error
from ensctl.estimation.output_error_bootstrap import residual_bootstrap
from ensctl.estimation.output_error_checks import (
    UNLIKELY,
    colour_inflation,
    gain_probability,
    residual_tests,
)
from ensctl.estimation.output_error_profile import BetterMinimum
from ensctl.estimation.pencil import response_space

Array = NDArray[Any]

_EPS = float(np.finfo(float).eps)
# Rows of the window in which one member less is looked for.
_ROWS = 20
_RESTARTS = 5
# Roundings that one sample and one estimate are taken to carry.
_ROUNDINGS = 4
# Probability up to which noise may explain what the last member explains.
_DOUBTFUL = 1e-6


def assembled(asked: Question, fit: Fit, selection: OrderSelection, order: int) -> Identification:
    """The result for this fit, or a refusal.

    Raises
    ------
    NotIdentifiableError
        No honest interval exists; the message says why.
    """
    gap = gap_after(selection.singular_values, order)
    for _ in range(_RESTARTS):
        try:
            bars, notes, distrust = _error_bars(asked, fit)
            curved = bars.curved(asked.level)
            if distrust:
                intervals = None
            else:
                if curved.size:
                    _refuse_doubtful_member(asked, fit, order)
                intervals = bars.intervals(asked.level, curved)
            break
        except BetterMinimum as better:
            fit = fit_output_error(better.fit.model) or better.fit
    else:
        raise NotIdentifiableError(
            "the sum of squares has several minima of about the same depth; take more samples, "
            "less noise or a lower order"
        )
    widened = 0 if intervals is None else intervals.widened
    if asked.order is None:
        notes = [_order_note(selection, order, gap), *notes]
    if widened:
        notes.append(
            f"{widened} intervals widened to profile likelihood: Cramér–Rao ones do not "
            "hold so far from the estimate"
        )
    return _written(asked, bars, intervals, selection, gap, notes, distrust)


def _refuse_doubtful_member(asked: Question, fit: Fit, order: int) -> None:
    """Refuse where one member less explains the data about as well.

    Then λ of the doubtful member is anywhere, and an interval around where it happened to be
    found is too short: measured from an impulse at 40 dB, Cramér–Rao intervals cover 46–88 %.
    """
    if order == 1:
        return
    rows = asked.data.outputs.size
    space = response_space(asked.data.outputs, asked.data.inputs, min(_ROWS, (rows + 1) // 3))
    smaller = best_fit(asked.data, space, order - 1)
    if smaller is None:
        return
    chance = gain_probability(fit, smaller)
    if chance > _DOUBTFUL:
        raise NotIdentifiableError(
            f"order {order - 1} explains the data nearly as well as {order} (p = {chance:.1g}): λ "
            "of the last member is not fixed; take more samples, less noise or a lower order"
        )


def _error_bars(asked: Question, fit: Fit) -> tuple[ErrorBars, list[str], str]:
    """Standard errors, what was found strange, and why intervals are refused if they are."""
    exact = is_exact(fit)
    rounding = _ROUNDINGS * _EPS * float(np.abs(asked.data.outputs).max())
    variance = max(fit.variance, rounding**2) if exact else fit.variance
    std = np.sqrt(np.diag(fit.inverse_information()) * variance)
    std = std + _ROUNDINGS * _EPS * np.abs(fit.theta)
    inflation = np.ones(std.size)
    notes, distrust, drawn = [], "", None
    if exact:
        notes.append("the residual is rounding: errors are of the size of rounding too")
    else:
        tests = residual_tests(fit)
        if tests.white < UNLIKELY:
            inflation = colour_inflation(fit)
            notes.append(
                f"the residual is not white (p = {tests.white:.1g}): errors enlarged up to "
                f"{inflation.max():.3g}-fold"
            )
        if tests.driven < UNLIKELY:
            distrust = (
                f"the residual still depends on the input (p = {tests.driven:.1g}): the order is "
                "too small or members are not linear, so that no interval would be honest; raise "
                "the order, or let feedthrough be estimated"
            )
        elif tests.linear < UNLIKELY:
            distrust = (
                f"the residual depends on powers of the fitted output (p = {tests.linear:.1g}): "
                "members or sensor are not linear, or the order is too small, so that no interval "
                "would be honest; excite less or raise the order"
            )
    if asked.resamples and not exact:
        drawn = residual_bootstrap(fit, asked.resamples, asked.seed)
        std = drawn.std
    notes += [distrust] if distrust else []
    residue_unit = asked.output_unit / asked.input_unit
    bars = ErrorBars(fit, members_of(fit), std * inflation, inflation, residue_unit, exact, drawn)
    return bars, notes, distrust


def _order_note(selection: OrderSelection, order: int, gap: float) -> str:
    if order > selection.order:
        return (
            f"order {order}: {selection.order} singular values stand out of the noise, but the "
            "residual still depended on what went in"
        )
    if order < selection.order:
        return (
            f"order {order}: {selection.order} singular values stand out of the noise, but that "
            "many members are not fixed by the data"
        )
    doubt = "" if gap >= CLEAR_GAP else "; the gap is small, neighbouring orders may fit as well"
    return f"order {order} by a gap of {gap:.3g} in the singular values{doubt}"


def _written(
    asked: Question,
    bars: ErrorBars,
    intervals: MemberIntervals | None,
    selection: OrderSelection,
    gap: float,
    notes: list[str],
    distrust: str,
) -> Identification:
    """Numbers by member and in the caller's units."""
    fit, members = bars.fit, bars.members
    method = "cramer-rao" if intervals is None or not intervals.widened else "profile"
    data, slots = asked.data, fit.model.slots
    residues, initial = fit.model.split(fit.coefficients)
    keep = bool(np.any(members.second >= 0))
    std = np.empty((2, members.mode.size), dtype=complex)
    for row in range(2):
        parts = members.real_parts(bars.std[row * slots : (row + 1) * slots])
        std[row].real, std[row].imag = parts
    halves = fit.residual.reshape(2 if data.complex_data else 1, -1)
    residual = halves[0] + 1j * halves[1] if data.complex_data else halves[0].copy()
    unit = bars.residue_unit
    d: float | complex = 0.0
    if data.feedthrough:
        last = fit.coefficients[-2:] if data.complex_data else fit.coefficients[-1:]
        d = complex(*(last * unit)) if data.complex_data else float(last[0] * unit)
    return Identification(
        lam=by_member(members.values(fit.model.modes), keep),
        residues=by_member(members.values(residues) * unit, keep),
        initial=by_member(members.values(initial) * asked.output_unit, keep),
        feedthrough=d,
        lam_std=by_member(std[0], keep),
        residue_std=by_member(std[1] * unit, keep),
        noise_std=float(np.sqrt(fit.variance * halves.shape[0])) * asked.output_unit,
        residual=read_only(residual * asked.output_unit),
        order=int(members.mode.size),
        singular_values=read_only(selection.singular_values * asked.output_unit),
        gap=gap,
        level=asked.level,
        method=method if bars.resamples is None else "bootstrap",
        notes=tuple(notes),
        distrust=distrust,
        _bars=bars,
        _intervals=intervals,
    )
