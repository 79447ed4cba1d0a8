"""Ratings that a design makes of answers, beside the numbers that workers gave."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowd.hits.models.assignment import Answer
from leaderboard.designs.base import all_designs
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.selectors.campaigns import campaigns_of

if TYPE_CHECKING:
    import pandas as pd

_KEY = ["item", "worker", "criterion"]


def ratings_beside(evaluation: HumanEvaluation, ratings: pd.DataFrame) -> pd.DataFrame:
    """Give what the design reads in the answers of ratings that count, such as marks.

    `ratings` are those of `system_ratings`, or all of them; so are the columns.
    """
    import pandas as pd

    design = all_designs().get(evaluation.design)
    if design is None or not design.beside or ratings.empty:
        return ratings.iloc[:0]
    rows = Answer.objects.filter(
        item__campaign__in=campaigns_of(evaluation), detail__isnull=False
    ).values_list("item_id", "assignment__worker_id", "criterion", "detail")
    read = [
        (item, worker, criterion, name, value)
        for item, worker, criterion, detail in rows.order_by("pk")
        for name, value in design.values_beside(detail or {}).items()
    ]
    beside = pd.DataFrame.from_records(read, columns=[*_KEY, "name", "read"])
    # an inner join with the ratings that are left: those of excluded workers fall away
    rows_beside = ratings.merge(beside, on=_KEY, how="inner")
    rows_beside = rows_beside.assign(
        value=rows_beside["read"], criterion=rows_beside["name"]
    )
    if "answered" in rows_beside:
        rows_beside = rows_beside.assign(answered=rows_beside["read"])
    return rows_beside[list(ratings.columns)]
