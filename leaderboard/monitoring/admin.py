from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone

from crowd.hits.models.campaign import Campaign
from genie.accounts.staff import staff_may
from leaderboard.monitoring import charts
from leaderboard.monitoring.notices import solutions
from leaderboard.monitoring.over_time import over_time
from leaderboard.monitoring.selectors import watched
from leaderboard.tasks.models import Task

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
    context = {
        **model_admin.admin_site.each_context(request),
        "opts": model_admin.opts,
        "title": f"Campaigns of {task.title}",
        "task": task,
        "under_way": [of_campaign(one, request.user) for one in under_way],
        "over": _drawn(over[:N_OVER]),
        "n_over": over.count(),
        "may_act": staff_may(request.user, "crowd.change_campaign", task.slug),
    }
    return TemplateResponse(request, "admin/leaderboard/task/campaigns.html", context)


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
