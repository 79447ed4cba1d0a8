from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal
from urllib.parse import parse_qsl, urlencode

from django.contrib.humanize.templatetags.humanize import apnumber
from django.core.paginator import Page
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import capfirst

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
from leaderboard.boards.selectors.version import KEPT_SECONDS, state
from leaderboard.boards.views.submission import system_drawer
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
from quality.detection.selectors import limits_of

# A visitor's choices on a board as parameters of the address.
FULL, METRICS = "full", "metrics"
JUDGED = "judged"
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
    # whether a page shows the columns beside the ranking score
    show: bool = False
    compare: bool = False
    # the system whose drawer is open
    opened: str = ""
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

    def alone(self) -> "Address":
        """Return the address for a page, which shows further columns on request only."""
        return self if self.show or self.columns else replace(self, choices=())

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
        parts += [("show", METRICS)] if new.show else []
        parts += [("compare", "1")] if new.compare else []
        parts += [("open", new.opened)] if new.opened else []
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
        show=parameters.get("show") == METRICS,
        compare="compare" in parameters,
        opened=parameters.get("open", "")[:18],
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
    judged = Choice(JUDGED, "people, with judges’ help", shown=True)
    return [*criteria, judged, *metrics]


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
PROVISIONAL = "Provisional: ratings are still being checked"
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


