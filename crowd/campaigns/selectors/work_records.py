"""How long work takes other workers and how requesters decided: stored figures only."""

from collections.abc import Iterable

from crowd.hits.models import WorkRecord

SITE = WorkRecord.SITE


def key_of_work(pool: str, hit_type: int) -> str:
    return f"work:{hit_type}:{pool}"


def key_of_requester(pk: int) -> str:
    return f"requester:{pk}"


def key_of_request(hit_type: int) -> str:
    return f"request:{hit_type}"


def records(keys: Iterable[str]) -> dict[str, WorkRecord]:
    return {row.key: row for row in WorkRecord.objects.filter(key__in=list(keys))}
