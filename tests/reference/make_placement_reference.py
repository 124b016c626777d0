"""Pole-placement gains in rational arithmetic, for doubles taken as the exact numbers they are.

k_i = Π_j(λ_i − μ_j) / (b_i Π_{j≠i}(λ_i − λ_j)) with Fraction, rounded once to float64.

Run: python tests/reference/make_placement_reference.py, which writes placement.json beside it.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np

MEMBERS = {
    "linspace(0.1,0.9,20)": np.linspace(0.1, 0.9, 20),
    "linspace(-0.9,0.9,20)": np.linspace(-0.9, 0.9, 20),
    "linspace(0.1,1.2,12)": np.linspace(0.1, 1.2, 12),
    "linspace(0.1,0.9,100)": np.linspace(0.1, 0.9, 100),
}
POLES = {
    "linspace(-0.5,0.5)": lambda size: np.linspace(-0.5, 0.5, size),
    "deadbeat": np.zeros,
    "repeated 0.3": lambda size: np.full(size, 0.3),
}


def exact_gains(lam: np.ndarray, b: np.ndarray, poles: np.ndarray) -> list[Fraction]:
    """The closed form, exactly."""
    members, targets = list(map(Fraction, lam.tolist())), list(map(Fraction, poles.tolist()))
    gains = []
    for i, value in enumerate(members):
        gain = 1 / Fraction(float(b[i]))
        for pole in targets:
            gain *= value - pole
        for j, other in enumerate(members):
            if j != i:
                gain /= value - other
        gains.append(gain)
    return gains


def main() -> None:
    """Write placement.json."""
    cases = []
    for name, lam in MEMBERS.items():
        b = 1.0 + (np.arange(lam.size) * 7 % 5) / 4.0
        if name == "linspace(0.1,0.9,20)":
            b = np.ones(lam.size)
        for kind, make in POLES.items():
            poles = make(lam.size)
            numbers = {"lam": lam, "b": b, "poles": poles}
            cases.append(
                {
                    "members": name,
                    "placed": kind,
                    **{key: [float(x).hex() for x in values] for key, values in numbers.items()},
                    "gains": [float(gain).hex() for gain in exact_gains(lam, b, poles)],
                }
            )
    content = {"what": "gains of u = -K x in rational arithmetic, float.hex", "cases": cases}
    path = Path(__file__).with_name("placement.json")
    path.write_text(json.dumps(content, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
