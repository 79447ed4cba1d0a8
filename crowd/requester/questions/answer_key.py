from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from xml.etree.ElementTree import Element

from crowd.requester.protocol.errors import TurkError
from crowd.requester.protocol.xml import parse
from crowd.requester.questions.answers import FormAnswer

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
        if _tag(child) == "Question":
            questions[_text(child, "QuestionIdentifier")] = _scores(child)
        elif _tag(child) == "QualificationValueMapping" and len(child) == 1:
            value_of = _mapping(child[0])
        else:
            raise _wrong(f"it contains a {_tag(child)}")
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
        if _tag(child) == "AnswerOption":
            chosen = frozenset(
                (part.text or "").strip()
                for part in child
                if _tag(part) == "SelectionIdentifier"
            )
            options[chosen] = _whole(_text(child, "AnswerScore"))
    return Scores(options, _whole(_text(node, "DefaultScore") or "0"))


def _mapping(node: Element) -> Callable[[int], int]:
    kind = _tag(node)
    if kind == "PercentageMapping":
        most = _whole(_text(node, "MaximumSummedScore"))
        if most == 0:
            raise _wrong("MaximumSummedScore must not be 0")
        # Fractions, because a float could fall just below the half that is rounded up.
        return lambda total: _rounded(Fraction(100 * total, most))
    if kind == "ScaleMapping":
        factor = _fraction(_text(node, "SummedScoreMultiplier"))
        return lambda total: _rounded(total * factor)
    if kind == "RangeMapping":
        return _ranges(node)
    raise _wrong(f"the mapping {kind} is not known")


def _ranges(node: Element) -> Callable[[int], int]:
    names = ("InclusiveLowerBound", "InclusiveUpperBound", "QualificationValue")
    ranges = [
        [_whole(_text(row, name)) for name in names]
        for row in node
        if _tag(row) == "SummedScoreRange"
    ]
    outside = _whole(_text(node, "OutOfRangeQualificationValue"))

    def value_of(total: int) -> int:
        for low, high, value in ranges:
            if low <= total <= high:
                return value
        return outside

    return value_of


def _rounded(value: Fraction) -> int:
    return floor(value + Fraction(1, 2))


def _tag(node: Element) -> str:
    return node.tag.split("}")[-1]


def _text(node: Element, tag: str) -> str:
    for child in node:
        if _tag(child) == tag:
            return (child.text or "").strip()
    return ""


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
    return TurkError(
        f"There was an error parsing the XML of AnswerKey: {why}.", "XMLParseError"
    )
