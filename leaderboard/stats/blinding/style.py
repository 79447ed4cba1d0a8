"""The surface of a text as numbers."""

import re

import numpy as np

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
    """Measure the surface of a text, in the order of `FEATURES`.

    Examples
    --------
    >>> style_of("A **bold** claim.")[-2:]
    [1.0, 1.0]
    """
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
