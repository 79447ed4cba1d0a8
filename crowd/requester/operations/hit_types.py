import hashlib
import json

from crowd.requester.models.account import RequesterHIT, RequesterHITType
from crowd.requester.protocol.call import Answer, Arguments, Call, handles
from crowd.requester.protocol.errors import TurkError
from crowd.requester.selectors import own_rows
from crowd.requester.services import money, requirements

MONTH = 2_592_000


@handles("CreateHITType")
def create_hit_type(call: Call, arguments: Arguments) -> Answer:
    return {"HITTypeId": find_or_make(call, arguments).entity_id}


@handles("UpdateHITTypeOfHIT")
def update_hit_type_of_hit(call: Call, arguments: Arguments) -> Answer:
    hit = own_rows.hit(call, arguments["HITId"])
    hit_type = own_rows.hit_type(call, arguments["HITTypeId"])
    if hit.assignments.exists():
        raise TurkError(
            "The type of a HIT cannot be changed once a worker has accepted it.",
            "InvalidHITState",
        )
    fee = money.fee(hit_type.reward_cents, hit.max_assignments, hit_type.requirements)
    before = hit.reward_cents + hit.fee_cents
    more = (hit_type.reward_cents + fee - before) * hit.max_assignments
    # An expired HIT holds no money, whatever it would cost.
    if hit.expires_at > call.now:
        money.require(call.requester, max(more, 0))
    RequesterHIT.objects.filter(pk=hit.pk).update(
        hit_type=hit_type,
        reward_cents=hit_type.reward_cents,
        fee_cents=fee,
        touched_at=call.now,
    )
    money.hold(hit.pk, call.now)
    return {}


def find_or_make(call: Call, arguments: Arguments) -> RequesterHITType:
    required = arguments.get("QualificationRequirements") or []
    requirements.check(call, required)
    delay = arguments.get("AutoApprovalDelayInSeconds")
    values = {
        "title": arguments["Title"],
        "description": arguments["Description"],
        "keywords": arguments.get("Keywords") or "",
        "reward_cents": money.cents(arguments["Reward"]),
        "assignment_seconds": arguments["AssignmentDurationInSeconds"],
        "auto_approval_seconds": MONTH if delay is None else delay,
        "requirements": required,
    }
    text = json.dumps(values, sort_keys=True)
    return RequesterHITType.objects.get_or_create(
        requester=call.requester,
        fingerprint=hashlib.sha256(text.encode()).hexdigest(),
        defaults=values,
    )[0]
