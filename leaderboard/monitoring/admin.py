from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone

from crowd.campaigns.services.reissue import without_shortage
from crowd.campaigns.services.run import (
    BAD_CROWD,
    HELD_BY_SHARES,
    STARVED,
    TOO_FAST,
    UNDERPAID,
)
from crowd.hits.models import Campaign
from genie.accounts.staff import staff_may
from leaderboard.evaluation.models.human_evaluation import (
    EvaluationCampaign,
    HumanEvaluation,
)
from leaderboard.monitoring import charts
from leaderboard.monitoring.over_time import over_time
from leaderboard.monitoring.selectors import watched
from leaderboard.tasks.models import Task


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
    for sentences, label, permission, of_site, address in _PAGES:
        pool = None if of_site else campaign.pool_id
        if any(one in notice for one in sentences) and staff_may(
            viewer, permission, pool
        ):
            found.append(Solution(label, url=address(campaign)))
    return found


def _with_pool(name: str, parameter: str) -> Callable[[Campaign], str]:
    def address(campaign: Campaign) -> str:
        return f"{reverse(name)}?{urlencode({parameter: campaign.pool_id})}"

    return address


_STARVED = (STARVED, HELD_BY_SHARES)
_CARELESS = (TOO_FAST, BAD_CROWD)
# sentences, label, permission, whether it is the whole site's, address
_PAGES: tuple[
    tuple[tuple[str, ...], str, str, bool, Callable[[Campaign], str]], ...
] = (
    (
        _STARVED,
        "Invite workers",
        "crowd.add_invitation",
        True,
        lambda _: reverse("admin:crowd_invitation_add"),
    ),
    (
        _STARVED,
        "See what is required",
        "crowd.view_requirement",
        False,
        _with_pool("admin:crowd_requirement_changelist", "pool__slug__exact"),
    ),
    (
        _CARELESS,
        "Check the workers",
        "quality.view_grade",
        False,
        _with_pool("admin:quality_grade_changelist", "pool"),
    ),
    (
        (BAD_CROWD,),
        "Check the test questions",
        "quality.view_retiredquestion",
        False,
        _with_pool(
            "admin:quality_retiredquestion_changelist", "campaign__pool__slug__exact"
        ),
    ),
)


State = Campaign.State
UNDER_WAY = (State.RUNNING, State.PAUSED, State.SCHEDULED)
# Older campaigns are in the list of campaigns.
N_OVER = 20


def campaigns_page(model_admin: Any, request: HttpRequest, task: Task) -> HttpResponse:
    if not staff_may(request.user, "crowd.view_campaign", task.slug):
        raise PermissionDenied
    rows = Campaign.objects.filter(pool=task.slug).select_related("hit_type")
    under_way = rows.filter(state__in=UNDER_WAY).order_by("pk")
    over = rows.exclude(state__in=UNDER_WAY).order_by("-pk")
    buttons = model_admin.admin_site.get_model_admin(Campaign).buttons_of
    shown = [
        {**of_campaign(one, request.user), "buttons": buttons(request, one)}
        for one in under_way
    ]
    context = {
        **model_admin.admin_site.each_context(request),
        "opts": model_admin.opts,
        "title": f"Campaigns of {task.title}",
        "task": task,
        "together": _together(model_admin.admin_site, request, shown),
        "under_way": shown,
        "over": _drawn(over[:N_OVER]),
        "n_over": over.count(),
    }
    return TemplateResponse(request, "admin/leaderboard/task/campaigns.html", context)


def _together(
    site: Any, request: HttpRequest, shown: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return evaluations of several of these campaigns, to stop or pay them at once."""
    of = {one["row"].campaign.pk: one for one in shown}
    rows = EvaluationCampaign.objects.filter(campaign__in=of)
    asked: dict[HumanEvaluation, list[dict[str, Any]]] = {}
    for row in rows.select_related("evaluation"):
        asked.setdefault(row.evaluation, []).append(of[row.campaign_id])
    return [
        {
            "evaluation": evaluation,
            "campaigns": campaigns,
            "n": sum(one["row"].progress.n_answers for one in campaigns),
            "of": sum(one["row"].progress.n_asked for one in campaigns),
            "money": all(
                any(act.name == "add_money_selected" for act in one["buttons"])
                for one in campaigns
            ),
            "stops": [
                (
                    act.on_page,
                    reverse(
                        f"admin:leaderboard_{subject._meta.model_name}_{act.path}",
                        args=[subject.pk],
                    ),
                )
                for subject in [evaluation.specific.listed_as]
                for act in site.get_model_admin(type(subject)).buttons_of(
                    request, subject
                )
                if act.path in {"stop", "go-on"}
            ],
        }
        for evaluation, campaigns in asked.items()
        if len(campaigns) > 1
    ]


def of_campaign(campaign: Campaign, viewer: object) -> dict[str, Any]:
    course = over_time(campaign)
    return {
        **_drawn([campaign])[0],
        "over_time": course,
        "lines": charts.lines(course),
        "solutions": solutions(campaign, viewer),
    }


def _drawn(campaigns: Any) -> list[dict[str, Any]]:
    rows = watched(campaigns, timezone.now())
    return [{"row": row, "spending": charts.spending(row)} for row in rows]
