"""Rows: JSON objects with one prediction each."""

from typing import Any

from leaderboard.submissions.readers.base import Flaw, Record
from leaderboard.submissions.readers.walk import Pairs

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
