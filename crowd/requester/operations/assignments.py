from datetime import timedelta

from crowd.requester.models.account import RequesterAssignment
from crowd.requester.operations import render
from crowd.requester.protocol.call import Answer, Arguments, Call, handles
from crowd.requester.protocol.errors import TurkError, wrong_state
from crowd.requester.protocol.limits import required_text
from crowd.requester.protocol.paging import page
from crowd.requester.selectors import own_rows
from crowd.requester.services import decisions, money

State = RequesterAssignment.State
SENT_IN = (State.SUBMITTED, State.APPROVED, State.REJECTED)
OVERRIDE = timedelta(days=30)


@handles("ListAssignmentsForHIT")
def list_assignments(call: Call, arguments: Arguments) -> Answer:
    hit = own_rows.hit(call, arguments["HITId"])
    rows = RequesterAssignment.objects.filter(
        hit=hit, state__in=arguments.get("AssignmentStatuses") or SENT_IN
    ).select_related("hit", "worker")
    return page(call, arguments, rows, "Assignments", render.assignment)


@handles("GetAssignment")
def get_assignment(call: Call, arguments: Arguments) -> Answer:
    row = _sent_in(call, arguments["AssignmentId"], "Reviewable,Approved,Rejected")
    hit = own_rows.hit_or_disposed(call, row.hit.entity_id)
    return {"Assignment": render.assignment(row), "HIT": render.hit(hit, call.now)}


@handles("ApproveAssignment")
def approve_assignment(call: Call, arguments: Arguments) -> Answer:
    row = _sent_in(call, arguments["AssignmentId"], State.SUBMITTED)
    feedback = arguments.get("RequesterFeedback") or ""
    if row.state == State.REJECTED and arguments.get("OverrideRejection"):
        _check_override(call, row)
        approved = decisions.take_back(row, call.now, feedback)
    else:
        approved = decisions.approve(row, call.now, feedback)
    if not approved:
        raise wrong_state("Assignment", row.state, State.SUBMITTED)
    return {}


@handles("RejectAssignment")
def reject_assignment(call: Call, arguments: Arguments) -> Answer:
    feedback = required_text(arguments, "RequesterFeedback")
    row = _sent_in(call, arguments["AssignmentId"], State.SUBMITTED)
    if not decisions.reject(row, call.now, feedback):
        raise wrong_state("Assignment", row.state, State.SUBMITTED)
    return {}


def _sent_in(call: Call, entity_id: str, allowed: str) -> RequesterAssignment:
    row = own_rows.assignment(call, entity_id)
    if row.state not in SENT_IN:
        raise wrong_state("Assignment", row.state, allowed)
    return row


def _check_override(call: Call, row: RequesterAssignment) -> None:
    late = row.submitted_at is None or call.now > row.submitted_at + OVERRIDE
    if late or row.hit.disposed_at is not None:
        raise TurkError(
            "A rejection can be overridden for 30 days, while its HIT exists.",
            "InvalidAssignmentState",
        )
    # The money of rejected work was released, so it must be available again.
    money.require(call.requester, row.hit.reward_cents + row.hit.fee_cents)
