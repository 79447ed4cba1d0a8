"""Lists of a requester's HITs."""

from __future__ import annotations

from functools import partial

from crowd.models import RequesterHITType
from crowd.requester_api import find, render
from crowd.requester_api.call import Answer, Arguments, Call, handles
from crowd.requester_api.hit_status import finished, hits_of
from crowd.requester_api.paging import page


@handles("ListHITs")
def list_hits(call: Call, arguments: Arguments) -> Answer:
    rows = hits_of(call.requester, call.now)
    return page(call, arguments, rows, "HITs", partial(render.hit, now=call.now))


@handles("ListReviewableHITs")
def list_reviewable_hits(call: Call, arguments: Arguments) -> Answer:
    rows = finished(hits_of(call.requester, call.now), call.now)
    rows = rows.filter(reviewing=arguments.get("Status") == "Reviewing")
    if type_id := arguments.get("HITTypeId"):
        rows = rows.filter(hit_type=find.hit_type(call, type_id))
    return page(call, arguments, rows, "HITs", partial(render.hit, now=call.now))


@handles("ListHITsForQualificationType")
def list_hits_for_qualification_type(call: Call, arguments: Arguments) -> Answer:
    qualification_type = find.qualification_type(call, arguments["QualificationTypeId"])
    types = [
        row.pk
        for row in RequesterHITType.objects.filter(requester=call.requester)
        if qualification_type.entity_id
        in {requirement["QualificationTypeId"] for requirement in row.requirements}
    ]
    rows = hits_of(call.requester, call.now).filter(hit_type__in=types)
    return page(call, arguments, rows, "HITs", partial(render.hit, now=call.now))
