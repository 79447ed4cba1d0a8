from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from io import StringIO
from typing import TYPE_CHECKING, Any

from django.db import transaction

from crowd.requester.models import (
    Requester,
    RequesterAssignment,
    RequesterBatch,
    RequesterHIT,
)
from crowd.requester.operations.hit_types import find_or_make
from crowd.requester.protocol import clock
from crowd.requester.protocol.call import HANDLERS, Call
from crowd.requester.protocol.limits import check_limits
from crowd.requester.protocol.validate import check_request
from crowd.requester.questions.questions import read_question
from crowd.requester.questions.template import (
    as_question,
    check_fields,
    fields_of,
    fill,
)
from crowd.requester.services import events, money
from crowd.requester.services.settle import announce, settle
from genie.lib.errors import GenieError

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser


MAX_ROWS = 5_000
_UNSTORABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True)
class Row:
    line: int
    values: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def read_table(text: str) -> Table:
    r"""Read comma-separated values with a header line; errors name the line."""
    # With `newline=""` lines may end in \n, \r\n or \r, and quoted ones stay unchanged.
    reader = csv.reader(StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
    rows: list[Row] = []
    columns: tuple[str, ...] = ()
    begins = 1
    try:
        for values in reader:
            if not columns:
                columns = _columns(values)
            elif values:
                rows.append(_row(begins, values, columns))
            begins = reader.line_num + 1
    except csv.Error as error:
        raise _wrong(f"line {begins}: {error}") from None
    if not rows:
        raise _wrong("it has no rows below the header")
    if len(rows) > MAX_ROWS:
        raise _wrong(f"it has {len(rows)} rows, but at most {MAX_ROWS} are allowed")
    return Table(columns, tuple(rows))


def _columns(values: list[str]) -> tuple[str, ...]:
    names = tuple(value.strip() for value in values)
    if not names or "" in names:
        raise _wrong("line 1: each column needs a name")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise _wrong(f"line 1: the column {twice[0]} appears twice")
    return names


def _row(line: int, values: list[str], columns: tuple[str, ...]) -> Row:
    if len(values) != len(columns):
        raise _wrong(f"line {line}: {len(values)} values for {len(columns)} columns")
    unstorable = _UNSTORABLE.search("".join(values))
    if unstorable:
        raise _wrong(f"line {line}: the character {unstorable[0]!r} cannot be shown")
    return Row(line, tuple(values))


def _wrong(why: str) -> GenieError:
    return GenieError(f"The table: {why}.", code="batch-table")


AT_ONCE = 500


@dataclass(frozen=True)
class Terms:
    """The properties of all HITs of a batch; money as in requests."""

    title: str
    description: str
    keywords: str
    reward: str
    max_assignments: int
    assignment_seconds: int
    lifetime_seconds: int
    auto_approval_seconds: int

    def arguments(self) -> dict[str, Any]:
        return {
            "Title": self.title,
            "Description": self.description,
            "Keywords": self.keywords,
            "Reward": self.reward,
            "AssignmentDurationInSeconds": self.assignment_seconds,
            "AutoApprovalDelayInSeconds": self.auto_approval_seconds,
            "QualificationRequirements": [],
        }


@dataclass(frozen=True)
class Draft:
    table: Table
    questions: tuple[str, ...]
    unused: tuple[str, ...]
    reward_cents: int
    fee_cents: int
    n_assignments: int

    @property
    def cents_each(self) -> int:
        return self.reward_cents + self.fee_cents

    @property
    def cost_cents(self) -> int:
        return self.n_assignments * self.cents_each


def draft(terms: Terms, template: str, table_text: str, *, markup: bool) -> Draft:
    """Render every HIT's page without posting; errors name the line."""
    check_request("CreateHITType", terms.arguments())
    table = read_table(table_text)
    check_fields(template, table.columns)
    questions = []
    for row in table.rows:
        values = dict(zip(table.columns, row.values, strict=True))
        try:
            question = as_question(fill(template, values, markup=markup))
            read_question(question)
        except GenieError as error:
            raise GenieError(f"Line {row.line}: {error.message}", code=error.code) from None  # fmt: skip
        questions.append(question)
    used = fields_of(template)
    reward = money.cents(terms.reward)
    return Draft(
        table=table,
        questions=tuple(questions),
        unused=tuple(name for name in table.columns if name not in used),
        reward_cents=reward,
        fee_cents=money.fee(reward, terms.max_assignments, []),
        n_assignments=len(questions) * terms.max_assignments,
    )


def post(
    requester: Requester,
    name: str,
    terms: Terms,
    draft_of_batch: Draft,
    by: AbstractBaseUser,
) -> RequesterBatch:
    """Post a draft: all its HITs, or none. A name is used once."""
    now = clock.now()
    with transaction.atomic():
        # The requester's row is the lock for their money: no two can spend the same
        # cents.
        locked = Requester.objects.select_for_update().get(pk=requester.pk)
        # Due work is approved and charged first, so that the account is up to date.
        settle(locked, now)
        if RequesterBatch.objects.filter(requester=locked, name=name).exists():
            raise GenieError(
                f"There is already a batch called {name}. It may have been posted "
                "before; if not, choose another name.",
                code="batch-exists",
            )
        money.require(locked, draft_of_batch.cost_cents)
        hit_type = find_or_make(Call(locked, "CreateHITType", now), terms.arguments())
        batch = RequesterBatch.objects.create(
            requester=locked,
            hit_type=hit_type,
            name=name,
            columns=list(draft_of_batch.table.columns),
            lifetime_seconds=terms.lifetime_seconds,
            created_by_id=by.pk,
            created_at=now,
        )
        hits = RequesterHIT.objects.bulk_create(
            [
                _hit(batch, terms, draft_of_batch, n, now)
                for n in range(len(draft_of_batch.questions))
            ],
            batch_size=AT_ONCE,
        )
        money.hold_more(requester.pk, sum(hit.held_cents for hit in hits))
        if hit_type.notification_active:
            for hit in hits:
                events.about_hit(hit, "HITCreated", now)
    return batch


def stop(batch: RequesterBatch) -> int:
    """End a batch for new workers; accepted work may still come in."""
    now = clock.now()
    with transaction.atomic():
        Requester.objects.select_for_update().get(pk=batch.requester_id)
        live = RequesterHIT.objects.filter(
            batch=batch, disposed_at=None, expires_at__gt=now
        )
        pks = list(live.order_by("pk").values_list("pk", flat=True))
        RequesterHIT.objects.filter(pk__in=pks).update(
            expires_at=now, touched_at=now, announced=False
        )
        for pk in pks:
            money.hold(pk, now)
            announce(pk, now)
    return len(pks)


def _hit(
    batch: RequesterBatch, terms: Terms, draft_of_batch: Draft, n: int, now: datetime
) -> RequesterHIT:
    return RequesterHIT(
        requester=batch.requester,
        hit_type=batch.hit_type,
        batch=batch,
        question=draft_of_batch.questions[n],
        inputs=list(draft_of_batch.table.rows[n].values),
        annotation=f"BatchId:{batch.pk};Line:{draft_of_batch.table.rows[n].line}",
        max_assignments=terms.max_assignments,
        reward_cents=draft_of_batch.reward_cents,
        fee_cents=draft_of_batch.fee_cents,
        held_cents=terms.max_assignments * draft_of_batch.cents_each,
        held_as_open=True,
        created_at=now,
        expires_at=now + timedelta(seconds=terms.lifetime_seconds),
        touched_at=now,
    )


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
                columns = _check_header(values)
            elif values:
                reviews += _review(begins, dict(zip(columns, values, strict=False)))
            begins = reader.line_num + 1
    except csv.Error as error:
        raise _refuse_review(begins, str(error)) from None
    if not reviews:
        raise GenieError(
            "The table does not contain any decisions.", code="batch-review"
        )
    ids = [review.assignment_id for review in reviews]
    for n, review in enumerate(reviews):
        if review.assignment_id in ids[:n]:
            raise _refuse_review(review.line, f"{review.assignment_id} appears twice")
    return reviews


def apply_reviews(batch: RequesterBatch, reviews: list[Review]) -> Reviewed:
    """Store all decisions, or none; earlier equal ones stay."""
    counts = {State.APPROVED: 0, State.REJECTED: 0, State.SUBMITTED: 0}
    with transaction.atomic():
        locked = Requester.objects.select_for_update().get(pk=batch.requester_id)
        settle(locked, clock.now())
        work = {
            row.entity_id: row
            for row in RequesterAssignment.objects.filter(
                hit__batch=batch, submitted_at__isnull=False
            )
        }
        for review in reviews:
            row = work.get(review.assignment_id)
            if row is None:
                raise _refuse_review(
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
        raise _refuse_review(review.line, error.message) from None
    return decision


def _check_header(values: list[str]) -> list[str]:
    columns = [value.strip() for value in values]
    for name in ("AssignmentId", "Approve", "Reject"):
        if columns.count(name) != 1:
            raise _refuse_review(1, f"there must be one column {name}")
    return columns


def _review(line: int, row: dict[str, str]) -> list[Review]:
    approve, reject = row.get("Approve", "").strip(), row.get("Reject", "").strip()
    if approve and reject:
        raise _refuse_review(line, "it is both approved and rejected")
    if not approve and not reject:
        return []
    return [Review(line, row["AssignmentId"].strip(), reject or None)]


def _refuse_review(line: int, why: str) -> GenieError:
    return GenieError(f"The table, line {line}: {why}.", code="batch-review")
