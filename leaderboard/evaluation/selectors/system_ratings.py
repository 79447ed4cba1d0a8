"""Clean ratings by system: worker, instance, value."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from django.db.models import QuerySet

from crowd.hits.models import ELSEWHERE, Campaign, Rating
from crowd.scales.base import all_scales
from crowd.workers.models.worker import Worker
from leaderboard.designs.base import Unit, all_designs
from leaderboard.evaluation.estimates import UNNAMED
from leaderboard.evaluation.models.human_evaluation import (
    EvaluationCampaign,
    HumanEvaluation,
    Subject,
)
from leaderboard.submissions.models import Prediction, Submission
from quality.bans.models import Ban
from quality.bans.selectors import EXCLUDED, all_ratings_of, clean_ratings_of
from quality.test_questions.services import COUNTED

if TYPE_CHECKING:
    import pandas as pd


# the system of an item's output by slot; none of a reference
Slots = dict[tuple[int, str], int | None]
FIRST_SLOT = "A"
_AT_ONCE = 500  # maximum number of keys per query
ORDER = ["criterion", "submission", "instance", "worker"]
COLUMNS = ["item", *ORDER, "value"]


def system_ratings(evaluation: HumanEvaluation) -> pd.DataFrame:
    """Return counting ratings: item, criterion, submission, instance, worker, value.

    A preference for the first of two outputs is turned into one for the system's own,
    whatever its slot. Instances are positions. The order is stable.
    """
    return own_rows(system_ratings_of([evaluation.pk])[COLUMNS], [evaluation])


def own_rows(
    ratings: pd.DataFrame, evaluations: Collection[HumanEvaluation]
) -> pd.DataFrame:
    """Return the rows of the systems that the evaluations are about."""
    if any(one.system is None for one in evaluations):
        return ratings
    own = ratings["submission"].isin({one.system for one in evaluations})
    return ratings[own].reset_index(drop=True)


def system_ratings_of(evaluations: Collection[int]) -> pd.DataFrame:
    """Return `evaluation` and the columns of `system_ratings`, in two queries."""
    shown, slots = _shown_outputs(evaluations)
    ratings = clean_ratings_of(shown["campaign"].unique().tolist())
    return about_systems(ratings, shown, slots)[["evaluation", *COLUMNS]]


def dated_ratings_of(evaluations: Collection[int], *, also: int = 0) -> pd.DataFrame:
    """Return counting ratings, and the excluded worker's, with the UTC day in `on`."""
    ratings = all_system_ratings_of(evaluations)
    counts = (ratings["worker"] == also) & (ratings["why_not"] == EXCLUDED)
    counting = ratings[counts | (ratings["why_not"] == "")]
    return counting[["evaluation", *COLUMNS, "on"]].reset_index(drop=True)


def all_system_ratings_of(evaluations: Collection[int]) -> pd.DataFrame:
    """Return all ratings; `why_not` is why one does not count, `on` the day."""
    shown, slots = _shown_outputs(evaluations)
    ratings = all_ratings_of(shown["campaign"].unique().tolist())
    columns = ["evaluation", *COLUMNS, "slot", "answered", "on", "why_not"]
    ratings = ratings.assign(answered=ratings["value"])
    return about_systems(ratings, shown, slots).reindex(columns=columns)


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
    rows = unnamed_workers()
    found: set[int] = set()
    for start in range(0, len(workers), _AT_ONCE):
        found.update(rows.filter(pk__in=workers[start : start + _AT_ONCE]))
    return found


def unnamed_workers() -> QuerySet[Worker, int]:
    return Worker.objects.filter(
        platform=ELSEWHERE, platform_worker_id__startswith=UNNAMED
    ).values_list("pk", flat=True)


def _shown_outputs(evaluations: Collection[int]) -> tuple[pd.DataFrame, Slots]:
    import pandas as pd

    rows = list(
        Subject.objects.filter(evaluation__in=evaluations)
        .order_by("pk", "outputs__pk")
        .values_list(
            "item_id",
            "item__campaign_id",
            "evaluation_id",
            "item__campaign__asked__submission",
            "instance__position",
            "outputs__slot",
            "outputs__submission",
        )
    )
    columns = ["item", "campaign", "evaluation", "own", "instance"]
    shown = dict.fromkeys(row[: len(columns)] for row in rows)
    slots: Slots = {(item, slot): pk for item, *_, slot, pk in rows if slot}
    return pd.DataFrame.from_records(list(shown), columns=columns), slots


def about_systems(
    ratings: pd.DataFrame, shown: pd.DataFrame, slots: Slots
) -> pd.DataFrame:
    """Add the system of each rating; drop ratings of other items."""
    import pandas as pd

    ratings = ratings.merge(shown.drop(columns="campaign"), on="item", how="inner")
    if ratings.empty:
        return pd.DataFrame({name: [] for name in ["evaluation", *COLUMNS]})
    # an item with slots shows several outputs, and its answers have slots; other items
    # show only the submission's output
    in_slots = ratings["item"].isin({item for item, _ in slots})
    alone = ratings[~in_slots].assign(submission=lambda rows: rows["own"])
    rows = pd.concat(
        [alone, _place_ratings(ratings[in_slots], slots)], ignore_index=True
    )
    rows = rows.assign(submission=rows["submission"].astype(int))
    # intervals are drawn from a seed: the same ratings must come in the same order,
    # whatever order the database returns
    return rows.sort_values(ORDER, kind="stable", ignore_index=True)


