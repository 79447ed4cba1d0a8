"""Qualification tests drawn from a task, and what its campaigns require of workers."""

from collections.abc import Mapping
from itertools import islice

from django.db import transaction

from crowd.elsewhere.services import attested
from crowd.hits.models.campaign import Campaign
from crowd.workers.models.qualification_test import QualificationTest
from crowd.workers.services import qualification_tests, requirements
from crowd.workers.services.qualification_tests import QuestionSpec, TestSpec
from genie.lib.errors import GenieError
from leaderboard.evaluation.services.hidden.known import known
from leaderboard.tasks.config import QualificationConfig
from leaderboard.tasks.models import Instance, Task
from leaderboard.tasks.services import worker_requirements
from leaderboard.tasks.services.configuration import has_references, hit_type_of
from quality.test_questions.models import Polarity
from quality.test_questions.services.inject import HiddenItem

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
    """Draw `n` questions from what nobody judges, as a draft; half of them are wrong.

    The questions look like the task's HITs: a reference in place of a prediction is
    right, another instance's reference is wrong. The seed is made with the site's secret
    and stored; another one can be given.

    Raises
    ------
    GenieError
        ``too-few-references`` where the task has fewer instances with references
        outside the judged sample, ``too-few-questions`` for less than two.
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
    # Where each criterion has its own campaign, one test on the first serves all.
    criteria = human.separate()[0]
    drawn = known(
        task,
        human,
        criteria,
        training_instances(task, n),
        campaign_key=f"qualification:{task.slug}:{version}",
        n_positive=n - n // 2,
        n_negative=n // 2,
        seed=seed,
    )
    spec = TestSpec(
        name=task.slug,
        pool=task.slug,
        title=TITLE.format(task.title),
        rules=rules or {},
    )
    with transaction.atomic():
        test = qualification_tests.draft(
            spec,
            [_question(item) for item in drawn],
            hit_type_of(task, human, criteria),
        )
        QualificationTest.objects.filter(pk=test.pk).update(seed=seed)
    test.refresh_from_db()
    return test


def training_instances(task: Task, n: int) -> list[Instance]:
    """Give instances with references that are outside the judged sample.

    From the other end than a campaign's test questions, so that the two meet late.
    """
    rows = (
        task.instances.filter(sample_rank__gte=task.sample_size)
        .exclude(references=[])
        .order_by("-sample_rank")
        .iterator(chunk_size=100)
    )
    # One more than asked for: a wrong answer is another one's right answer.
    instances = list(islice(filter(has_references, rows), n + 1))
    if len(instances) < n:
        raise GenieError(
            f"{task.title} has {len(instances)} instances with references outside "
            f"the sample for human evaluation, but a test of {n} questions needs "
            f"{n}.",
            code="too-few-references",
        )
    return instances


def _question(item: HiddenItem) -> QuestionSpec:
    expected = dict(item.expected)
    if "slot" not in expected:
        expected["good"] = item.polarity == Polarity.POSITIVE
    return QuestionSpec(item.spec.data, expected, item.spec.content_key)


def ensure(task: Task) -> str:
    """Give the name of the test that the task's configuration asks for; empty for none.

    Where no version is in use, one is drawn and published. Call it before a campaign's
    test questions are drawn: they are made of other inputs.
    """
    config = task.human.qualification_test
    if config is None:
        return ""
    if config.name:
        return _in_use(config.name)
    with transaction.atomic():
        # Two campaigns that start at once draw one test.
        Task.objects.select_for_update(of=("self",)).get(pk=task.pk)
        in_use = QualificationTest.objects.filter(
            name=task.slug, state=QualificationTest.State.PUBLISHED
        )
        if not in_use.exists():
            drawn = draw_test(task, config.n, rules=config.rules())
            qualification_tests.publish(drawn.pk)
    return task.slug


def check(task: Task) -> None:
    """Refuse, before money is set aside, a test that the site does not have."""
    config = task.human.qualification_test
    if config is not None and config.name:
        _in_use(config.name)


def _in_use(name: str) -> str:
    """Refuse a test that nobody can take: nobody could work."""
    published = QualificationTest.State.PUBLISHED
    if not QualificationTest.objects.filter(name=name, state=published).exists():
        raise GenieError(
            f"There is no qualification test {name!r} in use.", code="no-such-test"
        )
    return name


def require_of(task: Task, campaign: Campaign) -> None:
    """Write down what the task requires of a campaign's workers.

    Callers open the transaction in which the campaign is built.
    """
    requirements.of_campaign(
        campaign, worker_requirements.stated(task.human), test_name=ensure(task)
    )
    if campaign.platform == task.human.platform:
        attested.keep_terms(campaign, worker_requirements.study_of(task.human))
