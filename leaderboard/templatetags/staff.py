"""Tags for staff: work that waits, campaigns under way, budgets."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django import template
from django.apps import apps
from django.contrib.admin.sites import site
from django.db.models import Model, QuerySet
from django.urls import reverse
from django.utils import timezone

from crowd.hits.models import Campaign
from crowd.hits.selectors import state_words
from crowd.money.models import Budget, PayoutRun
from crowd.money.services.budgets import budget_left
from genie.accounts.staff import limit_to_tasks, staff_may
from genie.lib.outside import Problem
from leaderboard.evaluation.admin.decisions import name_of, page_of
from leaderboard.evaluation.models.comparison import Comparison
from leaderboard.evaluation.models.human_evaluation import (
    EvaluationCampaign,
    HumanEvaluation,
    JointEvaluation,
)
from leaderboard.evaluation.selectors.ranked_scores import to_approve
from leaderboard.evaluation.selectors.system_ratings import campaigns_of
from leaderboard.extensions import broken
from leaderboard.monitoring.admin import of_campaign
from leaderboard.monitoring.selectors import Watched, watch_campaigns
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import HAS_FAILED, Staff, one_each
from leaderboard.submissions.states import states_behind
from leaderboard.tasks.models import Task
from quality.appeals.models import Appeal
from quality.bans.models import HeldExclusion

register = template.Library()
register.filter("state_words", state_words)

N_ACCOUNTS = 10
N_SHOWN = 5
State = Submission.State


@dataclass(frozen=True)
class Waiting:
    title: str
    n: int
    url: str
    first: list[tuple[str, str, str]] = field(default_factory=list)


@register.simple_tag
def asked_by(campaign: Campaign) -> list[tuple[str, str]]:
    served = EvaluationCampaign.objects.filter(campaign=campaign)
    subjects = [one.submission or one.evaluation.specific.listed_as for one in served]
    return [(str(subject), page_of(subject)) for subject in subjects]


@register.simple_tag(takes_context=True)
def how_it_goes(context: template.RequestContext, campaign: Campaign) -> dict[str, Any]:
    return of_campaign(campaign, context["request"].user)


@register.simple_tag(takes_context=True)
def broken_extensions(context: template.RequestContext) -> list[Problem]:
    return broken() if context["request"].user.is_superuser else []


@register.simple_tag(takes_context=True)
def waiting_for_staff(context: template.RequestContext) -> list[Waiting]:
    user = context["request"].user
    waiting = []
    waiting += [_to_approve(user), _failed_submissions(user)]
    for model in (Comparison, JointEvaluation):
        waiting += _questions_about_several(user, model)
    waiting += [_appeals(user), _held_exclusions(user), _payouts(user)]
    waiting += [_campaigns_with_notice(user)]
    if user.has_perm("django_q.view_failure"):
        waiting.append(_failed_jobs())
    # empty kinds are left out, so that the page shows only work
    return [entry for entry in waiting if entry.n]


def _to_approve(user: Any) -> Waiting:
    rows = _visible_rows(user, Submission, "task__slug").filter(pk__in=to_approve())
    rows = rows.select_related("task")
    return _list_of(
        "Submissions to approve",
        rows,
        f"state__exact={State.MEASURED}",
        lambda row: str(row.task),
        page="approve",
    )


def _failed_submissions(user: Any) -> Waiting:
    return _list_of(
        "Submissions with a failed step",
        one_each(_visible_rows(user, Submission, "task__slug").filter(HAS_FAILED)),
        "failed=yes",
        lambda row: f"{row.failed_step}: {row.work.failure}",
    )


def _questions_about_several(
    user: Any, model: type[Comparison] | type[JointEvaluation]
) -> list[Waiting]:
    rows = _visible_rows(user, model, "task__slug").select_related("task")
    name = str(model._meta.verbose_name_plural).capitalize()
    [state] = states_behind([State.MEASURED])
    return [
        _list_of(
            f"{name} to approve",
            rows.filter(state=state),
            f"state__exact={state}",
            lambda row: str(row.task),
        ),
        _list_of(
            f"{name} with a failed step",
            rows.exclude(failure=""),
            "failed=yes",
            lambda row: str(row.failure),
        ),
    ]


def _appeals(user: Any) -> Waiting:
    rows = _visible_rows(user, Appeal, "pool").filter(state=Appeal.State.WAITING)
    return _list_of(
        "Appeals to decide",
        rows.select_related("worker"),
        f"state__exact={Appeal.State.WAITING}",
        lambda row: str(row.words),
        page="answer",
    )


def _held_exclusions(user: Any) -> Waiting:
    rows = _visible_rows(user, HeldExclusion, "pool").filter(
        state=HeldExclusion.State.PROPOSED
    )
    rows = rows.select_related("worker", "verdict__fit")
    url = _changelist(HeldExclusion, f"state__exact={HeldExclusion.State.PROPOSED}")
    first = [
        (str(row), row.why, reverse("admin:crowd_worker_change", args=[row.worker_id]))
        for row in rows.order_by("pk")[:N_SHOWN]
    ]
    title = "Exclusions to confirm or reject (scores are waiting)"
    return Waiting(title, rows.count(), url, first)


def _payouts(user: Any) -> Waiting:
    planned = PayoutRun.State.PLANNED
    mine = staff_may(user, "crowd.view_payoutrun")
    rows = PayoutRun.objects.filter(state=planned) if mine else PayoutRun.objects.none()
    title, filtered = "Payouts to approve", f"state__exact={planned}"
    return _list_of(title, rows, filtered, lambda row: row.get_state_display())


def _campaigns_with_notice(user: Any) -> Waiting:
    over = [Campaign.State.STOPPED, Campaign.State.COMPLETE]
    rows = (
        _visible_rows(user, Campaign, "pool").exclude(notice="").exclude(state__in=over)
    )
    return _list_of("Campaigns with a notice", rows, "", lambda row: str(row.notice))


def _failed_jobs() -> Waiting:
    failure: Any = apps.get_model("django_q", "Failure")
    return Waiting("Failed jobs", failure.objects.count(), _changelist(failure, ""))


def _visible_rows(user: Any, model: type[Model], path: str) -> QuerySet[Any]:
    permission = f"{model._meta.app_label}.view_{model._meta.model_name}"
    return limit_to_tasks(model._default_manager.all(), user, permission, path)


def _list_of(
    title: str,
    rows: QuerySet[Any],
    query: str,
    detail: Callable[[Any], str],
    page: str = "change",
) -> Waiting:
    names = rows.model._meta
    url = f"admin:{names.app_label}_{names.model_name}_{page}"
    oldest = rows.order_by("pk")[:N_SHOWN] if site.is_registered(rows.model) else []
    first = [(name_of(row), detail(row), reverse(url, args=[row.pk])) for row in oldest]
    return Waiting(title, rows.count(), _changelist(rows.model, query), first)


def _changelist(model: type[Model], query: str) -> str:
    options = model._meta
    if not site.is_registered(model):
        return ""
    url = reverse(f"admin:{options.app_label}_{options.model_name}_changelist")
    return f"{url}?{query}" if query else url


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
        .order_by("-pk")[:N_ACCOUNTS]
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
        for pool, cents in rows.values_list("pool", "limit_cents")[: N_ACCOUNTS + 1]
    ]


@register.inclusion_tag("leaderboard/parts/staff_campaigns.html", takes_context=True)
def staff_campaigns(
    context: template.RequestContext, evaluation: HumanEvaluation | None
) -> dict[str, Any]:
    may_see = (
        evaluation is not None
        and not evaluation.imported_id
        and not evaluation.task.by_colleagues
        and staff_may(
            context["request"].user, Staff.SEE_CAMPAIGNS, evaluation.task.slug
        )
    )
    return {"campaigns": campaigns_of(evaluation) if evaluation and may_see else []}
