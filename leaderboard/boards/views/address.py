"""A visitor's choices on a board as parameters of the address."""

from dataclasses import dataclass, replace
from typing import Any, Literal
from urllib.parse import parse_qsl, urlencode

from django.http import QueryDict

from leaderboard.boards.selectors.columns import main_criterion
from leaderboard.boards.selectors.filtering import ALL, Filter, read_filter
from leaderboard.boards.selectors.sorting import DEFAULT, Order, metrics_of, order_from
from leaderboard.metric_runs.selectors import metric_words
from leaderboard.tasks.models import Task

FULL = "full"
TEAM, DATE, JUDGED = "team", "date", "judged"
CRITERION = "criterion:"


@dataclass(frozen=True)
class Choice:
    key: str
    label: str
    shown: bool
    # the criterion or metric that it shows, if any
    criterion: str = ""
    metric: str = ""


@dataclass(frozen=True)
class Address:
    """Order, columns and filter; `columns` is None for the default."""

    order: Order = DEFAULT
    columns: tuple[str, ...] | Literal["all"] | None = None
    chosen: Filter = ALL
    # whether intervals are drawn on the whole scale
    full: bool = False
    # the columns that result from `columns` on the task's board
    choices: tuple[Choice, ...] = ()

    @property
    def criteria(self) -> list[str]:
        """Return the criteria with a column, without the ranking one."""
        return [one.criterion for one in self.choices if one.shown and one.criterion]

    @property
    def metrics(self) -> list[str]:
        return [one.metric for one in self.choices if one.shown and one.metric]

    def shows(self, key: str) -> bool:
        return any(one.shown for one in self.choices if one.key == key)

    def query(self, *, page: int | None = None, **changed: Any) -> str:
        new = replace(self, **changed)
        parts: list[tuple[str, str]] = []
        if new.order != DEFAULT:
            parts += [("sort", new.order.key), ("dir", new.order.direction)]
        if new.columns == "all":
            parts.append(("columns", "all"))
        elif new.columns is not None:
            parts += [("columns", key) for key in new.columns]
        parts += filter_parameters(new.chosen)
        parts += [("axis", FULL)] if new.full else []
        if page:
            parts.append(("page", str(page)))
        return "?" + urlencode(parts)

    def kept(self, *chosen_anew: str) -> list[tuple[str, str]]:
        """Return hidden fields for a form that asks for `chosen_anew` itself."""
        parts = parse_qsl(self.query().removeprefix("?"), keep_blank_values=True)
        return [(name, value) for name, value in parts if name not in chosen_anew]


def read_address(task: Task, parameters: QueryDict) -> Address:
    """Read an address; unknown values are ignored."""
    usual = _usual_choices(task)
    known = [choice.key for choice in usual]
    names = parameters.getlist("columns")
    columns: tuple[str, ...] | Literal["all"] | None = None
    if "all" in names:
        columns = "all"
    elif any(key in known for key in names):
        # in the board's order, so that one choice of columns has one address (and cache
        # key)
        columns = tuple(key for key in known if key in names)
    order = order_from(task, parameters.get("sort"), parameters.get("dir"))
    choices = tuple(
        replace(choice, shown=columns == "all" or choice.key in columns)
        if columns is not None
        else choice
        for choice in usual
    )
    return Address(
        order,
        columns,
        read_filter(parameters),
        full=parameters.get("axis") == FULL,
        choices=choices,
    )


def _usual_choices(task: Task) -> list[Choice]:
    main = main_criterion(task)
    headline = task.configuration.metrics.headline
    criteria = [
        Choice(
            f"{CRITERION}{name}",
            f"people: {name.replace('_', ' ')}",
            shown=True,
            criterion=name,
        )
        for name in task.human.criteria
        if name != main
    ]
    metrics = [
        Choice(slug, metric_words(slug).label, shown=slug in headline, metric=slug)
        for slug in metrics_of(task)
    ]
    team, day = Choice(TEAM, "Team", shown=True), Choice(DATE, "Date", shown=True)
    judged = Choice(JUDGED, "people, with judges’ help", shown=True)
    return [team, day, *criteria, judged, *metrics]


def filter_parameters(chosen: Filter) -> list[tuple[str, str]]:
    parts = {
        "q": chosen.text,
        "team": chosen.team,
        "kind": chosen.kind,
        "since": chosen.since.isoformat() if chosen.since else "",
        "until": chosen.until.isoformat() if chosen.until else "",
        "scored": "1" if chosen.scored else "",
        "baseline": chosen.baseline,
    }
    return [(name, value) for name, value in parts.items() if value]
