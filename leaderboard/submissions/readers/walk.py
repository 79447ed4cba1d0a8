"""JSON from strangers, entry by entry, with the line of each.

The standard decoder does the work, one value at a time: so duplicate keys are seen,
every entry knows its line, and depth ends in a sentence instead of a RecursionError.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from leaderboard.submissions.readers.problem import refuse, shown

# Places in a text have fewer digits.
_DIGITS = 9
_SPACE = re.compile(r"[ \t\n\r]*")


class NotText(str):
    """Stands for a number or constant: its value is of no use, its kind is."""

    __slots__ = ()


class Number(NotText):
    """Stands for a number, of which a short whole one can be asked for."""

    __slots__ = ("whole",)
    whole: int | None

    def __new__(cls, written: str) -> Number:
        """Take a number as it was written; a million digits cost nothing."""
        made = super().__new__(cls, "a number")
        made.whole = (
            int(written) if len(written) < _DIGITS and written.isdecimal() else None
        )
        return made


class Pairs(list[tuple[str, Any]]):
    """A JSON object as it was written: in order, repeated keys included."""


class Walk:
    r"""Goes through the entries of one JSON object or list.

    Parameters
    ----------
    text : str
        JSON text.
    first_line : int, optional
        Number of the text's first line, for sentences.

    Examples
    --------
    >>> list(Walk('{"a": "x",\n "a": 1}').entries())
    [('a', 'x', 1), ('a', 'a number', 2)]
    >>> list(Walk('["x",\n ["y"]]').items())
    [('x', 1), (['y'], 2)]
    """

    def __init__(self, text: str, first_line: int = 1) -> None:
        self._text = text
        self._counted = 0
        self._line = first_line
        self._first_line = first_line
        self._decoder = json.JSONDecoder(
            object_pairs_hook=Pairs,
            parse_int=Number,
            parse_float=lambda _: NotText("a number"),
            parse_constant=NotText,
        )

    def whole(self) -> Any:
        """Read the text as one value."""
        value, end = self._value(self._skip(0))
        self._finish(end)
        return value

    def entries(self) -> Iterator[tuple[str, Any, int]]:
        """Go through an object: key, value, line of the key."""
        position = self._open("{")
        if self._text.startswith("}", position):
            self._finish(position + 1)
            return
        while True:
            line = self._line_at(position)
            if not self._text.startswith('"', position):
                raise self._bad(position, "expecting a key in double quotes")
            key, position = self._value(position)
            position = self._skip(position)
            if not self._text.startswith(":", position):
                raise self._bad(position, "expecting ':' after a key")
            value, position = self._value(self._skip(position + 1))
            yield key, value, line
            position = self._skip(position)
            if self._text.startswith("}", position):
                break
            position = self._comma(position)
        self._finish(position + 1)

    def items(self) -> Iterator[tuple[Any, int]]:
        """Go through a list: value and its line."""
        position = self._open("[")
        if self._text.startswith("]", position):
            self._finish(position + 1)
            return
        while True:
            line = self._line_at(position)
            value, position = self._value(position)
            yield value, line
            position = self._skip(position)
            if self._text.startswith("]", position):
                break
            position = self._comma(position)
        self._finish(position + 1)

    def _open(self, bracket: str) -> int:
        position = self._skip(0)
        if not self._text.startswith(bracket, position):
            value, _ = self._value(position)
            raise refuse(
                "wrong-shape",
                "The JSON is "
                f"{'a string' if is_text(value) else kind_of(value)}; it must be "
                "an object from id to prediction, or a list of objects with "
                "both.",
            )
        return self._skip(position + 1)

    def _comma(self, position: int) -> int:
        if not self._text.startswith(",", position):
            raise self._bad(position, "expecting ','")
        return self._skip(position + 1)

    def _value(self, position: int) -> tuple[Any, int]:
        try:
            return self._decoder.raw_decode(self._text, position)
        except json.JSONDecodeError as error:
            raise self._bad(error.pos, error.msg.lower()) from None
        except RecursionError:
            line = self._line_at(position)
            raise refuse(
                "json-too-deep",
                f"The JSON value at line {line:,} is nested too deeply; "
                "predictions are an object from id to string.",
                line=line,
            ) from None

    def _finish(self, position: int) -> None:
        position = self._skip(position)
        if position < len(self._text):
            line = self._line_at(position)
            garbage = shown(self._text[position : position + 20])
            raise refuse(
                "trailing-garbage",
                "There is extra data after the end of the JSON, at line "
                f"{line:,}: {garbage}",
                line=line,
            )

    def _skip(self, position: int) -> int:
        match = _SPACE.match(self._text, position)
        return match.end() if match else position

    def _line_at(self, position: int) -> int:
        if position < self._counted:  # an error may lie before the last line asked for
            return self._first_line + self._text.count("\n", 0, position)
        # counted on from the last place: from the beginning each time would be
        # quadratic
        self._line += self._text.count("\n", self._counted, position)
        self._counted = position
        return self._line

    def _bad(self, position: int, reason: str) -> Exception:
        line = self._line_at(position)
        column = position - self._text.rfind("\n", 0, position)
        at_end = position >= len(self._text.rstrip())
        place = "the file ends too early, at" if at_end else "at"
        return refuse(
            "not-json",
            f"The file is not valid JSON: {place} line {line:,}, column {column:,}: "
            f"{reason}.",
            line=line,
            column=column,
        )


def kind_of(value: object) -> str:
    """Say what a JSON value is when it is not text.

    Parameters
    ----------
    value : object
        As `Walk` gives it.

    Examples
    --------
    >>> kind_of(None), kind_of(Pairs()), kind_of(NotText("NaN"))
    ('null', 'an object', 'NaN')
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, Pairs):
        return "an object"
    return str(value) if isinstance(value, NotText) else "a list"


def is_text(value: object) -> bool:
    """Tell a JSON string from everything else.

    Examples
    --------
    >>> is_text("7"), is_text(NotText("a number"))
    (True, False)
    """
    return isinstance(value, str) and not isinstance(value, NotText)


def plain(value: Any) -> Any:
    """Turn what `Walk` gives into what `json.loads` would; numbers become None.

    Examples
    --------
    >>> plain([Pairs([("role", "user"), ("content", NotText("a number"))])])
    [{'role': 'user', 'content': None}]
    """
    if isinstance(value, Pairs):
        return {key: plain(part) for key, part in value}
    if isinstance(value, list):
        return [plain(part) for part in value]
    return None if isinstance(value, NotText) else value
