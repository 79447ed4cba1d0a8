"""Work on Mechanical Turk: collect it, decide on it, pay bonuses for it."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any

from crowd.platforms.base import (
    BonusSpec,
    DecisionSpec,
    ExternalRef,
    Result,
    SessionEvent,
    SessionStatus,
)
from crowd.platforms.mturk_calls import (
    Calls,
    TurkBusy,
    TurkRefusal,
    TurkSilence,
    at_once,
    pages,
    result_of,
)
from crowd.platforms.mturk_terms import dollars, feedback, token, was_processed
from crowd.platforms.mturk_xml import read_answers
from genie.lib.errors import GenieError

STATUS: dict[str, SessionStatus] = {
    "Submitted": "submitted",
    "Approved": "approved",
    "Rejected": "rejected",
}
NO_REASON = "The work does not follow the instructions of the HIT."


def sync(calls: Calls, ref: ExternalRef) -> Iterator[SessionEvent]:
    """List the assignments of all HITs of the offer, each once.

    The counters of a HIT are not believed: work that waits for a decision is in none of
    them. What can be collected is, before a failure is raised.
    """
    failures: list[Exception] = []
    lock = threading.Lock()

    def look(hit_id: str) -> list[SessionEvent]:
        try:
            found = pages(
                calls, "list_assignments_for_hit", "Assignments", HITId=hit_id
            )
            return [event_of(row) for row in found]
        except TurkRefusal as refusal:
            if refusal.code != "HITDoesNotExist":
                with lock:
                    failures.append(refusal)
        except (TurkBusy, TurkSilence) as error:
            with lock:
                failures.append(error)
        return []

    seen: set[tuple[str, str, str]] = set()
    for events in at_once(list(ref.hit_ids.values()), look, calls.threads):
        for event in events:
            name = (event.session_id, event.worker_id, event.status)
            if name not in seen:
                seen.add(name)
                yield event
    if failures:
        raise GenieError(
            f"{len(failures)} of {len(ref.hit_ids)} HITs could not be checked: "
            f"{failures[0]}"[:300],
            code="platform-unreachable",
            permanent=False,
        )


def event_of(row: dict[str, Any]) -> SessionEvent:
    """Read an assignment; an answer that cannot be read is kept as it came."""
    raw = row.get("Answer", "")
    message = ""
    try:
        answers = read_answers(raw)
    except GenieError as error:
        answers, message = {}, error.message
    return SessionEvent(
        session_id=row["AssignmentId"],
        worker_id=row["WorkerId"],
        status=STATUS[row["AssignmentStatus"]],
        hit_id=row["HITId"],
        accepted_at=row.get("AcceptTime"),
        submitted_at=row.get("SubmitTime"),
        auto_approval_at=row.get("AutoApprovalTime"),
        answers=answers,
        raw=raw,
        message=message,
    )


def decide(calls: Calls, decisions: Sequence[DecisionSpec]) -> Iterator[Result]:
    """Carry decisions out; one that fell before is looked up, not guessed."""
    yield from at_once(
        decisions,
        lambda one: result_of(one.key, lambda: _decide(calls, one)),
        calls.threads,
    )


def _decide(calls: Calls, one: DecisionSpec) -> Result:
    wanted = "Rejected" if one.decision == "reject" else "Approved"
    try:
        if one.decision == "reject":
            calls(
                "reject_assignment",
                AssignmentId=one.session_id,
                RequesterFeedback=feedback(one.message) or NO_REASON,
            )
        else:
            said = feedback(one.message)
            calls(
                "approve_assignment",
                AssignmentId=one.session_id,
                OverrideRejection=one.decision == "override",
                **({"RequesterFeedback": said} if said else {}),
            )
    except TurkRefusal as refusal:
        if refusal.code == "InsufficientFunds":
            raise
        stands = calls("get_assignment", AssignmentId=one.session_id)["Assignment"]
        status = stands["AssignmentStatus"]
        if status == wanted:
            return Result(one.key, "done", one.session_id)
        if status == "Submitted" or one.decision == "override":
            raise
        return Result(
            one.key,
            "refused",
            one.session_id,
            STATUS[status],
            "decided-otherwise",
        )
    return Result(one.key, "done", one.session_id)


def bonus(
    calls: Calls, environment: str, bonuses: Sequence[BonusSpec]
) -> Iterator[Result]:
    """Pay each bonus once; its reason carries a reference by which it is found again."""
    yield from at_once(
        bonuses,
        lambda one: result_of(one.key, lambda: _bonus(calls, environment, one)),
        calls.threads,
    )


def _bonus(calls: Calls, environment: str, one: BonusSpec) -> Result:
    name = token(environment, one.key)
    reference = f"(reference {name[:12]})"
    amount = dollars(one.amount_cents)
    if one.sent == "long-ago":
        for paid in pages(
            calls,
            "list_bonus_payments",
            "BonusPayments",
            AssignmentId=one.session_id,
        ):
            if reference in paid.get("Reason", ""):
                return Result(one.key, "done", name[:12])
    try:
        calls(
            "send_bonus",
            WorkerId=one.worker_id,
            AssignmentId=one.session_id,
            BonusAmount=amount,
            Reason=f"{feedback(one.reason)[:900]} {reference}",
            UniqueRequestToken=name,
        )
    except TurkRefusal as refusal:
        if not was_processed(refusal.message):
            raise
    return Result(one.key, "done", name[:12])
