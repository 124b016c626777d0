"""What an ensemble is: its conversions, its shapes, its views, its errors."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import InvalidInputError


def test_defaults_are_unit_gains_the_mean_and_unit_steps() -> None:
    ens = Ensemble([0.2, 0.5, 0.8, 0.9])
    assert ens.b.tolist() == [1.0] * 4
    assert ens.c.tolist() == [0.25] * 4
    assert (ens.d, ens.dt, ens.names) == (0.0, 1.0, None)
    assert (ens.size, len(ens), ens.channels, ens.outputs, ens.is_real) == (4, 4, 1, 1, True)


def test_shapes_are_kept_and_views_are_uniform() -> None:
    ens = Ensemble(
        [0.2, 0.5, 0.8],
        b=[[1, 2], [3, 4], [5, 6]],
        c=[[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]],
        d=np.arange(8.0).reshape(4, 2),
    )
    assert (ens.b.shape, ens.c.shape, np.shape(ens.d)) == ((3, 2), (4, 3), (4, 2))
    assert (ens.channels, ens.outputs) == (2, 4)
    single = Ensemble([0.2, 0.5, 0.8], b=[1, 2, 3], c=[4, 5, 6], d=7)
    assert (single.b.shape, single.c.shape, single.d) == ((3,), (3,), 7.0)
    assert single.gains.tolist() == [[1], [2], [3]]
    assert single.output_weights.tolist() == [[4, 5, 6]]
    assert single.feedthrough.tolist() == [[7]]


def test_scalars_stand_for_all() -> None:
    ens = Ensemble([0.2, 0.5], b=3, c=1, d=2)
    assert (ens.b.tolist(), ens.c.tolist(), ens.feedthrough.tolist()) == ([3, 3], [1, 1], [[2]])
    two = Ensemble([0.2, 0.5], b=[[1, 2], [3, 4]], c=np.eye(2), d=2)
    assert two.feedthrough.tolist() == [[2, 2], [2, 2]]


def test_numbers_are_the_doubles_given() -> None:
    lam = [0.1 + 0.2, 0.3, 5e-324, -0.0, 1.7976931348623157e308]
    assert Ensemble(lam).lam.tobytes() == np.array(lam).tobytes()
    assert Ensemble([Fraction(1, 3)]).lam[0] == 1 / 3


def test_complex_with_zero_imaginary_parts_is_real() -> None:
    assert Ensemble([0.5 + 0j, 0.2]).lam.dtype == np.float64
    assert Ensemble([0.5 + 0j, 0.2j]).lam.dtype == np.complex128
    assert not Ensemble([0.5], c=[1j]).is_real
    assert isinstance(Ensemble([0.5], d=2 + 0j).d, float)
    assert Ensemble([0.5], d=2 + 1j).feedthrough[0, 0] == 2 + 1j


@pytest.mark.parametrize("name", ["lam", "b", "c", "d", "gains", "output_weights", "feedthrough"])
def test_arrays_are_read_only(name: str) -> None:
    ens = Ensemble([0.2, 0.5], b=[[1, 2], [3, 4]], d=[[1, 2]])
    with pytest.raises(ValueError, match="read-only"):
        getattr(ens, name)[..., 0] = 9.0


def test_fields_cannot_be_assigned() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Ensemble([0.2]).lam = np.array([0.3])  # type: ignore[misc]


def test_caller_keeps_its_own_array() -> None:
    lam = np.array([0.2, 0.5])
    ens = Ensemble(lam)
    lam[0] = 0.9
    assert ens.lam[0] == 0.2


def test_replace_makes_a_checked_copy() -> None:
    ens = Ensemble([0.2, 0.5], names=["x", "y"])
    assert dataclasses.replace(ens, dt=2.0) == Ensemble([0.2, 0.5], dt=2.0, names=["x", "y"])
    with pytest.raises(InvalidInputError, match="dt must be > 0"):
        dataclasses.replace(ens, dt=-1.0)


def test_names_are_stripped_and_missing_ones_are_filled_in() -> None:
    ens = Ensemble([0.2, 0.5, 0.8], names=[" kitchen ", "", "Büro 3"])
    assert ens.names == ("kitchen", "", "Büro 3")
    assert [ens.label(i) for i in (0, 1, 2, -1)] == ["kitchen", "member 1", "Büro 3", "Büro 3"]
    assert Ensemble([0.2, 0.5]).label(np.int64(1)) == "member 1"
    with pytest.raises(InvalidInputError, match="i must be a member of 0 … 2, got 3"):
        ens.label(3)


def test_subset_keeps_order_weights_and_names() -> None:
    ens = Ensemble(
        [0.2, 0.5, 0.8], b=[[1, 2], [3, 4], [5, 6]], c=[7, 8, 9], d=1, names=["a", "b", "c"]
    )
    part = ens.subset([-1, 0])
    assert part == Ensemble([0.8, 0.2], [[5, 6], [1, 2]], [9, 7], 1, names=["c", "a"])
    assert ens.subset([True, False, True]) == ens.subset(slice(None, None, 2))
    assert ens.subset(1).names == ("b",)
    assert Ensemble([0.2, 0.5], c=np.eye(2)).subset([1]).c.tolist() == [[0.0], [1.0]]


@pytest.mark.parametrize(
    ("idx", "message"),
    [
        ([], "idx must choose at least one member, got none"),
        ([False, False, False], "idx must choose at least one member, got none"),
        (slice(3, None), "idx must choose at least one member, got none"),
        ([True], "idx must have one boolean for each of the 3 members"),
        ([0, 3], "idx must be members of 0 … 2, got 3"),
        ([-4], "idx must be members of 0 … 2, got -4"),
        ([0.5], "idx must be a flat list of integers"),
        ([[0, 1]], "idx must be a flat list of integers"),
        ([[0, 1], [2]], "idx must be a flat list of members"),
    ],
)
def test_subset_errors(idx: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Ensemble([0.2, 0.5, 0.8]).subset(idx)


def test_dual_exchanges_inputs_and_outputs() -> None:
    ens = Ensemble([0.2, 0.5j], [[1, 2], [3, 4]], [5, 6], [[7, 8]], dt=3.0, names=["a", "b"])
    dual = ens.dual()
    assert dual == Ensemble(
        [0.2, 0.5j], [5, 6], [[1, 3], [2, 4]], [[7], [8]], dt=3.0, names=["a", "b"]
    )
    assert dual.dual() == ens


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"lam": []}, "lam must have at least one entry, got none"),
        ({"lam": [[0.2, 0.5]]}, r"lam must be one-dimensional, got shape \(1, 2\)"),
        ({"lam": [0.2, np.nan]}, "lam must be finite, got nan at index 1"),
        ({"lam": [0.2, np.inf]}, "lam must be finite, got inf at index 1"),
        ({"lam": ["a"]}, "lam must be numeric"),
        ({"lam": None}, "lam must be"),
        ({"lam": [0.2, [0.5]]}, "lam must be numbers in a regular array"),
        ({"b": [1, 2]}, r"b must be a scalar or have shape \(3,\) or \(3, channels\).*\(2,\)"),
        ({"b": [[1, 2, 3]]}, r"b must .* got \(1, 3\); transpose it"),
        ({"b": np.ones((3, 0))}, r"b must .* got \(3, 0\)"),
        ({"b": np.ones((3, 1, 1))}, r"b must .* got \(3, 1, 1\)"),
        ({"b": [1, np.inf, 2]}, "b must be finite, got inf at index 1"),
        ({"c": [1, 2]}, r"c must be a scalar or have shape \(3,\) or \(outputs, 3\).*\(2,\)"),
        ({"c": [[1], [2], [3]]}, r"c must .* got \(3, 1\); transpose it"),
        ({"c": [1, 2, np.nan]}, "c must be finite, got nan at index 2"),
        ({"d": [1, 2]}, r"d must be a scalar or .* \(1, 1\), got \(2,\)"),
        ({"d": np.nan}, "d must be finite"),
        ({"dt": 0}, "dt must be > 0.0, got 0"),
        ({"dt": np.inf}, "dt must be finite, got inf"),
        ({"dt": "fast"}, "dt must be a real number, got 'fast'"),
        ({"names": "abc"}, "names must be a sequence of 3 strings, got one string"),
        ({"names": ["a"]}, "names must have 3 entries, one per λ, got 1"),
        ({"names": ["a", 2, "c"]}, "names must be strings, got int at index 1"),
        ({"names": 5}, "names must be a sequence of 3 strings, got int"),
        ({"names": ["a", "b\nc", "d"]}, r"names must have no line breaks .* 'b\\nc' at index 1"),
        ({"names": ["a", "b", "\ud800"]}, "names must have no line breaks .* at index 2"),
    ],
)
def test_wrong_arguments_are_named_in_one_line(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message) as caught:
        Ensemble(**{"lam": [0.2, 0.5, 0.8], **arguments})
    assert "\n" not in str(caught.value)


def test_text_says_what_it_is_in_few_lines() -> None:
    ens = Ensemble(np.linspace(0.1, 0.9, 50), d=-3.0, dt=30.0, names=["x" * 500] * 50)
    lines = str(ens).splitlines()
    assert lines[0] == "Ensemble of 50 members, real, 1 input channel, 1 output, dt = 30"
    assert len(lines) <= 12
    assert max(map(len, lines)) < 100
    assert "λ    0.1 … 0.9" in str(ens)
    assert "… 46 more" in str(ens)
    assert repr(ens) == "Ensemble(size=50, channels=1, outputs=1, real, dt=30.0)"


def test_text_of_complex_members() -> None:
    assert "complex, closed under conjugation" in str(Ensemble([0.3 + 0.4j, 0.3 - 0.4j]))
    text = str(Ensemble([0.3 + 0.4j, 0.1], b=np.arange(12.0).reshape(2, 6)))
    assert "complex, 6 input channels" in text
    assert "|λ|  0.1 … 0.5" in text
    assert "λ = 0.3+0.4j, b = (0, 1, 2, 3, …)" in text
    assert "e+308" in str(Ensemble([1e308 + 1.7e308j, 0.5]))


def test_html_escapes_names_and_stays_short() -> None:
    ens = Ensemble(np.linspace(0.1, 0.9, 50), names=["<script>alert(1)</script>", *["&"] * 49])
    html = ens._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert html.count("<tr>") == 10
    assert "… 42 more" in html


def test_a_million_members_are_quick() -> None:
    lam = np.linspace(-0.9, 0.9, 10**6)
    ens = Ensemble(lam, names=[f"house {i}" for i in range(10**6)])
    assert hash(ens) == hash(Ensemble(lam, names=ens.names))
    assert len(str(ens)) < 600
