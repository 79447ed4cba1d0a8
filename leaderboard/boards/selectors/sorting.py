"""Orders of a board's rows; only those listed here can be requested."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import numpy as np

from leaderboard.boards.selectors.columns import Field, Floats, Ints
from leaderboard.metric_runs.models import MetricResult
from leaderboard.metrics.base import all_metrics
from leaderboard.submissions.models import Submission
from leaderboard.tasks.models import Task

Direction = Literal["asc", "desc"]


@dataclass(frozen=True)
class Order:
    key: str
    direction: Direction

    @property
    def reverse(self) -> bool:
        return self.direction == "desc"


DEFAULT = Order("human", "desc")
_DIRECTIONS: dict[str, Direction] = {"asc": "asc", "desc": "desc"}
_FIRST: dict[str, Direction] = {"human": "desc", "system": "asc", "date": "desc"}


def metrics_of(task: Task) -> list[str]:
    configured = task.configuration.metrics.use
    return [slug for slug in configured if slug in all_metrics()]


def sort_keys(task: Task) -> list[str]:
    return [*_FIRST, *metrics_of(task)]


def first_direction(key: str) -> Direction:
    if key in _FIRST:
        return _FIRST[key]
    return "asc" if all_metrics()[key].higher_is_better is False else "desc"


def order_from(task: Task, sort: str | None, direction: str | None) -> Order:
    """Read an order from an address; unknown values give the default."""
    if sort is None or sort not in sort_keys(task):
        return DEFAULT
    return Order(sort, _DIRECTIONS.get(direction or "") or first_direction(sort))


def arranged(
    task: Task,
    field: Field,
    order: Order,
    at: datetime | None = None,
    *,
    apart: bool = False,
) -> Ints:
    """Return the rows in order; those without a value come last, the newest first.

    By score, partial ones are separate: below all ranked rows, above those that wait;
    with `apart`, provisional ones come between both, unless all are provisional.
    """
    values = _values(task, field, order.key, at)
    directed = -values if order.reverse else values
    # lexsort sorts by its last key first: group, then value, then the newest
    group = np.isnan(values) * 3
    if order.key == "human":
        group = group + field.partial * 2
        group += field.provisional if apart and field.provisional_apart else 0
    if order.key == "human" and task.configuration.judges.rank:
        # the scores are people's, and ranks may use judges' help: these come first
        places = np.where(field.ranked, field.first + field.last, 0)
        places = places if order.reverse else -places
        return np.lexsort((-field.pk, directed, places, group))
    return np.lexsort((-field.pk, directed, group))


def _values(task: Task, field: Field, key: str, at: datetime | None) -> Floats:
    if key == "human":
        return field.mean
    submissions = Submission.objects.filter(task=task)
    if key == "system":
        names = sorted(
            submissions.order_by().values_list("system_name", "pk"),
            # sorted here because databases collate names differently
            key=lambda row: (row[0].casefold(), row[0]),
        )
        value_of = {pk: float(index) for index, (_, pk) in enumerate(names)}
    elif key == "date":
        by_date = submissions.order_by("created_at", "pk").values_list("pk", flat=True)
        value_of = {pk: float(index) for index, pk in enumerate(by_date)}
    else:
        results = MetricResult.objects.filter(submission__task=task, metric=key)
        if at is not None:
            results = results.filter(computed_at__lte=at)
        # the newest result of a metric counts
        value_of = dict(results.order_by("pk").values_list("submission_id", "value"))
    return np.array([value_of.get(int(pk), np.nan) for pk in field.pk])
