"""Which state of a board this is, in a few characters: what is rendered can be kept."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Model, Subquery
from django.utils import timezone

from crowd.models import Answer
from leaderboard.models import MetricResult, Score, Submission, SubmissionEvent, Task
from leaderboard.selectors.sight import public

# Whatever changes a board by itself leaves a new row in one of these.
_TRACES: tuple[type[Model], ...] = (SubmissionEvent, Score, MetricResult, Answer)


@dataclass(frozen=True)
class State:
    """A board's version, and when its last public result was published."""

    version: str
    latest_at: datetime | None


def version(task: Task) -> str:
    """Give the version alone."""
    return state(task).version


def state(task: Task) -> State:
    """Hash what says that something happened: one query, whatever the board's size.

    What staff edit by hand leaves no trace here, and another task's events make a new
    version too: keep what stands under a version for a short time only.
    """
    *newest, latest_at = _newest(task)
    parts = [
        timezone.localdate(),
        task.pk,
        task.config,
        task.title,
        task.summary,
        task.accepts_submissions,
        newest,
    ]
    text = json.dumps(parts, default=str, sort_keys=True)
    return State(hashlib.sha256(text.encode()).hexdigest()[:16], latest_at)


def _newest(task: Task) -> tuple[Any, ...]:
    """Give the newest key of each kind of trace, and the task's last publication."""
    newest: dict[str, Subquery] = {
        f"newest_{place}": Subquery(
            model._default_manager.order_by("-pk").values("pk")[:1]
        )
        for place, model in enumerate(_TRACES)
    }
    results = Submission.objects.filter(
        public(), task=task, published_at__isnull=False
    ).order_by("-published_at")
    newest["latest_at"] = Subquery(results.values("published_at")[:1])
    rows = Submission.objects.order_by("-pk").annotate(**newest)
    return rows.values_list("pk", *newest).first() or (None, None)
