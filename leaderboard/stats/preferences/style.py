"""How long a text is and how much Markdown it holds, and how two texts differ in it."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from genie.lib.formats.turns import assistant_says
from leaderboard.stats.resampling import Floats

Key = TypeVar("Key", bound=Hashable)
#: What is counted of a text.
STYLE = ("length", "headers", "lists", "bold")
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_COUNTED = {
    "headers": re.compile(r"^#{1,6}[ \t]+\S", re.MULTILINE),
    "lists": re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\S", re.MULTILINE),
    "bold": re.compile(r"\*\*[^*\n]+\*\*|__[^_\n]+__"),
}


def style_of(text: str) -> dict[str, float]:
    r"""Count what a text shows beside its words.

    Parameters
    ----------
    text : str
        Of a conversation, what the assistant says in all turns is counted.

    Returns
    -------
    dict of str to float
        length (characters), headers, list items and bold parts of Markdown, each >= 0;
        what stands in blocks of code is no Markdown.

    References
    ----------
    Li, Angelopoulos and Chiang (2024), Does style matter?, LMSYS blog (the same four
    counts; there the length is in tokens).

    Examples
    --------
    >>> style_of("# Soup\n\n- **hot**\n- cold")
    {'length': 24.0, 'headers': 1.0, 'lists': 2.0, 'bold': 1.0}
    >>> style_of("```\n# no header\n```")["headers"]
    0.0
    """
    said = assistant_says(text)
    prose = _CODE.sub("", said)
    counts = {name: float(len(mark.findall(prose))) for name, mark in _COUNTED.items()}
    return {"length": float(len(said)), **counts}


def normalised_difference(first: npt.ArrayLike, second: npt.ArrayLike) -> Floats:
    """Give (a - b) / (a + b) of two counts each; two zeros do not differ.

    Parameters
    ----------
    first, second : array_like, shape (n,)
        Counts >= 0.

    Returns
    -------
    ndarray, shape (n,)
        From -1 to 1.

    Raises
    ------
    ValueError
        When a count is negative or none, or the two are not of one shape.

    References
    ----------
    Li, Angelopoulos and Chiang (2024), Does style matter?, LMSYS blog.

    Examples
    --------
    >>> normalised_difference([3, 0, 5], [1, 0, 0]).tolist()
    [0.5, 0.0, 1.0]
    """
    a, b = (np.asarray(side, dtype=np.float64) for side in (first, second))
    if a.shape != b.shape:
        raise ValueError("Each pair needs a count on either side.")
    if not (
        np.isfinite(a).all()
        and np.isfinite(b).all()
        and min(a.min(initial=0), b.min(initial=0)) >= 0
    ):
        raise ValueError("Counts must be numbers from 0 up.")
    total = a + b
    return np.divide(a - b, total, out=np.zeros_like(total), where=total > 0)


def style_differences(
    styles: Mapping[Key, Mapping[str, float]],
    first: Sequence[Key],
    second: Sequence[Key],
) -> dict[str, Floats]:
    """Compare texts pair by pair in what is counted of them.

    Parameters
    ----------
    styles : mapping
        Text, or what it is called, to its counts (`style_of`).
    first, second : sequence, length n
        The texts of each pair, as they are called there.

    Returns
    -------
    dict of str to ndarray, shape (n,)
        By name of `STYLE`, each from -1 to 1.

    Examples
    --------
    >>> styles = {text: style_of(text) for text in ("Yes", "Y")}
    >>> style_differences(styles, ["Yes"], ["Y"])["length"].tolist()
    [0.5]
    """
    return {
        name: normalised_difference(
            [styles[text][name] for text in first],
            [styles[text][name] for text in second],
        )
        for name in STYLE
    }
