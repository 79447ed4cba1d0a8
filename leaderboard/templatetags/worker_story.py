from dataclasses import dataclass, field, replace
from typing import Any

from django import forms, template
from django.contrib.admin.models import LogEntry
from django.contrib.admin.sites import site
from django.urls import reverse

from crowd.hits.models import ELSEWHERE, Assignment
from crowd.templatetags.crowd_money import dollars
from crowd.workers.models.worker import Worker
from crowd.workers.services import exclusions
from genie.accounts.staff import staff_may
from genie.lib.staff_actions import Action
from leaderboard.tasks.models import Task
from quality.appeals.models import Appeal
from quality.bans.admin import IMPOSE
from quality.bans.models import Ban, HeldExclusion
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


@dataclass(frozen=True)
class Card:
    """An action on the worker's page, with its form."""

    act: Action
    url: str
    form: forms.Form
    about: str = ""
    # slug and title of the tasks to choose from
    pools: list[tuple[str, str]] = field(default_factory=list)


@register.simple_tag
def standing_of(worker: Worker) -> list[str]:
    """Return why the worker gets no work, a sentence for each reason."""
    held = {one.pool_id: one.why for one in _held_exclusions(worker)}
    since = "{} since {:%Y-%m-%d %H:%M}: {}"
    told = [
        since.format(
            f"Paused on {_title(one.pool_id)}",
            one.created_at,
            held.get(one.pool_id, "Their answers are being checked."),
        )
        for one in worker.pauses.all()
    ]
    reasons = dict(Ban.in_force.filter(worker=worker).values_list("pool", "reason"))
    told += [
        since.format(
            f"Banned from {_title(one.pool_id)}",
            one.created_at,
            reasons.get(one.pool_id, one.message),
        )
        for one in worker.exclusions.all()
    ]
    if worker.excluded and worker.platform != ELSEWHERE:
        told.append(f"Excluded from all work. {exclusions.notice_of(worker).text}")
    return told


@register.simple_tag(takes_context=True)
def cards_for(context: template.RequestContext, worker: Worker) -> list[Card]:
    request = context["request"]
    rows = [*_held_exclusions(worker), *Ban.in_force.filter(worker=worker), worker]
    cards: list[Card] = []
    for row in rows:
        of: Any = site.get_model_admin(type(row))
        stem = f"admin:{of.opts.app_label}_{of.opts.model_name}"
        about = _title(row.pool_id) if row is not worker else ""
        cards += [
            _card(act, reverse(f"{stem}_{act.path}", args=[row.pk]), about, len(cards))
            for act in of.buttons_of(request, row)
        ]
    if pools := _pools_to_ban_from(request.user, worker):
        url = reverse("admin:quality_ban_impose", args=[worker.pk])
        cards.append(replace(_card(IMPOSE, url, "", len(cards)), pools=pools))
    return cards


def _card(act: Action, url: str, about: str, n: int) -> Card:
    # fields of several forms on a page must not share their names
    return Card(act, url, act.form(auto_id=f"{act.name}-{n}-%s"), about)


def _pools_to_ban_from(user: Any, worker: Worker) -> list[tuple[str, str]]:
    done = Assignment.objects.filter(worker=worker).order_by("-pk")
    pools = dict.fromkeys(done.values_list("hit__campaign__pool", flat=True))
    banned = set(Ban.in_force.filter(worker=worker).values_list("pool", flat=True))
    return [
        (pool, _title(pool))
        for pool in pools
        if pool not in banned and staff_may(user, "quality.add_ban", pool)
    ]


def _held_exclusions(worker: Worker) -> Any:
    held = HeldExclusion.objects.filter(worker=worker, state=Ban.State.PROPOSED)
    return held.select_related("verdict__fit")


def _title(pool: str) -> str:
    task = Task.objects.filter(slug=pool).only("title").first()
    return task.title if task else pool


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
            _title(record.pool.pk if record.pool else ""),
            tally.polarity,
            f"{tally.right:,} of {tally.n_asked:,}",
            f"{tally.verdict.p_noisy:.4f}" if tally.verdict else "not decided yet",
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
            _title(ban.pool_id),
            ban.created_by or "the detector",
            ban.reason,
            f"{ban.lifted_at:%Y-%m-%d %H:%M}" if ban.lifted_at else "in force",
        )
        for ban in bans.order_by("-pk")[:N_SHOWN]
    ]
    head = ("Since", "Task", "By", "Reason", "Lifted")
    return Part("Bans", head, rows, _text_of("quality_ban", worker))


def _appeals(worker: Worker) -> Part:
    appeals = Appeal.objects.filter(worker=worker).order_by("-pk")[:N_SHOWN]
    rows = [
        (
            f"{appeal.created_at:%Y-%m-%d %H:%M}",
            _title(appeal.pool_id) if appeal.pool_id else "",
            appeal.words,
            appeal.get_state_display(),
        )
        for appeal in appeals
    ]
    head = ("When", "Task", "The worker's statement", "State")
    return Part("Appeals", head, rows, _text_of("quality_appeal", worker))


def _grants(worker: Worker) -> Part:
    rows = [
        (
            one.name,
            f"{one.granted_at:%Y-%m-%d %H:%M}",
            f"{until:%Y-%m-%d}" if (until := one.ended_at or one.expires_at) else "–",
        )
        for one in worker.qualification_grants.order_by("-pk")
    ]
    head = ("Name", "Since", "Until")
    return Part(
        "Qualifications", head, rows, _text_of("crowd_qualificationgrant", worker)
    )


def _messages(worker: Worker) -> Part:
    rows = [
        (f"{one.created_at:%Y-%m-%d %H:%M}", one.subject, "read" if one.read_at else "")
        for one in worker.messages.order_by("-pk")[:N_SHOWN]
    ]
    head = ("Sent", "Subject", "Read")
    return Part("Messages", head, rows, _text_of("crowd_message", worker))


@register.simple_tag
def work_of(worker: Worker) -> Part:
    """Return the newest assignments, each after its key."""
    newest = Assignment.objects.filter(worker=worker).select_related("hit__campaign")
    rows = [
        (
            one.pk,
            f"{one.submitted_at:%Y-%m-%d %H:%M}" if one.submitted_at else "open",
            one.hit.campaign.title,
            one.get_state_display(),
            dollars(one.reward_cents),
            "–" if one.active_seconds is None else f"{one.active_seconds:.1f} s",
        )
        for one in newest.order_by("-pk")[:N_SHOWN]
    ]
    head = ("Submitted", "Campaign", "State", "Reward", "Active time")
    return Part("Work", head, rows, _text_of("crowd_assignment", worker))


def _text_of(name: str, worker: Worker) -> str:
    return f"{reverse(f'admin:{name}_changelist')}?worker__id__exact={worker.pk}"


_PARTS = (
    ("quality.view_grade", _tests),
    ("quality.view_ban", _bans),
    ("quality.view_appeal", _appeals),
    ("crowd.view_qualificationgrant", _grants),
    ("crowd.view_message", _messages),
)
