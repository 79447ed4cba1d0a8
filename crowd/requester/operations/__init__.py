"""The 39 operations, by what they are about."""

from __future__ import annotations

from crowd.requester.operations import (
    assignments,
    bonuses,
    hit_lists,
    hit_types,
    hits,
    not_offered,
    notifications,
    policy_results,
    qualification_types,
    qualifications,
    workers,
)

__all__ = [
    "assignments",
    "bonuses",
    "hit_lists",
    "hit_types",
    "hits",
    "not_offered",
    "notifications",
    "policy_results",
    "qualification_types",
    "qualifications",
    "workers",
]