def columns(address: Address) -> dict[str, Any]:
    return {
        "system": column("system", "System", address),
        "date": column("date", "Date", address),
        "human": column("human", "Score", address),
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
    """Format a page's rows; `absent` are metrics that were not computed here."""
    # in any other order neighbors are unrelated
    ranked = address.order == DEFAULT
    groups = [
        _group(row, provisional_apart=provisional_apart) if ranked else ""
        for row in rows
    ]
    metrics = [metric_words(slug) for slug in address.metrics]
    criteria = address.criteria
    return [
        Line(
            row=row,
            rank=_rank(row),
            section=groups[i] if i == 0 or groups[i] != groups[i - 1] else "",
            cluster=row.cluster if ranked and _begins_cluster(rows, i) else None,
            bar=charts.bar(
                axis,
                row.human,
                inner=row.human.inner,
                simulated=row.simulated,
                hollow=row.human.provisional,
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


ROWS = 100
# From this many rows on, the search is visible.
SEARCHED = 15


def board(request: HttpRequest, slug: str, at: str = "") -> HttpResponse:
    task = get_object_or_404(with_published(), slug=slug)
    if not at and (typed_moment := request.GET.get("at")):
        return _to_moment(task, typed_moment)
    moment = _moment(at) if at else None
    address = read_address(task, request.GET).alone()
    # evidence on current ratings does not apply to a past board
    beside = {} if moment else evidence_beside_board(task)
    context = {
        "here": "tasks",
        "task": task,
        "versions": versions_of(task),
        "at": moment,
        "limits": [] if moment else limits_of(task.slug),
        "uneven": None if moment else uneven_pairs(task),
        **_past_context(request, task, beside),
        "body": _body(request, task, address, moment, beside),
    }
    return render(request, "leaderboard/boards/board.html", context)


def _past_context(
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
    # comparisons are shown to readers with an account as they are now, and as they may
    # see them
    is_kept = now.is_cached and not (
        task.side_by_side and request.user.is_authenticated
    )
    kept: str | None = cache.get(key) if is_kept else None
    if kept is not None:
        return mark_safe(kept)  # noqa: S308  # what the template below gave
    rows = standings(
        task, None, address.order, chosen=address.chosen, at=at, teams=teams, apart=True
    )
    context = _context(request, task, rows, replace(address, order=rows.order))
    first = {} if rows.groups else beside.get("first") or {}
    context |= {
        "latest_at": now.latest_at,
        "n_raters": beside.get("workers", {}).get("n_workers"),
        "to_change_first": first.get("n_ratings"),
    }
    html = render_to_string("leaderboard/boards/parts/board.html", context)
    if is_kept:
        cache.set(key, str(html), KEPT_SECONDS)
    return html


def _context(
    request: HttpRequest, task: Task, rows: Standings, address: Address
) -> dict[str, Any]:
    page: Page[Row] = page_of(rows, ROWS, request.GET.get("page"))
    pairs = task.side_by_side and not rows.at and rows.nobody_asked
    found = compared(task, request.user) if pairs else None
    plain = replace(address, opened="", compare=False, show=False)
    own = page.number if page.number > 1 else None
    query = address.query(opened="", page=own)
    open_query = query if query == "?" else f"{query}&"
    return {
        "task": task,
        "board": rows,
        "headline": compared_headline(found) if found else headline(rows, page),
        **_moments(rows, plain),
        "criterion": main_criterion(task),
        "question": next(
            iter((task.asked if pairs else task.human).criteria.values()), ""
        ),
        "compared": found,
        "drawer": None if rows.at else system_drawer(task, address.opened),
        "open_query": open_query,
        "compare_query": address.query(compare=not address.compare),
        "show_query": address.query(show=not address.show),
        "page": page,
        "address": address,
        "sorted": address.order != DEFAULT,
        "here_query": plain.query(),
        "searched": rows.n_all >= SEARCHED or bool(address.chosen.text),
        "other_scale": address.query(full=not address.full),
        "kept": _kept_fields(address),
        "today": timezone.localdate(),
        "earlier": address.query(page=page.number - 1) if page.has_previous() else "",
        "later": address.query(page=page.number + 1) if page.has_next() else "",
        **_table(task, rows, page, address),
    }


def headline(rows: Standings, page: Sequence[Row]) -> str:
    """Return one sentence on who is first; tied are all whose ranks include 1."""
    if rows.groups:
        n = len(set(rows.groups.values()))
        return f"{count_of(n, 'group')} of systems had different raters and cannot be ranked together."
    if not rows.n_ranked:
        partial = "enough ratings for a rank" if rows.n_partial else "a score"
        return f"No system has {partial} yet."
    if rows.n_first > 1:
        return f"{count_of(rows.n_first, 'system')} are tied for first."
    name = next((row.system for row in page if row.rank_first == 1), "One system")
    if rows.n_ranked == 1:
        return f"{name} is the only ranked system."
    return f"{name} is first."


def compared_headline(found: Mapping[str, Any]) -> str:
    """Return one sentence on comparisons side by side, which give no scores."""
    for _, results in found["joint"]:
        for result in results[:1]:
            first = [row for row in result.rows if row.rank_first == 1]
            if len(first) > 1:
                return f"{count_of(len(first), 'system')} are tied for first."
            if first:
                return f"{first[0].submission.system_name} is first."
    if found["n"] == 1:
        return str(found["shown"][0][-1])
    if not found["n"]:
        return "No systems have been compared yet."
    return f"{count_of(found['n'], 'pair')} of systems have been compared."


def count_of(n: int, noun: str) -> str:
    return f"{capfirst(str(apnumber(n)))} {noun}{'' if n == 1 else 's'}"


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
    teams = {row.team for row in page}
    helped = [row.judged[main] for row in page if main in row.judged]
    shows_judged = bool(helped) and address.shows(JUDGED)
    days = {row.submitted_at.date() for row in page}
    shows_date = len(days) > 1 and not task.imported
    return {
        "axis": axis,
        "zooms": zooms,
        "baselines": BASELINES
        if task.submissions.filter(public()).exclude(baseline="").exists()
        else {},
        "switchable": address.show
        or any(row.metrics or row.criteria.keys() - {main} for row in page)
        or bool(helped),
        "choices": [one for one in address.choices if one.key != JUDGED or helped],
        # judges that help on this page
        "judges": sorted({name for one in helped for name in one.judges}),
        "shows_judged": shows_judged,
        "judges_help": JUDGED_HELP,
        "who_ranks": who_ranks(task)
        if helped or task.configuration.judges.rank
        else "",
        "n_columns": 4
        + shows_date
        + len(address.criteria)
        + shows_judged
        + len(address.metrics),
        "columns": columns(address),
        "criteria": address.criteria,
        "n_waiting_columns": 2 + len(address.criteria) + shows_judged,
        "shows_team": len(teams) > 1 and not task.imported,
        "shows_date": shows_date,
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


def _kept_fields(address: Address) -> dict[str, list[tuple[str, str]]]:
    filters = [name for name, _ in filter_parameters(address.chosen)]
    return {
        "search": address.kept("q"),
        "filter": address.kept("columns", *(set(filters) - {"q"})),
    }
