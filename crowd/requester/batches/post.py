from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from io import StringIO
from itertools import zip_longest
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
    values: list[str]


def read_table(text: str) -> tuple[list[str], list[Row]]:
    """Return the columns and rows of a table; errors name the line."""
    columns, rows = _read(text)
    if not columns or "" in columns:
        raise _wrong("line 1: each column needs a name")
    twice = sorted({name for name in columns if columns.count(name) > 1})
    if twice:
        raise _wrong(f"line 1: the column {twice[0]} appears twice")
    for row in rows:
        n, unstorable = len(row.values), _UNSTORABLE.search("".join(row.values))
        if n != len(columns):
            raise _wrong(f"line {row.line}: {n} values for {len(columns)} columns")
        if unstorable:
            character = repr(unstorable[0])
            raise _wrong(f"line {row.line}: the character {character} cannot be shown")
    if not rows:
        raise _wrong("it has no rows below the header")
    if len(rows) > MAX_ROWS:
        raise _wrong(f"it has {len(rows)} rows, but at most {MAX_ROWS} are allowed")
    return columns, rows


def _read(text: str) -> tuple[list[str], list[Row]]:
    # With `newline=""` lines may end in \n, \r\n or \r, and quoted ones stay unchanged.
    reader = csv.reader(StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
    rows: list[Row] = []
    begins = 1
    try:
        for values in reader:
            rows.append(Row(begins, values))
            begins = reader.line_num + 1
    except csv.Error as error:
        raise _wrong(f"line {begins}: {error}") from None
    header = rows[0].values if rows else []
    return [name.strip() for name in header], [row for row in rows[1:] if row.values]


def _wrong(why: str) -> GenieError:
    return GenieError(f"The table: {why}.", code="batch-table")


AT_ONCE = 500


@dataclass(frozen=True)
class Draft:
    """All HITs of a batch; `hit_type` has the arguments of the request."""

    hit_type: dict[str, Any]
    max_assignments: int
    lifetime_seconds: int
    columns: list[str]
    rows: list[Row]
    questions: list[str]
    unused: list[str]
    reward_cents: int
    fee_cents: int

    @property
    def cents_each(self) -> int:
        return self.reward_cents + self.fee_cents

    @property
    def n_assignments(self) -> int:
        return len(self.rows) * self.max_assignments

    @property
    def cost_cents(self) -> int:
        return self.n_assignments * self.cents_each


def draft(
    hit_type: dict[str, Any],
    template: str,
    table_text: str,
    *,
    max_assignments: int,
    lifetime_seconds: int,
    markup: bool,
) -> Draft:
    """Render every HIT's page without posting; errors name the line."""
    check_request("CreateHITType", hit_type)
    columns, rows = read_table(table_text)
    check_fields(template, columns)
    questions = []
    for row in rows:
        values = dict(zip(columns, row.values, strict=True))
        try:
            question = as_question(fill(template, values, markup=markup))
            read_question(question)
        except GenieError as error:
            raise GenieError(f"Line {row.line}: {error.message}", code=error.code) from None  # fmt: skip
        questions.append(question)
    used = fields_of(template)
    reward = money.cents(hit_type["Reward"])
    return Draft(
        hit_type=hit_type,
        max_assignments=max_assignments,
        lifetime_seconds=lifetime_seconds,
        columns=columns,
        rows=rows,
        questions=questions,
        unused=[name for name in columns if name not in used],
        reward_cents=reward,
        fee_cents=money.fee(reward, max_assignments, []),
    )


def post(
    requester: Requester, name: str, drafted: Draft, by: AbstractBaseUser
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
        money.require(locked, drafted.cost_cents)
        hit_type = find_or_make(Call(locked, "CreateHITType", now), drafted.hit_type)
        batch = RequesterBatch.objects.create(
            requester=locked,
            hit_type=hit_type,
            name=name,
            columns=drafted.columns,
            lifetime_seconds=drafted.lifetime_seconds,
            created_by_id=by.pk,
            created_at=now,
        )
        hits = RequesterHIT.objects.bulk_create(
            [
                RequesterHIT(
                    requester=locked,
                    hit_type=batch.hit_type,
                    batch=batch,
                    question=question,
                    inputs=row.values,
                    annotation=f"BatchId:{batch.pk};Line:{row.line}",
                    max_assignments=drafted.max_assignments,
                    reward_cents=drafted.reward_cents,
                    fee_cents=drafted.fee_cents,
                    held_cents=drafted.max_assignments * drafted.cents_each,
                    held_as_open=True,
                    created_at=now,
                    expires_at=now + timedelta(seconds=drafted.lifetime_seconds),
                    touched_at=now,
                )
                for row, question in zip(drafted.rows, drafted.questions, strict=True)
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


State = RequesterAssignment.State


def read_reviews(text: str) -> dict[str, tuple[int, str]]:
    """Return each decided assignment's line and the reason of its rejection, if any.

    Lines without a decision are left out; errors name the line.
    """
    columns, rows = _read(text)
    for name in ("AssignmentId", "Approve", "Reject"):
        if columns.count(name) != 1:
            raise _wrong(f"line 1: there must be one column {name}")
    reviews: dict[str, tuple[int, str]] = {}
    for row in rows:
        cells = dict(zip_longest(columns, row.values, fillvalue=""))
        key, approve, reject = (
            cells[name].strip() for name in ("AssignmentId", "Approve", "Reject")
        )
        if approve and reject:
            raise _wrong(f"line {row.line}: it is both approved and rejected")
        if approve or reject:
            if key in reviews:
                raise _wrong(f"line {row.line}: {key} appears twice")
            reviews[key] = (row.line, reject)
    if not reviews:
        raise _wrong("it contains no decisions")
    return reviews


def apply_reviews(
    batch: RequesterBatch, reviews: dict[str, tuple[int, str]]
) -> Counter[State]:
    """Store all decisions, or none; earlier equal ones stay and count as submitted."""
    counts = Counter[State]()
    with transaction.atomic():
        locked = Requester.objects.select_for_update().get(pk=batch.requester_id)
        settle(locked, clock.now())
        work = {
            row.entity_id: row
            for row in RequesterAssignment.objects.filter(
                hit__batch=batch, submitted_at__isnull=False
            )
        }
        for key, (line, reason) in reviews.items():
            if key not in work:
                raise _wrong(f"line {line}: {key} is not an assignment of this batch")
            try:
                counts[_decide(locked, work[key], reason)] += 1
            except GenieError as error:
                raise _wrong(f"line {line}: {error.message}") from None
    return counts


def _decide(requester: Requester, row: RequesterAssignment, reason: str) -> State:
    decision = State.REJECTED if reason else State.APPROVED
    if row.state == decision:
        return State.SUBMITTED
    arguments = {"AssignmentId": row.entity_id}
    if reason:
        arguments["RequesterFeedback"] = reason
    name = "RejectAssignment" if reason else "ApproveAssignment"
    # Via the operations themselves: a table can do no more than a program could.
    check_limits(arguments)
    HANDLERS[name](Call(requester, name, clock.now()), arguments)
    return decision
