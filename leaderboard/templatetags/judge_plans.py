"""What a judge could do for the price of an evaluation, where staff decide on it."""

from __future__ import annotations

import math
from typing import Any

from django import template

from genie.accounts.staff import staff_may
from leaderboard.judges.selectors.audit import NOT_APPLICABLE, NOT_CHECKED
from leaderboard.judges.selectors.plans import plans_of
from leaderboard.submissions.selectors.visibility import Staff
from leaderboard.tasks.models import Task

register = template.Library()

_MOST_CENTS = 10**11


@register.filter
def outcome(reason: dict[str, Any]) -> str:
    """Return `, passed` or `, failed`; empty if the words open with another outcome."""
    undecided = reason["words"].startswith((NOT_CHECKED, NOT_APPLICABLE))
    return "" if undecided else ", passed" if reason["holds"] else ", failed"


@register.simple_tag(takes_context=True)
def judge_plans(context: template.RequestContext, task: Task) -> dict[str, Any]:
    """Split the money for one system, as much as the address says; empty without judges."""
    request = context["request"]
    if not staff_may(request.user, Staff.SEE_JUDGES, task.slug):
        return {}
    plans = plans_of(task, _asked(request.GET.get("dollars", "")))
    if not plans:
        return {}
    return {
        "plans": [plan.sentences for plan in plans],
        "dollars": f"{plans[0].budget_cents / 100:.2f}",
    }


def _asked(dollars: str) -> int | None:
    """Read an amount; None, the task's own price, where it is none."""
    try:
        cents = float(dollars) * 100
    except ValueError:
        return None
    return round(cents) if math.isfinite(cents) and 0 < cents < _MOST_CENTS else None
