"""Checks by `manage.py check` that report unusable settings and task folders early."""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning

from crowd import hit_templates
from genie.lib.errors import GenieError
from leaderboard.extensions import broken
from leaderboard.metrics.base import all_metrics
from leaderboard.tasks import shipped
from leaderboard.tasks.config import read_task
from leaderboard.tasks.services.configuration import misfits
from leaderboard.tasks.services.load import templates_of
from quality.detection.models import ALL_EVIDENCE
from quality.detection.stats.detector_specs import DETECTORS


def settings_are_usable(**_kwargs: Any) -> list[CheckMessage]:
    configured = settings.GENIE
    messages: list[CheckMessage] = []
    try:
        ZoneInfo(configured["CAMPAIGN_ZONE"])
    except (ZoneInfoNotFoundError, ValueError, OSError):
        messages.append(
            _error(
                "E001",
                f"GENIE_CAMPAIGN_ZONE is {configured['CAMPAIGN_ZONE']!r}, which "
                "is not a time zone.",
                "Use an IANA name such as Europe/Berlin.",
            )
        )
    if configured["CAMPAIGN_HOUR"] not in range(24):
        messages.append(
            _error(
                "E002",
                f"GENIE_CAMPAIGN_HOUR is {configured['CAMPAIGN_HOUR']}; it must "
                "be an hour from 0 to 23.",
            )
        )
    messages += [
        _error(
            "E003",
            f"GENIE_HOLIDAYS names {day!r}, which is not a date such as 2026-12-25.",
        )
        for day in configured["HOLIDAYS"]
        if not _is_date(day)
    ]
    detectors = (ALL_EVIDENCE, *DETECTORS)
    if configured["DETECTOR"] not in detectors:
        messages.append(
            _error(
                "E004",
                f"GENIE_DETECTOR is {configured['DETECTOR']!r}, which is not a "
                "detector.",
                f"Choose one of {', '.join(detectors)}.",
            )
        )
    return messages


def task_folders_are_usable(**_kwargs: Any) -> list[CheckMessage]:
    messages: list[CheckMessage] = []
    outside = {*shipped.outside()}
    for slug in shipped.known_tasks():
        try:
            with hit_templates.at_hand(
                templates_of(shipped.templates_of(slug)), in_files=True
            ):
                found = [*_task_trouble(slug, shipped.definition(slug))]
        except GenieError as error:
            found = [_error("E005", error.message)]
        # External pieces are only reported, and the site starts without them.
        if slug in outside:
            found = [
                Warning(f"{one.msg} The task cannot be loaded.", id="genie.W002")
                for one in found
            ]
        messages += found
    return (
        messages
        + [
            Warning(f"GENIE_TASKS names {path}, which does not exist.", id="genie.W003")
            for path in shipped.missing_folders()
        ]
        + [
            Warning(
                f"The task in {path} is ignored: {shipped.folder(path.name)} has the "
                "same name.",
                id="genie.W004",
            )
            for path in shipped.covered_folders()
        ]
    )


def extensions_are_usable(**_kwargs: Any) -> list[CheckMessage]:
    """Report external pieces that cannot be used; the site starts without them."""
    return [
        Warning(
            f"The extension {one.where} ({one.kind}) is left out: {one.reason}.",
            hint="Fix it, or remove it from GENIE_EXTENSIONS or the environment.",
            id="genie.W004",
        )
        for one in broken()
    ]


def _task_trouble(slug: str, document: Mapping[str, object]) -> Iterator[CheckMessage]:
    misfit = misfits(document)
    for number, problems in (
        ("E005", misfit.keys),
        ("E006", misfit.names),
        ("E007", misfit.together),
        ("E008", misfit.workers),
    ):
        for problem in problems:
            yield _error(number, f"{slug}/task.toml: {problem}")
    for name in read_task(document, {}).config.metrics.use:
        if name not in all_metrics():
            yield Warning(
                f"{slug}/task.toml asks for the metric {name!r}, which this site does "
                "not have. Submissions are measured without it.",
                id="genie.W001",
            )


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _error(number: str, message: str, hint: str | None = None) -> Error:
    return Error(message, hint=hint, id=f"genie.{number}")
