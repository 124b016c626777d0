"""What an experiment measured, beside what the paper's formula predicts, and the outcome."""

from __future__ import annotations

import math
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import as_count
from ensctl.display import Summarised
from ensctl.drafting import Estimate
from ensctl.papers.claim import Paper
from ensctl.papers.verdicts import Outcome
from ensctl.serialization import versioned

Array = NDArray[Any]

# A verdict needs more than an interval that is looked at a dozen times.
STANDARD_ERRORS = 4.0
# Width of the short text, and how many lines it may have.
LINE = 96
_LINES = 12
_FEWEST = 100


@dataclass(frozen=True)
class Measurement:
    """One measured number of an experiment.

    Attributes
    ----------
    label : str
        Under which conditions.
    predicted : float or None
        What a formula gives; None where there is none.
    measured : Estimate
        With its interval.
    """

    label: str
    predicted: float | None
    measured: Estimate

    @property
    def gap(self) -> float:
        """Measured less predicted; NaN without a prediction."""
        return math.nan if self.predicted is None else self.measured.value - self.predicted

    @property
    def agrees(self) -> bool:
        """Whether the gap is within four standard errors, or the interval covers the prediction."""
        if self.predicted is None:
            return True
        within = abs(self.gap) <= STANDARD_ERRORS * self.measured.std_error + 1e-12
        return within or self.measured.covers(self.predicted)

    @property
    def below(self) -> bool:
        """Whether the measured number is below the prediction beyond doubt."""
        return self.gap < 0 and not self.agrees

    @property
    def above(self) -> bool:
        """Whether the measured number is above the prediction beyond doubt."""
        return self.gap > 0 and not self.agrees

    @property
    def interval(self) -> str:
        """The interval in words."""
        return f"{self.measured.low:.4f} to {self.measured.high:.4f}"


@dataclass(frozen=True)
class Experiment(Summarised):
    """Result of an experiment.

    Attributes
    ----------
    name : str
        Short and unique.
    paper : Paper
        Whose criterion it is.
    where : str
        Section.
    criterion : str
        What would falsify the claim, or what is announced to fail.
    outcome : Outcome
        The verdict.
    sentence : str
        The verdict with its numbers.
    measurements : tuple of Measurement
        Everything that was measured.
    quantity : str
        What is measured, with unit and convention.
    samples : int
        Cycles, or sets, behind each number.
    seed : int
        Where the random numbers come from.
    """

    name: str
    paper: Paper
    where: str
    criterion: str
    outcome: Outcome
    sentence: str
    measurements: tuple[Measurement, ...]
    quantity: str
    samples: int
    seed: int

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "paper_experiment",
            {
                "name": self.name,
                "paper": self.paper.value,
                "where": self.where,
                "criterion": self.criterion,
                "outcome": self.outcome,
                "sentence": self.sentence,
                "quantity": self.quantity,
                "samples": self.samples,
                "seed": self.seed,
                "measurements": [
                    {
                        "label": entry.label,
                        "predicted": entry.predicted,
                        "measured": entry.measured.value,
                        "low": entry.measured.low,
                        "high": entry.measured.high,
                        "std_error": entry.measured.std_error,
                        "level": entry.measured.level,
                    }
                    for entry in self.measurements
                ],
            },
        )

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.outcome.value}", *wrap(self.sentence, LINE)]
        left = len(self.measurements) - (_LINES - len(lines))
        shown = self.measurements if left <= 0 else self.measurements[: -left - 1]
        for entry in shown:
            predicted = "" if entry.predicted is None else f", predicted {entry.predicted:.4f}"
            lines.append(f"{entry.label}: {entry.measured.value:.4f} ({entry.interval}){predicted}")
        return "\n".join([*lines, f"and {left + 1} more"] if left > 0 else lines)


def as_samples(cycles: Any) -> int:
    """A number of cycles from which standard errors can be had, ≥ 100."""
    return as_count(cycles, "cycles", minimum=_FEWEST)


def mean_of(values: Array, scale: float = 1.0) -> Estimate:
    """Mean of independent values over ``scale``, 95 % normal interval."""
    error = float(values.std()) / math.sqrt(values.size)
    return Estimate.normal(
        float(values.mean()) / scale, error / scale, method=f"mean of {values.size}"
    )


def share_of(count: int, total: int) -> Estimate:
    """A share with its 95 % Clopper–Pearson interval."""
    from scipy.special import betaincinv

    low = float(betaincinv(count, total - count + 1, 0.025)) if count else 0.0
    high = float(betaincinv(count + 1, total - count, 0.975)) if count < total else 1.0
    share = count / total
    error = math.sqrt(share * (1.0 - share) / total)
    return Estimate(share, low, high, error, method="Clopper–Pearson", assumption="independence")


def ratio_of(first: Estimate, second: Estimate) -> Estimate:
    """Quotient of two independent estimates, 95 % normal interval from relative errors."""
    value = first.value / second.value
    relative = math.hypot(first.std_error / first.value, second.std_error / second.value)
    return Estimate.normal(value, value * relative, method="quotient of means")


def deviation_of(values: Array, scale: float = 1.0) -> Estimate:
    """Standard deviation over ``scale``, with the standard error that the fourth moment gives."""
    squares = (values - values.mean()) ** 2
    deviation = math.sqrt(float(squares.mean()))
    error = float(np.std(squares)) / math.sqrt(values.size) / (2.0 * deviation)
    return Estimate.normal(deviation / scale, error / scale, method="standard deviation")
