"""Whether ratings depend on what workers should ignore: order, side, length, style."""

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from leaderboard.stats.intervals import Floats
from leaderboard.stats.systems.table import Codes

# Removing the levels of several factors from columns of numbers.
_SWEEPS = 500
_CLOSE = 1e-10


def codes_of(labels: npt.ArrayLike, n: int) -> Codes:
    """Map labels to numbers from 0.

    Examples
    --------
    >>> codes_of(["b", "a", "b"], 3).tolist()
    [1, 0, 1]
    """
    array = np.asarray(labels)
    return np.asarray(np.unique(array, return_inverse=True)[1], dtype=np.intp)


def without_levels(numbers: Floats, levels: Sequence[Codes]) -> Floats:
    """Remove the levels of several factors by least squares.

    Parameters
    ----------
    numbers : ndarray, shape (n,)
    levels : sequence of ndarray of int, shape (n,)
        Numbers from 0 of each row's worker, system and so on.

    Notes
    -----
    Means of one factor after the other are subtracted until convergence (alternating
    projections).

    References
    ----------
    Guimaraes and Portugal (2010), Stata Journal 10, section 2.
    """
    rest = numbers - numbers.mean()
    scale = float(np.abs(rest).max(initial=0.0))
    counts = [np.maximum(np.bincount(one), 1) for one in levels]
    for _ in range(_SWEEPS if len(levels) > 1 else 1):
        before = rest
        for one, count in zip(levels, counts, strict=True):
            rest = rest - (np.bincount(one, rest) / count)[one]
        if float(np.abs(rest - before).max(initial=0.0)) <= _CLOSE * scale:
            break
    return np.asarray(rest, dtype=np.float64)


# The surface of a text as numbers.
#: The measured features of a text, in this order.
FEATURES = (
    "length",
    "punctuation",
    "capitals",
    "quotation marks",
    "line breaks",
    "lists and markup",
    "final full stop",
    "first letter is a capital",
)


def style_of(text: str) -> list[float]:
    """Measure the surface of a text, in the order of `FEATURES`."""
    words = text.split()
    n = max(len(text), 1)
    letters = sum(c.isalpha() for c in text)
    marked = len(re.findall(r"(?m)^\s*(?:[-*•#>]|\d+[.)])\s|\*\*|__|`", text))
    quotes = sum(text.count(mark) for mark in "\"'“”‘’«»„")
    stripped = text.strip()
    return [
        float(np.log2(1 + len(words))),
        sum(not c.isalnum() and not c.isspace() for c in text) / n,
        sum(c.isupper() for c in text) / max(letters, 1),
        quotes / n,
        text.count("\n") / max(len(words), 1),
        marked / max(len(words), 1),
        float(stripped.endswith((".", "!", "?", "。"))),
        float(stripped[:1].isupper()),
    ]
