"""Small filters for templates; none of them marks data as safe."""

from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from django import template
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.template import Context
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from genie.accounts.devices import current_first, describe_browser
from genie.lib.database import prepare
from genie.lib.interval import Interval
from genie.lib.serving.languages import ENGLISH, dollars, format_digits
from leaderboard.boards.selectors import columns
from leaderboard.boards.selectors.certainty import covers_of
from leaderboard.boards.selectors.rows import Standings
from leaderboard.boards.views.exports import public_table
from leaderboard.charts import Axis, Spread, bar, grid, progress, scale
from leaderboard.evaluation.estimates import (
    NAMES,
    SCORE_IS,
    Estimate,
    headline_of,
    warning_of_few,
)
from leaderboard.evaluation.models.human_evaluation import Score
from leaderboard.evaluation.selectors.board_ratings import rank_rule
from leaderboard.evaluation.selectors.ranked_scores import partial_of_score
from leaderboard.releases.report import Report, report
from leaderboard.stats.ranking import RANK_RULE
from leaderboard.submissions.models import Prediction, Submission
from leaderboard.submissions.selectors import public
from leaderboard.tasks.models import Task
from leaderboard.tasks.selectors import provenance_of

register = template.Library()
register.filter("device", describe_browser)
register.filter(current_first)


@register.filter
def words(slug: str) -> str:
    """Turn a slug into words: `question-answering` into `Question answering`."""
    text = str(slug).replace("-", " ").replace("_", " ")
    return text[:1].upper() + text[1:]


@register.filter
def breakable(label: str) -> str:
    """Let `METEOR (NLTK)` break before its bracket, also where lines do not wrap."""
    name, bracket, bracketed = str(label).partition(" (")
    return format_html("{} <wbr>({}", name, bracketed) if bracket else name


@register.filter("one")
def one_decimal(number: float) -> str:
    """Format a score as boards do, with one decimal and never -0.0."""
    return format_digits(f"{number:z.1f}")


@register.filter("two")
def two_decimals(number: float) -> str:
    return format_digits(f"{number:z.2f}")


@register.filter("signed")
def format_signed(number: float) -> str:
    return f"{number:+z.1f}".replace("-", "−")


@register.filter
def ahead_of(score: float, other: float) -> str:
    """Format a difference of scores as that of the printed numbers."""
    return format_signed(round(score, 1) - round(other, 1))


@register.filter
def plus_minus(half_width: float) -> str:
    # an interval of half of the scale separates no two systems
    return "too few to say" if half_width > 25 else f"± {half_width:.1f} points"


@register.filter("signed_two")
def signed_with_two_decimals(number: float) -> str:
    return f"{number:+z.2f}".replace("-", "−")


@register.filter
def percent(share: float) -> str:
    """Format a share as percent without rounding to 0 or 100.

    Examples
    --------
    >>> percent(0.28), percent(0.997), percent(0.99999), percent(1.0)
    ('28', '99.7', '> 99.9', '100')
    """
    rounded = f"{100 * share:.0f}"
    # 99.7% of workers are not all workers
    would_mislead = {"100": share < 1, "0": share > 0}.get(rounded, False)
    if not would_mislead:
        return rounded
    closer = f"{100 * share:.1f}"
    return {"100.0": "> 99.9", "0.0": "< 0.1"}.get(closer, closer)


@register.filter
def number(value: float) -> str:
    return f"{value:g}"


@register.filter
def thousands(number: int) -> str:
    return format_digits(f"{number:,}")


register.filter("dollars", dollars)


@register.filter
def day(at: datetime) -> SafeString:
    """Format a day in UTC, for people and for machines."""
    day = f"{at:%Y-%m-%d}"
    if get_language() == ENGLISH:
        return format_html("<time>{}</time>", day)
    return format_html('<time datetime="{}">{}</time>', day, date_format(at))


@register.filter
def moment(at: datetime) -> SafeString:
    return format_html(
        '<time datetime="{}">{}</time>',
        at.isoformat(),
        date_format(at, "DATETIME_FORMAT"),
    )


@register.filter
def pairs(data: object) -> list[tuple[str, object]]:
    """Return a mapping's pairs; `.items` in a template would look up the key "items"."""
    return list(data.items()) if isinstance(data, dict) else [("", data)]


@register.filter
def web_link(address: str) -> str:
    """Return web addresses unchanged and others as empty (no `javascript:`)."""
    try:
        parts = urlsplit(str(address))
    except ValueError:
        return ""
    return str(address) if parts.scheme in {"http", "https"} and parts.netloc else ""


@register.filter
def short_link(address: str) -> str:
    parts = urlsplit(address)
    text = parts.netloc.removeprefix("www.") + parts.path.rstrip("/")
    return text if len(text) <= 40 else f"{text[:39]}…"


