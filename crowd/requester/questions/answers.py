import re
from collections.abc import Iterable
from dataclasses import dataclass
from xml.sax.saxutils import escape  # for writing only

from crowd.requester.protocol.errors import TurkError
from crowd.requester.protocol.xml import parse

NAMESPACE = (
    "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/"
    "QuestionFormAnswers.xsd"
)
# Mechanical Turk's own fields come back with the form and are no answers.
RESERVED = frozenset(
    {"assignmentId", "hitId", "workerId", "turkSubmitTo", "csrfmiddlewaretoken"}
)
# XML 1.0 cannot hold these, not even as a reference.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True)
class FormAnswer:
    identifier: str
    text: str | None = None
    selections: tuple[str, ...] = ()
    other: str | None = None


def answer_xml(fields: Iterable[tuple[str, str]]) -> str:
    """Return a form's fields as QuestionFormAnswers, in ASCII.

    Fields are in the order of the form; values of those with the same name are joined
    by ``|``.

    Examples
    --------
    >>> xml = answer_xml([("mood", "très bien"), ("mood", "x"), ("hitId", "3ABC")])
    >>> xml[xml.index("<Answer>") : xml.index("</Answer>")]
    '<Answer><QuestionIdentifier>mood</QuestionIdentifier><FreeText>tr&#232;s bien|x</FreeText>'
    """
    joined: dict[str, str] = {}
    for name, value in fields:
        if name in RESERVED:
            continue
        joined[name] = f"{joined[name]}|{value}" if name in joined else value
    return _document(
        f"<Answer><QuestionIdentifier>{_text(name)}</QuestionIdentifier>"
        f"<FreeText>{_text(value)}</FreeText></Answer>"
        for name, value in joined.items()
    )


def form_answer_xml(answers: Iterable[FormAnswer]) -> str:
    """Return the answers to a QuestionForm as QuestionFormAnswers, in ASCII.

    Examples
    --------
    >>> xml = form_answer_xml([FormAnswer("sky", selections=("b", "g"))])
    >>> xml[xml.index("<Selection") : xml.index("</Answer>")]
    '<SelectionIdentifier>b</SelectionIdentifier><SelectionIdentifier>g</SelectionIdentifier>'
    """
    return _document(
        f"<Answer><QuestionIdentifier>{_text(answer.identifier)}</QuestionIdentifier>"
        f"{_content(answer)}</Answer>"
        for answer in answers
    )


def texts_of(xml: str) -> dict[str, list[str]]:
    try:
        root = parse(xml, "Answer")
    except TurkError:
        return {}
    answers = {}
    for answer in root:
        name, texts = "", []
        for part in answer:
            if part.tag.split("}")[-1] == "QuestionIdentifier":
                name = part.text or ""
            else:
                texts.append(part.text or "")
        answers[name] = texts
    return answers


def _content(answer: FormAnswer) -> str:
    if answer.text is not None:
        return f"<FreeText>{_text(answer.text)}</FreeText>"
    chosen = "".join(
        f"<SelectionIdentifier>{_text(selection)}</SelectionIdentifier>"
        for selection in answer.selections
    )
    if answer.other is None:
        return chosen
    return f"{chosen}<OtherSelectionText>{_text(answer.other)}</OtherSelectionText>"


def _document(answers: Iterable[str]) -> str:
    return (
        '<?xml version="1.0" encoding="ASCII"?>'
        f'<QuestionFormAnswers xmlns="{NAMESPACE}">{"".join(answers)}'
        "</QuestionFormAnswers>"
    )


def _text(value: str) -> str:
    # An XML parser reads a bare carriage return as a line feed.
    kept = escape(_FORBIDDEN.sub("", value)).replace("\r", "&#13;")
    return kept.encode("ascii", "xmlcharrefreplace").decode()
