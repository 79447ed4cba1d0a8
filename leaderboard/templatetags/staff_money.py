from dataclasses import dataclass

from django import template
from django.utils import timezone

from crowd.hits.models import Campaign
from crowd.money.models import Budget
from crowd.money.services.budgets import budget_left
from genie.accounts.staff import limit_to_tasks
from leaderboard.monitoring.selectors import Watched, watch_campaigns
from leaderboard.tasks.models import Task

register = template.Library()

N_SHOWN = 10


@dataclass(frozen=True)
class Account:
    name: str
    limit_cents: int
    left_cents: int

    @property
    def set_aside_cents(self) -> int:
        return self.limit_cents - self.left_cents


@register.simple_tag(takes_context=True)
def campaigns_under_way(context: template.RequestContext) -> list[Watched]:
    user = context["request"].user
    open_ = [Campaign.State.RUNNING, Campaign.State.PAUSED, Campaign.State.SCHEDULED]
    rows = list(
        limit_to_tasks(Campaign.objects.all(), user, "crowd.view_campaign", "pool")
        .filter(state__in=open_)
        .select_related("hit_type")
        .order_by("-pk")[:N_SHOWN]
    )
    return watch_campaigns(rows, timezone.now())


@register.simple_tag(takes_context=True)
def accounts(context: template.RequestContext) -> list[Account]:
    user = context["request"].user
    rows = limit_to_tasks(Budget.objects.all(), user, "crowd.view_budget", "pool")
    titles = dict(Task.objects.values_list("slug", "title"))
    return [
        Account(
            titles.get(pool, pool) if pool else "the whole site",
            cents,
            budget_left(pool),
        )
        for pool, cents in rows.values_list("pool", "limit_cents")[: N_SHOWN + 1]
    ]
