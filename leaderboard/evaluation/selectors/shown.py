"""What workers saw with each rating: how late in their work, and which text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowd.hits.models.assignment import Assignment
from leaderboard.submissions.models.submission import Prediction

if TYPE_CHECKING:
    import pandas as pd


def with_what_was_shown(ratings: pd.DataFrame, campaigns: list[int]) -> pd.DataFrame:
    """Add to ratings `late`, from a worker's first (0) to last (1), and the `text`.

    Ratings of which neither is known are left out.
    """
    if ratings.empty:
        return ratings.assign(late=[], text=[])
    late = _late(campaigns)
    texts = _texts(ratings["submission"].unique().tolist())
    found = ratings.merge(late, on=["item", "worker"], how="inner")
    return found.merge(texts, on=["submission", "instance"], how="inner")


def _late(campaigns: list[int]) -> pd.DataFrame:
    """Say how far in their work on a campaign each worker came to each item."""
    import pandas as pd

    rows = (
        Assignment.objects.filter(hit__campaign__in=campaigns)
        .exclude(submitted_at=None)
        .order_by("accepted_at", "pk")
        .values_list("hit__items", "worker_id", "hit__campaign_id")
    )
    columns = ["item", "worker", "campaign"]
    table = pd.DataFrame.from_records(list(rows), columns=columns)
    by_worker = table.groupby(["campaign", "worker"])
    place, n = by_worker.cumcount(), by_worker["item"].transform("size")
    late = (place / (n - 1).clip(lower=1)).astype(float)
    return table.assign(late=late)[["item", "worker", "late"]]


def _texts(submissions: list[int]) -> pd.DataFrame:
    import pandas as pd

    rows = Prediction.objects.filter(submission__in=submissions).order_by("pk")
    return pd.DataFrame.from_records(
        list(rows.values_list("submission_id", "instance__position", "text")),
        columns=["submission", "instance", "text"],
    )
