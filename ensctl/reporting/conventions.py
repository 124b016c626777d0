"""What each number of a report means, in one line each."""

from __future__ import annotations

from ensctl.reporting.document import Column, Paragraph, Section, Table

_MODEL = (
    "x_{i,t+1} = λ_i x_{i,t} + b_i u_t for every member i, one input u_t for all of them; the "
    "aggregate is y_t = Σ c_i x_{i,t} + d u_t.  H inputs u_0 … u_{H−1} lead from x_0 to x_H.  The "
    "steering map is R_H = [Λ^{H−1}B … ΛB B]."
)

_TERMS = (
    ("exact", "λ and b are taken as the doubles they are; equality is ==; no tolerance decides"),
    ("reachable", "every state is reached from every state within the horizon: rank R_H = N"),
    ("null-controllable", "every state can be steered to zero: nothing with λ ≠ 0 is out of reach"),
    (
        "stabilizable",
        "every state can be steered towards zero: nothing with |λ| ≥ 1 is out of reach",
    ),
    ("locked", "members with the same λ that the inputs cannot move independently"),
    ("dead, silent", "members that no input reaches (b = 0), that no output shows (c = 0)"),
    ("σ, κ₂", "singular values of R_H (state per input, 2-norm) and their ratio σ_max/σ_min"),
    ("energy", "Σ|u_t|² of the cheapest input, in squared units of the input"),
    ("worst unit target", "the displacement of 2-norm 1 that costs most: 1/σ_min²"),
    ("energy of a member", "to move this member to 1 and leave all others at 0"),
    (
        "float64 floor",
        "terminal error left by rounding the cheapest input for the worst unit target to float64",
    ),
    (
        "λ-tolerance",
        "common error of λ that moves the end state by 1 % of the largest displacement",
    ),
    (
        "distance",
        "smallest change of (Λ, B), any entries, 2-norm, that makes it uncontrollable "
        "(Eising): min over z of σ_min[Λ−zI, B]",
    ),
    ("structured distance", "the same when only λ and b may change"),
    ("practical directions", "singular values above a share of the largest one"),
    ("powers", "1.234e567 is 1.234·10^567, written out where float64 ends at 1.8e308"),
)


def conventions_section() -> Section:
    """The model, and what each number means."""
    return Section(
        "conventions",
        "Conventions",
        (
            Paragraph(_MODEL),
            Table("What each number means", (Column("number"), Column("meaning")), _TERMS),
        ),
    )
