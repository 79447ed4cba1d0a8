"""Files of a board: those of a long one are made by a job, once per version."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256

from django.conf import settings
from django.core.cache import caches
from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import get_conditional_response

from genie.lib import jobs
from genie.lib.database import best_effort
from genie.lib.moment import read_moment, stamp, whole_second
from genie.lib.serving.pages import file_named
from leaderboard.boards.exports.board import WRITERS
from leaderboard.boards.exports.every_eval_ever import Source, as_records
from leaderboard.boards.exports.table import BoardTable
from leaderboard.boards.selectors.columns import main_criterion
from leaderboard.boards.selectors.judged import agreement_of, raters_of
from leaderboard.boards.selectors.rows import standings
from leaderboard.boards.selectors.version import (
    KEPT_SECONDS,
    LONG_FROM_ROWS,
    state,
)
from leaderboard.boards.views.board import read_address
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import public
from leaderboard.tasks.models import Task

RECORDS = "every-eval-ever.json"
JOB = "leaderboard.jobs.make_board_file"
RETRY_SECONDS = 5
# A job is queued again after this time: a queue may lose one, or the database be busy.
_ASK_AGAIN_SECONDS = 20
# Edits of a long board leave its version as it is, so no file is served for longer
# than this after its last check. Any visitor can ask for selections, and each takes space.
_HOUR, _TEN_MINUTES = 3600, 600
# The longest query that is passed to a job.
_LONGEST = 300
# Other packages' files by name: their type, and what writes them for a query.
Writers = Mapping[str, tuple[str, Callable[[Task, QueryDict], bytes]]]
_NONE: Writers = {}


@dataclass(frozen=True)
class Made:
    content: bytes
    # the moment in its text, which stays until something else changes
    at: datetime
    checked_at: datetime
    tag: str


def serve(
    request: HttpRequest,
    task: Task,
    name: str,
    more: Writers = _NONE,
    asked: str | None = None,
) -> HttpResponse:
    """Return the stored file, 304 if the reader has it, or 202 while it is made."""
    asked = request.GET.urlencode() if asked is None else asked
    now = timezone.now()
    current = state(task)
    key = current.key("file", name, asked)
    made: Made | None = caches["shared"].get(key)
    is_due = made is None or made.checked_at < now - timedelta(seconds=KEPT_SECONDS)
    # these two are costly
    by_job = is_long(task) or (current.is_cached and name in {RECORDS, "board.png"})
    if not by_job or len(asked) > _LONGEST:
        if is_due or not current.is_cached:
            made = make(task, name, asked, more, key)
    elif is_due:
        queue_once(key, JOB, task=task.pk, name=name, asked=asked)
    if made is None:
        text = f"This file is being made; try again in {RETRY_SECONDS} seconds.\n"
        headers = {"Retry-After": str(RETRY_SECONDS), "Cache-Control": "no-store"}
        return HttpResponse(
            text, "text/plain; charset=utf-8", status=202, headers=headers
        )
    kind, file = {**WRITERS, **more}.get(name, ("application/json", None))
    saved = f"{task.slug}.{name}" if file else f"{task.slug}-{name}"
    response = file_named(saved, made.content, kind)
    response["ETag"] = made.tag
    found = get_conditional_response(request, made.tag, response=response)
    return found or response


def queue_once(key: str, job: str, **keys: jobs.Key) -> None:
    """Queue the job that makes the result of a key, unless that was just done."""
    if caches["shared"].add(f"{key}-queued", 1, _ASK_AGAIN_SECONDS):
        # not `enqueue_missing`: an external queue that is never empty would get none
        best_effort(lambda: jobs.enqueue(job, **keys))


def make(
    task: Task, name: str, asked: str, more: Writers = _NONE, key: str = ""
) -> Made:
    """Make a file and store it; one that says the same stays, with its moment."""
    key, now = key or state(task).key("file", name, asked), timezone.now()
    kept: Made | None = caches["shared"].get(key)
    if kept and _write(task, name, asked, kept.at, more) == kept.content:
        made = replace(kept, checked_at=now)
    else:
        at = whole_second(now)
        content = _write(task, name, asked, at, more)
        made = Made(content, at, now, f'"{sha256(content).hexdigest()[:32]}"')
    caches["shared"].set(key, made, _TEN_MINUTES if asked else _HOUR)
    return made


def is_long(task: Task) -> bool:
    rows = Submission.objects.filter(public(), task=task).order_by()
    return rows[:LONG_FROM_ROWS].count() == LONG_FROM_ROWS


def _write(task: Task, name: str, asked: str, at: datetime, more: Writers) -> bytes:
    if name in more:
        return more[name][1](task, QueryDict(asked))
    table = table_of(QueryDict(asked), task, at)
    if name in WRITERS:
        return WRITERS[name][1](table).encode()
    # past raters are not recorded
    now = "at" not in QueryDict(asked)
    source = Source(
        retrieved=table.state.latest_at or table.task.created_at,
        site=_site(),
        version=settings.VERSION,
        raters=raters_of(table.task, table.state) if now else {},
        agreement=agreement_of(table.task) if now else {},
    )
    return json.dumps(as_records(table, source), cls=DjangoJSONEncoder).encode()


def table_of(asked: QueryDict, task: Task, now: datetime) -> BoardTable:
    at = read_moment(asked.get("at", ""))
    moment = at or now
    address = read_address(task, asked)
    # for an anonymous reader: a file is passed on, so no team's private rows
    rows = standings(task, None, address.order, chosen=address.chosen, at=at)
    current = state(task, at=moment)
    # a paper that cites the file cites this moment, not the board of the day it is read
    kept = reverse("leaderboard:board-at", args=[task.slug, stamp(moment)])
    # one reversed address with a placeholder instead of one reversal per row
    page = reverse("leaderboard:submission", args=[0]).replace("/0/", "/{}/")
    return BoardTable(
        task=task,
        rows=rows.kept(current),
        state=current,
        criteria=(main_criterion(task), *address.criteria),
        metrics=tuple(address.metrics),
        at=moment,
        address=_site() + kept,
        page=_site() + page,
    )


def _site() -> str:
    """Return the site's configured address: files outlive the host of the request."""
    return str(settings.GENIE["SITE_URL"]).rstrip("/")
