from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone

from crowd.campaigns.services.more_answers import ask_for_more
from crowd.campaigns.services.reissue import without_shortage
from crowd.campaigns.services.run import (
    BAD_CROWD,
    HELD_BY_SHARES,
    HERE,
    STARVED,
    TOO_FAST,
    UNDERPAID,
)
from crowd.campaigns.services.work import release
from crowd.hits.models import Campaign
from crowd.messages.models import Message
from crowd.messages.services import send, send_by_mail_too
from crowd.workers.models.worker import Invitation, Worker
from crowd.workers.services.invitations import invite
from genie.accounts.staff import staff_may
from genie.lib.admin import person
from genie.lib.staff_actions import Action
from genie.lib.typing import Account
from leaderboard.evaluation.services.fit_pieces import board_without
from leaderboard.monitoring import charts
from leaderboard.monitoring.over_time import over_time
from leaderboard.monitoring.selectors import (
    UNDER_WAY,
    open_here,
    raters,
    raters_of,
    studies,
    unopened_links,
    watch_campaigns,
)
from leaderboard.submissions.selectors import Staff
from leaderboard.tasks.models import Task
from quality.bans.admin import impose
from quality.bans.models import Ban
from quality.bans.services import lift


# Solutions of a campaign's notices: buttons or pages.
@dataclass(frozen=True)
class Solution:
    label: str
    action: str = ""
    url: str = ""


def solutions(campaign: Campaign, viewer: object) -> list[Solution]:
    """Return the solutions of the campaign's notices that the viewer may use."""
    notice, found = campaign.notice, []
    if without_shortage(notice) != notice:
        found.append(Solution("Add money …", action="add_money_selected"))
    if UNDERPAID in notice:
        found.append(Solution("Top up low pay …", action="make_up_selected"))
        found.append(Solution("Change the reward …", action="change_reward_selected"))
    if HELD_BY_SHARES in notice:
        lift = Solution("Lift the limit per worker …", action="lift_share_selected")
        found.append(lift)
    if not staff_may(viewer, "crowd.change_campaign", campaign.pool_id):
        found = []
    for sentences, label, permission, page, parameter in _PAGES:
        pool = campaign.pool_id if parameter else None
        if any(one in notice for one in sentences) and staff_may(
            viewer, permission, pool
        ):
            query = f"?{urlencode({parameter: pool})}" if parameter else ""
            found.append(Solution(label, url=f"{reverse(f'admin:{page}')}{query}"))
    return found


_STARVED = (STARVED, HELD_BY_SHARES)
# sentences, label, permission, page, its parameter with the pool: "" for the site's
_PAGES: tuple[tuple[tuple[str, ...], str, str, str, str], ...] = (
    (_STARVED, "Invite workers", "crowd.add_invitation", "crowd_invitation_add", ""),
    (
        _STARVED,
        "See the requirements",
        "crowd.view_requirement",
        "crowd_requirement_changelist",
        "pool__slug__exact",
    ),
    (
        (TOO_FAST, BAD_CROWD),
        "Check the workers",
        "quality.view_grade",
        "quality_grade_changelist",
        "pool",
    ),
    (
        (BAD_CROWD,),
        "Check the test questions",
        "quality.view_retiredquestion",
        "quality_retiredquestion_changelist",
        "campaign__pool__slug__exact",
    ),
)


# Older campaigns are in the list of campaigns.
MOST = 500
MAY_WORK, MAY_INVITE = "crowd.change_campaign", "crowd.add_invitation"


def study_page(model_admin: Any, request: HttpRequest, task: Task) -> HttpResponse:
    """Show the work on a task by study and by person, and act on it."""
    if not staff_may(request.user, "crowd.view_campaign", task.slug):
        raise PermissionDenied
    act, link = request.POST.get("act", ""), ""
    if act == "add":
        link = _link(request, task)
    elif act:
        (_act if act in _ACTS else _decide)(model_admin, request, task, act)
        return redirect(request.path)
    rows = (
        Campaign.objects.filter(pool=task.slug)
        .select_related("hit_type")
        .annotate(runs=Q(state__in=UNDER_WAY))
        .order_by("-runs", "-pk")
    )
    shown = _draw_campaigns(rows[:MOST])
    campaigns = [one["row"].campaign for one in shown]
    people = raters(task.slug, campaigns)
    paid = task.human.reward_cents or any(
        one.hit_type.reward_cents or one.platform != HERE for one in campaigns
    )
    without = sum(_numbers(request.GET, "without"))
    context = {
        **model_admin.admin_site.each_context(request),
        "opts": model_admin.opts,
        "title": f"Progress of {task.title}",
        "task": task,
        "studies": [
            (one, _buttons(model_admin.admin_site, request, one["evaluations"]))
            for one in studies(task, [one["row"] for one in shown])
        ],
        "people": people,
        "unopened": unopened_links(task.slug),
        "link": link,
        "may": {
            name: staff_may(request.user, permission, task.slug)
            for name, (permission, *_) in _ACTS.items()
        },
        "may_add": staff_may(request.user, MAY_WORK, task.slug)
        and staff_may(request.user, Staff.IMPORT_TASKS)
        and not task.imported,
        "may_invite": (may_invite := staff_may(request.user, MAY_INVITE)),
        "named": may_invite or staff_may(request.user, "crowd.view_worker"),
        "without": next((one for one in people if one["worker"].pk == without), None),
        "compared": board_without(task, without) if without else [],
        "paid": paid,
        "campaigns": [
            {**one, "solutions": solutions(one["row"].campaign, request.user)}
            for one in shown
            if paid
        ],
        # Its entries are about paid crowds.
        "is_nav_sidebar_enabled": False,
    }
    return TemplateResponse(request, "admin/leaderboard/task/study.html", context)


