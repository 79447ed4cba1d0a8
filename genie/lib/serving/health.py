"""Health probes, and error responses while the database is away."""

import shutil
import sys
from collections.abc import Callable
from datetime import timedelta
from threading import Event
from typing import Any

from django.conf import settings
from django.db import Error as DatabaseProblem
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.views import defaults

from genie.lib import jobs
from genie.lib.database import unavailable
from genie.lib.serving import mail_server

RETRY_SECONDS = 30
# The shortest schedule is a minute, and django-q2 looks every half minute.
_QUEUE_IS_LATE = timedelta(minutes=5)
# Below this, files and SQLite's log soon find no room.
LITTLE_BYTES = 200 << 20
_applied = Event()


class HealthMiddleware:
    """Answers `/healthz` and `/readyz` before all other middleware.

    A probe comes by IP address and without HTTPS: it must neither be redirected nor
    refused for its Host.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path_info == "/healthz":
            answer = HttpResponse("ok\n", content_type="text/plain")
        elif request.path_info == "/readyz":
            answer = _readiness()
        else:
            return self.get_response(request)
        answer.headers["Cache-Control"] = "no-store"
        return answer


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer a failed request: 503 while database or disk are at fault."""
    why = unavailable(sys.exc_info()[1])
    if not why:
        return defaults.server_error(request)
    return HttpResponse(
        render_to_string("503.html", {"why": why}),
        status=503,
        headers={"Retry-After": RETRY_SECONDS, "Cache-Control": "no-store"},
    )


def _readiness() -> HttpResponse:
    parts = {"database": "down", "migrations": "unknown", "queue": "unknown"}
    parts["disk"] = "full" if disk().free < LITTLE_BYTES else "ok"
    try:
        connection.ensure_connection()
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        parts["database"] = "ok"
        parts["migrations"] = "ok" if is_migrated() else "missing"
        parts["queue"] = _queue()
    except DatabaseProblem:  # what is not known by now shows where it stopped
        connection.close()
    ready = set(parts.values()) == {"ok"}
    # Reported, but no reason to send visitors elsewhere: all but e-mail works without
    # it.
    parts["mail"] = mail_server.watched.state()
    answer = JsonResponse({"ready": ready, **parts}, status=200 if ready else 503)
    if not ready:
        answer.headers["Retry-After"] = str(RETRY_SECONDS)
    return answer


def is_migrated() -> bool:
    if not _applied.is_set():
        executor = MigrationExecutor(connection)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            return False
        _applied.set()
    return True


def disk() -> Any:
    return shutil.disk_usage(settings.VAR_DIR)


def _queue() -> str:
    late = jobs.longest_overdue()
    if late is None:
        return "not started"
    return "late" if late > _QUEUE_IS_LATE else "ok"
