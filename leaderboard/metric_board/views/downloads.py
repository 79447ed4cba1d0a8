"""Downloads of a task's ratings and metric scores, in the field's file formats."""

import json
from collections.abc import Callable, Iterator, Mapping
from http import HTTPStatus
from itertools import chain
from typing import Any

from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseNotFound,
    StreamingHttpResponse,
)
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from genie.accounts.throttles import limit_files
from leaderboard.boards.views import files as files_of_board
from leaderboard.metric_board import exports as files
from leaderboard.metric_board import mtme_files
from leaderboard.metric_board.selectors import downloads
from leaderboard.metric_board.selectors.snapshot import (
    STATISTICS,
    Cell,
    Shown,
    criteria_of,
    shown_board,
)
from leaderboard.metrics.base import all_metrics
from leaderboard.tasks.license import may_be_copied
from leaderboard.tasks.models import Task

_EMPTY_ZIP = b"PK\5\6" + bytes(18)
# A task's metric boards as rows of a table for download.
COLUMNS = (
    "criterion",
    "of",
    "metric",
    "label",
    "level",
    "statistic",
    "value",
    "low",
    "high",
    "n_systems",
    "n_raters",
    "simulated",
    "licence",
)


def agreement_rows(task: Task) -> Iterator[dict[str, Any]]:
    """Yield a row per statistic of each metric, and of a single person."""
    for criterion in criteria_of(task):
        yield from _of_board(criterion, shown_board(task, criterion))


def _of_board(criterion: str, shown: Shown) -> Iterator[dict[str, Any]]:
    if shown.board is None:
        return
    head = {"criterion": criterion, "simulated": shown.board.simulated}
    for line in shown.lines:
        metric = {"of": "metric", "metric": line.slug, "label": line.label}
        counts = {"n_systems": line.n_systems, "n_raters": None}
        metric["licence"] = line.licence
        for row in _of_cells(line.cells):
            yield {**head, **metric, **counts, **row}
    if (person := shown.person) is not None:
        one = {"of": "person", "metric": "", "label": "one person against the others"}
        one["licence"] = ""
        counts = {"n_systems": shown.n_systems, "n_raters": person.n_raters}
        for row in _of_cells(person.cells):
            yield {**head, **one, **counts, **row}


def _of_cells(cells: dict[str, Cell]) -> Iterator[dict[str, Any]]:
    for slug, statistic in STATISTICS.items():
        if slug in cells:
            yield {"level": statistic.level, "statistic": slug, **vars(cells[slug])}


JUDGMENTS = (
    "system",
    "submission",
    "instance",
    "criterion",
    "worker",
    "value",
    "simulated",
    "imported",
)
SCORES = ("system", "submission", "instance", "metric", "value")
_CSV, _JSONL, _ZIP = "text/csv", "application/jsonl", "application/zip"


@require_safe
@limit_files
def metric_download(request: HttpRequest, slug: str, name: str) -> HttpResponseBase:
    """Send a file; large ones are written while they are sent."""
    task = get_object_or_404(Task, slug=slug)
    if name not in WRITERS:
        raise Http404
    if files_of_board.is_long(task):
        made = files_of_board.serve(request, task, name, MADE, asked="")
        empty = made.status_code == HTTPStatus.OK and made.content in (b"", _EMPTY_ZIP)
        return _refuse_empty(task, name) if empty else made
    content_type, write = WRITERS[name]
    content = write(task)
    first = content if isinstance(content, bytes) else next(content, "")
    if first in (b"", "", _EMPTY_ZIP):
        return _refuse_empty(task, name)
    response: HttpResponseBase = (
        HttpResponse(content, content_type=content_type)
        # only tables are streamed: an archive's directory is written last
        if isinstance(content, bytes)
        else StreamingHttpResponse(
            chain([first], content), content_type=f"{content_type}; charset=utf-8"
        )
    )
    response["Content-Disposition"] = f'attachment; filename="{task.slug}.{name}"'
    return response


def _refuse_empty(task: Task, name: str) -> HttpResponse:
    text = f"{task.title} has no results for {name}."
    return HttpResponseNotFound(text, content_type="text/plain")


def _whole(content: Iterator[str] | bytes) -> bytes:
    return content if isinstance(content, bytes) else "".join(content).encode()


def _scores(task: Task) -> Iterator[Mapping[str, Any]]:
    systems, ids = downloads.published_systems(task), downloads.instance_ids(task)
    for scored in downloads.metric_scores(task):
        row = {
            "system": systems[scored.submission][0],
            "submission": scored.submission,
            "metric": scored.metric,
        }
        yield {**row, "instance": "", "value": scored.overall}
        if len(scored.per_instance) == len(ids):
            for instance, value in zip(ids, scored.per_instance, strict=True):
                yield {**row, "instance": instance, "value": value}


def _mtme(task: Task) -> bytes:
    systems = downloads.published_systems(task)
    names = files.unique_names({pk: name for pk, (name, _) in systems.items()})
    if not names:
        return files.zip_files(())
    people = [
        mtme_files.Scorer(
            criterion,
            by_name := {names[pk]: values for pk, values in sorted(table.items())},
            {system: _mean(values) for system, values in by_name.items()},
        )
        for criterion, table in sorted(downloads.human_tables(task).items())
    ]
    about = mtme_files.DataSet(
        files.safe_name(task.slug),
        f"{task.source_language}-{task.target_language}",
        downloads.documents(task),
        **(downloads.texts(task, names) if may_be_copied(task.licence) else {}),
    )
    return files.zip_files(mtme_files.data_set(about, people, _metrics(task, names)))


def _metrics(task: Task, names: Mapping[int, str]) -> list[mtme_files.Scorer]:
    overall: dict[str, dict[str, float | None]] = {}
    per_instance: dict[str, dict[str, list[float]]] = {}
    for scored in downloads.metric_scores(task):
        system = names[scored.submission]
        overall.setdefault(scored.metric, {})[system] = scored.overall
        if len(scored.per_instance) == task.n_instances:
            per_instance.setdefault(scored.metric, {})[system] = scored.per_instance
    known = all_metrics()
    return [
        mtme_files.Scorer(
            metric,
            per_instance.get(metric, {}),
            overall[metric],
            # hidden references are in no file that a reader could name
            reads_references=not task.hidden_references
            and metric in known
            and known[metric].needs_references,
        )
        for metric in sorted(overall)
    ]


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


WRITERS: dict[str, tuple[str, Callable[[Task], Iterator[str] | bytes]]] = {
    "agreement.csv": (_CSV, lambda t: files.csv_pieces(COLUMNS, agreement_rows(t))),
    "agreement.json": (
        "application/json",
        lambda t: json.dumps(list(agreement_rows(t))).encode(),
    ),
    "judgments.csv": (
        _CSV,
        lambda t: files.csv_pieces(JUDGMENTS, downloads.judgments(t)),
    ),
    "judgments.jsonl": (_JSONL, lambda t: files.json_lines(downloads.judgments(t))),
    "battles.jsonl": (_JSONL, lambda t: files.json_lines(downloads.battles(t))),
    "metric-scores.csv": (_CSV, lambda t: files.csv_pieces(SCORES, _scores(t))),
    "metric-scores.jsonl": (_JSONL, lambda t: files.json_lines(_scores(t))),
    "mtme.zip": (_ZIP, _mtme),
}
# of a long board, by a job
MADE: files_of_board.Writers = {
    name: (
        kind if kind == _ZIP else f"{kind}; charset=utf-8",
        lambda task, _, write=write: _whole(write(task)),  # type: ignore[misc]
    )
    for name, (kind, write) in WRITERS.items()
}
