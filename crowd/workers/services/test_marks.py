"""Check answers to the questions of a qualification test.

A question's `expected` has the right answer: for a written one, `choice` is the number
of the right line; for a drawn one, `slot` is the output that must be preferred, and
`good` whether the text must be rated above the `threshold` (by default the scale's), on
`criteria` (by default all). Drawn ones are marked like hidden test questions
(`crowd.workers.services.known_answers`).
"""

from collections.abc import Mapping

from django.utils.translation import gettext

from crowd.hits.models import HITType, Item
from crowd.hits.services.check_answers import ratings_of
from crowd.scales.find import all_scales
from crowd.workers.models.qualification_test import QualificationQuestion
from crowd.workers.services.known_answers import agrees
from genie.lib.errors import GenieError

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
        return _chosen(question, raw_answers) == int(question.expected[CHOICE])
    ratings = ratings_of(hit_type, as_item(question), raw_answers)
    # Checkboxes next to the ratings are not marked.
    rated = [rating for rating in ratings if rating.criterion in hit_type.criteria]
    return agrees(
        rated,
        question.expected,
        good=bool(question.expected.get("good", True)),
        threshold=all_scales()[hit_type.scale].binary_threshold,
    )


def _chosen(question: QualificationQuestion, raw_answers: Mapping[str, str]) -> int:
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
