"""Qualification tests drawn from a task, and the task's requirements of workers."""

from collections.abc import Mapping
from itertools import islice

from django.db import transaction

from crowd.elsewhere.services import attested
from crowd.hits.models import Campaign
from crowd.workers.models.qualification_test import (
    QualificationQuestion,
    QualificationTest,
)
from crowd.workers.services import qualification_tests, requirements
from genie.lib.errors import GenieError
from leaderboard.evaluation.services.hidden.references import reference_questions
from leaderboard.tasks.config import QualificationConfig
from leaderboard.tasks.models import Instance, Task
from leaderboard.tasks.services.configuration import (
    check_test,
    has_references,
    hit_type_of,
    stated_requirements,
    study_of,
)
from quality.test_questions.models import Polarity
from quality.test_questions.services import HiddenItem

N_QUESTIONS = QualificationConfig().n
TITLE = "A short test: {}"
LEAST = 2


def draw_test(
    task: Task,
    n: int = N_QUESTIONS,
    seed: int | None = None,
    *,
    rules: Mapping[str, int | None] | None = None,
) -> QualificationTest:
    """Draw a draft of `n` questions outside of the rated sample; half are wrong.

    The questions look like the task's HITs: a reference in place of a prediction is
    right, another instance's reference is wrong. By default, the seed is made with the
    site's secret; it is stored.

    Raises GenieError ``too-few-references`` or, for less than two,
    ``too-few-questions``.
    """
    if n < LEAST:
        raise GenieError(
            f"A test needs at least {LEAST} questions, one positive and one negative.",
            code="too-few-questions",
        )
    version = qualification_tests.next_version(task.slug)
    if seed is None:
        seed = qualification_tests.seed_of(task.slug, version)
    human = task.human
    # If each criterion has a separate campaign, one test on the first serves all.
    criteria = human.separate()[0]
    drawn = reference_questions(
        task,
        human,
        criteria,
        training_instances(task, n),
        campaign_key=f"qualification:{task.slug}:{version}",
        n_positive=n - n // 2,
        n_negative=n // 2,
        seed=seed,
    )
    with transaction.atomic():
        test = qualification_tests.draft(
            QualificationTest(
                name=task.slug,
                pool_id=task.slug,
                title=TITLE.format(task.title),
                **(rules or {}),
            ),
            [_question(item) for item in drawn],
            hit_type_of(task, human, criteria),
        )
        QualificationTest.objects.filter(pk=test.pk).update(seed=seed)
    test.refresh_from_db()
    return test


def training_instances(task: Task, n: int) -> list[Instance]:
    """Return instances with references outside of the rated sample.

    They come from the end of the order opposite to a campaign's test questions.
    """
    rows = (
        task.instances.filter(sample_rank__gte=task.sample_size)
        .exclude(references=[])
        .order_by("-sample_rank")
        .iterator(chunk_size=100)
    )
    # One more than requested: a wrong answer is another instance's right answer.
    instances = list(islice(filter(has_references, rows), n + 1))
    if len(instances) < n:
        raise GenieError(
            f"{task.title} has {len(instances)} instances with references outside "
            f"the sample for human evaluation, but a test of {n} questions needs "
            f"{n}.",
            code="too-few-references",
        )
    return instances


def _question(item: HiddenItem) -> QualificationQuestion:
    expected = dict(item.expected)
    if "slot" not in expected:
        expected["good"] = item.polarity == Polarity.POSITIVE
    return QualificationQuestion(
        data=dict(item.spec.data),
        expected=expected,
        content_key=item.spec.content_key,
    )


def ensure(task: Task) -> str:
    """Return the name of the test that the task requires; empty for none.

    Without a version in use, one is drawn and published. Call it before a campaign's
    test questions are drawn, because they use different inputs.
    """
    config = task.human.qualification_test
    if config is None:
        return ""
    if config.name:
        check_test(task.human)
        return config.name
    with transaction.atomic():
        # Of two campaigns that start at once only one draws a test.
        Task.objects.select_for_update(of=("self",)).get(pk=task.pk)
        in_use = QualificationTest.objects.filter(
            name=task.slug, state=QualificationTest.State.PUBLISHED
        )
        if not in_use.exists():
            drawn = draw_test(task, config.n, rules=config.rules())
            qualification_tests.publish(drawn.pk)
    return task.slug


def require_of(task: Task, campaign: Campaign) -> None:
    """Store the requirements within the transaction that creates the campaign."""
    requirements.of_campaign(
        campaign, stated_requirements(task.human), test_name=ensure(task)
    )
    if campaign.platform == task.human.platform:
        attested.keep_terms(campaign, study_of(task.human))
