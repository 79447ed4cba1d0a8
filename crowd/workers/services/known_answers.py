"""Check ratings against a known answer, for test questions and qualification tests.

`expected` describes the known answer: `slot` is the output that must be preferred (with
`or_equal`, not be rated worse), `not_best` the one that must not be rated best. Otherwise the
text is good or bad, and `threshold` replaces the scale's own. `criteria` lists those with a
known answer: a fluent text on the wrong subject is bad on relevance only.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from django.utils.translation import gettext

from crowd.hits.models import HITType, Item
from crowd.hits.services.check_answers import ratings_of
from crowd.scales.base import Scale, all_scales
from crowd.workers.models.qualification_test import QualificationQuestion
from genie.lib.errors import GenieError

MIDDLE = 0.5
FIRST_SLOT = "A"
# So many values represent all numbers of a scale without options.
_GRID = 100


class Rated(Protocol):
    @property
    def criterion(self) -> str: ...
    @property
    def slot(self) -> str: ...
    @property
    def value(self) -> float: ...


def agrees(
    ratings: Iterable[Rated],
    expected: Mapping[str, Any],
    *,
    good: bool,
    threshold: float,
) -> bool:
    """Check whether the ratings are right on more than half of the marked criteria.

    Each criterion is marked separately. With their mean, one criterion could outvote
    the only one with a known answer.

    Examples
    --------
    >>> from types import SimpleNamespace as Rating
    >>> answers = [Rating(criterion="relevance", slot="", value=0.0),
    ...            Rating(criterion="fluency", slot="", value=1.0)]
    >>> agrees(answers, {"criteria": ["relevance"]}, good=False, threshold=0.5)
    True
    """
    marks = list(marks_of(ratings, expected, good=good, threshold=threshold).values())
    # Half of the criteria is not enough, because chance reaches that.
    return 2 * sum(marks) > len(marks)


def marks_of(
    ratings: Iterable[Rated],
    expected: Mapping[str, Any],
    *,
    good: bool,
    threshold: float,
) -> dict[str, bool]:
    """Return whether each criterion with a known answer is right.

    Examples
    --------
    >>> from types import SimpleNamespace as Rating
    >>> answers = [Rating(criterion="relevance", slot="", value=0.0),
    ...            Rating(criterion="fluency", slot="", value=1.0)]
    >>> marks_of(answers, {}, good=False, threshold=0.5)
    {'relevance': True, 'fluency': False}
    >>> tie = [Rating(criterion="fluency", slot="", value=0.5)]
    >>> [marks_of(tie, {"slot": "A", **how}, good=True, threshold=0.5)["fluency"]
    ...  for how in ({}, {"or_equal": True})]
    [False, True]
    """
    marked = expected.get("criteria")
    by_criterion: dict[str, dict[str, float]] = defaultdict(dict)
    for rating in ratings:
        if not marked or rating.criterion in marked:
            by_criterion[rating.criterion][rating.slot] = rating.value
    line = float(expected.get("threshold", threshold))
    return {
        criterion: _is_right(values, expected, good, line)
        for criterion, values in by_criterion.items()
    }


def _is_right(
    values: Mapping[str, float], expected: Mapping[str, Any], good: bool, line: float
) -> bool:
    if "not_best" in expected:
        # A rating that none exceeds is the best, also with ties.
        wrong = values.get(expected["not_best"])
        return wrong is not None and wrong < max(values.values())
    [value] = values.values()
    if "slot" in expected:
        # values are the first slot's; a tie prefers neither
        lead = value - MIDDLE if expected["slot"] == FIRST_SLOT else MIDDLE - value
        return lead > 0 or (lead == 0 and "or_equal" in expected)
    return (value > line) is good


def guesses_of(
    expected: Mapping[str, Any], *, good: bool, scale: type[Scale], slots: Sequence[str]
) -> tuple[float, ...]:
    """Compute the probabilities that answers given without reading are right.

    In this order: a random answer; always the highest value (the first output), the
    lowest (the last output), the middle; one value for all outputs. `slots` are the
    outputs rated one by one; one or none if there is one answer.
    """
    line = float(expected.get("threshold", scale.binary_threshold))
    values = _values(scale, line)
    low, middle, high = values[0], values[len(values) // 2], values[-1]
    if "not_best" not in expected or len(slots) < 2:
        rights = [_is_right({"": value}, expected, good, line) for value in values]
        habits = [{"": value} for value in (high, low, middle, middle)]
        chance = sum(rights) / len(rights)
    else:
        best = (slots[0], slots[-1], slots[len(slots) // 2], "")
        habits = [
            {slot: high if slot == top else low for slot in slots} for top in best
        ]
        # The wrong value is the highest.
        n, others = len(values), len(slots) - 1
        chance = 1 - sum(((k + 1) / n) ** others for k in range(n)) / n
    rights = [_is_right(values, expected, good, line) for values in habits]
    return (round(chance, 6), *map(float, rights))


def _values(scale: type[Scale], line: float) -> list[float]:
    if scale.options:
        return sorted(option.value for option in scale.options)
    low, high = scale.minimum, scale.maximum
    if scale.relative or scale.counted:
        # The scale has no ends between which random numbers would lie.
        low, high = line - 1, line + 1
    return [low + (high - low) * (k + 0.5) / _GRID for k in range(_GRID)]


# Check answers to the questions of a qualification test.
#
# A question's `expected` has the right answer: for a written one, `choice` is the number
# of the right line; for a drawn one, `slot` is the output that must be preferred, and
# `good` whether the text must be rated above the `threshold` (by default the scale's), on
# `criteria` (by default all). Drawn ones are marked like hidden test questions
# (`crowd.workers.services.known_answers`).
CHOICE = "choice"


def as_item(question: QualificationQuestion) -> Item:
    """Return a drawn question as an unsaved item.

    Its key matches no stored item.
    """
    return Item(
        pk=-question.pk,
        key=f"question-{question.pk}",
        data=question.data,
        content_key=question.content_key,
    )


def is_right(
    question: QualificationQuestion,
    hit_type: HITType | None,
    raw_answers: Mapping[str, str],
) -> bool:
    """Check an answer like a HIT's, then mark it.

    Raises
    ------
    GenieError
        ``answer-missing``, ``not-on-the-scale``, ``unknown-question`` or
        ``unusable-spans`` for anything the page cannot send.
    """
    if question.data is None or hit_type is None:
        return _chosen_option(question, raw_answers) == int(question.expected[CHOICE])
    ratings = ratings_of(hit_type, as_item(question), raw_answers)
    # Checkboxes next to the ratings are not marked.
    return agrees(
        [rating for rating in ratings if rating.criterion in hit_type.criteria],
        question.expected,
        good=bool(question.expected.get("good", True)),
        threshold=all_scales()[hit_type.scale].binary_threshold,
    )


def _chosen_option(
    question: QualificationQuestion, raw_answers: Mapping[str, str]
) -> int:
    if not set(raw_answers) <= {CHOICE}:
        raise GenieError(
            gettext(
                "The page sent an answer to a question that is not in this test; reload "
                "the page."
            ),
            code="unknown-question",
        )
    raw = raw_answers.get(CHOICE, "").strip()
    if not raw:
        raise GenieError(gettext("Please choose an answer."), code="answer-missing")
    if raw not in {str(index) for index in range(len(question.answers))}:
        raise GenieError(
            gettext("This is not one of the answers."), code="not-on-the-scale"
        )
    return int(raw)
