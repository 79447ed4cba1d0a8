from django.conf import settings
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.templatetags.static import static
from django.utils.functional import SimpleLazyObject

from genie.lib import retention
from leaderboard.boards.selectors import home as selectors
from leaderboard.boards.selectors.rows import Human
from leaderboard.boards.views.leading import leading
from leaderboard.boards.views.task_cards import cards
from leaderboard.charts.axis import axis_over
from leaderboard.stats.intervals import COVERS_INSTANCES
from leaderboard.submissions.models.submission import Submission
from leaderboard.submissions.selectors.visibility import public
from leaderboard.tasks.models import Task

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
    of_both = dict(
        Task.objects.order_by().values_list("imported").annotate(n=Count("pk"))
    )
    n_own, n_tasks = of_both.get(False, 0), sum(of_both.values())
    first = leading()
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
            "demo": _is_demo(),
            "latest": SimpleLazyObject(selectors.latest),
            "numbers": selectors.numbers(),
        },
    )


def _is_demo() -> bool:
    if Task.objects.filter(demo=False).exists():
        return False
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
