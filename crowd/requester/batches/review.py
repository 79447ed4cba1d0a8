import csv
from dataclasses import dataclass
from io import StringIO

from django.db import transaction

from crowd.requester.models import Requester, RequesterAssignment, RequesterBatch
from crowd.requester.protocol import clock
from crowd.requester.protocol.call import HANDLERS, Call
from crowd.requester.protocol.limits import check_limits
from crowd.requester.services.settle import settle
from genie.lib.errors import GenieError

State = RequesterAssignment.State


@dataclass(frozen=True)
class Review:
    line: int
    assignment_id: str
    reason: str | None


@dataclass(frozen=True)
class Reviewed:
    n_approved: int
    n_rejected: int
    n_before: int


def read_reviews(text: str) -> list[Review]:
    r"""Read the decisions in a table of results; errors name the line.

    Lines without a decision are left out.
    """
    reader = csv.reader(StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
    reviews: list[Review] = []
    columns: list[str] = []
    begins = 1
    try:
        for values in reader:
            if not columns:
                columns = _checked(values)
            elif values:
                reviews += _review(begins, dict(zip(columns, values, strict=False)))
            begins = reader.line_num + 1
    except csv.Error as error:
        raise _wrong(begins, str(error)) from None
    if not reviews:
        raise GenieError("The table contains no decisions.", code="batch-review")
    ids = [review.assignment_id for review in reviews]
    for n, review in enumerate(reviews):
        if review.assignment_id in ids[:n]:
            raise _wrong(review.line, f"{review.assignment_id} appears twice")
    return reviews


def apply(batch: RequesterBatch, reviews: list[Review]) -> Reviewed:
    """Store all decisions, or none; earlier equal ones stay."""
    now = clock.now()
    settle(batch.requester, now)
    counts = {State.APPROVED: 0, State.REJECTED: 0, State.SUBMITTED: 0}
    with transaction.atomic():
        locked = Requester.objects.select_for_update().get(pk=batch.requester_id)
        work = {
            row.entity_id: row
            for row in RequesterAssignment.objects.filter(
                hit__batch=batch, submitted_at__isnull=False
            )
        }
        for review in reviews:
            row = work.get(review.assignment_id)
            if row is None:
                raise _wrong(
                    review.line,
                    (f"{review.assignment_id} is not an assignment of this batch"),
                )
            counts[_decide(locked, row, review)] += 1
    return Reviewed(
        counts[State.APPROVED], counts[State.REJECTED], counts[State.SUBMITTED]
    )


def _decide(
    requester: Requester, row: RequesterAssignment, review: Review
) -> RequesterAssignment.State:
    decision = State.APPROVED if review.reason is None else State.REJECTED
    if row.state == decision:
        return State.SUBMITTED
    arguments = {"AssignmentId": row.entity_id}
    if review.reason is not None:
        arguments["RequesterFeedback"] = review.reason
    name = "ApproveAssignment" if review.reason is None else "RejectAssignment"
    try:
        # Via the operations themselves: a table can do no more than a program could.
        check_limits(arguments)
        HANDLERS[name](Call(requester, name, clock.now()), arguments)
    except GenieError as error:
        raise _wrong(review.line, error.message) from None
    return decision


def _checked(values: list[str]) -> list[str]:
    columns = [value.strip() for value in values]
    for name in ("AssignmentId", "Approve", "Reject"):
        if columns.count(name) != 1:
            raise _wrong(1, f"there must be one column {name}")
    return columns


def _review(line: int, row: dict[str, str]) -> list[Review]:
    approve, reject = row.get("Approve", "").strip(), row.get("Reject", "").strip()
    if approve and reject:
        raise _wrong(line, "it is both approved and rejected")
    if not approve and not reject:
        return []
    return [Review(line, row["AssignmentId"].strip(), reject or None)]


def _wrong(line: int, why: str) -> GenieError:
    return GenieError(f"The table, line {line}: {why}.", code="batch-review")
