from typing import Any

from django.db.models import Q

from crowd.requester.models import QualificationType, RequesterHIT, RequesterHITType
from crowd.requester.operations import render
from crowd.requester.protocol.call import Answer, Arguments, Call, handles
from crowd.requester.protocol.errors import TurkError
from crowd.requester.protocol.paging import page
from crowd.requester.questions import questions
from crowd.requester.selectors import qualification_type
from crowd.requester.services import money
from crowd.requester.services import requirements as ids
from crowd.requester.services.money import MASTERS

FIELDS = {
    "Description": "description",
    "Test": "test",
    "AnswerKey": "answer_key",
    "TestDurationInSeconds": "test_seconds",
    "RetryDelayInSeconds": "retry_seconds",
    "AutoGranted": "auto_granted",
    "AutoGrantedValue": "auto_granted_value",
}


@handles("CreateQualificationType")
def create_qualification_type(call: Call, arguments: Arguments) -> Answer:
    live = QualificationType.objects.filter(requester=call.requester, disposed_at=None)
    if live.filter(name=arguments["Name"]).exists():
        raise TurkError(
            "You have already created a QualificationType with this name.",
            "QualificationTypeAlreadyExists",
        )
    row = QualificationType(
        requester=call.requester,
        name=arguments["Name"],
        keywords=arguments.get("Keywords") or "",
        created_at=call.now,
    )
    return _save(row, arguments)


@handles("UpdateQualificationType")
def update_qualification_type(call: Call, arguments: Arguments) -> Answer:
    row = qualification_type(call, arguments["QualificationTypeId"])
    if arguments.get("Test") is not None:
        # A key belongs to one test: a new test without one has none.
        row.answer_key = ""
    return _save(row, arguments)


@handles("GetQualificationType")
def get_qualification_type(call: Call, arguments: Arguments) -> Answer:
    entity_id = arguments["QualificationTypeId"]
    row = system_type(entity_id) or qualification_type(call, entity_id)
    return {"QualificationType": render.qualification_type(row)}


@handles("ListQualificationTypes")
def list_qualification_types(call: Call, arguments: Arguments) -> Answer:
    """Return the caller's own types, and the service's unless MustBeOwnedByCaller.

    Types of other requesters are never included.
    """
    rows = QualificationType.objects.filter(requester=call.requester, disposed_at=None)
    words = set((arguments.get("Query") or "").split())
    narrow = arguments["MustBeRequestable"] or arguments.get("MustBeOwnedByCaller")
    first = [] if narrow else system_types(words)
    for word in sorted(words):
        rows = rows.filter(
            Q(name__icontains=word)
            | Q(description__icontains=word)
            | Q(keywords__icontains=word)
        )
    return page(
        call, arguments, rows, "QualificationTypes", render.qualification_type, first
    )


@handles("DeleteQualificationType")
def delete_qualification_type(call: Call, arguments: Arguments) -> Answer:
    """Delete a type and, as documented, the HITs that require it."""
    row = qualification_type(call, arguments["QualificationTypeId"])
    using = [
        hit_type.pk
        for hit_type in RequesterHITType.objects.filter(requester=call.requester)
        if row.entity_id
        in {requirement["QualificationTypeId"] for requirement in hit_type.requirements}
    ]
    hits = RequesterHIT.objects.filter(hit_type__in=using, disposed_at=None)
    if hits.filter(assignments__state__in=["Accepted", "Submitted"]).exists():
        raise TurkError(
            "HITs that require this QualificationType have assignments that are not "
            "decided yet.",
            "InvalidQualificationTypeState",
        )
    pks = list(hits.values_list("pk", flat=True))
    RequesterHIT.objects.filter(pk__in=pks).update(disposed_at=call.now)
    for pk in pks:
        money.hold(pk, call.now)
    QualificationType.objects.filter(pk=row.pk).update(disposed_at=call.now)
    return {}


def _save(row: QualificationType, arguments: Arguments) -> Answer:
    status = arguments.get("QualificationTypeStatus")
    if status is not None:
        row.active = status == "Active"
    for name, attribute in FIELDS.items():
        value: Any = arguments.get(name)
        if value is not None:
            setattr(row, attribute, value)
    _check(row, arguments)
    row.save()
    return {"QualificationType": render.qualification_type(row)}


def _check(row: QualificationType, arguments: Arguments) -> None:
    if arguments.get("Test") is not None:
        questions.check_test(arguments["Test"])
    if arguments.get("AnswerKey") is not None:
        questions.check_answer_key(arguments["AnswerKey"])
    if row.test and not row.test_seconds:
        raise TurkError("A Test needs TestDurationInSeconds.")
    if row.answer_key and not row.test:
        raise TurkError("An AnswerKey needs a Test.")
    if row.test and row.auto_granted:
        raise TurkError("A type with a Test cannot be AutoGranted.")
    if arguments.get("AutoGrantedValue") is not None and not row.auto_granted:
        raise TurkError("AutoGrantedValue needs AutoGranted.")


_MASTERS = ("Masters", "Workers designated as Masters by staff.")
# id -> name and description, in the order of the list
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
    if entity_id not in _TYPES:
        return None
    name, description = _TYPES[entity_id]
    return QualificationType(
        # before all rows of requesters, whose keys are positive
        pk=list(_TYPES).index(entity_id) - len(_TYPES),
        entity_id=entity_id,
        name=name,
        description=description,
    )


def system_types(words: set[str]) -> list[QualificationType]:
    by_name: dict[str, QualificationType] = {}
    for row in filter(None, map(system_type, _TYPES)):
        text = f"{row.name} {row.description}".lower()
        if all(word.lower() in text for word in words):
            by_name.setdefault(row.name, row)
    return list(by_name.values())
