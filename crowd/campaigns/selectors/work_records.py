"""How long work takes other workers and how requesters decided: stored figures only."""

from collections.abc import Iterable

from crowd.hits.models import HITType, WorkRecord
from crowd.pricing import hourly_cents

SITE = WorkRecord.SITE


def key_of_work(pool: str, hit_type: int) -> str:
    return f"work:{hit_type}:{pool}"


def key_of_requester(pk: int) -> str:
    return f"requester:{pk}"


def key_of_request(hit_type: int) -> str:
    return f"request:{hit_type}"


def records(keys: Iterable[str]) -> dict[str, WorkRecord]:
    return {row.key: row for row in WorkRecord.objects.filter(key__in=list(keys))}


def pays_an_hour(hit_type: HITType, record: WorkRecord | None) -> int | None:
    """Return the cents an hour pays at other workers' pace, or None if it is not known."""
    if record is None or not record.median_seconds:
        return None
    return hourly_cents(hit_type.reward_cents, record.median_seconds)
