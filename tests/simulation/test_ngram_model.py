"""N-gram models: counts, smoothing and lookups, against the definition written out."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ensctl.errors import InvalidInputError
from ensctl.simulation import NgramModel, train_ngrams
from ensctl.simulation.ngram import training
from ensctl.simulation.ngram.cache import cache_file, cache_folder, read_counts, write_counts
from ensctl.simulation.ngram.corpus import (
    ALPHABET,
    OTHER,
    SYMBOLS,
    decode,
    encode,
    read_symbols,
    standard_library,
)
from ensctl.simulation.ngram.counting import count_ngrams

_TEXT = "the cat sat on the mat; the rat sat on the cat.\nétait\n" * 3


def _by_definition(text: str, context: str, order: int) -> Any:
    """Interpolated Witten–Bell, straight from the formula."""
    padded = "\n" * (order - 1) + decode(encode(text))
    starts = range(order - 1, len(padded))
    row = np.full(SYMBOLS, 1 / SYMBOLS)
    history = "\n" * order + context
    for length in range(order):
        wanted = history[len(history) - length :]
        after = Counter(padded[i] for i in starts if padded[i - length : i] == wanted)
        if not after:
            continue
        counts = np.array([after.get(symbol, 0) for symbol in ALPHABET], dtype=float)
        row = (counts + len(after) * row) / (counts.sum() + len(after))
    return row


@pytest.mark.parametrize("order", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("context", ["", "the c", "t on the", "zzz", "\n", "on the ca", "ét"])
def test_distribution_is_the_definition(order: int, context: str) -> None:
    model = train_ngrams(_TEXT, order=order)
    row = model.distribution(context)
    np.testing.assert_allclose(
        row, _by_definition(_TEXT, decode(encode(context)), order), rtol=1e-12
    )
    assert row.sum() == pytest.approx(1.0, abs=1e-12) and row.min() > 0.0
    assert not row.flags.writeable


@settings(max_examples=30)
@given(
    text=st.text(alphabet="ab \né", min_size=1, max_size=60),
    before=st.text(alphabet="ab x", max_size=5),
    order=st.integers(1, 6),
)
def test_rows_along_a_text_are_the_rows_one_by_one(text: str, before: str, order: int) -> None:
    model = train_ngrams("abba a b\n" * 5, order=order)
    rows = model.rows_along(encode(before), encode(text))
    for k in range(len(text)):
        np.testing.assert_allclose(rows[k], model.distribution(before + text[:k]), rtol=1e-12)


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
def test_lower_orders_are_models_of_that_order(order: int) -> None:
    lower, alone = train_ngrams(_TEXT, order=6).of_order(order), train_ngrams(_TEXT, order=order)
    assert (lower.order, lower.seen) == (order, alone.seen)
    for context in ("the", "cat sat", "", "q"):
        # The first symbols have more newlines before them in the longer model, as in the text.
        np.testing.assert_allclose(
            lower.distribution(context), alone.distribution(context), rtol=1e-12
        )


def test_symbols_and_text() -> None:
    text = "def f(x):\n    return x ~ 1\tété\x7f\U0001f600"
    assert decode(encode(text)) == text.replace("\t", OTHER).replace("é", OTHER).replace(
        "\x7f", OTHER
    ).replace("\U0001f600", OTHER)
    assert len(encode(text)) == len(text)
    assert len(set(ALPHABET)) == SYMBOLS == 97


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"text": ""}, "corpus must not be empty"),
        ({"text": b"abc"}, "text must be a str"),
        ({"text": "abc", "order": 0}, "order"),
        ({"text": "abc", "order": 10}, "order must be ≤ 9"),
        ({"text": "abc", "max_bytes": 0}, "max_bytes"),
        ({"cache": 3}, "cache must be"),
    ],
)
def test_bad_input(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        train_ngrams(**arguments)


def test_wrong_kinds() -> None:
    with pytest.raises(InvalidInputError, match="context must be a str"):
        train_ngrams("abc", order=2).distribution(b"a")  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="counts must be NgramCounts"):
        NgramModel(3)  # type: ignore[arg-type]


def test_higher_order_than_trained() -> None:
    with pytest.raises(InvalidInputError, match="order must be ≤ 3"):
        train_ngrams("abc", order=3).of_order(4)


def test_interpreter_without_source(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from ensctl.simulation.ngram import corpus

    monkeypatch.setattr(corpus.sysconfig, "get_paths", lambda: {"stdlib": str(tmp_path)})
    with pytest.raises(InvalidInputError, match="there is no Python source"):
        train_ngrams(cache=False)


def test_corpus_leaves_tests_out_and_is_capped() -> None:
    files = standard_library(300_000)
    folders = {part for path in files.paths for part in path.parts}
    assert not folders & {"test", "tests", "idle_test", "site-packages"}
    assert list(files.paths) == sorted(files.paths, key=lambda path: (len(path.parts), path))
    assert len(read_symbols(files, 300_000)) <= 300_000
    assert standard_library(300_000).fingerprint == files.fingerprint
    assert standard_library(60_000).fingerprint != files.fingerprint


def test_cache_is_read_and_gives_the_same_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = train_ngrams(order=4, max_bytes=60_000, cache=tmp_path)
    (file,) = tmp_path.iterdir()
    monkeypatch.setattr(training, "count_ngrams", None)
    again = train_ngrams(order=4, max_bytes=60_000, cache=str(tmp_path))
    np.testing.assert_array_equal(again.distribution("def"), first.distribution("def"))
    assert file.suffix == ".ngrams"


def _cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def _flip(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 0xFF]) + content[middle + 1 :]


@pytest.mark.parametrize(
    "damage",
    [_cut, _flip, lambda _: b"", lambda _: b"not an archive"],
    ids=["cut", "bit", "empty", "text"],
)
def test_damaged_cache_is_built_again_and_said_once(damage: Any, tmp_path: Path) -> None:
    first = train_ngrams(order=4, max_bytes=60_000, cache=tmp_path)
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    with pytest.warns(UserWarning, match="is damaged and is built again") as said:
        model = train_ngrams(order=4, max_bytes=60_000, cache=tmp_path)
    assert len(said) == 1 and said[0].filename == __file__
    np.testing.assert_array_equal(model.distribution("imp"), first.distribution("imp"))
    train_ngrams(order=4, max_bytes=60_000, cache=tmp_path)  # warnings are errors here
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_every_damaged_byte_is_noticed(tmp_path: Path) -> None:
    path = cache_file(tmp_path, 2, 2_000, "x")
    write_counts(path, count_ngrams(encode("abracadabra" * 30), 2))
    whole = path.read_bytes()
    assert read_counts(path, 2) is not None
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
        with pytest.warns(UserWarning, match="digest"):
            assert read_counts(path, 2) is None
    for content in (whole + b"x", whole + bytes(8), whole[:-8], whole[:40]):
        path.write_bytes(content)
        with pytest.warns(UserWarning, match="digest"):
            assert read_counts(path, 2) is None


def test_whole_file_of_another_order(tmp_path: Path) -> None:
    path = cache_file(tmp_path, 2, 2_000, "x")
    write_counts(path, count_ngrams(encode("abracadabra" * 30), 3))
    with pytest.warns(UserWarning, match="damaged"):
        assert read_counts(path, 2) is None


@pytest.mark.parametrize("name", ["a\0b", "x" * 5_000])
def test_folder_that_cannot_be_named(name: str, tmp_path: Path) -> None:
    with pytest.warns(UserWarning) as said:
        model = train_ngrams(order=2, max_bytes=20_000, cache=tmp_path / name)
    assert isinstance(model, NgramModel)
    assert "is not kept" in str(said[-1].message)


def test_many_writers_leave_one_whole_file(tmp_path: Path) -> None:
    path = cache_file(tmp_path, 3, 2_000, "x")
    counts = count_ngrams(encode("the cat sat on the mat" * 500), 3)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: write_counts(path, counts), range(40)))
    found = read_counts(path, 3)
    assert found is not None and np.array_equal(found.keys, counts.keys)
    assert list(tmp_path.iterdir()) == [path]


def test_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.warns(UserWarning, match="set ENSCTL_CACHE"):
        model = train_ngrams(order=2, max_bytes=20_000, cache=tmp_path / "file")
    assert isinstance(model, NgramModel)


def test_cache_folder_is_named_by_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ENSCTL_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    train_ngrams(order=2, max_bytes=20_000)
    assert len(list(tmp_path.iterdir())) == 1
    monkeypatch.delenv("ENSCTL_CACHE")
    assert cache_folder().name == "ensctl"


# The high-water mark of this very program: what getrusage says of a child starts at its parent's.
_MEASURED = """
from pathlib import Path
from ensctl.simulation import train_ngrams
model = train_ngrams(cache=False)
status = Path("/proc/self/status").read_text(encoding="ascii")
peak = int(status.split("VmHWM:")[1].split()[0])
print(model.seen, peak / 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read in /proc")
def test_eight_megabytes_in_less_than_700_megabytes() -> None:
    run = subprocess.run(
        [sys.executable, "-c", _MEASURED], capture_output=True, text=True, check=True
    )
    seen, peak = map(float, run.stdout.split())
    assert seen == 8_000_000
    assert peak < 700.0


@pytest.mark.slow
def test_acceptance_of_the_lower_orders() -> None:
    """Mean Σ min(p, q) on the text itself: about .37, .58 and .78 for orders 2, 3 and 4."""
    model = train_ngrams()
    text = read_symbols(standard_library(), 8_000_000)[4_000_000:4_030_000]
    p = model.rows_along(b"", text)
    for order, alpha in ((2, 0.37), (3, 0.58), (4, 0.78)):
        q = model.of_order(order).rows_along(b"", text)
        assert np.minimum(p, q).sum(axis=1).mean() == pytest.approx(alpha, abs=0.04)
