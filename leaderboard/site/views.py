from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property, partial
from typing import Any

from django.conf import settings
from django.core.cache import caches
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.templatetags.static import static
from django.urls import path
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.generic import RedirectView
from django.views.i18n import set_language

from crowd.workers.services.invitations import choose_language
from genie.accounts.throttles import limit_files
from genie.history import log
from genie.history.models import LogEntry, LogHead
from genie.history.shown import open_entries
from genie.lib import retention
from genie.lib.serving.pages import page_of
from leaderboard.boards.selectors import home as selectors
from leaderboard.boards.selectors.home import newest_board
from leaderboard.boards.selectors.rows import Human, Row, Standings, standings
from leaderboard.boards.selectors.version import KEPT_SECONDS, LONG_FROM_ROWS, state
from leaderboard.boards.views.board import board
from leaderboard.boards.views.exports import board_export, board_records
from leaderboard.boards.views.files import queue_once
from leaderboard.boards.views.methods import methods
from leaderboard.boards.views.pairs import pairs, weights
from leaderboard.boards.views.submission import outputs
from leaderboard.boards.views.tasks import cards
from leaderboard.charts import Axis, axis_over
from leaderboard.evaluation.models.human_evaluation import Score
from leaderboard.evaluation.services.public_log import (
    COMPARED,
    compare_public_scores,
)
from leaderboard.papers.task_figures.views import published_figures, published_file
from leaderboard.releases.views import card_file, card_page, newest_croissant
from leaderboard.stats.intervals import COVERS_INSTANCES
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import public
from leaderboard.submissions.views import check_file, sample
from leaderboard.tasks.models import Task
from leaderboard.teams.services import notices

# The menu of languages: stored in a cookie, and with the account for e-mails.


# Without a token, so that pages with the menu set no cookie. A cross-site request can
# change the cookie at most: browsers do not send it the session's.
@csrf_exempt
def choose(request: HttpRequest) -> HttpResponse:
    language = request.POST.get("language", "")
    if request.user.is_authenticated and language in dict(settings.LANGUAGES):
        notices.choose_language(request.user, language)
        choose_language(request.user.pk, language)
    return set_language(request)


_ON_PAGE = 50
_HEADS = 10


def public_log(request: HttpRequest) -> HttpResponse:
    entries = LogEntry.objects.exclude(number=None).order_by("-number")
    page = page_of(entries, _ON_PAGE, request.GET.get("page"))
    lines = [_line(one) for one in open_entries(list(page))]
    imported = Submission.objects.filter(
        pk__in={one["submission"] for one in lines if one["submission"]},
        task__imported=True,
    )
    context = {
        "compared": _compared_scores(),
        "head": log.head(),
        "heads": LogHead.objects.order_by("-size")[1:_HEADS],
        "page": page,
        "lines": lines,
        "imported": {*imported.values_list("pk", flat=True)},
    }
    return render(request, "leaderboard/site/public_log.html", context)


def _compared_scores() -> dict[str, Any] | None:
    """Return the stored comparison with the log; a job makes that of many scores."""
    rows = Score.objects.filter(superseded_at=None)[:LONG_FROM_ROWS]
    if rows.count() < LONG_FROM_ROWS:
        return compare_public_scores()
    found: dict[str, Any] | None = caches["shared"].get(COMPARED)
    if not found or found["at"] < timezone.now() - timedelta(seconds=KEPT_SECONDS):
        queue_once(COMPARED, "leaderboard.jobs.compare_public_scores")
    return found


def _line(entry: dict[str, Any]) -> dict[str, Any]:
    says, kind = entry["says"] or {}, LogEntry.Kind(entry["kind"])
    told = _IN_WORDS.get(kind, _pairs)(says) if says else ""
    return {
        **entry,
        "kind": kind.label,
        "submission": says.get("submission"),
        "told": told,
    }


def _score(says: dict[str, Any]) -> str:
    mean, low, high = (_number(says[name]) for name in ("mean", "low", "high"))
    first, last = says["rank_first"], says["rank_last"]
    place = f"{first}" if first == last else f"{first} to {last}"
    return (
        f"{says['criterion']} {mean} [{low}, {high}], "
        + (f"rank {place}, " if first else "")
        + f"{says['n']:,} instances; {says['n_workers']:,} workers counted, "
        f"{says['n_excluded_workers']:,} excluded"
    )


def _ban(says: dict[str, Any]) -> str:
    return f"{says['is']} on {says['task']} by {says['by']}; worker {says['worker']}"


def _release(says: dict[str, Any]) -> str:
    return (
        f"{says['task']}, with the first {says['log_size']:,} entries of this log; "
        f"SHA-256 of its SHA256SUMS {says['checksums_sha256']}"
    )


def _pairs(says: dict[str, Any]) -> str:
    return ", ".join(
        f"{name.replace('_', ' ')} {_number(value) if isinstance(value, float) else value}"
        for name, value in says.items()
        if value not in (None, "") and not isinstance(value, dict | list)
    )


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.2f}"


_IN_WORDS = {
    LogEntry.Kind.SCORE: _score,
    LogEntry.Kind.BAN: _ban,
    LogEntry.Kind.RELEASE: _release,
}


_TASK = "tasks/<slug:slug>"
_SUBMISSION = "submissions/<int:pk>"

