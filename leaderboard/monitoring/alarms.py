"""Warnings about money and crowds for staff: see `genie.upkeep.doctor`.

Each links to the page on which it is solved. Crowds are compared with themselves: the
last day with the time before, the newer half of the items with the older.
"""

import re
from collections.abc import Mapping
from datetime import timedelta

from django.conf import settings
from django.db.models import Count, Q
from django.urls import reverse
from django.utils import timezone

from crowd.hits.models import Assignment, Campaign
from crowd.hits.selectors import progress_of
from crowd.money.models import Budget
from crowd.money.services.budgets import committed_by_pool
from genie.lib.logs import one_line
from genie.upkeep.doctor import Finding, register, worst
from leaderboard.monitoring.selectors import planned_cents
from quality.bans.models import Ban, HeldExclusion
from quality.test_questions.models import Grade

# the share of a budget's limit below which it is low
_LOW = 0.1
# reported above this multiple of the plan, and these cents above it: early ones vary
_BEYOND_PLAN, _SMALL_CHANGE = 1.1, 500
_LATELY = timedelta(days=1)
_MANY_BANS = 5
# Chance of a false alarm per check; each campaign is reported as long as it runs.
_CHANCE = 1e-4
_LEAST_FALL = 0.1
# Agreement takes thousands of answers each: computed for this many campaigns at most.
_MOST_CAMPAIGNS = 20


def register_all() -> None:
    register("budgets", budgets)
    register("campaigns", campaigns)
    register("crowds", crowds)


def budgets() -> Finding:
    set_aside, points = committed_by_pool(), {}
    for budget in Budget.objects.all():
        used = set_aside.get(budget.pool_id, 0)
        left = budget.limit_cents - used
        if used and left < _LOW * budget.limit_cents:
            points[f"low {budget.pool_id or ''}"] = (
                f"Of the {budget}, ${left / 100:,.2f} of "
                f"${budget.limit_cents / 100:,.2f} is left. Raise the limit, or "
                f"approve no more. {_page('admin:crowd_budget_change', budget.pk)}"
            )
    running = Campaign.objects.filter(state=Campaign.State.RUNNING)
    for campaign, progress in zip(running, progress_of(running).values(), strict=True):
        planned = planned_cents(progress)
        if progress.spent_cents > _BEYOND_PLAN * planned + _SMALL_CHANGE:
            points[f"plan {campaign.pk}"] = (
                f"{_campaign_name(campaign)} has spent ${progress.spent_cents / 100:,.2f}, "
                f"but ${planned / 100:,.2f} was planned for this many answers. Check "
                f"rejected and replaced work and extra payments. {_address(campaign)}"
            )
    return _make_finding(points, "budget nearly used up, or spending above plan")


def campaigns() -> Finding:
    rows = Campaign.objects.filter(state=Campaign.State.RUNNING).exclude(notice="")
    # a growing number in it makes no new notice
    return _make_finding(
        {
            f"{row.pk} {re.sub('[0-9]+', '', row.notice)}": (
                f"{_campaign_name(row)}: {one_line(row.notice, 600)} {_address(row)}"
            )
            for row in rows
        },
        "running with a notice",
    )


def crowds() -> Finding:
    return _make_finding(
        {**_tests_fell(), **_agreement_fell(), **_exclusions()}, "possible changes"
    )


def _tests_fell() -> dict[str, str]:
    new = Q(assignment__submitted_at__gt=timezone.now() - _LATELY)
    right = Q(correct=True)
    rows = (
        Grade.objects.filter(test_question__campaign__state=Campaign.State.RUNNING)
        .order_by()
        .values("test_question__campaign")
        .annotate(
            new=Count("pk", filter=new),
            new_right=Count("pk", filter=new & right),
            old=Count("pk", filter=~new),
            old_right=Count("pk", filter=~new & right),
        )
    )
    fell = {
        row["test_question__campaign"]: row
        for row in rows
        if _has_fallen(row["new_right"], row["new"], row["old_right"], row["old"])
    }
    return {
        f"tests {campaign.pk}": (
            f"{_campaign_name(campaign)}: {row['new_right']:,} of {row['new']:,} test "
            f"questions were answered right in the last day, and {row['old_right']:,} "
            f"of {row['old']:,} before. Check the workers, then the test questions. "
            f"{_address(campaign)}"
        )
        for campaign in Campaign.objects.filter(pk__in=fell)
        for row in [fell[campaign.pk]]
    }


def _has_fallen(new_right: int, new: int, old_right: int, old: int) -> bool:
    """Check whether a share has dropped by much, and by more than chance (Fisher)."""
    if not new or not old or old_right / old - new_right / new < _LEAST_FALL:
        return False
    import numpy as np
    from scipy.stats import fisher_exact

    table = np.array([[new_right, new - new_right], [old_right, old - old_right]])
    return bool(fisher_exact(table, alternative="less").pvalue < _CHANCE)


def _agreement_fell() -> dict[str, str]:
    # Imported late: SciPy is slow to load, and every process registers alarms.
    from leaderboard.monitoring.over_time import agreement_in_halves

    active = Assignment.objects.filter(submitted_at__gt=timezone.now() - _LATELY)
    running = Campaign.objects.filter(
        state=Campaign.State.RUNNING, pk__in=active.values("hit__campaign")
    ).order_by("-pk")[:_MOST_CAMPAIGNS]
    points = {}
    for campaign in running:
        halves = agreement_in_halves(campaign)
        if halves and halves[0].low - halves[1].high > 0:
            points[f"agreement {campaign.pk}"] = (
                f"{_campaign_name(campaign)}: agreement (Krippendorff's alpha) fell from "
                f"{halves[0].estimate:.2f} to {halves[1].estimate:.2f} between the "
                "older and the newer half of the items. Check the workers. "
                f"{_address(campaign)}"
            )
    return points


def _exclusions() -> dict[str, str]:
    since = timezone.now() - _LATELY
    points = {}
    for model, rows, sentence, page in (
        (
            Ban,
            Ban.in_force.filter(created_at__gt=since),
            "{n:,} workers were excluded within a day. Check the test questions, then "
            "the crowd",
            "admin:quality_ban_changelist",
        ),
        (
            HeldExclusion,
            Ban.proposed.all(),
            "exclusions waiting for a decision because there are too many at once: "
            "{n:,}",
            "admin:quality_heldexclusion_changelist",
        ),
    ):
        least = _MANY_BANS if model is Ban else 1
        counted = rows.order_by().values_list("pool").annotate(n=Count("pk"))
        for pool, n in counted.filter(n__gte=least):
            points[f"{model.__name__} {pool}"] = (
                f"{one_line(pool)}: {sentence.format(n=n)}. {_page(page)}"
            )
    return points


def _make_finding(points: Mapping[str, str], what: str) -> Finding:
    return Finding(worst(0, len(points)), f"{what}: {len(points):,}", points=points)


def _campaign_name(campaign: Campaign) -> str:
    return f"“{one_line(campaign.title, 100)}” ({one_line(campaign.pool_id)})"


def _address(campaign: Campaign) -> str:
    return _page("admin:crowd_campaign_change", campaign.pk)


def _page(name: str, *args: object) -> str:
    return str(settings.GENIE["SITE_URL"]).rstrip("/") + reverse(name, args=args)
