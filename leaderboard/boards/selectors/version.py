"""The version of a board's state as a short string, a key for caches of rendered pages."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from django.contrib.admin.models import LogEntry
from django.db.models import Count, Max, Model, Q, QuerySet, Subquery
from django.utils import timezone

from genie.lib.database import prepare
from genie.lib.serving.caches import computed_once
from leaderboard.evaluation.models.board_fit import (
    BoardFit,
    JudgedEstimate,
    JudgeLicence,
)
from leaderboard.evaluation.models.human_evaluation import (
    HumanEvaluation,
    Score,
    Subject,
)
from leaderboard.evaluation.selectors.ranked_scores import judged_counts
from leaderboard.metric_runs.models import MetricResult
from leaderboard.submissions.models import Submission, SubmissionEvent, detail_names
from leaderboard.submissions.selectors import in_state, is_published, public
from leaderboard.tasks.models import Task, TaskRevision

# A short board is rendered each time: that is cheap. From 20 rows on, one is cached under
# its version, which includes the details that people edit. From 100 rows on, reading
# these would take too long: edits may be shown only after a minute, and jobs make all
# files.
KEPT_FROM_ROWS, LONG_FROM_ROWS = 20, 100
KEPT_SECONDS = 60
_EDITED = (
    *("pk", "system_name", "team__name", "team__slug", "description", "links"),
    *(*detail_names(), "baseline", "entry"),
    *("visibility", "anonymous_until", "own_state", "human_evaluation__state"),
)
# Every automatic change of a board leaves a new row in one of these, or changes the
# progress of running evaluations.
_TRACES: tuple[type[Model], ...] = (
    *(SubmissionEvent, Score, MetricResult),
    JudgedEstimate,
)
T = TypeVar("T")
_JUDGED_NOW = (
    Submission.State.ANNOTATING,
    Submission.State.ANNOTATED,
    Submission.State.SCORED,
)


@dataclass(frozen=True)
class State:
    version: str
    latest_at: datetime | None
    # public submissions
    n: int

    @property
    def is_cached(self) -> bool:
        return self.n >= KEPT_FROM_ROWS

    def key(self, *asked: str, teams: frozenset[int] = frozenset()) -> str:
        """Return a cache key, which differs by team: members see private rows."""
        text = json.dumps([self.version, *asked, sorted(teams)])
        # an address may have any length
        return "board-" + hashlib.sha256(text.encode()).hexdigest()

    def compute_once(
        self, compute: Callable[[], T], *asked: str, teams: frozenset[int] = frozenset()
    ) -> T:
        """Return what all viewers of a board see, computed once per version from 20 rows on.

        With `teams`, what their members see.
        """
        if not self.is_cached:
            return compute()
        return computed_once(self.key(*asked, teams=teams), compute, KEPT_SECONDS)


def state(
    task: Task, teams: frozenset[int] = frozenset(), at: datetime | None = None
) -> State:
    """Hash the traces of events on this task's board.

    `teams` are the viewer's, who see the progress of their private submissions. With
    `at`, the last result is that of a moment, while the version is always today's.
    Edits of a long board leave no trace here except in the admin: cache under a version
    for a short time only.
    """
    n, latest_at, *traces = next(iter(_traces(task.pk)), (0, None))
    parts = [
        # anonymity ends at midnight without a new row
        timezone.localdate(),
        task.pk,
        task.config,
        task.title,
        task.summary,
        task.accepts_submissions,
        n,
        latest_at,
        traces,
        sorted(_progress(task.pk, teams=teams)),
        _edits_of(task, teams) if KEPT_FROM_ROWS <= n < LONG_FROM_ROWS else (),
    ]
    text = json.dumps(parts, default=str, sort_keys=True)
    if at is not None:
        past = Submission.objects.filter(public(), task=task, published_at__lte=at)
        latest_at = past.aggregate(latest=Max("published_at"))["latest"]
    return State(hashlib.sha256(text.encode()).hexdigest()[:16], latest_at, n)


def _edits_of(task: Task, teams: frozenset[int]) -> list[tuple[Any, ...]]:
    shown = Q(visibility=Submission.Visibility.PUBLIC) | Q(team__in=teams)
    rows = Submission.objects.filter(shown, task=task).values_list(*_EDITED)
    return list(rows.order_by("-pk")[: 2 * LONG_FROM_ROWS])


def of_all_boards() -> str:
    """Return the state of all boards; cache under it for `KEPT_SECONDS`."""
    newest = {
        model.__name__: Subquery(
            model._default_manager.order_by("-pk").values("pk")[:1]
        )
        for model in (SubmissionEvent, Score, TaskRevision)
    }
    n_public = Submission.objects.filter(
        visibility=Submission.Visibility.PUBLIC
    ).count()
    tasks = Task.objects.order_by("-pk").annotate(**newest)
    return (
        f"{timezone.localdate()} {n_public} {tasks.values_list('pk', *newest).first()}"
    )


@prepare
def _traces(task: Any) -> QuerySet[Submission, tuple[Any, ...]]:
    newest: dict[str, Subquery] = {
        f"newest_{index}": Subquery(
            # all estimators: the database reads an index alone
            model._base_manager.filter(submission__task=task)
            .order_by()
            .values("submission__task")
            .annotate(newest=Max("pk"))
            .values("newest")
        )
        for index, model in enumerate(_TRACES)
    }
    final = HumanEvaluation.objects.filter(task=task).order_by("-final_at")
    newest["final_at"] = Subquery(
        final.filter(final_at__isnull=False).values("final_at")[:1]
    )
    licenses = JudgeLicence.objects.filter(run__task=task).order_by("-pk")
    newest["newest_license"] = Subquery(licenses.values("pk")[:1])
    fits = BoardFit.objects.filter(task=task, of=None, superseded_at=None)
    newest["fit"] = Subquery(fits.values("pk")[:1])
    edits = LogEntry.objects.order_by("-pk")
    newest["newest_edit"] = Subquery(edits.values("pk")[:1])
    # without `public`, which looks up each submission's evaluation
    shown = Q(visibility=Submission.Visibility.PUBLIC)
    counted = {
        # teams hide systems, and staff delete them, without another trace
        "n": Count("pk", filter=shown),
        "latest": Max("published_at", filter=shown & is_published()),
        "newest": Max("pk"),
    }
    rows = Submission.objects.filter(task=task).order_by().values("task")
    found = rows.annotate(**counted, **newest)
    return found.values_list(*counted, *newest)


@prepare
def _progress(
    task: Any, *, teams: frozenset[int]
) -> QuerySet[Subject, tuple[int, int]]:
    waiting = Submission.objects.filter(
        public() | Q(visibility=Submission.Visibility.PRIVATE, team__in=teams),
        in_state(*_JUDGED_NOW),
        task=task,
    )
    return judged_counts(waiting.order_by())
