"""Read JSON from strangers entry by entry, with the line of each.

The standard decoder reads one value at a time. So duplicate keys are found, every entry
has its line, and deep nesting becomes a sentence instead of a RecursionError.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from leaderboard.submissions.readers.problem import refuse, shown

# Positions in a text have fewer digits.
_DIGITS = 9
_SPACE = re.compile(r"[ \t\n\r]*")


class NotText(str):
    """A number or constant, of which only the kind is kept."""

    __slots__ = ()


class Number(NotText):
    """A number, of which only a short whole one keeps its value."""

    __slots__ = ("whole",)
    whole: int | None

    def __new__(cls, written: str) -> Number:
        """Create it from the text; a million digits cost nothing."""
        made = super().__new__(cls, "a number")
        made.whole = (
            int(written) if len(written) < _DIGITS and written.isdecimal() else None
        )
        return made


class Pairs(list[tuple[str, Any]]):
    """A JSON object as written: in order, with repeated keys."""


class Walk:
    r"""Reads the entries of one JSON object or list.

    Parameters
    ----------
    first_line : int, optional
        Number of the text's first line, for messages.

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
        value, end = self._value(self._skip(0))
        self._finish(end)
        return value

    def entries(self) -> Iterator[tuple[str, Any, int]]:
        """Yield key, value and line of the key."""
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
        """Yield value and line."""
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
        if position < self._counted:  # an error may be before the last line asked for
            return self._first_line + self._text.count("\n", 0, position)
        # count from the last position: from the beginning each time would be
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
    """Return the kind of a JSON value that is no text, as `Walk` returns it.

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
    """Check for a JSON string.

    Examples
    --------
    >>> is_text("7"), is_text(NotText("a number"))
    (True, False)
    """
    return isinstance(value, str) and not isinstance(value, NotText)


def plain(value: Any) -> Any:
    """Convert values of `Walk` to those of `json.loads`; numbers become None.

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
