"""The two review policies of the API: their parameters and scores.

`ScoreMyKnownAnswers/2011-09-01` compares one assignment with a key of known answers,
`SimplePlurality/2011-09-01` the assignments of one HIT with each other. All scores are
whole percentages, rounded down, as in the published examples.
"""

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from crowd.requester.protocol.errors import TurkError, bad_value
from crowd.requester.protocol.limits import YEAR

Values = frozenset[str]
Answers = Mapping[str, Values]
Key = TypeVar("Key", bound=Hashable)
KNOWN = "ScoreMyKnownAnswers/2011-09-01"
PLURALITY = "SimplePlurality/2011-09-01"
NAMES = {"Assignment": KNOWN, "HIT": PLURALITY}
# Longer answers are not compared with each other.
LONGEST = 256
USUAL_MAXIMUM = 5
_PERCENT = (0, 101)  # 101: never, or always
_TIME = (60, YEAR)
_NUMBERS: Mapping[str, Mapping[str, tuple[int, int]]] = {
    KNOWN: {
        "ApproveIfKnownAnswerScoreIsAtLeast": _PERCENT,
        "RejectIfKnownAnswerScoreIsLessThan": _PERCENT,
        "ExtendIfKnownAnswerScoreIsLessThan": _PERCENT,
        "ExtendMaximumAssignments": (2, 25),
        "ExtendMinimumTimeInSeconds": _TIME,
    },
    PLURALITY: {
        "QuestionAgreementThreshold": (0, 100),
        "DisregardAssignmentIfKnownAnswerScoreIsLessThan": _PERCENT,
        "ExtendIfHITAgreementScoreIsLessThan": (1, 100),
        "ExtendMaximumAssignments": (1, 1_000_000_000),
        "ExtendMinimumTimeInSeconds": _TIME,
        "ApproveIfWorkerAgreementScoreIsAtLeast": _PERCENT,
        "RejectIfWorkerAgreementScoreIsLessThan": _PERCENT,
    },
}
_WORDS = {KNOWN: {"ApproveReason", "RejectReason"}, PLURALITY: {"RejectReason"}}
_FLAGS = {"T": True, "F": False, "TRUE": True, "FALSE": False}
_REQUIRED = {KNOWN: ["AnswerKey"], PLURALITY: ["QuestionIds", "QuestionAgreementThreshold"]}  # fmt: skip


@dataclass(frozen=True)
class Policy:
    """Parameters of a review policy; missing numbers disable their actions."""

    numbers: Mapping[str, int]
    words: Mapping[str, str]
    key: Answers
    questions: tuple[str, ...]
    without_rejected: bool


def read_policy(level: str, argument: Mapping[str, Any]) -> Policy:
    """Read a policy of a level, ``Assignment`` or ``HIT``; others raise TurkError.

    Examples
    --------
    >>> read_policy("HIT", {"PolicyName": PLURALITY, "Parameters": [
    ...     {"Key": "QuestionIds", "Values": ["a,b", "c"]},
    ...     {"Key": "QuestionAgreementThreshold", "Values": ["49"]}]}).questions
    ('a', 'b', 'c')
    """
    name = NAMES[level]
    if argument["PolicyName"] != name:
        raise bad_value(f"{level}ReviewPolicy.PolicyName", argument["PolicyName"])
    given: dict[str, Mapping[str, Any]] = {}
    for parameter in argument.get("Parameters") or []:
        key = str(parameter.get("Key") or "").strip()
        if key in given:
            raise TurkError(f"The review policy {name} names {key[:80]} twice.")
        given[key] = parameter
    missing = [key for key in _REQUIRED[name] if key not in given]
    if missing:
        raise TurkError(f"The review policy {name} needs the parameter {missing[0]}.")
    numbers, words, lists = {}, {}, {}
    for key, parameter in given.items():
        values = [str(value) for value in parameter.get("Values") or []]
        if key in _NUMBERS[name]:
            numbers[key] = _number(name, key, values)
        elif key in _WORDS[name]:
            words[key] = _one(key, values)
        elif key in {"AnswerKey", "QuestionIds", "DisregardAssignmentIfRejected"}:
            lists[key] = values
        else:
            raise bad_value(f"{level}ReviewPolicy.Parameters.Key", key)
    return Policy(
        numbers=numbers,
        words=words,
        key=_answer_key(given["AnswerKey"]) if name == KNOWN else {},
        questions=_questions(lists.get("QuestionIds", [])),
        without_rejected=_flag(lists.get("DisregardAssignmentIfRejected") or ["F"]),
    )


