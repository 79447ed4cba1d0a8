from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal
from urllib.parse import parse_qsl, urlencode

from django.core.paginator import Page
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe

from genie.accounts.staff import staff_may
from genie.lib.moment import read_moment, stamp, whole_second
from genie.lib.serving.caches import computed as cache
from genie.lib.serving.pages import page_of
from leaderboard import charts
from leaderboard.boards.selectors.certainty import (
    again,
    evidence_beside_board,
    moved_crowds,
)
from leaderboard.boards.selectors.columns import (
    ALL,
    BASELINES,
    DEFAULT,
    Filter,
    Order,
    first_direction,
    main_criterion,
    metrics_of,
    order_from,
    read_filter,
)
from leaderboard.boards.selectors.judged import JUDGED_HELP
from leaderboard.boards.selectors.rows import Human, Row, Standings, standings
from leaderboard.boards.selectors.version import KEPT_FROM_ROWS, KEPT_SECONDS, state
from leaderboard.charts import Axis, axis_over
from leaderboard.evaluation.selectors.board_ratings import who_ranks
from leaderboard.evaluation.selectors.comparisons import compared
from leaderboard.evaluation.selectors.joint import uneven_pairs
from leaderboard.imports.selectors import with_published
from leaderboard.metric_runs.selectors import (
    MetricWords,
    metric_words,
    not_computed_here,
)
from leaderboard.submissions.selectors import Staff, public, team_ids
from leaderboard.tasks.models import Task
from leaderboard.tasks.services.load import versions_of

# A visitor's choices on a board as parameters of the address.
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


# Headings of the rows below the ranked ones.
PROVISIONAL = "Provisional: it is still being checked which ratings count"
PARTIAL = "Partial: too few instances rated to be ranked"
WAITING = "Waiting for human evaluation"


@dataclass(frozen=True)
class Column:
    key: str
    label: str
    query: str
    # "ascending", "descending" or "" as aria-sort has it
    sorted: str


@dataclass(frozen=True)
class Line:
    row: Row
    rank: str
    bracket: str
    # the group of rows that begins with this one, if it is separate
    section: str
    # the cluster that begins with this row, below another
    cluster: int | None
    bar: SafeString
    metrics: list[tuple[str, str]]
    extras: list[Human | None]


def column(key: str, label: str, address: Address) -> Column:
    order = address.order
    if order.key == key:
        turned = Order(key, "asc" if order.reverse else "desc")
        sorted_ = "descending" if order.reverse else "ascending"
    else:
        turned, sorted_ = Order(key, first_direction(key)), ""
    return Column(key, label, address.query(order=turned), sorted_)


def columns(address: Address, *, simulated: bool) -> dict[str, Any]:
    human = "Simulated score" if simulated else "Human score"
    return {
        "system": column("system", "System", address),
        "date": column("date", "Date", address),
        "human": column("human", human, address),
        "metrics": [
            (column(slug, metric_words(slug).label, address), metric_words(slug))
            for slug in address.metrics
        ],
    }


def lines(
    rows: Sequence[Row],
    address: Address,
    *,
    axis: Axis | None,
    absent: Collection[str] = (),
    provisional_apart: bool = False,
) -> list[Line]:
    """Format a page's rows; brackets join neighbors of a cluster; `absent` are metrics."""
    # in any other order neighbors are unrelated
    ranked = address.order == DEFAULT
    groups = [
        _group(row, provisional_apart=provisional_apart) if ranked else ""
        for row in rows
    ]
    joined = [_joined(row, group) for row, group in zip(rows, groups, strict=True)]
    metrics = [metric_words(slug) for slug in address.metrics]
    criteria = address.criteria
    return [
        Line(
            row=row,
            rank=_rank(row),
            bracket=_bracket(joined, i) if ranked else "",
            section=groups[i] if i == 0 or groups[i] != groups[i - 1] else "",
            cluster=row.cluster if ranked and _begins_cluster(rows, i) else None,
            bar=charts.bar(
                axis, row.human, inner=row.human.inner, simulated=row.simulated
            )
            if axis and row.human
            else SafeString(""),
            metrics=[
                (words.label, _value(row, words, absent=words.slug in absent))
                for words in metrics
            ],
            extras=[row.criteria.get(name) for name in criteria],
        )
        for i, row in enumerate(rows)
    ]


