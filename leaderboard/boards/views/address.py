"""What a visitor chose on a board, as it stands in the address."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal
from urllib.parse import urlencode

from django.http import QueryDict

from leaderboard.boards.selectors.columns import main_criterion
from leaderboard.boards.selectors.filtering import ALL, Filter, read_filter
from leaderboard.boards.selectors.sorting import DEFAULT, Order, metrics_of, order_from
from leaderboard.metric_runs.selectors.labels import metric_words
from leaderboard.tasks.models import Task

TEAM, DATE = "team", "date"
CRITERION = "criterion:"


@dataclass(frozen=True)
class Address:
    """Order, columns and filter; `columns` is None where nothing was chosen."""

    order: Order = DEFAULT
    columns: tuple[str, ...] | Literal["all"] | None = None
    chosen: Filter = ALL

    def query(self, *, page: int | None = None, **changed: Any) -> str:
        """Write an address like this one with something else chosen."""
        new = replace(self, **changed)
        parts: list[tuple[str, str]] = []
        if new.order != DEFAULT:
            parts += [("sort", new.order.key), ("dir", new.order.direction)]
        if new.columns == "all":
            parts.append(("columns", "all"))
        elif new.columns is not None:
            parts += [("columns", key) for key in new.columns]
        parts += _filter_parameters(new.chosen)
        if page:
            parts.append(("page", str(page)))
        return "?" + urlencode(parts)

    def shows(self, key: str, *, usual: bool) -> bool:
        """Tell whether a column is shown; `usual` ones are where nothing was chosen."""
        if self.columns == "all":
            return True
        return usual if self.columns is None else key in self.columns


def read_address(task: Task, parameters: QueryDict) -> Address:
    """Read an address; what is not known in it is as if it were not there."""
    known = [key for key, _, _ in column_choices(task)]
    names = parameters.getlist("columns")
    columns: tuple[str, ...] | Literal["all"] | None = None
    if "all" in names:
        columns = "all"
    elif any(key in known for key in names):
        # in the board's order, so that one choice of columns has one address (and cache
        # key)
        columns = tuple(key for key in known if key in names)
    order = order_from(task, parameters.get("sort"), parameters.get("dir"))
    return Address(order, columns, read_filter(parameters))


def column_choices(task: Task) -> list[tuple[str, str, bool]]:
    """List the columns that can be chosen: key, label, whether usually shown."""
    metrics = metrics_of(task)
    headline = task.configuration.metrics.headline
    return [
        (TEAM, "Team", True),
        (DATE, "Date", True),
        *(
            (f"{CRITERION}{name}", f"people: {name.replace('_', ' ')}", True)
            for name in extra_criteria(task)
        ),
        *((slug, metric_words(slug).label, slug in headline) for slug in metrics),
    ]


def extra_criteria(task: Task) -> list[str]:
    """Give the criteria beside the one that ranks."""
    main = main_criterion(task)
    return [name for name in task.human.criteria if name != main]


def _filter_parameters(chosen: Filter) -> list[tuple[str, str]]:
    parts = {
        "q": chosen.text,
        "team": chosen.team,
        "kind": chosen.kind,
        "since": chosen.since.isoformat() if chosen.since else "",
        "until": chosen.until.isoformat() if chosen.until else "",
        "scored": "1" if chosen.scored else "",
    }
    return [(name, value) for name, value in parts.items() if value]