def known_answers(key: Answers, answers: Answers) -> dict[str, bool]:
    """Return, by question with a known answer, whether it was answered so.

    Examples
    --------
    >>> known_answers({"q": frozenset("AB")}, {"q": frozenset("A")})
    {'q': False}
    """
    return {
        question: answers.get(question, frozenset()) == expected
        for question, expected in key.items()
    }


def percent(n: int, of: int) -> int:
    """Return a whole percentage, rounded down; 0 if both are 0."""
    return 100 * n // of if of else 0


@dataclass(frozen=True)
class Agreed:
    """The most frequent answer to a question, and its percentage."""

    answer: Values
    score: int


def agreed_answers(
    questions: tuple[str, ...], threshold: int, answered: Mapping[Key, Answers]
) -> dict[str, Agreed]:
    """Return the agreed answer of each question that has one.

    An answer is agreed on if a greater percentage than `threshold` of assignments gave
    it. `answered` has the answers by assignment.

    References
    ----------
    Amazon Mechanical Turk, API Reference: "HIT Review Policies". It does not mention
    ties; here a tie is no agreement.
    """
    found = {}
    for question in questions:
        given = [answers.get(question, frozenset()) for answers in answered.values()]
        given = [values for values in given if max(map(len, values), default=0) <= LONGEST]  # fmt: skip
        ranked = [*Counter(given).most_common(2), (frozenset(), 0), (frozenset(), 0)]
        (answer, n), (_, n_of_next) = ranked[:2]
        score = percent(n, len(given))
        if n > n_of_next and score > threshold:
            found[question] = Agreed(answer, score)
    return found


def agreement_of(answers: Answers, agreed: Mapping[str, Agreed]) -> int:
    return sum(
        answers.get(question, frozenset()) == one.answer
        for question, one in agreed.items()
    )


def _number(name: str, key: str, values: list[str]) -> int:
    low, high = _NUMBERS[name][key]
    text = _one(key, values).strip()
    if not (text.isascii() and text.isdecimal() and low <= int(text[:12]) <= high):
        raise TurkError(f"{key} must be a whole number from {low} to {high}.")
    return int(text)


def _one(key: str, values: list[str]) -> str:
    if len(values) != 1 or len(values[0]) > 1024:
        raise TurkError(f"{key} must have one value of at most 1024 characters.")
    return values[0]


def _flag(values: list[str]) -> bool:
    value = _one("DisregardAssignmentIfRejected", values).strip().upper()
    if value not in _FLAGS:
        raise bad_value("DisregardAssignmentIfRejected", values[0])
    return _FLAGS[value]


def _questions(values: list[str]) -> tuple[str, ...]:
    names = [name.strip() for value in values for name in value.split(",")]
    return tuple(dict.fromkeys(filter(None, names)))


def _answer_key(parameter: Mapping[str, Any]) -> dict[str, Values]:
    entries = parameter.get("MapEntries") or []
    key = {
        str(entry.get("Key") or "").strip(): as_values(entry.get("Values") or [])
        for entry in entries
    }
    if not key or "" in key:
        raise TurkError("AnswerKey must name questions and their answers (MapEntries).")
    return key


def as_values(texts: list[str]) -> Values:
    """Return the values of an answer; several are joined by ``|`` in one text."""
    parts = (part.strip() for text in texts for part in str(text).split("|"))
    return frozenset(filter(None, parts))
