import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from xml.etree.ElementTree import Element
from xml.sax.saxutils import escape  # for writing only

from crowd.requester.protocol.errors import TurkError
from crowd.requester.protocol.xml import local_tag, parse, refusal, text_of

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


_SCHEMA = (
    "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/"
    "AnswerKey.xsd"
)
LARGEST = 2**31 - 1


@dataclass(frozen=True)
class Scores:
    options: dict[frozenset[str], int]
    otherwise: int


@dataclass(frozen=True)
class AnswerKey:
    questions: dict[str, Scores]
    value_of: Callable[[int], int]


def read_key(text: str) -> AnswerKey:
    """Read an AnswerKey; raises ``XMLParseError``."""
    root = parse(text, "AnswerKey")
    if root.tag != f"{{{_SCHEMA}}}AnswerKey":
        raise _wrong("the root element must be AnswerKey")
    questions: dict[str, Scores] = {}
    value_of: Callable[[int], int] = int
    for child in root:
        if local_tag(child) == "Question":
            questions[text_of(child, "QuestionIdentifier")] = _scores(child)
        elif local_tag(child) == "QualificationValueMapping" and len(child) == 1:
            value_of = _read_mapping(child[0])
        else:
            raise _wrong(f"it contains a {local_tag(child)}")
    if not questions or "" in questions:
        raise _wrong("each of its questions needs a QuestionIdentifier")
    return AnswerKey(questions, value_of)


def grade(key: AnswerKey, answers: Iterable[FormAnswer]) -> int:
    """Compute the value of a qualification from the answers of its test.

    An option scores if exactly its selections were chosen; all other answers score the
    question's default.
    """
    chosen = {answer.identifier: frozenset(answer.selections) for answer in answers}
    total = sum(
        scores.options.get(chosen.get(name, frozenset()), scores.otherwise)
        for name, scores in key.questions.items()
    )
    return max(-LARGEST, min(LARGEST, key.value_of(total)))


def _scores(node: Element) -> Scores:
    options: dict[frozenset[str], int] = {}
    for child in node:
        if local_tag(child) == "AnswerOption":
            chosen = frozenset(
                (part.text or "").strip()
                for part in child
                if local_tag(part) == "SelectionIdentifier"
            )
            options[chosen] = _whole(text_of(child, "AnswerScore"))
    return Scores(options, _whole(text_of(node, "DefaultScore") or "0"))


def _read_mapping(node: Element) -> Callable[[int], int]:
    kind = local_tag(node)
    if kind == "PercentageMapping":
        most = _whole(text_of(node, "MaximumSummedScore"))
        if most == 0:
            raise _wrong("MaximumSummedScore must not be 0")
        # Fractions, because a float could fall just below the half that is rounded up.
        return lambda total: _round(Fraction(100 * total, most))
    if kind == "ScaleMapping":
        factor = _fraction(text_of(node, "SummedScoreMultiplier"))
        return lambda total: _round(total * factor)
    if kind == "RangeMapping":
        return _ranges(node)
    raise _wrong(f"the mapping {kind} is not known")


def _ranges(node: Element) -> Callable[[int], int]:
    names = ("InclusiveLowerBound", "InclusiveUpperBound", "QualificationValue")
    ranges = [
        [_whole(text_of(row, name)) for name in names]
        for row in node
        if local_tag(row) == "SummedScoreRange"
    ]
    outside = _whole(text_of(node, "OutOfRangeQualificationValue"))

    def value_of(total: int) -> int:
        for low, high, value in ranges:
            if low <= total <= high:
                return value
        return outside

    return value_of


def _round(value: Fraction) -> int:
    return floor(value + Fraction(1, 2))


def _whole(text: str) -> int:
    digits = text.removeprefix("-")
    # Nine digits fit into the integers of any database.
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= 9):
        raise _wrong(f"{text[:20]!r} is not a whole number")
    return int(text)


def _fraction(text: str) -> Fraction:
    try:
        if len(text) > 20 or "/" in text or "e" in text.lower():
            raise ValueError
        return Fraction(text)
    except ValueError:
        raise _wrong(f"{text[:20]!r} is not a number") from None


def _wrong(why: str) -> TurkError:
    return refusal("AnswerKey", why)
