"""The methods behind a board: one page that answers a reader's questions."""

import re
from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.safestring import SafeString

from crowd import hit_templates
from crowd.pricing import hourly_cents
from crowd.scales.base import all_scales
from genie.lib.interval import Interval
from leaderboard.boards.selectors import certainty
from leaderboard.boards.selectors.certainty import (
    System,
    pools_of,
    ranked_pks,
    systems,
)
from leaderboard.boards.selectors.columns import metrics_of
from leaderboard.boards.selectors.history import newest_leads
from leaderboard.boards.selectors.judged import JUDGED_HELP, Judged, judged_of
from leaderboard.charts import HistogramLine, histogram
from leaderboard.evaluation.selectors.task_policy import control, requirements
from leaderboard.imports.selectors import with_published
from leaderboard.metric_runs.selectors import metric_words
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import is_published
from leaderboard.tasks.models import Task
from leaderboard.tasks.services.configuration import noisy_below
from leaderboard.tasks.services.load import versions_of
from quality.detection.models import ALL_EVIDENCE
from quality.test_questions.models import TestCheck

_LEADS = 50


@dataclass(frozen=True)
class Example:
    shown: SafeString
    questions: list[str]
    answers: list[str]


def guidelines(task: Task) -> SafeString:
    template = hit_templates.all_templates().get(task.asked.hit_template)
    if template is None:
        return SafeString("")
    return _below(template.instructions_of(task.asked.form(task.asked.criteria)))


def _below(page: SafeString) -> SafeString:
    # HIT templates begin with h1, as they are separate on workers' pages
    moved = re.sub(
        r"(</?h)([1-4])\b", lambda tag: f"{tag[1]}{int(tag[2]) + 2}", str(page)
    )
    # only the levels of already safe headings have changed
    return SafeString(moved)


def example(task: Task) -> Example | None:
    template = hit_templates.all_templates().get(task.asked.hit_template)
    if template is None:
        return None
    scale = all_scales().get(task.asked.scale)
    return Example(
        shown=template.render(template.example),
        questions=list(task.asked.criteria.values()),
        answers=[option.label for option in scale.options] if scale else [],
    )


def methods(request: HttpRequest, slug: str) -> HttpResponse:
    task = get_object_or_404(with_published(), slug=slug)
    human = task.human
    context = {
        "here": "tasks",
        "task": task,
        "versions": versions_of(task),
        "human": task.asked,
        "metrics": [metric_words(slug) for slug in metrics_of(task)],
        "guidelines": guidelines(task),
        "example": example(task),
        "control": control(task),
        "requirements": requirements(task),
        "hourly_cents": hourly_cents(human.reward_cents, human.expected_seconds),
        "positive_percent": f"{100 * human.positive_share:g}",
        "negative_percent": f"{100 * human.negative_share:g}",
        "threshold": settings.GENIE["BAN_THRESHOLD"],
        "all_evidence": task.detector == ALL_EVIDENCE,
        "noisy_below": [
            (kind.lower(), f"{100 * share:g}")
            for kind, share in noisy_below(human).items()
        ],
        "quota": task.configuration.quota,
        "criteria": [
            (one, _drawn_shares(one.shares), _helped_systems(task, one.criterion))
            for one in certainty.evidence_of(task)
        ],
        "judges_help": JUDGED_HELP,
        "hidden": hidden_tests(task),
        "pools": pools_of(task),
        "leads": newest_leads(task, _LEADS)[::-1],
    }
    return render(request, "leaderboard/boards/methods.html", context)


def _helped_systems(task: Task, criterion: str) -> list[tuple[System, Judged]]:
    if not task.configuration.judges.show:
        return []
    listed = systems(task, ranked_pks(task))
    found = judged_of(task, [system.pk for system in listed])
    return [
        (system, found[system.pk][criterion])
        for system in listed
        if criterion in found.get(system.pk, {})
    ]


def _drawn_shares(shares: certainty.Shares | None) -> list[HistogramLine]:
    if shares is None:
        return []
    lines = [
        ("Raters: some are stricter than others", shares.worker),
        ("Instances: some are harder than others", shares.instance),
        ("Everything else: taste, attention, chance", shares.rest),
    ]
    if shares.day is not None:
        lines.insert(2, ("Days: ratings are higher on some than on others", shares.day))
    if shares.system is not None:
        lines.insert(0, ("Systems: what the board measures", shares.system))
    return histogram(lines)


# How well the test questions of published results were hidden: only numbers.
@dataclass(frozen=True)
class HiddenTests:
    system: str
    n_tests: int
    auc: Interval
    # how well good texts differ from wrong ones
    key_auc: float | None
    start: str


def hidden_tests(task: Task) -> list[HiddenTests]:
    systems = Submission.objects.filter(
        is_published(),
        task=task,
        visibility=Submission.Visibility.PUBLIC,
        human_evaluation__test_check__isnull=False,
    ).select_related("human_evaluation__test_check")
    return [
        HiddenTests(
            system=system.system_name,
            n_tests=check.n_found,
            auc=Interval(check.auc, check.low, check.high),
            key_auc=check.key_auc,
            start=_start(check),
        )
        for system in systems.order_by("-human_evaluation__test_check")
        for check in [system.evaluation.test_check]
    ]


def _start(check: TestCheck) -> str:
    if check.accepted_at is not None:
        return "by decision of staff"
    return "programs answer" if check.refused else "allowed"