def _rank(row: Row) -> str:
    if row.rank_first is None:
        return ""
    single = row.rank_first == row.rank_last
    ranks = f"{row.rank_first}" if single else f"{row.rank_first}–{row.rank_last}"
    # brackets: the rank that it would have if it were public
    return f"({ranks})" if row.private else ranks


def _group(row: Row, *, provisional_apart: bool) -> str:
    if row.human is None:
        return WAITING
    if row.rank_first is None:
        return PARTIAL
    return PROVISIONAL if provisional_apart and row.human.provisional else ""


def _joined(row: Row, group: str) -> str:
    if row.private or row.rank_first is None:
        return _rank(row)
    # with too many systems for clusters, those of equal ranks are joined
    by = f"cluster {row.cluster}" if row.cluster else _rank(row)
    return f"{group} {by}"


def _bracket(joined: list[str], i: int) -> str:
    if not joined[i]:
        return ""
    above = i > 0 and joined[i - 1] == joined[i]
    below = i + 1 < len(joined) and joined[i + 1] == joined[i]
    return {
        (False, True): " b1",
        (True, True): " b2",
        (True, False): " b3",
        (False, False): "",
    }[above, below]


def _begins_cluster(rows: Sequence[Row], i: int) -> bool:
    clusters = [row.cluster for row in rows[:i] if row.cluster and not row.private]
    row = rows[i]
    if not clusters or row.cluster is None or row.private:
        return False
    return row.cluster > clusters[-1]


def _value(row: Row, words: MetricWords, *, absent: bool) -> str:
    value = row.metrics.get(words.slug)
    if value is None:
        return "not computed here" if absent else ""
    return f"{value:.{words.decimals}f}"


ROWS = 150
# From this many rows on, the search is visible.
SEARCHED = 15


def board(request: HttpRequest, slug: str, at: str = "") -> HttpResponse:
    task = get_object_or_404(with_published(), slug=slug)
    if not at and (typed_moment := request.GET.get("at")):
        return _to_moment(task, typed_moment)
    moment = _moment(at) if at else None
    address = read_address(task, request.GET)
    # evidence on current ratings does not apply to a past board
    beside = {} if moment else evidence_beside_board(task)
    context = {
        "here": "tasks",
        "task": task,
        "versions": versions_of(task),
        "at": moment,
        "uneven": None if moment else uneven_pairs(task),
        **_moved(request, task, beside),
        "body": _body(request, task, address, moment, beside),
    }
    return render(request, "leaderboard/boards/board.html", context)


def _moved(
    request: HttpRequest, task: Task, beside: Mapping[str, Any]
) -> dict[str, Any]:
    moved = moved_crowds(task, beside.get("links") or [])
    may_ask = bool(moved) and staff_may(
        request.user, Staff.ASK_JOINT_EVALUATIONS, task.slug
    )
    return {"moved": moved, "again": again(task, moved) if may_ask else None}


def _to_moment(task: Task, typed: str) -> HttpResponse:
    moment = read_moment(typed)
    if moment is None:
        raise Http404("This is not a time in the past.")
    # one address for one moment, so that it can be cited and cached
    return redirect("leaderboard:board-at", slug=task.slug, at=stamp(moment))


def _moment(at: str) -> datetime:
    moment = read_moment(at)
    if moment is None or stamp(moment) != at:
        raise Http404("This is not a time in the past.")
    return moment


def _body(
    request: HttpRequest,
    task: Task,
    address: Address,
    at: datetime | None,
    beside: Mapping[str, Any],
) -> SafeString:
    teams = team_ids(request.user)
    now = state(task, teams, at)
    asked = (stamp(at) if at else "", address.query(), request.GET.get("page", ""))
    key = now.key("page", *asked, teams=teams)
    kept: str | None = cache.get(key)
    if kept is not None:
        return mark_safe(kept)  # noqa: S308  # what the template below gave
    rows = standings(
        task, None, address.order, chosen=address.chosen, at=at, teams=teams, apart=True
    )
    context = _context(request, task, rows, replace(address, order=rows.order))
    first = {} if rows.groups else beside.get("first") or {}
    context |= {
        "latest_at": now.latest_at,
        "n_groups": len(set(rows.groups.values())),
        "to_change_first": first.get("n_ratings"),
    }
    html = render_to_string("leaderboard/boards/parts/board.html", context)
    # comparisons are shown as they are now, and as the viewer may see them
    if rows.n_all >= KEPT_FROM_ROWS and not task.side_by_side:
        cache.set(key, str(html), KEPT_SECONDS)
    return html


