"""Ratings that a design derives from answers, beside workers' numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crowd.hits.models import Answer
from leaderboard.designs.base import all_designs
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation, JudgedItem
from leaderboard.evaluation.selectors.campaigns import campaigns_of
from leaderboard.submissions.models import Prediction
from quality.detection.models import Ban
from quality.test_questions.services import COUNTED

if TYPE_CHECKING:
    import pandas as pd

_KEY = ["item", "worker", "criterion"]


def ratings_beside(evaluation: HumanEvaluation, ratings: pd.DataFrame) -> pd.DataFrame:
    """Return ratings derived from answers, such as marks, as in `system_ratings`."""
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
    rows = JudgedItem.objects.filter(
        evaluation=evaluation, instance__position__in=list(positions)
    )
    found: dict[int, Counter[tuple[int, str, str, str]]] = {}
    place_of = dict(rows.values_list("item_id", "instance__position"))
    answers = Answer.objects.filter(
        item__in=list(place_of),
        detail__has_key="spans",
        assignment__state__in=COUNTED,
        assignment__replaced_at=None,
    ).exclude(
        assignment__worker__in=Ban.objects.filter(
            pool=evaluation.task.slug, lifted_at=None
        ).values("worker")
    )
    stored = _imported_texts(evaluation, positions)
    for item, text, detail in answers.values_list(
        "item_id", "item__data__prediction", "detail"
    ):
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
        submission__human_evaluation=evaluation,
        instance__position__in=list(positions),
    )
    return dict(rows.values_list("instance__position", "text"))
