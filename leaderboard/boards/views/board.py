from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.core.paginator import Page
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe

from genie.accounts.staff import staff_may
from genie.lib.moment import read_moment, stamp, whole_second
from genie.lib.serving.caches import computed as cache
from genie.lib.serving.pages import page_of
from leaderboard.boards.selectors.certainty import evidence_beside_board
from leaderboard.boards.selectors.columns import main_criterion
from leaderboard.boards.selectors.crowds import again, moved_crowds
from leaderboard.boards.selectors.filtering import BASELINES
from leaderboard.boards.selectors.judged import JUDGED_HELP
from leaderboard.boards.selectors.rows import Row
from leaderboard.boards.selectors.sorting import DEFAULT
from leaderboard.boards.selectors.standings import Standings, standings
from leaderboard.boards.selectors.version import KEPT_FROM_ROWS, KEPT_SECONDS, state
from leaderboard.boards.views import table
from leaderboard.boards.views.address import (
    DATE,
    JUDGED,
    TEAM,
    Address,
    filter_parameters,
    read_address,
)
from leaderboard.charts import Axis, axis_over
from leaderboard.evaluation.selectors.comparisons import compared
from leaderboard.evaluation.selectors.joint import uneven_pairs
from leaderboard.evaluation.selectors.judged import who_ranks
from leaderboard.imports.selectors import with_published
from leaderboard.metric_runs.selectors import not_computed_here
from leaderboard.submissions.selectors import Staff, public, team_ids
from leaderboard.tasks.models import Task
from leaderboard.tasks.services.versions import versions_of

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
        task,
        None,
        address.order,
        chosen=address.chosen,
        at=at,
        teams=teams,
        apart=True,
    )
    context = _context(request, task, rows, address)
    context["latest_at"] = now.latest_at
    first = {} if beside.get("isolated") else beside.get("first") or {}
    context |= {
        "isolated": beside.get("isolated", []),
        "to_change_first": first.get("n_ratings"),
    }
    html = render_to_string("leaderboard/boards/parts/board.html", context)
    # comparisons are shown as they are now, and as the viewer may see them
    if rows.n_all >= KEPT_FROM_ROWS and not task.pairs_only:
        cache.set(key, str(html), KEPT_SECONDS)
    return html


def _context(
    request: HttpRequest, task: Task, rows: Standings, address: Address
) -> dict[str, Any]:
    page: Page[Row] = page_of(rows, ROWS, request.GET.get("page"))
    pairs = task.pairs_only and not rows.at and rows.nobody_asked
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
        "columns": table.columns(address, simulated=rows.all_simulated),
        "criteria": address.criteria,
        "n_waiting_columns": 2 + len(address.criteria) + shows_judged,
        "shows_team": head[0],
        "shows_date": head[1],
        "lines": table.lines(
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
