"""How long work takes others, and how those who gave it out decided: read, not counted."""

from collections.abc import Iterable

from crowd.hits.models.campaign import HITType, WorkRecord
from crowd.pricing import hourly_cents

SITE = WorkRecord.SITE


def key_of_work(pool: str, hit_type: int) -> str:
    """Name one kind of work: a HIT type in a pool."""
    return f"work:{hit_type}:{pool}"


def key_of_requester(pk: int) -> str:
    """Name a requester's decisions."""
    return f"requester:{pk}"


def key_of_request(hit_type: int) -> str:
    """Name one kind of work of a requester: one of their HIT types."""
    return f"request:{hit_type}"


def records(keys: Iterable[str]) -> dict[str, WorkRecord]:
    """Give the figures that are known, by their keys, in one query."""
    return {row.key: row for row in WorkRecord.objects.filter(key__in=list(keys))}


def pays_an_hour(hit_type: HITType, record: WorkRecord | None) -> int | None:
    """Give the cents that an hour pays at others' pace; None where that is not known."""
    if record is None or not record.median_seconds:
        return None
    return hourly_cents(hit_type.reward_cents, record.median_seconds)
