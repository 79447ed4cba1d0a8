from dataclasses import dataclass
from typing import Any

from django import template
from django.contrib.admin.models import LogEntry
from django.urls import reverse

from crowd.hits.models import Assignment
from crowd.templatetags.crowd_money import dollars
from crowd.workers.models.worker import Worker
from genie.accounts.staff import staff_may
from quality.appeals.models import Appeal
from quality.bans.models import Ban
from quality.detection.admin import records
from quality.test_questions.models import Grade

register = template.Library()

N_SHOWN = 10


@dataclass(frozen=True)
class Part:
    title: str
    head: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    url: str = ""


@register.simple_tag(takes_context=True)
def story_of(context: template.RequestContext, worker: Worker) -> list[Part]:
    user = context["request"].user
    parts = [("crowd.view_worker", _notes), *_PARTS]
    return [give(worker) for needed, give in parts if staff_may(user, needed)]


def _notes(worker: Worker) -> Part:
    entries = LogEntry.objects.filter(
        content_type__app_label="crowd",
        content_type__model="worker",
        object_id=str(worker.pk),
    ).select_related("user")
    rows = [
        (f"{entry.action_time:%Y-%m-%d %H:%M}", entry.user, entry.get_change_message())
        for entry in entries[:N_SHOWN]
    ]
    url = reverse("admin:crowd_worker_history", args=[worker.pk])
    return Part("Notes and decisions", ("When", "Who", "What"), rows, url)


def _tests(worker: Worker) -> Part:
    tested = Grade.objects.filter(worker=worker).values_list("worker", "pool")
    rows = [
        (
            record.pool,
            tally.polarity,
            f"{tally.right:,} of {tally.n_asked:,}",
            f"{tally.verdict.p_noisy:.4f}" if tally.verdict else "no verdict yet",
        )
        for record in records(tested.order_by("pool_id").distinct())
        for tally in record.tallies
        if tally.n_asked
    ]
    head = ("Task", "Polarity", "Right", "P(noisy)")
    url = reverse("admin:quality_grade_worker", args=[worker.pk])
    return Part("Test questions", head, rows, url)


def _bans(worker: Worker) -> Part:
    bans = Ban.objects.filter(worker=worker).select_related("created_by")
    rows = [
        (
            f"{ban.created_at:%Y-%m-%d %H:%M}",
            ban.pool_id,
            ban.created_by or "the detector",
            ban.reason,
            f"{ban.lifted_at:%Y-%m-%d %H:%M}" if ban.lifted_at else "in force",
        )
        for ban in bans.order_by("-pk")[:N_SHOWN]
    ]
    head = ("Since", "Task", "By", "Reason", "Lifted")
    return Part("Bans", head, rows, _of("quality_ban", worker))


def _appeals(worker: Worker) -> Part:
    appeals = Appeal.objects.filter(worker=worker).order_by("-pk")[:N_SHOWN]
    rows = [
        (
            f"{appeal.created_at:%Y-%m-%d %H:%M}",
            appeal.pool_id or "",
            appeal.words,
            appeal.get_state_display(),
        )
        for appeal in appeals
    ]
    head = ("When", "Task", "What the worker says", "State")
    return Part("Appeals", head, rows, _of("quality_appeal", worker))


def _work(worker: Worker) -> Part:
    newest = Assignment.objects.filter(worker=worker).select_related("hit__campaign")
    rows = [
        (
            f"{one.submitted_at:%Y-%m-%d %H:%M}" if one.submitted_at else "open",
            one.hit.campaign.title,
            one.get_state_display(),
            dollars(one.reward_cents),
            "–" if one.active_seconds is None else f"{one.active_seconds:.1f} s",
        )
        for one in newest.order_by("-pk")[:N_SHOWN]
    ]
    head = ("Submitted", "Campaign", "State", "Reward", "Active time")
    return Part("Work", head, rows, _of("crowd_assignment", worker))


def _of(name: str, worker: Worker) -> str:
    return f"{reverse(f'admin:{name}_changelist')}?worker__id__exact={worker.pk}"


_PARTS = (
    ("quality.view_grade", _tests),
    ("quality.view_ban", _bans),
    ("quality.view_appeal", _appeals),
    ("crowd.view_assignment", _work),
)