def _numbers(sent: QueryDict, name: str) -> list[int]:
    return [int(n) for n in sent.getlist(name) if n.isdecimal() and len(n) < 10]


def _link(request: HttpRequest, task: Task) -> str:
    if not staff_may(request.user, MAY_INVITE):
        raise PermissionDenied
    # A link to a task's work would close it to workers who have none.
    closed = Invitation.objects.filter(pool=task.slug).exists()
    token = invite(
        person(request),
        request.POST.get("name", "").strip(),
        days=30,
        pool=task.slug if closed else None,
        limited_to=[] if closed else [task.slug],
    )
    return request.build_absolute_uri(reverse("work:invitation", args=[token]))


def _act(model_admin: Any, request: HttpRequest, task: Task, name: str) -> None:
    permission, rows, service, history = _ACTS[name]
    if not staff_may(request.user, permission, task.slug):
        raise PermissionDenied
    act = Action(name, "", service=service, history=history, done="Done: {n}.")
    chosen = rows(task.slug).filter(pk__in=_numbers(request.POST, "row"))
    sent, reason = request.POST, request.POST.get("reason", "")
    n = act.act(model_admin, request, chosen, task=task, sent=sent, reason=reason)
    act.report(model_admin, request, n, len(chosen))


def _decide(model_admin: Any, request: HttpRequest, task: Task, name: str) -> None:
    rows = task.human_evaluations.filter(pk__in=_numbers(request.POST, "row"))
    for subject in [evaluation.specific.listed_as for evaluation in rows]:
        of = model_admin.admin_site.get_model_admin(type(subject))
        own = of.get_queryset(request).filter(pk=subject.pk)
        for act in of.buttons_of(request, subject):
            if act.path == name and act(of, request, own) is not None:
                of.message_user(request, "Give a reason.", messages.ERROR)


def _buttons(site: Any, request: HttpRequest, rows: Iterable[Any]) -> set[str]:
    return {
        act.path
        for subject in [one.specific.listed_as for one in rows]
        for act in site.get_model_admin(type(subject)).buttons_of(request, subject)
    }


def _remind(rater: Worker, by: Account, task: Task, **_: Any) -> None:
    subject = f"{task.title}: some texts are still waiting for your rating"
    text = "Open your list of tasks to continue. Thank you for your help!"
    send_by_mail_too(send(rater, Message.Kind.STAFF, subject, text, pool=task.slug))


def _more(part: Campaign, by: Account, sent: QueryDict, reason: str, **_: Any) -> None:
    # Only unpaid work: the price of other work is shown before.
    more, shown = (sum(_numbers(sent, name)) for name in ("more", f"shown-{part.pk}"))
    ask_for_more(part.pk, more, shown=shown, agreed_cents=0, by=by, reason=reason)


# Permission on the task, the rows that it may be of, what is done, and its history
# unless the service writes it.
_ACTS: dict[str, tuple[str, Any, Callable[..., object], str]] = {
    "release": (MAY_WORK, open_here, lambda row, by, **_: release(row, by=by), ""),
    "remind": (MAY_WORK, raters_of, _remind, "Reminded of {task}."),
    "more": (MAY_WORK, lambda pool: Campaign.objects.filter(pool=pool), _more, ""),
    "leave_out": (
        "quality.add_ban",
        raters_of,
        lambda row, by, reason, task, **_: impose(row, by, reason, task.slug),
        "",
    ),
    "lift": (
        "quality.change_ban",
        lambda pool: Ban.in_force.filter(pool=pool),
        lambda row, by, reason, **_: lift(row.pk, by=by, reason=reason),
        "Ban lifted: {reason}",
    ),
}


def of_campaign(campaign: Campaign, viewer: object) -> dict[str, Any]:
    course = over_time(campaign)
    return {
        **_draw_campaigns([campaign])[0],
        "over_time": course,
        "lines": charts.lines(course),
        "solutions": solutions(campaign, viewer),
    }


def _draw_campaigns(campaigns: Any) -> list[dict[str, Any]]:
    rows = watch_campaigns(campaigns, timezone.now())
    return [{"row": row, "spending": charts.draw_spending(row)} for row in rows]
