"""What would fail late is said early: settings and task folders, by `manage.py check`."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import date
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register

from crowd import hit_templates
from crowd.scales.base import all_scales
from genie.lib.errors import GenieError
from leaderboard import tasks
from leaderboard.designs.base import all_designs
from leaderboard.metrics.base import all_metrics
from leaderboard.readers.releases.base import all_readers
from leaderboard.services import qualification
from leaderboard.services.fitting import misfits
from quality.stats.detector_specs import DETECTORS

HOURS = range(24)


@register
def settings_are_usable(**_kwargs: Any) -> list[CheckMessage]:
    """Look at Genie's own settings before a campaign stumbles over them."""
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
    if configured["CAMPAIGN_HOUR"] not in HOURS:
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
    if configured["DETECTOR"] not in DETECTORS:
        messages.append(
            _error(
                "E004",
                f"GENIE_DETECTOR is {configured['DETECTOR']!r}, which is not a "
                "detector.",
                f"Choose one of {', '.join(DETECTORS)}.",
            )
        )
    return messages


@register
def task_folders_are_usable(**_kwargs: Any) -> list[CheckMessage]:
    """Look whether every task asks for things that this site has."""
    messages: list[CheckMessage] = []
    for slug in tasks.known():
        try:
            messages += _task_trouble(slug, tasks.definition(slug))
        except GenieError as error:
            messages.append(_error("E005", error.message))
    return messages


def _task_trouble(slug: str, config: dict[str, Any]) -> Iterator[CheckMessage]:
    human, release = config["human"], config["release"]
    named: list[tuple[str, Any, Collection[str]]] = [
        ("release.reader", release.get("reader"), all_readers()),
        ("human.design", human.get("design"), all_designs()),
        ("human.scale", human.get("scale"), all_scales()),
        (
            "human.hit_template",
            human.get("hit_template"),
            hit_templates.all_templates(),
        ),
    ]
    for key, name, known in named:
        if name not in known:
            yield _error(
                "E006",
                f"{slug}/task.toml: {key} is {name!r}, which this site does not have.",
                f"Available: {', '.join(known)}.",
            )
    for sentence in misfits(config):
        yield _error("E007", f"{slug}/task.toml: {sentence}")
    try:
        qualification.check(human)
    except GenieError as error:
        yield _error("E008", f"{slug}/task.toml: {error.message}")
    for name in config["metrics"].get("use", []):
        if name not in all_metrics():
            yield Warning(
                f"{slug}/task.toml asks for the metric {name!r}, which this site does "
                "not have; submissions are measured without it.",
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
