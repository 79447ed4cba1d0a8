"""Lists of a requester's HITs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from crowd.requester.models.account import RequesterHIT, RequesterHITType
from crowd.requester.operations import render
from crowd.requester.protocol.call import Answer, Arguments, Call, handles
from crowd.requester.protocol.paging import page
from crowd.requester.selectors import own_rows
from crowd.requester.selectors.hit_status import counted, kept_hits

if TYPE_CHECKING:
    from django.db.models import QuerySet


@handles("ListHITs")
def list_hits(call: Call, arguments: Arguments) -> Answer:
    return _page(call, arguments, kept_hits(call.requester, call.now))


@handles("ListReviewableHITs")
def list_reviewable_hits(call: Call, arguments: Arguments) -> Answer:
    # `settle` has announced all to which nothing more can come in as things stand
    rows = kept_hits(call.requester, call.now).filter(
        announced=True, reviewing=arguments.get("Status") == "Reviewing"
    )
    if type_id := arguments.get("HITTypeId"):
        rows = rows.filter(hit_type=own_rows.hit_type(call, type_id))
    return _page(call, arguments, rows)


@handles("ListHITsForQualificationType")
def list_hits_for_qualification_type(call: Call, arguments: Arguments) -> Answer:
    qualification_type = own_rows.qualification_type(
        call, arguments["QualificationTypeId"]
    )
    types = [
        row.pk
        for row in RequesterHITType.objects.filter(requester=call.requester)
        if qualification_type.entity_id
        in {requirement["QualificationTypeId"] for requirement in row.requirements}
    ]
    rows = kept_hits(call.requester, call.now).filter(hit_type__in=types)
    return _page(call, arguments, rows)


def _page(call: Call, arguments: Arguments, rows: QuerySet[RequesterHIT]) -> Answer:
    return page(
        call,
        arguments,
        rows,
        "HITs",
        partial(render.hit, now=call.now),
        load=partial(counted, now=call.now),
    )
