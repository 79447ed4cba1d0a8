"""Who is told of a job's error while it is being handled, in the process of the job."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace


def tell(report: Callable[[], object]) -> None:
    """Let django-q2 call `report` wherever a job raises, instead of what it has installed."""
    from django_q import worker

    worker.error_reporter = SimpleNamespace(report=report)
