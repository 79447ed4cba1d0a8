"""Qualification types: made, changed, found, deleted."""

from __future__ import annotations

from typing import Any

from django.db.models import Q

from crowd.requester.models.account import RequesterHIT, RequesterHITType
from crowd.requester.models.qualification import QualificationType
from crowd.requester.operations import render
from crowd.requester.operations.system_types import system_type, system_types
from crowd.requester.protocol.call import Answer, Arguments, Call, handles
from crowd.requester.protocol.errors import TurkError
from crowd.requester.protocol.paging import page
from crowd.requester.questions import questions
from crowd.requester.selectors import own_rows
from crowd.requester.services import money

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
    row = own_rows.qualification_type(call, arguments["QualificationTypeId"])
    if arguments.get("Test") is not None:
        # A key belongs to one test: a new test without one has none.
        row.answer_key = ""
    return _save(row, arguments)


@handles("GetQualificationType")
def get_qualification_type(call: Call, arguments: Arguments) -> Answer:
    entity_id = arguments["QualificationTypeId"]
    row = system_type(entity_id) or own_rows.qualification_type(call, entity_id)
    return {"QualificationType": render.qualification_type(row)}


@handles("ListQualificationTypes")
def list_qualification_types(call: Call, arguments: Arguments) -> Answer:
    """List the caller's own, and the service's unless only others are asked for.

    Nobody sees the types of other requesters.
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
    """Delete a type, and with it the HITs that ask for it, as documented."""
    row = own_rows.qualification_type(call, arguments["QualificationTypeId"])
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