# Pages of a task until they became tabs of its board.
_MOVED = {
    "pairs": ("differences", "comparisons"),
    "methods": ("about", "evidence", "crowds", "story"),
}
_moved_to = partial(RedirectView.as_view, permanent=True, query_string=True)
urlpatterns = [
    path(f"{_TASK}/at/<slug:at>/", limit_files(board), name="board-at"),
    path(f"{_TASK}/board.<slug:form>", board_export, name="board-export"),
    path(f"{_TASK}/every-eval-ever.json", board_records, name="board-records"),
    path(f"{_TASK}/croissant.json", newest_croissant, name="croissant"),
    path(f"{_TASK}/check/", check_file, name="check"),
    path(f"{_TASK}/sample.json", sample, name="sample"),
    path(f"{_TASK}/pairs/", pairs, name="pairs"),
    path(f"{_TASK}/outputs/", outputs, name="outputs"),
    path(f"{_TASK}/methods/", methods, name="methods"),
    path(f"{_TASK}/published/", published_figures, name="published"),
    path(f"{_TASK}/published.<slug:form>", published_file, name="published-file"),
    path(f"{_TASK}/weights/", weights, name="weights"),
    path(f"{_SUBMISSION}/card/", card_page, name="card"),
    path(f"{_SUBMISSION}/card.<slug:form>", card_file, name="card-file"),
    *(
        path(f"{_TASK}/{old}/", _moved_to(pattern_name=f"leaderboard:{new}"))
        for new, every in _MOVED.items()
        for old in every
    ),
]


# The board on the front page: the leaders of the task with the newest result.
N_LEADERS = 8


@dataclass(frozen=True)
class Leaders:
    """The first rows of a task's board, fetched when a template uses them."""

    task: Task

    @cached_property
    def standings(self) -> Standings:
        return standings(self.task)

    @cached_property
    def rows(self) -> list[Row]:
        # the best come first, so that unranked ones are behind them
        n = 0 if self.standings.groups else min(N_LEADERS, self.standings.n_ranked)
        return [row for row in self.standings[:n] if row.human]

    @property
    def leader_low(self) -> float | None:
        return self.standings.extent.leader_low if self.standings.extent else None

    @cached_property
    def axis(self) -> Axis:
        drawn = [row.human for row in self.rows if row.human]
        return axis_over(min(one.low for one in drawn), max(one.high for one in drawn))


def leading_board() -> dict[str, Any]:
    """Return the newest result's board; long boards have a cache key."""
    task = newest_board()
    if task is None:
        return {"leading": None}
    now = state(task)
    return {
        "leading": task,
        "board": Leaders(task),
        "leading_seconds": KEPT_SECONDS if now.is_cached else 0,
        "leading_version": now.version,
    }


CARDS = 12
# The figure that explains an interval has invented scores.
EXAMPLE = Human(
    criterion="overall",
    mean=72.0,
    low=69.0,
    high=75.0,
    low_50=71.0,
    high_50=73.0,
    n=800,
    of=800,
    n_workers=40,
    covers="instances",
    signature="",
)


def home(request: HttpRequest) -> HttpResponse:
    n_tasks, n_own, n_demo = Task.objects.aggregate(
        n=Count("pk"),
        own=Count("pk", filter=Q(imported=False)),
        demo=Count("pk", filter=Q(demo=True)),
    ).values()
    first = leading_board()
    others = selectors.tasks_in_order().filter(imported=False)
    theirs = selectors.tasks_in_order().filter(imported=True)
    if board := first["leading"]:
        others = others.exclude(pk=board.pk)
    return render(
        request,
        "leaderboard/site/home.html",
        {
            # all of them have a separate page
            **cards(others[:CARDS], many=n_tasks > CARDS),
            **first,
            "n_tasks": n_tasks,
            "n_others": n_own - bool(board),
            "theirs": cards(theirs[:CARDS], many=n_tasks > CARDS)
            if n_tasks > n_own
            else None,
            "many": n_tasks > CARDS,
            "demo": n_demo == n_tasks and _has_programs(),
        },
    )


def _has_programs() -> bool:
    return Submission.objects.filter(public(), simulated=True).exists()


def favicon(request: HttpRequest) -> HttpResponse:
    """Redirect browsers that request it by default to the drawing."""
    return redirect(static("favicon.svg"), permanent=True)


def how_it_works(request: HttpRequest) -> HttpResponse:
    return render(
        request,
        "leaderboard/site/how_it_works.html",
        {
            "here": "how-it-works",
            "axis": axis_over(64, 80),
            "example": EXAMPLE,
            "hourly_cents": settings.GENIE["MINIMUM_HOURLY_CENTS"],
            "threshold": settings.GENIE["BAN_THRESHOLD"],
            "hour": settings.GENIE["CAMPAIGN_HOUR"],
            "zone": settings.GENIE["CAMPAIGN_ZONE"],
            "resamples": settings.GENIE["BOOTSTRAP_RESAMPLES"],
            "covers_instances": COVERS_INSTANCES,
        },
    )


def privacy(request: HttpRequest) -> HttpResponse:
    days = settings.GENIE["KEEP_DAYS"]
    periods = [(words, n) for words, n in retention.periods() if n]
    context = {"here": "privacy", "days": days["signals"], "periods": periods}
    return render(request, "leaderboard/site/privacy.html", context)
