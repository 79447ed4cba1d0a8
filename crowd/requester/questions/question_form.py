import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from html import escape
from html.entities import html5
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element

from crowd.requester.protocol.xml import child_of, local_tag, parse, refusal, text_of
from crowd.requester.questions.answer_format import (
    MOST_INSTRUCTIONS,
    USUAL_ERROR,
    AnswerFormat,
    FormatError,
)

# Requesters' formatted text, as HTML that is safe on our own pages.
_SAME = frozenset(
    [
        "b",
        "blockquote",
        "br",
        "cite",
        "code",
        "dd",
        "del",
        "dl",
        "dt",
        "em",
        "hr",
        "i",
        "ins",
        "li",
        "ol",
        "p",
        "pre",
        "q",
        "s",
        "small",
        "span",
        "strong",
        "sub",
        "sup",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "tt",
        "u",
        "ul",
        "var",
    ]
)
# Whatever their level, because on our page the title is above them.
_OTHER = {**dict.fromkeys(["h1", "h2", "h3", "h4", "h5", "h6"], "h2"), "strike": "s"}
_EMPTY = frozenset({"br", "hr", "img"})
# Dropped with all their content, which is no text to read.
_DROPPED = frozenset({"script", "style", "object", "applet", "iframe", "form"})
_XML_ONLY = frozenset({"amp", "lt", "gt", "quot", "apos"})


def safe_html(text: str, name: str = "FormattedContent") -> str:
    """Keep the formatting of XHTML and remove scripts, styles, forms and frames.

    Links open in another tab.

    Raises
    ------
    TurkError
        If it is not well-formed.
    """
    # Most named characters are HTML's; an XML parser knows five of them.
    named = re.sub(r"&(\w+);", _character, text)
    return _inside(parse(f"<x>{named}</x>", name))


def _character(match: re.Match[str]) -> str:
    known = match[1] not in _XML_ONLY and f"{match[1]};" in html5
    return html5[f"{match[1]};"] if known else match[0]


def _inside(node: Element) -> str:
    parts = [escape(node.text or "")]
    for child in node:
        parts += [_render_node(child), escape(child.tail or "")]
    return "".join(parts)


def _render_node(node: Element) -> str:
    tag = node.tag.split("}")[-1].lower()
    if tag in _DROPPED:
        return ""
    if tag == "a":
        return _link(node)
    if tag == "img":
        return image(node.get("src", ""), node.get("alt", ""))
    kept = _OTHER.get(tag, tag)
    if kept not in _SAME and kept != "h2":
        return _inside(node)
    if kept in _EMPTY:
        return f"<{kept}>"
    return f"<{kept}{_spans(node)}>{_inside(node)}</{kept}>"


def image(address: str, alternative: str) -> str:
    """Show an image with an https address; otherwise only its alternative text."""
    if not is_web(address, {"https"}):
        return escape(alternative)
    return f'<img src="{escape(address)}" alt="{escape(alternative)}">'


def is_web(address: str, schemes: set[str]) -> bool:
    try:
        parts = urlsplit(address)
        return parts.scheme in schemes and bool(parts.hostname)
    except ValueError:
        return False


def _link(node: Element) -> str:
    address = node.get("href", "").strip()
    if not is_web(address, {"http", "https"}):
        return _inside(node)
    return (
        f'<a href="{escape(address)}" target="_blank" rel="noopener noreferrer">'
        f"{_inside(node)}</a>"
    )


def _spans(node: Element) -> str:
    attributes = ((name, node.get(name, "")) for name in ("colspan", "rowspan"))
    return "".join(
        f' {name}="{value}"'
        for name, value in attributes
        if value.isascii() and value.isdecimal() and len(value) <= 3
    )


_SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/"
# The older schema differs only in questions that take files, which are refused anyway.
ROOTS = frozenset(
    f"{{{_SCHEMAS}{day}/QuestionForm.xsd}}QuestionForm"
    for day in ("2017-11-06", "2005-10-01")
)
LONGEST_TEXT = 50_000
MAX_LINES = 40


