import csv
import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from io import StringIO
from typing import Any

from crowd.requester.models import RequesterAssignment, RequesterBatch, RequesterHIT
from crowd.requester.questions.answers import texts_of
from crowd.requester.services.money import amount

State = RequesterAssignment.State
OF_HIT = (
    *("HITId", "HITTypeId", "Title", "Description", "Keywords", "Reward"),
    *("CreationTime", "MaxAssignments", "RequesterAnnotation"),
    *("AssignmentDurationInSeconds", "AutoApprovalDelayInSeconds", "Expiration"),
    *("NumberOfSimilarHITs", "LifetimeInSeconds"),
)
OF_WORK = (
    *("AssignmentId", "WorkerId", "AssignmentStatus", "AcceptTime", "SubmitTime"),
    *("AutoApprovalTime", "ApprovalTime", "RejectionTime", "RequesterFeedback"),
    *("WorkTimeInSeconds", "LifetimeApprovalRate", "Last30DaysApprovalRate"),
    "Last7DaysApprovalRate",
)
_NUMBER = re.compile(r"[-+]?\d+([.,]\d+)*%?")
Decided = dict[int, list[tuple[str, datetime]]]


def results_csv(batch: RequesterBatch, now: datetime) -> str:
    """Return one CSV row for each submitted assignment, as on Mechanical Turk.

    Inputs are ``Input.<column>``, answers ``Answer.<name of the field>``.
    """
    work = list(
        RequesterAssignment.objects.filter(hit__batch=batch, submitted_at__isnull=False)
        .select_related("hit__hit_type", "worker")
        .order_by("hit__pk", "submitted_at", "pk")
    )
    answers = [answers_of(assignment.answer) for assignment in work]
    names = list(dict.fromkeys(name for answer in answers for name in answer))
    n_hits = RequesterHIT.objects.filter(batch=batch).count()
    decided = _count_decisions(batch)
    out = StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    inputs = [f"Input.{name}" for name in batch.columns]
    answer_columns = [f"Answer.{name}" for name in names]
    writer.writerow(
        _safe([*OF_HIT, *OF_WORK, *inputs, *answer_columns, "Approve", "Reject"])
    )
    for assignment, answer in zip(work, answers, strict=True):
        row = [
            *_of_hit(assignment.hit, batch, n_hits),
            *_of_work(assignment, decided, now),
        ]
        row += assignment.hit.inputs or [""] * len(inputs)
        row += [answer.get(name, "") for name in names]
        writer.writerow(_safe([*row, "", ""]))
    return out.getvalue()


def answers_of(xml: str) -> dict[str, str]:
    return {name: "|".join(texts) for name, texts in texts_of(xml).items()}


def harmless(value: object) -> str:
    """Return a cell that no spreadsheet takes for a formula; numbers stay numbers.

    Examples
    --------
    >>> harmless("=1+1"), harmless("-5"), harmless("@a"), harmless("a=1")
    ("'=1+1", '-5', "'@a", 'a=1')
    """
    text = str(value)
    risky = text.lstrip(" ")[:1] in {"=", "+", "-", "@", "\t", "\r", "\n"}
    return f"'{text}" if risky and not _NUMBER.fullmatch(text) else text


def _safe(row: Iterable[object]) -> list[str]:
    return [harmless(value) for value in row]


def _of_hit(hit: Any, batch: RequesterBatch, n_hits: int) -> list[object]:
    hit_type = hit.hit_type
    return [
        hit.entity_id,
        hit_type.entity_id,
        hit_type.title,
        hit_type.description,
        hit_type.keywords,
        f"${amount(hit.reward_cents)}",
        _time(hit.created_at),
        hit.max_assignments,
        hit.annotation,
        hit_type.assignment_seconds,
        hit_type.auto_approval_seconds,
        _time(hit.expires_at),
        n_hits,
        batch.lifetime_seconds,
    ]


def _of_work(row: Any, decided: Decided, now: datetime) -> list[object]:
    decisions = decided.get(row.worker_id, [])
    return [
        row.entity_id,
        row.worker.customer_id,
        row.state,
        _time(row.accepted_at),
        _time(row.submitted_at),
        _time(row.auto_approval_at),
        _time(row.approved_at),
        _time(row.rejected_at),
        row.feedback,
        round((row.submitted_at - row.accepted_at).total_seconds()),
        _rate(decisions, None),
        _rate(decisions, now - timedelta(days=30)),
        _rate(decisions, now - timedelta(days=7)),
    ]


def _count_decisions(batch: RequesterBatch) -> Decided:
    decided: Decided = {}
    rows = RequesterAssignment.objects.filter(
        hit__requester=batch.requester_id,
        state__in=[State.APPROVED, State.REJECTED],
        submitted_at__isnull=False,
    )
    for worker, state, at in rows.values_list("worker", "state", "submitted_at"):
        if at is not None:
            decided.setdefault(worker, []).append((state, at))
    return decided


def _rate(decisions: list[tuple[str, datetime]], since: datetime | None) -> str:
    states = [state for state, at in decisions if since is None or at >= since]
    n, n_approved = len(states), states.count(State.APPROVED)
    return f"{100 * n_approved // n}% ({n_approved}/{n})" if n else "0% (0/0)"


def _time(at: datetime | None) -> str:
    return at.strftime("%Y-%m-%d %H:%M:%S UTC") if at is not None else ""