def _context(
    request: HttpRequest, task: Task, rows: Standings, address: Address
) -> dict[str, Any]:
    page: Page[Row] = page_of(rows, ROWS, request.GET.get("page"))
    pairs = task.side_by_side and not rows.at and rows.nobody_asked
    return {
        "task": task,
        "board": rows,
        **_moments(rows, address),
        "criterion": main_criterion(task),
        "question": next(
            iter((task.asked if pairs else task.human).criteria.values()), ""
        ),
        "compared": compared(task, request.user) if pairs else None,
        "page": page,
        "address": address,
        "sorted": address.order != DEFAULT,
        "here_query": address.query(),
        "searched": rows.n_all >= SEARCHED or bool(address.chosen.text),
        "other_scale": address.query(full=not address.full),
        "kept": _kept(address),
        "today": timezone.localdate(),
        "earlier": address.query(page=page.number - 1) if page.has_previous() else "",
        "later": address.query(page=page.number + 1) if page.has_next() else "",
        **_table(task, rows, page, address),
    }


def _moments(rows: Standings, address: Address) -> dict[str, Any]:
    at = rows.at or whole_second(timezone.now())
    query = address.query()
    kept = f"{query}{'&' if query != '?' else ''}at={stamp(at)}"
    return {
        "now": stamp(at),
        "now_words": f"{at:%Y-%m-%d %H:%M}",
        "export_query": kept if rows.at else query.removesuffix("?"),
    }


def _table(
    task: Task, rows: Standings, page: Page[Row], address: Address
) -> dict[str, Any]:
    axis, zooms = _axis(rows, address)
    main = main_criterion(task)
    helped = [row.judged[main] for row in page if main in row.judged]
    shows_judged = bool(helped) and address.shows(JUDGED)
    # imported systems all belong to one team here, and came on one day
    head = [address.shows(name) and not task.imported for name in (TEAM, DATE)]
    return {
        "axis": axis,
        "zooms": zooms,
        "baselines": BASELINES
        if task.submissions.filter(public()).exclude(baseline="").exists()
        else {},
        "choices": [one for one in address.choices if one.key != JUDGED or helped],
        # judges that help on this page
        "judges": sorted({name for one in helped for name in one.judges}),
        "shows_judged": shows_judged,
        "judges_help": JUDGED_HELP,
        "who_ranks": who_ranks(task)
        if helped or task.configuration.judges.rank
        else "",
        "n_columns": 4
        + sum(head)
        + len(address.criteria)
        + shows_judged
        + len(address.metrics),
        "columns": columns(address, simulated=rows.all_simulated),
        "criteria": address.criteria,
        "n_waiting_columns": 2 + len(address.criteria) + shows_judged,
        "shows_team": head[0],
        "shows_date": head[1],
        "lines": lines(
            list(page),
            address,
            axis=axis,
            absent=not_computed_here(task),
            provisional_apart=rows.provisional_apart,
        ),
    }


def _axis(rows: Standings, address: Address) -> tuple[Axis | None, bool]:
    extent = rows.extent
    if extent is None:
        return None, False
    full = axis_over(min(extent.low, 0.0), max(extent.high, 100.0))
    near = axis_over(extent.low, extent.high)
    zooms = near.high - near.low <= (full.high - full.low) * 2 / 3
    return (near if zooms and not address.full else full), zooms


def _kept(address: Address) -> dict[str, list[tuple[str, str]]]:
    filters = [name for name, _ in filter_parameters(address.chosen)]
    return {
        "search": address.kept("q"),
        "filter": address.kept("columns", *(set(filters) - {"q"})),
    }
