"""The 39 operations, by what they are about."""

from __future__ import annotations

from crowd.requester_api.operations import (
    assignments,
    bonuses,
    hit_lists,
    hit_types,
    hits,
    notifications,
    qualification_types,
    qualifications,
    refused,
    workers,
)

__all__ = [
    "assignments",
    "bonuses",
    "hit_lists",
    "hit_types",
    "hits",
    "notifications",
    "qualification_types",
    "qualifications",
    "refused",
    "workers",
]
