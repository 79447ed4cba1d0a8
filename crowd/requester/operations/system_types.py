"""The qualification types that the service itself keeps, as Mechanical Turk names them."""

from __future__ import annotations

from crowd.requester.models.qualification import QualificationType
from crowd.requester.services import requirements as ids
from crowd.requester.services.money import MASTERS

_MASTERS = ("Masters", "Workers designated as Masters by staff.")
# id -> name and description, in the order in which they are listed
_TYPES = {
    ids.N_APPROVED: (
        "Worker_NumberHITsApproved",
        "The number of the worker's assignments approved on this site.",
    ),
    ids.P_APPROVED: (
        "Worker_PercentAssignmentsApproved",
        "The percentage of the worker's reviewed assignments that were approved.",
    ),
    ids.LOCALE: ("Worker_Locale", "The worker's country or state of residence."),
    ids.ADULT: ("Worker_Adult", "Adult workers who accept adult content."),
    **dict.fromkeys(sorted(MASTERS), _MASTERS),
}


def system_type(entity_id: str) -> QualificationType | None:
    """Give one of them by its id; the row is not in the database."""
    if entity_id not in _TYPES:
        return None
    name, description = _TYPES[entity_id]
    return QualificationType(
        # ahead of all rows of requesters, whose keys are positive
        pk=list(_TYPES).index(entity_id) - len(_TYPES),
        entity_id=entity_id,
        name=name,
        description=description,
    )


def system_types(words: set[str]) -> list[QualificationType]:
    """List those in whose name or description all words occur, each name once."""
    by_name: dict[str, QualificationType] = {}
    for row in filter(None, map(system_type, _TYPES)):
        text = f"{row.name} {row.description}".lower()
        if all(word.lower() in text for word in words):
            by_name.setdefault(row.name, row)
    return list(by_name.values())
