"""Marked errors as ratings of their own, beside the number that workers gave."""

from __future__ import annotations

import pandas as pd

from crowd import hit_templates
from crowd.models import Answer
from leaderboard.designs.error_spans import SPANS, span_score
from leaderboard.models import HumanEvaluation
from leaderboard.selectors.campaigns import campaigns_of

_KEY = ["item", "worker", "criterion"]


def span_ratings(evaluation: HumanEvaluation, ratings: pd.DataFrame) -> pd.DataFrame:
    """Give a rating for each that counts and has marks: what the marks alone say.

    `ratings` are those of `system_ratings`, or all of them; so are the columns.
    """
    marking = [
        campaign.pk
        for campaign in campaigns_of(evaluation)
        if hit_templates.get(campaign.hit_type.template).marks_errors
    ]
    if not marking or ratings.empty:
        return ratings.iloc[:0]
    rows = Answer.objects.filter(
        item__campaign__in=marking, detail__isnull=False
    ).values_list("item_id", "assignment__worker_id", "criterion", "detail")
    scored = [
        (item, worker, criterion, span_score(detail["spans"]))
        for item, worker, criterion, detail in rows.order_by("pk")
        if detail and "spans" in detail
    ]
    marked = pd.DataFrame.from_records(scored, columns=[*_KEY, "marks"])
    # an inner join with the ratings that are left: marks of excluded workers fall away
    span_rows = ratings.merge(marked, on=_KEY, how="inner")
    span_rows = span_rows.assign(value=span_rows["marks"], criterion=SPANS)
    if "answered" in span_rows:
        span_rows = span_rows.assign(answered=span_rows["marks"])
    return span_rows[list(ratings.columns)]