@dataclass(frozen=True)
class FreeText:
    """An answer in one's own words, or a number.

    `shortest` and `longest` are lengths in characters; `low` and `high` bound numbers;
    it must match all of the `formats`.
    """

    default: str
    lines: int
    shortest: int
    longest: int
    numeric: bool
    low: Decimal | None
    high: Decimal | None
    formats: tuple[AnswerFormat, ...]


@dataclass(frozen=True)
class Choice:
    identifier: str
    html: str


@dataclass(frozen=True)
class Selection:
    """An answer chosen from a list; `other` allows a different, written answer."""

    choices: tuple[Choice, ...]
    at_least: int
    at_most: int
    dropdown: bool
    other: FreeText | None


@dataclass(frozen=True)
class Asked:
    """One question; `html` is safe to show, `name` is its field's name on our page."""

    name: str
    identifier: str
    required: bool
    html: str
    answer: FreeText | Selection

    @property
    def selection(self) -> Selection | None:
        return self.answer if isinstance(self.answer, Selection) else None


@dataclass(frozen=True)
class Form:
    """Texts and questions in order; a text is a question without an answer."""

    parts: tuple[str | Asked, ...]

    @property
    def questions(self) -> list[Asked]:
        return [part for part in self.parts if isinstance(part, Asked)]


def read_form(text: str, name: str = "Question") -> Form:
    """Read a QuestionForm; raises ``XMLParseError``."""
    root = parse(text, name)
    if root.tag not in ROOTS:
        raise refusal(name, "the root element must be QuestionForm")
    parts: list[str | Asked] = []
    for number, child in enumerate(root):
        kind = local_tag(child)
        if kind == "Overview":
            parts.append(_content(child, name))
        elif kind == "Question":
            parts.append(_question(child, f"q{number}", name))
        else:
            raise refusal(name, f"a form cannot contain {kind}")
    form = Form(tuple(parts))
    identifiers = [question.identifier for question in form.questions]
    if not identifiers:
        raise refusal(name, "the form has no question")
    if len(set(identifiers)) < len(identifiers):
        raise refusal(name, "two questions have the same QuestionIdentifier")
    _check_formats(form, name)
    return form


def _check_formats(form: Form, name: str) -> None:
    cost = 0
    for question in form.questions:
        selection = question.selection
        written = selection.other if selection else question.answer
        for answer_format in written.formats if isinstance(written, FreeText) else ():
            try:
                cost += answer_format.n_instructions
            except FormatError as why:
                shown = answer_format.pattern[:80]
                raise refusal(
                    name,
                    f'the AnswerFormatRegex "{shown}" of '
                    f"{question.identifier} is not supported, because {why}",
                ) from None
    if cost > MOST_INSTRUCTIONS:
        raise refusal(name, "its AnswerFormatRegex patterns are too large in total")


def _question(node: Element, field: str, name: str) -> Asked:
    identifier = text_of(node, "QuestionIdentifier")
    if not identifier:
        raise refusal(name, "a Question has no QuestionIdentifier")
    content, specification = (
        child_of(node, "QuestionContent"),
        child_of(node, "AnswerSpecification"),
    )
    if content is None or specification is None or len(specification) != 1:
        raise refusal(
            name, f"{identifier} must have a QuestionContent and an AnswerSpecification"
        )
    shown = _content(content, name)
    if title := text_of(node, "DisplayName"):
        shown = f"<h2>{escape(title)}</h2>{shown}"
    answer = _answer(specification[0], identifier, name)
    # By the specification, a minimal length implies IsRequired.
    required = text_of(node, "IsRequired").lower() in {"true", "1"} or (
        isinstance(answer, FreeText) and answer.shortest > 0
    )
    return Asked(field, identifier, required, shown, answer)


def _answer(node: Element, identifier: str, name: str) -> FreeText | Selection:
    kind = local_tag(node)
    if kind == "FreeTextAnswer":
        return _free_text(node, name)
    if kind == "SelectionAnswer":
        return _selection(node, identifier, name)
    raise refusal(name, f"{identifier} asks for a {kind}, which is not supported")


