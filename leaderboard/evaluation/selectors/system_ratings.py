"""Clean ratings by system: worker, instance, value."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np
from django.db.models import QuerySet

from crowd.hits.models import ELSEWHERE, Campaign
from crowd.scales.find import all_scales
from crowd.workers.models.worker import Worker
from leaderboard.designs.base import all_designs
from leaderboard.designs.unit import Unit
from leaderboard.evaluation.estimates import NOBODY
from leaderboard.evaluation.models.human_evaluation import (
    HumanEvaluation,
    JudgedItem,
    JudgedOutput,
)
from quality.bans.selectors import all_ratings_of, clean_ratings_of

if TYPE_CHECKING:
    import pandas as pd

FIRST_SLOT = "A"
_AT_ONCE = 500  # maximum number of keys per query
ORDER = ["criterion", "submission", "instance", "worker"]
COLUMNS = ["item", *ORDER, "value"]


def system_ratings(evaluation: HumanEvaluation) -> pd.DataFrame:
    """Return counting ratings: item, criterion, submission, instance, worker, value.

    A preference for the first of two outputs is turned into one for the system's own,
    whatever its slot. Instances are positions. The order is stable.
    """
    return system_ratings_of([evaluation.pk])[COLUMNS]


def system_ratings_of(evaluations: Collection[int]) -> pd.DataFrame:
    """Return `evaluation` and the columns of `system_ratings`, in three queries."""
    shown = _shown(evaluations)
    ratings = clean_ratings_of(shown["campaign"].unique().tolist())
    return about_systems(ratings, shown, evaluations)[["evaluation", *COLUMNS]]


def dated_ratings_of(evaluations: Collection[int]) -> pd.DataFrame:
    """Return counting ratings with the UTC day of each in `on`."""
    ratings = all_system_ratings_of(evaluations)
    counting = ratings[ratings["why_not"] == ""]
    return counting[["evaluation", *COLUMNS, "on"]].reset_index(drop=True)


def all_system_ratings_of(evaluations: Collection[int]) -> pd.DataFrame:
    """Return all ratings; `why_not` is why one does not count, `on` the day."""
    shown = _shown(evaluations)
    ratings = all_ratings_of(shown["campaign"].unique().tolist())
    columns = ["evaluation", *COLUMNS, "slot", "answered", "on", "why_not"]
    ratings = ratings.assign(answered=ratings["value"])
    return about_systems(ratings, shown, evaluations).reindex(columns=columns)


def nobodies_apart(
    ratings: pd.DataFrame, evaluations: Collection[HumanEvaluation]
) -> pd.DataFrame:
    """Replace unidentified workers' numbers by negative ones; ours are all identified."""
    if not any(one.imported_id for one in evaluations):
        return ratings
    workers = ratings["worker"]
    unknown = known_to_nobody(workers.unique().tolist())
    return ratings.assign(worker=workers.where(~workers.isin(unknown), -workers))


def known_to_nobody(workers: Sequence[int]) -> set[int]:
    """Return the placeholders of raters whom imported files do not identify."""
    rows = unnamed()
    found: set[int] = set()
    for start in range(0, len(workers), _AT_ONCE):
        found.update(rows.filter(pk__in=workers[start : start + _AT_ONCE]))
    return found


def unnamed() -> QuerySet[Worker, int]:
    return Worker.objects.filter(
        platform=ELSEWHERE, platform_worker_id__startswith=NOBODY
    ).values_list("pk", flat=True)


def _shown(evaluations: Collection[int]) -> pd.DataFrame:
    import pandas as pd

    rows = (
        JudgedItem.objects.filter(evaluation__in=evaluations)
        .order_by("pk")
        .values_list(
            "item_id",
            "item__campaign_id",
            "evaluation_id",
            "evaluation__submission",
            "instance__position",
        )
    )
    columns = ["item", "campaign", "evaluation", "own", "instance"]
    return pd.DataFrame.from_records(list(rows), columns=columns)


def about_systems(
    ratings: pd.DataFrame, shown: pd.DataFrame, evaluations: Collection[int]
) -> pd.DataFrame:
    """Add the system of each rating; drop ratings of other items."""
    import pandas as pd

    ratings = ratings.merge(shown.drop(columns="campaign"), on="item", how="inner")
    if ratings.empty:
        return pd.DataFrame({name: [] for name in ["evaluation", *COLUMNS]})
    slots = _slots(evaluations)
    # an item with slots shows several outputs, and its answers have slots; other items
    # show only the submission's output
    in_slots = ratings["item"].isin({item for item, _ in slots})
    alone = ratings[~in_slots].assign(submission=lambda rows: rows["own"])
    rows = pd.concat([alone, _placed(ratings[in_slots], slots)], ignore_index=True)
    rows = rows.assign(submission=rows["submission"].astype(int))
    # intervals are drawn from a seed: the same ratings must come in the same order,
    # whatever order the database returns
    return rows.sort_values(ORDER, kind="stable", ignore_index=True)


def _slots(evaluations: Collection[int]) -> dict[tuple[int, str], int | None]:
    rows = JudgedOutput.objects.filter(
        judged_item__evaluation__in=evaluations
    ).values_list("judged_item__item_id", "slot", "submission_id")
    return {(item, slot): submission for item, slot, submission in rows}


def _placed(
    ratings: pd.DataFrame, slots: dict[tuple[int, str], int | None]
) -> pd.DataFrame:
    import pandas as pd

    by_slot = ratings["slot"] != ""
    slotted = ratings[by_slot]
    keys = zip(slotted["item"].tolist(), slotted["slot"].tolist(), strict=True)
    # a reference has no system: NaN, and left out
    submission_of = np.array([slots.get(key) for key in keys], dtype=np.float64)
    slotted = slotted.assign(submission=submission_of).dropna(subset=["submission"])
    sided = _both_sides(ratings[~by_slot], slots)
    return pd.concat([slotted, sided], ignore_index=True)


# A preference p for the first output is 1 - p for the second.
def _both_sides(
    ratings: pd.DataFrame, slots: dict[tuple[int, str], int | None]
) -> pd.DataFrame:
    import pandas as pd

    of_item: dict[int, list[tuple[str, int]]] = {}
    for (item, slot), submission in slots.items():
        if submission is not None:
            of_item.setdefault(item, []).append((slot, submission))
    rows = [
        {
            **row,
            "submission": submission,
            "value": row["value"] if slot == FIRST_SLOT else 1.0 - row["value"],
        }
        for row in ratings.to_dict("records")
        for slot, submission in of_item.get(row["item"], [])
    ]
    return pd.DataFrame(rows, columns=[*ratings.columns, "submission"])


def unit_for(design: str, campaign: Campaign, criterion: str) -> Unit:
    hit_type = campaign.hit_type
    return all_designs()[design].unit(
        criterion, all_scales()[hit_type.scale], asked=criterion in hit_type.criteria
    )
