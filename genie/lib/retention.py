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
        "how pages of work were used",
        "crowd.hits.services.check_answers.forget_before",
    ),
    Kept(
        "messages", 1095, "messages to workers", "crowd.messages.services.forget_before"
    ),
    Kept(
        "notes",
        1095,
        "notes of staff about workers",
        "crowd.workers.services.notes.forget_before",
    ),
    Kept(
        "invitations",
        365,
        "to whom expired invitations went",
        "crowd.workers.services.invitations.forget_before",
    ),
    Kept(
        "reads",
        730,
        "which staff read private outputs",
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
