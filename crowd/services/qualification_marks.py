"""Whether an answer to a qualification test's question is right.

A question's `expected` says what is: `choice` is the number of the right line of a
question that was written by hand; of a drawn one `slot` is the output that must be
preferred, and `good` whether the text must be rated above the `threshold` (the scale's
own where none is given), on `criteria` where not all of them can be marked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crowd.models import HITType, Item, QualificationQuestion
from crowd.scales.base import all_scales
from crowd.services.answers import Rating, ratings_of
from genie.lib.errors import GenieError

CHOICE = "choice"
MIDDLE = 0.5
FIRST_SLOT = "A"


def as_item(question: QualificationQuestion) -> Item:
    """Give a drawn question as an item that is stored nowhere, to be shown as one.

    Its key is no stored item's: whoever looks for it among them finds nothing.
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
    given: Mapping[str, str],
) -> bool:
    """Check an answer as a HIT's is checked, then mark it.

    Raises
    ------
    GenieError
        ``answer-missing``, ``not-on-the-scale``, ``unknown-question`` or
        ``unusable-spans`` for what the page cannot send.
    """
    if question.data is None or hit_type is None:
        return _chosen(question, given) == int(question.expected[CHOICE])
    ratings = ratings_of(hit_type, as_item(question), given)
    threshold = all_scales()[hit_type.scale].binary_threshold
    asked = set(question.expected.get("criteria") or hit_type.criteria)
    counted = [one for one in ratings if one.criterion in asked]
    return _agrees(counted, question.expected, threshold)


def _chosen(question: QualificationQuestion, given: Mapping[str, str]) -> int:
    if not set(given) <= {CHOICE}:
        raise GenieError(
            "The page sent an answer to a question that this test does not ask; load "
            "it again.",
            code="unknown-question",
        )
    raw = given.get(CHOICE, "").strip()
    if not raw:
        raise GenieError("Please choose an answer.", code="answer-missing")
    if raw not in {str(index) for index in range(len(question.answers))}:
        raise GenieError("This is none of the answers.", code="not-on-the-scale")
    return int(raw)


def _agrees(
    ratings: list[Rating], expected: Mapping[str, Any], threshold: float
) -> bool:
    mean = sum(one.value for one in ratings) / len(ratings)
    if "slot" in expected:
        # values speak for the first slot; a tie prefers nobody
        first = expected["slot"] == FIRST_SLOT
        return mean > MIDDLE if first else mean < MIDDLE
    good = mean > float(expected.get("threshold", threshold))
    return good is bool(expected["good"])
