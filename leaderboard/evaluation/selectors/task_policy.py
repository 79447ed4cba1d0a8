"""Requirements for raters of a task, and results of quality control so far."""

from dataclasses import dataclass

from django.db.models import Count, Q

from crowd.workers.models.qualification_test import QualificationTest
from crowd.workers.models.requirement import Requirement
from leaderboard.tasks.models import Task
from quality.bans.models import Ban
from quality.test_questions.models import Grade

Kind = Requirement.Kind


@dataclass(frozen=True)
class Control:
    """Figures of a task's whole pool; programs are counted separately."""

    n_workers: int
    n_asked: int
    n_wrong: int
    n_banned: int
    simulated: bool

    @property
    def percent_wrong(self) -> float:
        return 100 * self.n_wrong / self.n_asked if self.n_asked else 0.0


def control(task: Task) -> list[Control]:
    """Count test questions and exclusions, people first; two queries."""
    rows = (
        Grade.objects.filter(pool=task.slug)
        .order_by()
        .values_list("worker__simulated")
        .annotate(
            workers=Count("worker", distinct=True),
            n=Count("pk"),
            wrong=Count("pk", filter=Q(correct=False)),
        )
    )
    banned = dict(
        Ban.in_force.filter(pool=task.slug)
        .order_by()
        .values_list("worker__simulated")
        .annotate(n=Count("pk"))
    )
    return [
        Control(workers, n, wrong, banned.get(simulated, 0), simulated)
        for simulated, workers, n, wrong in sorted(rows)
    ]


def requirements(task: Task) -> list[str]:
    needs = list(Requirement.objects.filter(pool=task.slug).order_by("pk"))
    if not needs:
        return []
    tests = {
        test.name: test
        for test in QualificationTest.objects.filter(
            pool=task.slug, state=QualificationTest.State.PUBLISHED
        )
    }
    return [_words(requirement, tests) for requirement in needs]


def _words(requirement: Requirement, tests: dict[str, QualificationTest]) -> str:
    if requirement.kind == Kind.APPROVED:
        return f"at least {requirement.at_least:,} approved HITs"
    if requirement.kind == Kind.APPROVED_PERCENT:
        return f"an approval rate of at least {requirement.at_least}%"
    if requirement.kind == Kind.COUNTRY:
        return f"lives in one of: {requirement.countries}"
    if requirement.kind == Kind.LANGUAGE:
        return f"speaks one of: {requirement.languages}"
    test = tests.get(requirement.test_name)
    if test is None:
        return f"has passed the test “{requirement.test_name}”"
    tries = "1 attempt" if test.n_tries == 1 else f"{test.n_tries} attempts"
    sentence = (
        f"has passed the test “{test.title}”: {test.pass_percent}% of its questions, "
        f"{tries}"
    )
    if test.n_tries == 1 or not test.wait_hours:
        return sentence
    hours = "1 hour" if test.wait_hours == 1 else f"{test.wait_hours} hours"
    return f"{sentence}, {hours} between them"
