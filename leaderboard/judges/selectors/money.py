"""Costs and budgets of judges: a ledger separate from the workers'."""

from math import ceil

from django.db.models import Q, Sum

from leaderboard.judges.models import MICROCENTS, Judge, JudgeBudget, JudgeRun
from leaderboard.tasks.models import Task


def in_cents(microcents: int) -> int:
    """Round up to cents, so that a sum is never less than its parts."""
    return ceil(microcents / MICROCENTS)


def committed_cents(task: Task, judge: Judge | None) -> int:
    runs = JudgeRun.objects.filter(task=task)
    if judge is not None:
        runs = runs.filter(judge=judge)
    still = runs.filter(state__in=JudgeRun.OPEN).aggregate(sum=Sum("approved_cents"))
    over = runs.exclude(state__in=JudgeRun.OPEN).aggregate(sum=Sum("microcents"))
    return int(still["sum"] or 0) + in_cents(int(over["sum"] or 0))


def left_cents(task: Task, judge: Judge) -> int | None:
    """Return the rest of a judge's budget on a task; None without a budget."""
    budgets = JudgeBudget.objects.filter(Q(judge=judge) | Q(judge=None), task=task)
    # rows are locked until the decision based on them is written
    rows = budgets.select_for_update(of=("self",)).order_by("pk")
    left = [row.cents - committed_cents(task, row.judge) for row in rows]
    return min(left) if left else None
