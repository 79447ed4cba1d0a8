"""Lists of a requester's HITs."""

from __future__ import annotations

from functools import partial

from crowd.requester.models.account import RequesterHITType
from crowd.requester.operations import render
from crowd.requester.protocol.call import Answer, Arguments, Call, handles
from crowd.requester.protocol.paging import page
from crowd.requester.selectors import own_rows
from crowd.requester.selectors.hit_status import finished, hits_of


@handles("ListHITs")
def list_hits(call: Call, arguments: Arguments) -> Answer:
    rows = hits_of(call.requester, call.now)
    return page(call, arguments, rows, "HITs", partial(render.hit, now=call.now))


@handles("ListReviewableHITs")
def list_reviewable_hits(call: Call, arguments: Arguments) -> Answer:
    rows = finished(hits_of(call.requester, call.now), call.now)
    rows = rows.filter(reviewing=arguments.get("Status") == "Reviewing")
    if type_id := arguments.get("HITTypeId"):
        rows = rows.filter(hit_type=own_rows.hit_type(call, type_id))
    return page(call, arguments, rows, "HITs", partial(render.hit, now=call.now))


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
    rows = hits_of(call.requester, call.now).filter(hit_type__in=types)
    return page(call, arguments, rows, "HITs", partial(render.hit, now=call.now))
