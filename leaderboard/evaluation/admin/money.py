from collections import defaultdict
from typing import Any

from crowd.elsewhere.services.accounts import pays_in
from crowd.money.services.budgets import budget_left
from leaderboard.evaluation import decide
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation


def dollars(cents: int) -> str:
    """Format cents as staff read them.

    Examples
    --------
    >>> dollars(123456), dollars(-5)
    ('$1,234.56', '-$0.05')
    """
    sign = "-" if cents < 0 else ""
    return f"{sign}${abs(cents) / 100:,.2f}"


def cost_of(row: Any) -> int:
    """Return the price in cents."""
    return decide.quote(row.evaluation).total_cents


def cost_shown(row: Any) -> str:
    if row.approved_cents is not None:
        return f"{dollars(row.approved_cents)} approved"
    evaluation = row.evaluation
    if evaluation is None or evaluation.state != HumanEvaluation.State.REQUESTED:
        return ""
    return f"{dollars(cost_of(row))} if approved"


def paid_elsewhere(rows: list[Any], costs: dict[int, int]) -> list[tuple[str, str]]:
    cents_by_platform: dict[str, int] = defaultdict(int)
    for row in rows:
        cents_by_platform[row.task.human.platform] += costs[row.pk]
    said = [(p, pays_in(p, cents)) for p, cents in sorted(cents_by_platform.items())]
    return [(platform, sentence) for platform, sentence in said if sentence]


def totals_by_task(rows: list[Any], costs: dict[int, int]) -> list[tuple[str, str]]:
    costs_by_task: dict[str, int] = defaultdict(int)
    for row in rows:
        costs_by_task[row.task.slug] += costs[row.pk]
    totals = []
    for slug, cents in sorted(costs_by_task.items()):
        left = budget_left(slug)
        short = "" if cents <= left else " — not enough: some will be refused"
        totals.append((slug, f"{dollars(cents)} of {dollars(left)} left{short}"))
    return totals
