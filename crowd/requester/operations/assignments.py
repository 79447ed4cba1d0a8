from datetime import timedelta

from django.utils.functional import keep_lazy_text
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy

from crowd.messages import services
from crowd.messages.models import Message
from crowd.requester import selectors
from crowd.requester.models import RequesterAssignment, RequesterBonus
from crowd.requester.operations import render, tokens
from crowd.requester.protocol.call import Answer, Arguments, Call, handles
from crowd.requester.protocol.errors import TurkError, bad_value, wrong_state
from crowd.requester.protocol.limits import required_text
from crowd.requester.protocol.paging import page
from crowd.requester.services import decisions, money
from genie.lib.serving.languages import dollars

State = RequesterAssignment.State
SENT_IN = (State.SUBMITTED, State.APPROVED, State.REJECTED)
OVERRIDE = timedelta(days=30)


@handles("ListAssignmentsForHIT")
def list_assignments(call: Call, arguments: Arguments) -> Answer:
    hit = selectors.hit(call, arguments["HITId"])
    rows = RequesterAssignment.objects.filter(
        hit=hit, state__in=arguments.get("AssignmentStatuses") or SENT_IN
    ).select_related("hit", "worker")
    return page(call, arguments, rows, "Assignments", render.assignment)


@handles("GetAssignment")
def get_assignment(call: Call, arguments: Arguments) -> Answer:
    row = _sent_in(call, arguments["AssignmentId"], "Reviewable,Approved,Rejected")
    hit = selectors.hit_or_disposed(call, row.hit.entity_id)
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
    row = selectors.assignment(call, entity_id)
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


HALF_A_YEAR = timedelta(days=183)
OPEN = (RequesterAssignment.State.ACCEPTED, RequesterAssignment.State.RETURNED)


@handles("GetAccountBalance")
def get_account_balance(call: Call, arguments: Arguments) -> Answer:
    account = money.account(call.requester)
    return {
        "AvailableBalance": money.amount(max(account.available, 0)),
        "OnHoldBalance": money.amount(account.on_hold),
    }


@handles("SendBonus")
def send_bonus(call: Call, arguments: Arguments) -> Answer:
    reason = required_text(arguments, "Reason")
    # First of all: a repetition of a request that was carried out must be told so,
    # whatever has changed since.
    token = arguments.get("UniqueRequestToken")
    tokens.refuse_repeated(call, token)
    row = selectors.assignment(call, arguments["AssignmentId"])
    if row.worker.customer_id != arguments["WorkerId"]:
        raise TurkError("This assignment was not done by this worker.")
    if row.state in OPEN or row.submitted_at is None:
        raise wrong_state("Assignment", row.state, "Submitted,Approved,Rejected")
    if call.now > row.submitted_at + HALF_A_YEAR:
        raise TurkError(
            "A bonus can be paid up to six months after the work was submitted."
        )
    cents = money.cents(arguments["BonusAmount"])
    if not cents:
        raise bad_value("BonusAmount", arguments["BonusAmount"])
    money.require(call.requester, cents + money.bonus_fee(cents))
    bonus = RequesterBonus.objects.create(
        assignment=row, amount_cents=cents, reason=reason, granted_at=call.now
    )
    money.charge_bonus(bonus, call.requester, call.now)
    tokens.remember(call, token, str(bonus.pk))
    services.send_from_requester(
        row.worker,
        Message.Kind.BONUS,
        _add_amount(gettext_lazy("A bonus of %(sum)s"), cents),
        format_lazy(
            gettext_lazy("For “{title}”. The reason: {reason}"),
            title=row.hit.hit_type.title,
            reason=reason,
        ),
        row,
    )
    return {}


@keep_lazy_text
def _add_amount(subject: services.Words, cents: int) -> str:
    return str(subject) % {"sum": dollars(cents)}


@handles("ListBonusPayments")
def list_bonus_payments(call: Call, arguments: Arguments) -> Answer:
    hit, assignment = arguments.get("HITId"), arguments.get("AssignmentId")
    if (hit is None) == (assignment is None):
        raise TurkError("Give either a HITId or an AssignmentId.")
    rows = RequesterBonus.objects.select_related("assignment__worker")
    if hit is not None:
        rows = rows.filter(assignment__hit=selectors.hit_or_disposed(call, hit).pk)
    else:
        rows = rows.filter(assignment=selectors.assignment(call, str(assignment)))
    return page(call, arguments, rows, "BonusPayments", render.bonus)
