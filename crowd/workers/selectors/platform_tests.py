"""Our qualification tests on other platforms: multiple choice, graded there."""

from collections.abc import Mapping
from typing import Any

from crowd.hits.models import HITType
from crowd.platforms.demands import Choice, FormQuestion, QualifyingTest
from crowd.scales.find import all_scales
from crowd.workers.models.qualification_test import (
    QualificationQuestion,
    QualificationTest,
)
from genie.lib.errors import GenieError

SECONDS_PER_HOUR = 3600


def graded_elsewhere(name: str) -> QualifyingTest:
    """Return the current version of a test.

    Raises
    ------
    GenieError
        ``no-such-test`` if there is none, ``test-stays-here`` if a question is not a
        single choice.
    """
    test = (
        QualificationTest.objects.filter(
            name=name, state=QualificationTest.State.PUBLISHED
        )
        .select_related("hit_type")
        .first()
    )
    if test is None:
        raise GenieError(
            f"No version of the qualification test {name!r} is in use.",
            code="no-such-test",
        )
    questions = [
        _form_question(question, test.hit_type)
        for question in test.questions.order_by("position", "pk")
    ]
    if test.n_asked:
        questions = questions[: test.n_asked]
    return QualifyingTest(
        name=f"{test.title} ({test.name}, version {test.version})",
        introduction=test.introduction,
        pass_percent=test.pass_percent,
        questions=questions,
        retry_seconds=(
            None if test.n_tries == 1 else test.wait_hours * SECONDS_PER_HOUR
        ),
    )


def _form_question(
    question: QualificationQuestion, hit_type: HITType | None
) -> FormQuestion:
    if question.data is None or hit_type is None:
        choices = [
            Choice(str(index), text) for index, text in enumerate(question.answers)
        ]
        right = [str(int(question.expected["choice"]))]
        return FormQuestion(f"q{question.pk}", question.text, choices, right)
    return _drawn(question, hit_type)


def _drawn(question: QualificationQuestion, hit_type: HITType) -> FormQuestion:
    scale = all_scales()[hit_type.scale]
    data: Mapping[str, Any] = question.data or {}
    one_text = isinstance(data.get("prediction"), str)
    if (
        scale.compares
        or not scale.options
        or not one_text
        or len(hit_type.criteria) > 1
    ):
        raise GenieError(
            "Qualification tests with comparisons, numbers or several ratings can "
            "only be taken on this site.",
            code="test-stays-here",
        )
    parts = [f"{field['label']}: {field['text']}" for field in data.get("fields", ())]
    parts += [f"To be rated: {data['prediction']}", *hit_type.criteria.values()]
    line = float(question.expected.get("threshold", scale.binary_threshold))
    good = bool(question.expected["good"])
    return FormQuestion(
        f"q{question.pk}",
        "\n\n".join(parts),
        [Choice(option.raw, option.label) for option in scale.options],
        [option.raw for option in scale.options if (option.value > line) is good],
    )
