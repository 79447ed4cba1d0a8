"""The formats of prediction files, one class each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from leaderboard.submissions.readers.base import (
    Flaw,
    PredictionFormat,
    Record,
    lines_of,
)
from leaderboard.submissions.readers.problem import Refused, refuse, shown

# Read JSON from strangers entry by entry, with the line of each.
#
# The standard decoder reads one value at a time. So duplicate keys are found, every entry
# has its line, and deep nesting becomes a sentence instead of a RecursionError.

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


# Rows: JSON objects with one prediction each.

# Names in files of the field; the first name found in a row counts.
ID_KEYS = ("id", "instance_id", "seg_id", "segment_id", "question_id", "story_id")
TEXT_KEYS = (
    "prediction",
    "hyp",
    "hypothesis",
    "output",
    "text",
    "answer",
    "summary",
    "translation",
    "conversation",
    "messages",
    "turns",
)
# Marked errors, and the person or tool that marked them.
MARKS_KEY, MARKS_BY_KEY = "error_spans", "error_spans_by"


def record_of(row: Any, line: int | None) -> Record | Flaw:
    """Return id and prediction of a row.

    It is a flaw if the row is no object, repeats a key or lacks one of the two.

    Examples
    --------
    >>> record_of(Pairs([("seg_id", "7"), ("hyp", "Hello.")]), 3)
    Record(id='7', text='Hello.', line=3, marks=None, marks_by='')
    >>> record_of(Pairs([("id", "7")]), 3)
    Flaw(code='row-without-prediction', line=3, what=None)
    """
    if not isinstance(row, Pairs):
        return Flaw("not-a-row", line)
    values = dict(row)
    # a dict silently keeps the last of two equal keys
    if len(values) != len(row):
        return Flaw("repeated-key", line)
    id_key = next((key for key in ID_KEYS if key in values), None)
    if id_key is None:
        return Flaw("row-without-id", line)
    text_key = next((key for key in TEXT_KEYS if key in values), None)
    if text_key is None:
        return Flaw("row-without-prediction", line)
    marks, by = values.get(MARKS_KEY), values.get(MARKS_BY_KEY, "")
    return Record(values[id_key], values[text_key], line, marks, by)


def is_row(value: Any) -> bool:
    """Check whether a JSON object is one row rather than a whole file.

    Examples
    --------
    >>> is_row(Pairs([("id", "7"), ("prediction", "x")])), is_row(Pairs([("q1", "x")]))
    (True, False)
    """
    return isinstance(value, Pairs) and isinstance(record_of(value, None), Record)


class JsonList(PredictionFormat):
    """``[{"id": "...", "prediction": "..."}, ...]``."""

    slug = "json-list"
    label = "JSON list of objects with id and prediction"

    def read(self, text: str, instance_ids: Sequence[str]) -> Iterator[Record | Flaw]:
        for value, line in Walk(text).items():
            yield record_of(value, line)


# A JSON object from instance id to prediction: Genie's oldest format.
class JsonObject(PredictionFormat):
    """``{"id": "prediction", ...}``."""

    slug = "json-object"
    label = "JSON object from id to prediction"

    def read(self, text: str, instance_ids: Sequence[str]) -> Iterator[Record | Flaw]:
        for key, value, line in Walk(text).entries():
            yield Record(key, value, line)


# JSON Lines: one row per line.
class JsonLines(PredictionFormat):
    """``{"id": "...", "prediction": "..."}``, one a line."""

    slug = "json-lines"
    label = "JSONL: one object with id and prediction per line"

    def read(self, text: str, instance_ids: Sequence[str]) -> Iterator[Record | Flaw]:
        """Yield rows; one broken line does not hide the next."""
        for number, line in enumerate(lines_of(text), start=1):
            if not line.strip():
                continue
            try:
                value = Walk(line, number).whole()
            except Refused as refused:
                yield Flaw(
                    "json-too-deep"
                    if refused.problem.code == "json-too-deep"
                    else "line-not-json",
                    number,
                )
            else:
                yield record_of(value, number)


# Tab-separated: id, tab, prediction.
class Tsv(PredictionFormat):
    """``id<TAB>prediction``, one a line, no quoting; a header line may come first."""

    slug = "tsv"
    label = "TSV: id, tab, prediction"

    def read(self, text: str, instance_ids: Sequence[str]) -> Iterator[Record | Flaw]:
        """Yield records; everything after the first tab is the prediction."""
        for number, line in enumerate(lines_of(text), start=1):
            if not line:
                continue
            key, tab, prediction = line.partition("\t")
            if not tab:
                yield Flaw("no-tab", number)
            elif number > 1 or not _is_header(key, prediction, instance_ids):
                yield Record(key, prediction, number)


def _is_header(key: str, prediction: str, instance_ids: Sequence[str]) -> bool:
    return (
        # a task may have an instance called "id"
        key not in instance_ids
        and key.strip().lower() in ID_KEYS
        and prediction.strip().lower() in TEXT_KEYS
    )


# One prediction per line, in the task's order.
class TextLines(PredictionFormat):
    """Line 1 is the prediction for the first instance; an empty line is an empty one."""

    slug = "text-lines"
    label = "plain text: one prediction per line, in the task's order"

    def read(self, text: str, instance_ids: Sequence[str]) -> Iterator[Record | Flaw]:
        """Yield lines in pairs with instances; their numbers must be equal."""
        lines = lines_of(text)
        if len(lines) != len(instance_ids):
            raise refuse(
                "line-count",
                f"The file has {len(lines):,} lines and the task "
                f"{len(instance_ids):,} instances; without ids there must be one "
                "line per instance.",
                lines=len(lines),
                instances=len(instance_ids),
            )
        _refuse_ids(lines, instance_ids)
        for number, (key, line) in enumerate(
            zip(instance_ids, lines, strict=True), start=1
        ):
            yield Record(key, line, number)


def _refuse_ids(lines: Sequence[str], instance_ids: Sequence[str]) -> None:
    """Refuse tables with a different separator: their ids would become predictions."""
    begun = sum(
        line.lstrip('"').startswith(key)
        and not line.lstrip('"')[len(key) :][:1].isalnum()
        for key, line in zip(instance_ids, lines, strict=True)
    )
    # half of the lines: a few texts may begin with their id by chance
    if len(lines) > 1 and 2 * begun > len(lines):
        raise refuse(
            "ids-in-lines",
            f"{begun:,} of {len(lines):,} lines begin with an instance id but "
            "have no tab after it; separate id and prediction with a tab.",
            lines=begun,
        )


# Marked errors of a row, in the format of our pages or of other tools.

# the end of the second pair is inclusive, as in Pearmut and Appraise
_ENDS = (("start", "end", 0), ("start_i", "end_i", 1))


def marks_of(value: Any) -> list[dict[str, Any]] | None:
    """Return a list of marks; None if the value is none.

    Examples
    --------
    >>> from leaderboard.submissions.readers.formats import Number
    >>> marks_of([Pairs([("start_i", Number("0")), ("end_i", Number("2")),
    ...                  ("severity", "minor")])])
    [{'start': 0, 'end': 3, 'severity': 'minor'}]
    >>> marks_of([Pairs([("start_i", "missing"), ("severity", "major")])])
    [{'missing': True, 'severity': 'major'}]
    >>> marks_of("none") is None
    True
    """
    if not isinstance(value, list) or isinstance(value, Pairs):
        return None
    marks = [_mark(dict(one)) if isinstance(one, Pairs) else None for one in value]
    return None if None in marks else [mark for mark in marks if mark]


def _mark(one: dict[str, Any]) -> dict[str, Any] | None:
    category = one.get("category") or one.get("error_type")
    if isinstance(category, list):
        category = "/".join(str(level) for level in category)
    said = {"severity": str(one.get("severity", ""))}
    if category and is_text(category):
        said["category"] = category
    if one.get("missing") is True or one.get("start_i") == "missing":
        return {"missing": True, **said}
    for first, last, more in _ENDS:
        start, end = (getattr(one.get(name), "whole", None) for name in (first, last))
        if start is not None and end is not None:
            return {"start": start, "end": end + more, **said}
    return None
