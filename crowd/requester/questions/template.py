"""Pages with fields, filled by a table's row or a layout's parameters."""

import re
from collections.abc import Collection, Mapping
from html import escape

from genie.lib.errors import GenieError

MAX_QUESTION_BYTES = 65_535
# ${name} is a field, $${name} is that text literally.
_FIELD = re.compile(r"\$?\$\{([^{}\n]*)\}")
_SCHEMA = (
    "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2011-11-11/"
    "HTMLQuestion.xsd"
)


def fields_of(template: str) -> list[str]:
    """Return the fields of a template in order, each once.

    Examples
    --------
    >>> fields_of("<p>${text}</p> ${ lang } ${text} and the literal $${x}")
    ['text', 'lang']
    """
    matches = (
        match for match in _FIELD.finditer(template) if not match[0].startswith("$$")
    )
    return list(dict.fromkeys(match[1].strip() for match in matches))


def check_fields(template: str, columns: Collection[str]) -> None:
    """Refuse a template with a field that is no column; the error has its line."""
    for match in _FIELD.finditer(template):
        name = match[1].strip()
        if not match[0].startswith("$$") and name not in columns:
            line = template.count("\n", 0, match.start()) + 1
            raise GenieError(
                f"The page, line {line}: ${{{name}}} is not a column of the table. To "
                f"show it literally, write $${{{name}}}.",
                code="batch-page",
            )


def fill(template: str, values: Mapping[str, str], *, markup: bool) -> str:
    def value(match: re.Match[str]) -> str:
        if match[0].startswith("$$"):
            return match[0][1:]
        text = values[match[1].strip()]
        return text if markup else escape(text)

    return _FIELD.sub(value, template)


def as_question(page: str) -> str:
    """Return a filled page as the question of a HIT.

    A fragment becomes a whole page, with a form and a button if they are missing.
    """
    # A CDATA section cannot hold its own end, so it is closed and reopened in the
    # middle of it.
    whole = _whole(page).replace("]]>", "]]]]><![CDATA[>")
    question = (
        f'<HTMLQuestion xmlns="{_SCHEMA}"><HTMLContent><![CDATA[{whole}]]>'
        "</HTMLContent><FrameHeight>0</FrameHeight></HTMLQuestion>"
    )
    n = len(question.encode())
    if n > MAX_QUESTION_BYTES:
        raise GenieError(
            f"The page has {n} bytes, but at most {MAX_QUESTION_BYTES} are allowed.",
            code="batch-page",
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
        # Relative to the page's address, so it works without scripts.
        body = (
            '<form id="mturk_form" method="post" action="mturk/externalSubmit">'
            f"{page}{button}</form>"
        )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Task</title></head><body>{body}</body></html>"
    )
