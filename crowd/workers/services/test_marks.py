"""Whether an answer to a qualification test's question is right.

A question's `expected` says what is: `choice` is the number of the right line of a
question that was written by hand; of a drawn one `slot` is the output that must be
preferred, and `good` whether the text must be rated above the `threshold` (the scale's
own where none is given), on `criteria` where not all of them can be marked. Drawn ones
are marked like hidden test questions (`crowd.workers.services.known_answers`).
"""

from collections.abc import Mapping

from django.utils.translation import gettext

from crowd.hits.models.campaign import HITType, Item
from crowd.hits.services.check_answers import ratings_of
from crowd.scales.find import all_scales
from crowd.workers.models.qualification_test import QualificationQuestion
from crowd.workers.services.known_answers import agrees
from genie.lib.errors import GenieError

CHOICE = "choice"


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
    raw_answers: Mapping[str, str],
) -> bool:
    """Check an answer as a HIT's is checked, then mark it.

    Raises
    ------
    GenieError
        ``answer-missing``, ``not-on-the-scale``, ``unknown-question`` or
        ``unusable-spans`` for what the page cannot send.
    """
    if question.data is None or hit_type is None:
        return _chosen(question, raw_answers) == int(question.expected[CHOICE])
    ratings = ratings_of(hit_type, as_item(question), raw_answers)
    # ticks beside the ratings are not marked
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
