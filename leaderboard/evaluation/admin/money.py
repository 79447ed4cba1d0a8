from __future__ import annotations

from collections import defaultdict
from typing import Any

from crowd.money.services.budgets import budget_left


def dollars(cents: int) -> str:
    """Write cents as staff read them.

    Examples
    --------
    >>> dollars(123456), dollars(-5)
    ('$1,234.56', '-$0.05')
    """
    sign = "-" if cents < 0 else ""
    return f"{sign}${abs(cents) / 100:,.2f}"


def by_task(rows: list[Any], costs: dict[int, int]) -> list[tuple[str, str]]:
    """Set what each task's rows cost beside what is left for it."""
    costs_by_task: dict[str, int] = defaultdict(int)
    for row in rows:
        costs_by_task[row.task.slug] += costs[row.pk]
    totals = []
    for slug, cents in sorted(costs_by_task.items()):
        left = budget_left(slug)
        short = "" if cents <= left else " — not enough: some will be refused"
        totals.append((slug, f"{dollars(cents)} of {dollars(left)} left{short}"))
    return totals
