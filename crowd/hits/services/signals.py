"""Signals from a page's script: hostile input, limited to what is possible."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.crypto import constant_time_compare, salted_hmac

from crowd.hits.models import Assignment, Signals

# Six numbers and their names are shorter.
MOST_CHARACTERS = 300
MOST = 9_999
COUNTS = ("n_changes", "n_focus_losses", "n_copies", "n_pastes")
FIRST = "first_change_seconds"


@dataclass(frozen=True)
class SentSignals:
    counts: Mapping[str, int] | None = None
    first_change_seconds: int | None = None
    canary: bool = False


def read_signals(assignment: Assignment, posted: Mapping[str, str]) -> SentSignals:
    """Read the signals of a page; values its script cannot have sent are ignored."""
    sent = _loaded(posted.get("signals", ""))
    canary = said_the_word(assignment, posted)
    if sent is None:
        return SentSignals(canary=canary)
    first = sent[FIRST]
    return SentSignals(
        {name: min(sent[name], MOST) for name in COUNTS},
        None if first is None else int(first),
        canary,
    )


def keep_signals(
    assignment: Assignment, sent: SentSignals, wall_seconds: float
) -> None:
    """Store the signals, if any; callers open the transaction.

    Times are limited to the time that passed on our clock.
    """
    if sent.counts is None and not sent.canary:
        return
    first = sent.first_change_seconds
    Signals.objects.create(
        assignment=assignment,
        first_change_seconds=None
        if first is None
        else min(first, max(0, int(wall_seconds))),
        canary=sent.canary,
        **(sent.counts or {}),
    )


def canary_word(assignment: Assignment) -> str:
    return salted_hmac("crowd.canary", str(assignment.pk)).hexdigest()[:8]


def said_the_word(assignment: Assignment, posted: Mapping[str, str]) -> bool:
    said = f"{posted.get('assistant', '')[:200]} {posted.get('remark', '')[:2_000]}"
    word = canary_word(assignment)
    return any(
        constant_time_compare(word, part.strip(".,:;'\"!()"))
        for part in said.lower().split()
    )


def _loaded(raw: str) -> dict[str, Any] | None:
    if not raw or len(raw) > MOST_CHARACTERS:
        return None
    try:
        sent = json.loads(raw)
    # Deeply nested JSON exhausts the stack instead of being invalid.
    except (ValueError, RecursionError):
        return None
    if not isinstance(sent, dict) or set(sent) != {*COUNTS, FIRST}:
        return None
    first = sent[FIRST]
    usable = all(_is_count(sent[name]) for name in COUNTS)
    return sent if usable and (first is None or _is_count(first)) else None


def _is_count(value: Any) -> bool:
    # `type` and not `isinstance`: True would pass for an integer.
    return type(value) is int and value >= 0


def forget_before(limit: datetime) -> int:
    old = Signals.objects.filter(assignment__submitted_at__lt=limit)
    return int(old.delete()[0])
