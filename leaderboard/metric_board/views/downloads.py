"""A task's judgments and metric scores as files, in the formats of the field."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    StreamingHttpResponse,
)
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe
from rest_framework.throttling import UserRateThrottle

from crowd.hit_templates.errors import read_errors
from leaderboard.metric_board import exports as files
from leaderboard.metric_board import wmt_files
from leaderboard.metric_board.selectors import agreement, downloads, marked
from leaderboard.tasks.models import Task
from leaderboard.tasks.services.configuration import errors_asked

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


class FileThrottle(UserRateThrottle):
    """A file of a large task costs seconds: nobody fetches it all the time."""

    scope = "metric-files"
    rate = "240/hour"


@require_safe
def metric_download(request: HttpRequest, slug: str, name: str) -> HttpResponseBase:
    """Hand a file out; large ones are written while they are read."""
    task = get_object_or_404(Task, slug=slug)
    if name not in WRITERS:
        raise Http404
    throttle: Any = FileThrottle()
    if not throttle.allow_request(request, None):
        wait = max(1, round(throttle.wait() or 1))
        return HttpResponse(
            f"Too many downloads; try again in {wait} seconds.\n",
            content_type="text/plain; charset=utf-8",
            status=429,
            headers={"Retry-After": str(wait)},
        )
    content_type, write = WRITERS[name]
    content = write(task)
    response: HttpResponseBase = (
        HttpResponse(content, content_type=content_type)
        # archives need their directory at the end; tables are streamed row by row
        if isinstance(content, bytes)
        else StreamingHttpResponse(
            content, content_type=f"{content_type}; charset=utf-8"
        )
    )
    response["Content-Disposition"] = f'attachment; filename="{task.slug}.{name}"'
    return response


def _scores(task: Task) -> Iterator[Mapping[str, Any]]:
    systems, ids = downloads.published(task), downloads.instance_ids(task)
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
    """Lay scores out as mt-metrics-eval's data: a file for each scorer and level."""
    names = files.unique_names(
        {pk: name for pk, (name, _) in downloads.published(task).items()}
    )
    written: list[tuple[str, str]] = []
    for criterion, table in sorted(downloads.human_tables(task).items()):
        path = f"human-scores/{files.safe_name(criterion)}"
        by_name = {names[pk]: values for pk, values in sorted(table.items())}
        means = {system: _mean(values) for system, values in by_name.items()}
        written.append((f"{path}.seg.score", files.seg_score(by_name)))
        written.append((f"{path}.sys.score", files.sys_score(means)))
    overall: dict[str, dict[str, float]] = {}
    per_instance: dict[str, dict[str, list[float]]] = {}
    for scored in downloads.metric_scores(task):
        overall.setdefault(scored.metric, {})[names[scored.submission]] = scored.overall
        if len(scored.per_instance) == task.n_instances:
            per_instance.setdefault(scored.metric, {})[names[scored.submission]] = (
                scored.per_instance
            )
    for metric in sorted(overall):
        path = f"metric-scores/{files.safe_name(metric)}"
        if metric in per_instance:
            written.append((f"{path}.seg.score", files.seg_score(per_instance[metric])))
        written.append((f"{path}.sys.score", files.sys_score(overall[metric])))
    return files.zipped(written)


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _billboard(task: Task) -> bytes:
    """Lay scores out as Billboard's: a CSV for each system and metric."""
    systems, ids = downloads.published(task), downloads.instance_ids(task)
    names = files.unique_names({pk: name for pk, (name, _) in systems.items()})
    written = [
        (
            f"{names[scored.submission]}||{files.safe_name(scored.metric)}.csv",
            "".join(
                files.csv_pieces(
                    ("instance", "value"),
                    (
                        {"instance": i, "value": v}
                        for i, v in zip(ids, scored.per_instance, strict=True)
                    ),
                )
            ),
        )
        for scored in downloads.metric_scores(task)
        if len(scored.per_instance) == len(ids)
    ]
    return files.zipped(written)


def _appraise(task: Task) -> Iterator[str]:
    languages = (task.source_language, task.target_language)
    with_marks = marked.marks_errors(task)
    return wmt_files.appraise(marked.judgments(task), languages, marked=with_marks)


def _campaign(task: Task) -> bytes:
    errors = read_errors(errors_asked(task.human))
    about = list(marked.segments(task).values())
    texts, design = marked.outputs(task), task.human.design
    shown = errors.categories if marked.marks_errors(task) else {}
    return wmt_files.campaign(task.slug, design, about, texts, shown).encode()


WRITERS: dict[str, tuple[str, Callable[[Task], Iterator[str] | bytes]]] = {
    "agreement.csv": (
        _CSV,
        lambda t: files.csv_pieces(agreement.COLUMNS, agreement.agreement_rows(t)),
    ),
    "agreement.json": (
        "application/json",
        lambda t: json.dumps(list(agreement.agreement_rows(t))).encode(),
    ),
    "judgments.csv": (
        _CSV,
        lambda t: files.csv_pieces(JUDGMENTS, downloads.judgments(t)),
    ),
    "judgments.jsonl": (_JSONL, lambda t: files.json_lines(downloads.judgments(t))),
    "judgments.crowd-kit.csv": (
        _CSV,
        lambda t: files.csv_pieces(
            ("task", "worker", "label"), files.crowd_kit(downloads.judgments(t))
        ),
    ),
    "battles.jsonl": (_JSONL, lambda t: files.json_lines(downloads.battles(t))),
    "appraise.csv": (_CSV, _appraise),
    "pearmut.jsonl": (
        _JSONL,
        lambda t: wmt_files.pearmut(marked.judgments(t), marked.outputs(t)),
    ),
    "pearmut-campaign.json": ("application/json", _campaign),
    "metric-scores.csv": (_CSV, lambda t: files.csv_pieces(SCORES, _scores(t))),
    "metric-scores.jsonl": (_JSONL, lambda t: files.json_lines(_scores(t))),
    "mtme.zip": (_ZIP, _mtme),
    "billboard.zip": (_ZIP, _billboard),
}
