from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.utils import timezone
from django.utils.module_loading import import_string

from genie.lib import env


@dataclass(frozen=True)
class Kept:
    """One kind of data to delete; `forget` names a function of the cutoff time."""

    name: str
    days: int
    # its name on the page on privacy
    words: str
    forget: str


KEPT = (
    Kept(
        "signals",
        365,
        "usage of work pages",
        "crowd.hits.services.check_answers.forget_before",
    ),
    Kept(
        "messages", 1095, "messages to workers", "crowd.messages.services.forget_before"
    ),
    Kept(
        "notes",
        1095,
        "staff notes about workers",
        "crowd.workers.services.notes.forget_before",
    ),
    Kept(
        "invitations",
        365,
        "addresses of expired invitations",
        "crowd.workers.services.invitations.forget_before",
    ),
    Kept(
        "reads",
        730,
        "log of staff access to private outputs",
        "genie.accounts.reads.forget_before",
    ),
)


def days_from_environment() -> dict[str, int]:
    """Read `GENIE_KEEP_..._DAYS` of each kind; 0 keeps it for ever."""
    return {
        kept.name: env.integer(f"GENIE_KEEP_{kept.name.upper()}_DAYS", kept.days)
        for kept in KEPT
    }


def periods() -> list[tuple[str, int]]:
    return [(kept.words, settings.GENIE["KEEP_DAYS"][kept.name]) for kept in KEPT]


def forget_old() -> dict[str, int]:
    """Delete everything older than its period; return how many of each kind."""
    now, gone = timezone.now(), {}
    for kept in KEPT:
        if days := int(settings.GENIE["KEEP_DAYS"][kept.name]):
            forget = import_string(kept.forget)
            gone[kept.name] = int(forget(now - timedelta(days=days)))
    return gone