def _free_text(node: Element, name: str) -> FreeText:
    limits = child_of(node, "Constraints")
    length = child_of(limits, "Length") if limits is not None else None
    number = child_of(limits, "IsNumeric") if limits is not None else None
    lines = _whole(text_of(node, "NumberOfLinesSuggestion"), 1, name)
    return FreeText(
        default=text_of(node, "DefaultText"),
        lines=min(max(lines, 1), MAX_LINES),
        shortest=_whole(_attribute(length, "minLength"), 0, name),
        longest=min(
            _whole(_attribute(length, "maxLength"), LONGEST_TEXT, name), LONGEST_TEXT
        ),
        numeric=number is not None,
        low=_decimal(_attribute(number, "minValue"), name),
        high=_decimal(_attribute(number, "maxValue"), name),
        formats=tuple(
            _format(child, name)
            for child in (limits if limits is not None else ())
            if local_tag(child) == "AnswerFormatRegex"
        ),
    )


def _format(node: Element, name: str) -> AnswerFormat:
    pattern, flags = node.get("regex"), node.get("flags", "")
    if pattern is None:
        raise refusal(name, "an AnswerFormatRegex has no regex")
    if flags not in {"", "i"}:
        raise refusal(name, f"the only flag of an AnswerFormatRegex is i, not {flags}")
    error = node.get("errorText", "").strip() or USUAL_ERROR
    return AnswerFormat(pattern, flags == "i", error)


def _selection(node: Element, identifier: str, name: str) -> Selection:
    offered = child_of(node, "Selections")
    rows = [child for child in offered or () if local_tag(child) == "Selection"]
    choices = tuple(
        Choice(text_of(row, "SelectionIdentifier"), _content(row, name, inline=True))
        for row in rows
    )
    ids = [choice.identifier for choice in choices]
    if not ids or "" in ids or len(set(ids)) < len(ids):
        raise refusal(name, f"the Selections of {identifier} need unique identifiers")
    other = child_of(offered, "OtherSelection") if offered is not None else None
    style = text_of(node, "StyleSuggestion").lower()
    return Selection(
        choices,
        at_least=_whole(text_of(node, "MinSelectionCount"), 1, name),
        at_most=_whole(text_of(node, "MaxSelectionCount"), 1, name),
        dropdown=style in {"dropdown", "combobox"} and other is None,
        other=None if other is None else _free_text(other, name),
    )


def _content(node: Element, name: str, *, inline: bool = False) -> str:
    return "".join(_block(child, name, inline) for child in node)


def _block(node: Element, name: str, inline: bool) -> str:
    kind, words = local_tag(node), escape(node.text or "")
    if kind == "Title":
        return f"<h2>{words}</h2>"
    if kind == "Text":
        return words if inline else f"<p>{words}</p>"
    if kind == "List":
        rows = "".join(f"<li>{escape(child.text or '')}</li>" for child in node)
        return f"<ul>{rows}</ul>"
    if kind == "FormattedContent":
        return safe_html(node.text or "")
    if kind == "Binary":
        return _binary(node)
    if kind in {"EmbeddedBinary", "Application"}:
        raise refusal(name, f"{kind} was withdrawn; browsers no longer show it")
    return ""


def _binary(node: Element) -> str:
    address, words = text_of(node, "DataURL"), text_of(node, "AltText")
    mime = child_of(node, "MimeType")
    if mime is not None and text_of(mime, "Type") == "image":
        return image(address, words)
    if not is_web(address, {"https"}):
        return escape(words)
    link = f'href="{escape(address)}" target="_blank" rel="noopener noreferrer"'
    return f"<a {link}>{escape(words or address)}</a>"


def _attribute(node: Element | None, attribute: str) -> str:
    return "" if node is None else node.get(attribute, "")


def _whole(text: str, usual: int, name: str) -> int:
    if not text:
        return usual
    if not (text.isascii() and text.isdecimal() and len(text) <= 9):
        raise refusal(name, f"{text[:20]} is not a whole number")
    return int(text)


def _decimal(text: str, name: str) -> Decimal | None:
    if not text:
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise refusal(name, f"{text[:20]} is not a number") from None
    return number
