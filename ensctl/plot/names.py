"""Names that people gave, as text of a plot: of any length and in any script."""

from __future__ import annotations

from functools import lru_cache

from matplotlib.font_manager import FontProperties, findfont, get_font

# An empty frame, which DejaVu has.
_UNKNOWN = "□"


def plot_name(name: str, longest: int = 16) -> str:
    """A name cut in its middle, since ends tell names apart, without formulas and unknown glyphs.

    Characters that no font in use has would be drawn as frames all the same, with a warning each.
    """
    text = " ".join(name.split())
    if len(text) > longest:
        tail = longest // 3
        text = f"{text[: longest - 1 - tail]}…{text[-tail:]}"
    fonts = tuple(FontProperties().get_family())
    text = "".join(one if _is_drawn(one, fonts) else _UNKNOWN for one in text)
    # A dollar sign would switch to formula mode.
    return text.replace("$", r"\$")


def _is_drawn(character: str, families: tuple[str, ...]) -> bool:
    return character.isascii() or any(
        get_font(path).get_char_index(ord(character)) for path in _files(families)
    )


@lru_cache
def _files(families: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(findfont(FontProperties(family=[one])) for one in families)
