"""A page with fields, filled from the rows of a table."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from io import StringIO

from genie.lib.errors import GenieError

MAX_ROWS = 5_000
MAX_QUESTION_BYTES = 65_535
# ${name} is a field, $${name} the same text as it stands.
_FIELD = re.compile(r"\$?\$\{([^{}\n]*)\}")
_UNSTORABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_SCHEMA = (
    "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2011-11-11/"
    "HTMLQuestion.xsd"
)


@dataclass(frozen=True)
class Row:
    """One row of a table, with the line of the file that it begins on."""

    line: int
    values: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def read_table(text: str) -> Table:
    r"""Read comma-separated values with a line of names; refusals name the line.

    Raises
    ------
    GenieError
        For a table that cannot be used, with the line.

    Examples
    --------
    >>> read_table('text,lang\n"a, b",en\n').rows
    (Row(line=2, values=('a, b', 'en')),)
    """
    # With `newline=""` lines may end in \n, \r\n or \r, and quoted ones stay as they are.
    reader = csv.reader(StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
    rows: list[Row] = []
    columns: tuple[str, ...] = ()
    begins = 1
    try:
        for values in reader:
            if not columns:
                columns = _columns(values)
            elif values:
                rows.append(_row(begins, values, columns))
            begins = reader.line_num + 1
    except csv.Error as error:
        raise _wrong(f"line {begins}: {error}") from None
    if not rows:
        raise _wrong("it has no rows below the header")
    if len(rows) > MAX_ROWS:
        raise _wrong(f"it has {len(rows)} rows, but at most {MAX_ROWS} are allowed")
    return Table(columns, tuple(rows))


def _columns(values: list[str]) -> tuple[str, ...]:
    names = tuple(value.strip() for value in values)
    if not names or "" in names:
        raise _wrong("line 1: each column needs a name")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise _wrong(f"line 1: the column {twice[0]} appears twice")
    return names


def _row(line: int, values: list[str], columns: tuple[str, ...]) -> Row:
    if len(values) != len(columns):
        raise _wrong(f"line {line}: {len(values)} values for {len(columns)} columns")
    unstorable = _UNSTORABLE.search("".join(values))
    if unstorable:
        raise _wrong(f"line {line}: the character {unstorable[0]!r} cannot be shown")
    return Row(line, tuple(values))


def fields_of(template: str) -> list[str]:
    """Name the fields of a template in their order, each once.

    Examples
    --------
    >>> fields_of("<p>${text}</p> ${ lang } ${text} and the literal $${x}")
    ['text', 'lang']
    """
    matches = (
        match for match in _FIELD.finditer(template) if not match[0].startswith("$$")
    )
    return list(dict.fromkeys(match[1].strip() for match in matches))


def check_fields(template: str, columns: Sequence[str]) -> None:
    """Refuse a template that asks for what is no column, with its line."""
    for match in _FIELD.finditer(template):
        name = match[1].strip()
        if not match[0].startswith("$$") and name not in columns:
            line = template.count("\n", 0, match.start()) + 1
            raise GenieError(
                f"The page, line {line}: ${{{name}}} is not a column of the table. To "
                f"show it literally, write $${{{name}}}.",
                code="batch-page",
            )


def fill(template: str, columns: Sequence[str], row: Row, *, markup: bool) -> str:
    """Put a row's values into a template: as text, or as the HTML that they are.

    Examples
    --------
    >>> row = Row(2, ("<b>",))
    >>> fill("${t} $${t}", ["t"], row, markup=False)
    '&lt;b&gt; ${t}'
    >>> fill("${t}", ["t"], row, markup=True)
    '<b>'
    """
    known = dict(zip(columns, row.values, strict=True))

    def value(match: re.Match[str]) -> str:
        if match[0].startswith("$$"):
            return match[0][1:]
        text = known[match[1].strip()]
        return text if markup else escape(text)

    return _FIELD.sub(value, template)


def as_question(page: str, line: int) -> str:
    """Write a filled page as the question of a HIT.

    A piece of a page becomes a whole one, with a form and a button where it has none.
    """
    # A CDATA section cannot hold its own end: it is closed and opened again in the
    # middle of it.
    whole = _whole(page).replace("]]>", "]]]]><![CDATA[>")
    question = (
        f'<HTMLQuestion xmlns="{_SCHEMA}"><HTMLContent><![CDATA[{whole}]]>'
        "</HTMLContent><FrameHeight>0</FrameHeight></HTMLQuestion>"
    )
    n = len(question.encode())
    if n > MAX_QUESTION_BYTES:
        raise _wrong(
            f"line {line}: its page has {n} bytes, but at most {MAX_QUESTION_BYTES} "
            "are allowed"
        )
    return question


def _whole(page: str) -> str:
    if re.search(r"<html[\s>]", page, re.IGNORECASE):
        return page
    body = page
    if not re.search(r"<form[\s>]", page, re.IGNORECASE):
        button = ""
        if not re.search(r"type=[\"']?submit|<button", page, re.IGNORECASE):
            button = '<p><button type="submit">Submit</button></p>'
        # Relative to where the page is served: it works without any script.
        body = (
            '<form id="mturk_form" method="post" action="mturk/externalSubmit">'
            f"{page}{button}</form>"
        )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Task</title></head><body>{body}</body></html>"
    )


def _wrong(why: str) -> GenieError:
    return GenieError(f"The table: {why}.", code="batch-table")
