from dataclasses import dataclass
from typing import Any

from crowd.requester.models.account import RequesterHITType
from crowd.requester.models.qualification import QualificationType
from crowd.requester.services import requirements as rules
from crowd.requester.services.money import MASTERS
from crowd.workers.models.worker import Worker

_NAMES = {
    rules.N_APPROVED: "Assignments approved",
    rules.P_APPROVED: "Approval rate, in percent",
    rules.LOCALE: "Country of residence",
    rules.ADULT: "Adult content",
    **dict.fromkeys(MASTERS, "Masters"),
}
_WORDS = {
    "LessThan": "less than",
    "LessThanOrEqualTo": "at most",
    "GreaterThan": "more than",
    "GreaterThanOrEqualTo": "at least",
    "EqualTo": "is",
    "NotEqualTo": "is not",
    "Exists": "granted",
    "DoesNotExist": "not granted",
    "In": "one of",
    "NotIn": "none of",
}


@dataclass(frozen=True)
class Need:
    rule: rules.Requirement
    text: str
    met: bool
    # what the worker can ask for in order to meet it
    kind: QualificationType | None = None


def needs_of(hit_type: RequesterHITType, worker: Worker) -> list[Need]:
    requirements = hit_type.requirements
    types = {
        qualification_type.entity_id: qualification_type
        for qualification_type in QualificationType.objects.filter(
            requester=hit_type.requester_id,
            entity_id__in=[rule["QualificationTypeId"] for rule in requirements],
        )
    }
    return [_need(rule, worker, types) for rule in requirements]


def _need(
    rule: rules.Requirement, worker: Worker, types: dict[str, QualificationType]
) -> Need:
    entity_id = rule["QualificationTypeId"]
    qualification_type = types.get(entity_id)
    name = (
        qualification_type.name
        if qualification_type is not None
        else _NAMES.get(entity_id, "Qualification")
    )
    met = rules.meets(worker, rule)
    askable = (
        not met
        and qualification_type is not None
        and qualification_type.active
        and qualification_type.disposed_at is None
        and rules.value_of(worker, entity_id) is None
        and rule["Comparator"] != "DoesNotExist"
    )
    text = f"{name}: {_WORDS[rule['Comparator']]}{_values(rule)}"
    return Need(rule, text, met, qualification_type if askable else None)


def _values(rule: rules.Requirement) -> str:
    locales = [_place(place) for place in rule.get("LocaleValues") or []]
    numbers = [str(number) for number in rule.get("IntegerValues") or []]
    shown = ", ".join(locales or numbers)
    return f" {shown}" if shown else ""


def _place(value: dict[str, Any]) -> str:
    division = value.get("Subdivision")
    return f"{value['Country']}-{division}" if division else str(value["Country"])
