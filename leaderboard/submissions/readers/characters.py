"""Characters that are forbidden in predictions."""

import re
from collections.abc import Iterator
from typing import NamedTuple

# C0 controls and DEL; tab and the two line ends are ordinary white space.
_CONTROL = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f"
# They make a text look different from its content, to workers and on boards.
_BIDI = "\u202a-\u202e\u2066-\u2069"
_SURROGATE = "\ud800-\udfff"

_FORBIDDEN = re.compile(f"[{_CONTROL}{_BIDI}{_SURROGATE}]")
_RAW_CONTROL = re.compile(f"[{_CONTROL}]")

# code -> (one of them, several of them, the rest of the sentence)
MESSAGES = {
    "control-character": (
        "1 prediction contains",
        "{count} predictions contain",
        "control characters: {named}; remove them.",
    ),
    "bidi-character": (
        "1 prediction contains",
        "{count} predictions contain",
        "characters that reorder text (bidirectional overrides or isolates): {named}; "
        "remove them.",
    ),
    "lone-surrogate": (
        "1 prediction contains",
        "{count} predictions contain",
        "an unpaired surrogate, which is not a character: {named}; write the "
        "whole character.",
    ),
}


class Finding(NamedTuple):
    """A forbidden character: its kind, and its name."""

    code: str
    character: str


def forbidden(text: str) -> Finding | None:
    r"""Return the first forbidden character of a prediction."""
    match = _FORBIDDEN.search(text)
    if match is None:
        return None
    point = ord(match[0])
    if point < 0x80:
        code = "control-character"
    else:
        code = "lone-surrogate" if 0xD800 <= point <= 0xDFFF else "bidi-character"
    return Finding(code, f"U+{point:04X}")


def raw_controls(text: str) -> Iterator[tuple[int, str]]:
    r"""Yield line (from 1) and name of control characters that are not escaped.

    Examples
    --------
    >>> list(raw_controls("a\nb\x00"))
    [(2, 'U+0000')]
    """
    line, position = 1, 0
    for match in _RAW_CONTROL.finditer(text):
        line += text.count("\n", position, match.start())
        position = match.start()
        yield line, f"U+{ord(match[0]):04X}"
