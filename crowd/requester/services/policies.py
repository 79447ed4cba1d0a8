"""Apply the review policies of HITs; callers lock the requester's row.

An assignment is reviewed when it is submitted, a HIT whenever it becomes reviewable.
Results and actions are stored for ListReviewPolicyResultsForHIT. An expired HIT is not
extended, because its requester may have ended it.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from crowd.requester.models import (
    PolicyDetail,
    RequesterAssignment,
    RequesterHIT,
    new_entity_id,
)
from crowd.requester.protocol.errors import TurkError
from crowd.requester.questions import policies
from crowd.requester.questions.answers import texts_of
from crowd.requester.questions.policies import Answers, Policy
from crowd.requester.selectors import with_counts
from crowd.requester.services import decisions, events, money

State = RequesterAssignment.State
MANY = 10
Outcome = tuple[str, str]  # the state of an action, and its error code if any


def review_work(assignment_pk: int, now: datetime) -> None:
    work = _work().get(pk=assignment_pk)
    policy = policy_of(work.hit, "Assignment")
    if policy is None:
        return
    book = _Book(work.hit, "Assignment", now)
    correct = policies.known_answers(policy.key, _answers(work))
    n = sum(correct.values())
    score = policies.percent(n, len(correct))
    for question, is_correct in correct.items():
        book.result(work, "KnownAnswerCorrect", str(int(is_correct)), question)
    book.result(work, "KnownAnswerScore", str(score))
    s = "" if len(correct) == 1 else "s"
    said = f"Reviewed {len(correct)} known answer{s}; {n}/{len(correct)} correct"
    book.action("review", work, lambda: (said, ""))
    reason = (
        f"{n} of {len(correct)} question{s} with a known answer answered correctly."
    )
    _decide(book, policy, work, score, "KnownAnswerScore", reason)
    if score < policy.numbers.get("ExtendIfKnownAnswerScoreIsLessThan", 0):
        book.action("extend", work.hit, lambda: _extend(work.hit_id, policy, now))


def review_hit(hit: RequesterHIT, now: datetime) -> None:
    policy = policy_of(hit, "HIT")
    sent_in = [State.SUBMITTED, State.APPROVED, State.REJECTED]
    rows = list(_work().filter(hit=hit, state__in=sent_in).order_by("pk"))
    if policy is None or not rows:
        return
    counts = {row.pk: _answers(row) for row in _counted_in(policy, hit, rows)}
    threshold = policy.numbers["QuestionAgreementThreshold"]
    agreed = policies.agreed_answers(policy.questions, threshold, counts)
    book = _Book(hit, "HIT", now)
    for question in policy.questions:
        one = agreed.get(question)
        book.result(hit, "AgreedAnswerFound", str(one is not None).lower(), question)
        if one is not None:
            book.result(hit, "AgreedAnswer", "|".join(sorted(one.answer)), question)
            book.result(hit, "AnswerAgreementScore", str(one.score), question)
    score = policies.percent(len(agreed), len(policy.questions))
    book.result(hit, "HitAgreementScore", str(score))
    for row in rows:
        if row.pk not in counts or not agreed:
            continue
        n = policies.agreement_of(counts[row.pk], agreed)
        of_worker = policies.percent(n, len(agreed))
        book.result(row, "WorkerAgreementScore", str(of_worker))
        book.result(row, "PluralityAnswersCorrect", str(n))
        book.result(row, "PluralityAnswersIncorrect", str(len(agreed) - n))
        s = "" if len(agreed) == 1 else "s"
        reason = f"{n} of {len(agreed)} answer{s} agreed with those of most workers."
        _decide(book, policy, row, of_worker, "WorkerAgreementScore", reason)
    if score < policy.numbers.get("ExtendIfHITAgreementScoreIsLessThan", 0):
        book.action("extend", hit, lambda: _extend(hit.pk, policy, now))


def policy_of(hit: RequesterHIT, level: str) -> Policy | None:
    argument = (hit.policies or {}).get(level)
    return policies.read_policy(level, argument) if argument else None


class _Book:
    """The results and actions of one review, in the order of the list."""

    def __init__(self, hit: RequesterHIT, level: str, now: datetime) -> None:
        self.hit, self.level, self.now = hit, level, now
        self.review_id = new_entity_id()

    def result(
        self, subject: Any, key: str, value: str, question: str | None = None
    ) -> None:
        of_question = {} if question is None else {"QuestionId": question}
        self._add(
            is_action=False,
            ActionId=self.review_id,
            SubjectId=subject.entity_id,
            SubjectType=_kind(subject),
            Key=key,
            Value=value,
            **of_question,
        )

    def action(self, name: str, target: Any, do: Callable[[], Outcome]) -> None:
        outcome, error = do()
        failed = {"ErrorCode": f"AWS.MechanicalTurk.{error}"} if error else {}
        self._add(
            is_action=True,
            ActionId=self.review_id if name == "review" else new_entity_id(),
            ActionName=name,
            TargetId=target.entity_id,
            TargetType=_kind(target),
            Status="Failed" if error else "Succeeded",
            CompleteTime=round(self.now.timestamp(), 3),
            Result=outcome,
            **failed,
        )

    def _add(self, *, is_action: bool, **body: Any) -> None:
        PolicyDetail.objects.create(
            hit=self.hit, level=self.level, is_action=is_action, body=body
        )


def _decide(
    book: _Book,
    policy: Policy,
    work: RequesterAssignment,
    score: int,
    name: str,
    reason: str,
) -> None:
    now, numbers, words = book.now, policy.numbers, policy.words
    if score >= numbers.get(f"ApproveIf{name}IsAtLeast", 101):
        book.action("approve", work, lambda: _approve(work, now, words))
    if score < numbers.get(f"RejectIf{name}IsLessThan", 0):
        why = words.get("RejectReason", "").strip() or reason
        book.action("reject", work, lambda: _reject(work, now, why))


def _approve(work: RequesterAssignment, now: datetime, words: Any) -> Outcome:
    if decisions.approve(work, now, words.get("ApproveReason", "")):
        return "Approved", ""
    return _as_it_is(work, State.APPROVED)


def _reject(work: RequesterAssignment, now: datetime, why: str) -> Outcome:
    if decisions.reject(work, now, why):
        return "Rejected", ""
    return _as_it_is(work, State.REJECTED)


def _as_it_is(work: RequesterAssignment, wanted: State) -> Outcome:
    if RequesterAssignment.objects.get(pk=work.pk).state == wanted:
        return f"Already {wanted.lower()}", ""
    sentence = "Assignment was in an invalid state for this operation."
    return sentence, "InvalidAssignmentState"


def _extend(hit_pk: int, policy: Policy, now: datetime) -> Outcome:
    hit = with_counts(RequesterHIT.objects.filter(pk=hit_pk), now).get()
    most = policy.numbers.get("ExtendMaximumAssignments", policies.USUAL_MAXIMUM)
    n = hit.max_assignments + 1
    if n > most:
        return f"The HIT has {hit.max_assignments} assignments, the most allowed", ""
    if n == MANY:
        return "The HIT has 9 assignments", "InvalidMaximumAssignmentsIncrease"
    if hit.expires_at <= now:
        return "The HIT has expired", "InvalidHITState"
    try:
        money.require(hit.requester, hit.reward_cents + hit.fee_cents)
    except TurkError as error:
        return error.message, "InsufficientFunds"
    seconds = policy.numbers.get("ExtendMinimumTimeInSeconds", 0)
    RequesterHIT.objects.filter(pk=hit_pk).update(
        max_assignments=n,
        expires_at=max(hit.expires_at, now + timedelta(seconds=seconds)),
        touched_at=now,
        announced=False,
    )
    money.hold(hit_pk, now)
    events.about_hit(hit, "HITExtended", now)
    return "Extended by one assignment", ""


def _counted_in(
    policy: Policy, hit: RequesterHIT, rows: list[RequesterAssignment]
) -> list[RequesterAssignment]:
    least = policy.numbers.get("DisregardAssignmentIfKnownAnswerScoreIsLessThan", 0)
    known = policy_of(hit, "Assignment")
    counts = []
    for row in rows:
        if policy.without_rejected and row.state == State.REJECTED:
            continue
        if known is not None:
            correct = policies.known_answers(known.key, _answers(row))
            if policies.percent(sum(correct.values()), len(correct)) < least:
                continue
        counts.append(row)
    return counts


def _work() -> Any:
    return RequesterAssignment.objects.select_related(
        "hit__hit_type", "hit__requester", "worker"
    )


def _answers(work: RequesterAssignment) -> Answers:
    return {
        question: policies.as_values(texts)
        for question, texts in texts_of(work.answer).items()
    }


def _kind(row: Any) -> str:
    return "HIT" if isinstance(row, RequesterHIT) else "Assignment"
