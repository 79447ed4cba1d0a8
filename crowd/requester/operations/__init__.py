from crowd.requester.operations import (
    assignments,
    hit_types,
    hits,
    qualification_types,
    qualifications,
    workers,
)

__all__ = [
    "assignments",
    "hit_types",
    "hits",
    "qualification_types",
    "qualifications",
    "workers",
]