@register.simple_tag
def interval(
    axis: Axis, score: Spread, *, simulated: bool = False, on_grid: bool = True
) -> SafeString:
    return bar(axis, score, simulated=simulated, on_grid=on_grid)


@register.simple_tag
def spread(axis: Axis, found: Interval, *, simulated: bool = False) -> SafeString:
    """Draw a result that has one interval only."""
    mean = found.estimate
    ends = found.ends or (mean, mean)
    score = Estimate(mean, *ends, low_50=mean, high_50=mean, covers="")
    return bar(axis, score, simulated=simulated)


@register.inclusion_tag("leaderboard/parts/made_elsewhere.html")
def made_elsewhere(task: Task) -> dict[str, Any]:
    return {"found": provenance_of(task)}


@register.simple_tag(takes_context=True)
def report_texts(context: Context) -> Report:
    """Return a task's report, whose texts of methods and ethics a paper can quote."""
    return report(public_table(context["request"], context["task"]))


@register.simple_tag
def task_states(task: Task, board: Standings | None = None) -> list[str]:
    """Return what a reader must know of all results, for one mark beside the title."""
    found = provenance_of(task)
    sources = (
        [short_link(one.source) for one in found.origins if one.source] if found else []
    )
    states = [f"imported from {sources[0]}" if sources else "imported"] if found else []
    if board is None:
        rows = task.submissions.filter(public()).order_by()
        kinds = set(rows.values_list("simulated", flat=True).distinct())
    else:
        kinds = {True, board.all_simulated} if board.n_simulated else {False}
    if True in kinds:
        states.append(
            "simulated: not rated by people" if kinds == {True} else "partly simulated"
        )
    elif task.demo:
        states.append("demonstration")
    return [*states, "provisional"] if board and board.all_provisional else states


@prepare
def _count_readable(task: Any) -> QuerySet[Submission, tuple[int, int]]:
    texts = Prediction.objects.filter(submission=OuterRef("pk"))
    has_texts = Q(Exists(texts), published_at__isnull=False)
    rows = Submission.objects.filter(public(), task=task).order_by().values("task")
    counted = rows.annotate(n=Count("pk"), n_readable=Count("pk", filter=has_texts))
    return counted.values_list("n", "n_readable")


@register.inclusion_tag("leaderboard/boards/parts/task_tabs.html")
def task_tabs(task: Task, tab: str = "") -> dict[str, Any]:
    """Return the tabs of a board that have content, and the open one."""
    [(n, n_readable)] = _count_readable(task.pk) or [(0, 0)]
    tabs = [("board", _("Board"))]
    if n > 1:
        tabs.append(("pairs", _("Pairs")))
    if n_readable:
        tabs.append(("outputs", _("Outputs")))
    return {"task": task, "tabs": [*tabs, ("methods", _("Methods"))], "tab": tab}


@register.simple_tag(takes_context=True)
def interval_covers(context: Context) -> str:
    rows = [line.row for line in context.get("lines") or ()]
    shown = dict.fromkeys(row.human.covers for row in rows if row.human)
    return covers_of(context.get("task"), shown)


@register.simple_tag
def score_range(task: Task) -> str:
    return columns.score_range(task)


@register.simple_tag
def score_is(task: Task, estimates: dict[str, Any] | None = None) -> str:
    """Return how a score was computed; `estimates` are its own."""
    wanted = task.human.estimate
    return SCORE_IS[wanted if estimates is None else headline_of(estimates, wanted)]


@register.simple_tag
def other_estimates(task: Task, score: Score) -> list[tuple[str, dict[str, Any]]]:
    shown = headline_of(score.estimates, task.human.estimate)
    return [
        (NAMES[name], estimate)
        for name, estimate in score.estimates.items()
        if name != shown and name in NAMES
    ]


@register.filter
def few_workers(score: Score) -> str:
    """Warn of a score from few workers, or mainly from one of them."""
    return warning_of_few(
        score.n_workers,
        score.effective_workers,
        score.largest_share,
        score.evaluation.task.human.population,
    )


@register.simple_tag(takes_context=True, name="rank_rule")
def shown_rank_rule(context: Context) -> str:
    """Return how a board is ranked; without a task, how boards are in general."""
    task = context.get("task")
    return RANK_RULE if task is None else rank_rule(task)


@register.simple_tag
def interval_grid(axis: Axis, leader_low: float | None = None) -> SafeString:
    return grid(axis, leader_low)


@register.simple_tag
def interval_scale(axis: Axis) -> SafeString:
    return scale(axis)


@register.simple_tag
def progress_bar(n: int, of: int) -> SafeString:
    return progress(n, of)


register.filter("partial", partial_of_score)