def _place_ratings(ratings: pd.DataFrame, slots: Slots) -> pd.DataFrame:
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
def _both_sides(ratings: pd.DataFrame, slots: Slots) -> pd.DataFrame:
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


def campaigns_of(evaluation: HumanEvaluation) -> list[Campaign]:
    return evaluation.campaigns_in_order


def ratings_per_output(campaigns: Iterable[Campaign], planned: int) -> int | str:
    each = {c.answers_per_hit for c in campaigns if c.answers_per_hit} or {planned}
    return min(each) if len(each) == 1 else f"{min(each)} to {max(each)}"


def launched_evaluations(submissions: Iterable[int]) -> Iterator[HumanEvaluation]:
    """Yield the launched evaluation of each system, with its own campaigns only."""
    wanted = set(submissions)
    asked = EvaluationCampaign.objects.filter(submission__in=wanted, position=0)
    rows = HumanEvaluation.objects.filter(pk__in=asked.values("evaluation"))
    rows = rows.select_related("task").prefetch_related("campaigns", "submissions")
    for evaluation in rows.iterator(chunk_size=_AT_ONCE):
        yield from (one for one in evaluation.parts if one.system in wanted)


def evaluation_of(submission: Submission) -> HumanEvaluation | None:
    """Return a submission's evaluation once its campaigns are launched."""
    evaluation = submission.human_evaluation
    if evaluation is None or not evaluation.campaigns_in_order:
        return None
    return evaluation.about(submission.pk)


def evaluations_about(submission: Submission) -> QuerySet[HumanEvaluation]:
    rows = HumanEvaluation.objects.filter(systems__submission=submission)
    return rows.select_related("comparison__a", "comparison__b").prefetch_related(
        "submissions", "systems__submission"
    )


# A digest of ratings, to detect that the data behind a number have changed.

# of one criterion of one system, and of one criterion of several
OF_ONE = ("instance", "worker", "value")
OF_SEVERAL = ("submission", *OF_ONE)


def digest(ratings: pd.DataFrame, columns: Sequence[str]) -> str:
    """Hash the ratings in their order."""
    # CSV writes floats with the digits that read back to the same value, on any machine
    table = ratings[list(columns)].to_csv(index=False, header=False)
    return hashlib.sha256(table.encode()).hexdigest()


# Ratings that a design derives from answers, beside workers' numbers.

_KEY = ["item", "worker", "criterion"]


def ratings_beside(evaluation: HumanEvaluation, ratings: pd.DataFrame) -> pd.DataFrame:
    """Return ratings derived from answers, such as marks, as in `system_ratings`."""
    import pandas as pd

    design = all_designs().get(evaluation.design)
    if design is None or not design.beside or ratings.empty:
        return ratings.iloc[:0]
    rows = Rating.objects.filter(
        item__campaign__in=campaigns_of(evaluation), detail__isnull=False
    ).values_list("item_id", "assignment__worker_id", "criterion", "detail")
    read = [
        (item, worker, criterion, name, value)
        for item, worker, criterion, detail in rows.order_by("pk")
        for name, value in design.values_beside(detail or {}).items()
    ]
    beside = pd.DataFrame.from_records(read, columns=[*_KEY, "name", "read"])
    # inner join: ratings of excluded workers drop out
    rows_beside = ratings.merge(beside, on=_KEY, how="inner")
    rows_beside = rows_beside.assign(
        value=rows_beside["read"], criterion=rows_beside["name"]
    )
    if "answered" in rows_beside:
        rows_beside = rows_beside.assign(answered=rows_beside["read"])
    return rows_beside[list(ratings.columns)]


# Placeholder for marked words if ratings were imported without texts.
_NOT_KNOWN = "…"


@dataclass(frozen=True)
class MarkedError:
    # empty without an omission
    text: str
    severity: str
    category: str
    n: int


def marked_errors(
    evaluation: HumanEvaluation, positions: Collection[int]
) -> dict[int, list[MarkedError]]:
    rows = Subject.objects.filter(
        item__campaign__in=campaigns_of(evaluation),
        instance__position__in=list(positions),
    )
    found: dict[int, Counter[tuple[int, str, str, str]]] = {}
    answers = Rating.objects.filter(
        item__in=rows.values("item_id"),
        detail__has_key="spans",
        assignment__state__in=COUNTED,
        assignment__replaced_at=None,
    ).exclude(
        assignment__worker__in=Ban.in_force.filter(pool=evaluation.task.slug).values(
            "worker"
        )
    )
    marked = list(answers.values_list("item_id", "item__data__prediction", "detail"))
    if not marked:
        return {}
    place_of = dict(rows.values_list("item_id", "instance__position"))
    stored = _imported_texts(evaluation, positions)
    for item, text, detail in marked:
        text = stored.get(place_of[item], _NOT_KNOWN) if text is None else str(text)
        counted = found.setdefault(place_of[item], Counter())
        for span in (detail or {})["spans"]:
            start, end = span.get("start", -1), span.get("end", 0)
            words = "" if start < 0 else text[start:end] or _NOT_KNOWN
            kind = str(span.get("category", ""))
            counted[start, words, str(span["severity"]), kind] += 1
    return {
        place: [MarkedError(*key[1:], n) for key, n in sorted(counted.items())]
        for place, counted in found.items()
    }


def _imported_texts(
    evaluation: HumanEvaluation, positions: Collection[int]
) -> dict[int, str]:
    if evaluation.imported_id is None:
        return {}
    rows = Prediction.objects.filter(
        submission__human_evaluation=evaluation, instance__position__in=list(positions)
    )
    return dict(rows.values_list("instance__position", "text"))
