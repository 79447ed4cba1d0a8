"""Detect the format of a file by its content, with its name as a hint."""

from collections.abc import Sequence
from itertools import islice
from pathlib import PurePath

from leaderboard.submissions.readers.base import lines_of
from leaderboard.submissions.readers.problem import Refused
from leaderboard.submissions.readers.rows import is_row
from leaderboard.submissions.readers.walk import Walk

_BY_NAME = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".tsv": "tsv"}
_TABS_LOOKED_AT = 100


def format_of(text: str, filename: str, instance_ids: Sequence[str]) -> str:
    r"""Return the slug of the format to read a file with.

    The text is not blank. A ``.gz`` in the file name is ignored.

    Examples
    --------
    >>> format_of('{"q1": "x"}', "p.json", ["q1"])
    'json-object'
    >>> format_of("q1\tx\n", "p.txt", ["q1"]), format_of("x\n", "p.txt", ["q1"])
    ('tsv', 'text-lines')
    """
    hint = _BY_NAME.get(PurePath(filename.lower().removesuffix(".gz")).suffix, "")
    first = text.lstrip()[0]
    if hint == "tsv":
        return "tsv"
    if hint in {"json", "jsonl"}:
        return _json(text, first, hint)
    lines = lines_of(text)
    if _tabbed(lines, instance_ids):
        return "tsv"
    if first in "{[" and not _could_be_lines(text, lines, instance_ids):
        return _json(text, first, hint)
    return "text-lines"


def _json(text: str, first: str, hint: str) -> str:
    if first == "[":
        return "json-list"
    if first != "{":  # its reader reports the problem
        return "json-lines" if hint == "jsonl" else "json-object"
    # two lines decide: an object over several lines does not end with its first
    filled = list(islice((line for line in lines_of(text) if line.strip()), 2))
    if len(filled) == 1:
        return "json-lines" if hint == "jsonl" or _one_row(text) else "json-object"
    rows = filled[0].rstrip().endswith("}") and filled[1].lstrip().startswith("{")
    return "json-lines" if rows else "json-object"


def _one_row(text: str) -> bool:
    try:
        return is_row(Walk(text).whole())
    except Refused:
        return False


def _tabbed(lines: list[str], instance_ids: Sequence[str]) -> bool:
    lines = [line for line in lines[:_TABS_LOOKED_AT] if line.strip()]
    tabbed = [line.partition("\t")[0] for line in lines if "\t" in line]
    # texts may contain tabs; a table has one in most of its lines
    if 2 * len(tabbed) < len(lines):
        return False
    known = set(instance_ids)
    return any(key in known for key in tabbed) or len(tabbed) == len(lines)


def _could_be_lines(text: str, lines: list[str], instance_ids: Sequence[str]) -> bool:
    if len(lines) != len(instance_ids):
        return False
    if 2 * sum('":' in line or '" :' in line for line in lines) >= len(lines):
        return False
    return not _is_json(lines[0]) and not _is_json(text)


def _is_json(text: str) -> bool:
    try:
        Walk(text).whole()
    except Refused:
        return False
    return True
