"""Appeals: a worker appeals once against a decision, and a person answers once."""

from typing import Any

from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone
from django.utils.text import format_lazy
from django.utils.translation import gettext, gettext_lazy

from crowd.campaigns.selectors.work_records import SITE, key_of_requester
from crowd.campaigns.services.overturn import overturn, pay_instead
from crowd.hits.models import Assignment
from crowd.hits.services.check_answers import clean_remark
from crowd.messages import services
from crowd.messages.models import Message
from crowd.messages.services import Words
from crowd.requester.models import RequesterAssignment
from crowd.requester.services.overturn import overturn as overturn_requester
from crowd.workers.models.worker import Worker
from crowd.workers.services import exclusions
from genie.lib.admin import note
from genie.lib.errors import GenieError
from genie.lib.typing import Account
from quality.appeals.models import Appeal
from quality.bans.models import Ban
from quality.bans.services import keep, lift
from quality.detection.models import Standing

State = Appeal.State
CHARACTERS = 2_000


@transaction.atomic
def against_rejection(worker: Worker, assignment_pk: int, words: str) -> Appeal:
    """Appeal against the rejection of one's work.

    Raises
    ------
    GenieError
        ``not-yours``, ``nothing-to-appeal``, ``words-missing`` or ``already-appealed``.
    """
    rows = Assignment.objects.select_for_update(of=("self",))
    own = rows.filter(pk=assignment_pk, worker=worker)
    work, before = _find_rejected(own, "assignment")
    pool = work.hit.campaign.pool_id
    return _first_or_same(before, worker, words, pool_id=pool, assignment=work)


@transaction.atomic
def against_requester(worker: Worker, entity_id: str, words: str) -> Appeal:
    """Appeal against a requester's rejection; raises as `against_rejection`."""
    rows = RequesterAssignment.objects.select_for_update(of=("self",))
    own = rows.filter(entity_id=entity_id, worker__worker=worker)
    work, before = _find_rejected(own, "requester_assignment")
    return _first_or_same(before, worker, words, requester_assignment=work)


def _find_rejected(rows: QuerySet[Any], relation: str) -> tuple[Any, Appeal | None]:
    """Return a rejected assignment with the appeal against it, if any."""
    work = rows.first()
    if work is None:
        raise GenieError(gettext("This HIT is not assigned to you."), code="not-yours")
    before = Appeal.objects.filter(**{relation: work}).first()
    if before is None and work.state != work.State.REJECTED:
        raise _nothing_to_appeal(gettext("This HIT was not rejected."))
    return work, before


@transaction.atomic
def against_ban(worker: Worker, pool: str, words: str) -> Appeal:
    """Appeal against the current ban from a pool; raises as `against_rejection`."""
    Worker.objects.select_for_update(of=("self",)).get(pk=worker.pk)
    ban = Ban.in_force.filter(worker=worker, pool=pool).first()
    if ban is None:
        raise _nothing_to_appeal(gettext("You are not excluded from this work."))
    before = Appeal.objects.filter(ban=ban).first()
    return _first_or_same(before, worker, words, pool_id=pool, ban=ban)


@transaction.atomic
def against_exclusion(worker: Worker, words: str) -> Appeal:
    """Appeal against the current exclusion from all work; raises as above."""
    now = Worker.objects.select_for_update(of=("self",)).get(pk=worker.pk)
    if not now.excluded:
        raise _nothing_to_appeal(gettext("You are not excluded from this work."))
    return _first_or_same(exclusion_appeal(worker), worker, words)


@transaction.atomic
def against_record(worker: Worker, pool: str, words: str) -> Appeal:
    """Appeal against the weight of one's answers in a pool; raises as above."""
    now = Worker.objects.select_for_update(of=("self",)).get(pk=worker.pk)
    if not Standing.objects.filter(worker=now, pool=pool).exists():
        raise _nothing_to_appeal(gettext("There is no record of you in this work yet."))
    return _first_or_same(record_appeal(now, pool), worker, words, pool_id=pool)


def record_appeal(worker: Worker, pool: str) -> Appeal | None:
    of_worker = Appeal.objects.filter(worker=worker, pool=pool, assignment=None)
    return of_worker.filter(ban=None).first()


def exclusion_appeal(worker: Worker) -> Appeal | None:
    appeals = Appeal.objects.filter(
        worker=worker, pool=None, assignment=None, requester_assignment=None, ban=None
    )
    notice = exclusions.notice_of(worker)
    if notice.pk is not None:
        appeals = appeals.filter(created_at__gte=notice.created_at)
    return appeals.last()


def _first_or_same(
    before: Appeal | None, worker: Worker, words: str, **of: Any
) -> Appeal:
    words = clean_remark(words, CHARACTERS)
    if not words:
        raise GenieError(
            gettext("Please say why you think that this is wrong."),
            code="words-missing",
        )
    if before is None:
        return Appeal.objects.create(worker=worker, words=words, **of)
    if before.words != words:
        raise GenieError(
            gettext("You have already appealed; your first appeal counts."),
            code="already-appealed",
        )
    return before


def _nothing_to_appeal(sentence: str) -> GenieError:
    return GenieError(sentence, code="nothing-to-appeal")


def grant(pk: int, *, by: Account, sentence: str) -> bool:
    """Reverse the decision and notify the worker; False if it was already answered.

    Rejected work is approved and paid; a ban is lifted.
    """
    with transaction.atomic():
        appeal = _answer(pk, State.GRANTED, by, sentence)
        if appeal is None:
            return False
        if appeal.assignment_id is not None:
            overturn(
                appeal.assignment_id,
                by=by,
                reason=f"appeal granted: {sentence}",
                message=sentence,
            )
            _tell(appeal, gettext_lazy("Your appeal was granted"), _APPROVED)
        elif appeal.requester_assignment_id is not None:
            overturn_requester(appeal.requester_assignment_id, by=by, sentence=sentence)
            _tell(appeal, gettext_lazy("Your appeal was granted"), _APPROVED)
        elif appeal.ban_id is not None:
            _check_no_other(Ban.objects.get(pk=appeal.ban_id))
            lift(
                appeal.ban_id,
                by=by,
                reason=f"Appeal granted: {sentence}",
                message="",  # The answer below explains it.
            )
            _tell(appeal, gettext_lazy("Your appeal was granted"), _LET_IN)
        elif appeal.pool_id is not None:
            keep(appeal.worker, appeal.pool_id, by=by, reason=sentence)
            _tell(appeal, gettext_lazy("Your appeal was granted"), _LET_IN)
        else:
            why = f"Appeal granted: {sentence}"
            exclusions.from_all_work(appeal.worker, False, by, why)
            _tell(appeal, gettext_lazy("Your appeal was granted"), exclusions.OPEN[1])
    return True


def _check_no_other(ban: Ban) -> None:
    later = Ban.in_force.filter(worker=ban.worker_id, pool=ban.pool_id)
    if later.exclude(pk=ban.pk).exists():
        raise GenieError(
            "The worker has been banned again since: lift that ban first, or uphold "
            "the decision.",
            code="banned-again",
        )


def grant_by_bonus(pk: int, *, by: Account, sentence: str) -> bool:
    """Pay a bonus instead, because the platform cannot reverse a rejection."""
    with transaction.atomic():
        appeal = _answer(pk, State.GRANTED, by, sentence)
        if appeal is None:
            return False
        if appeal.assignment_id is None:
            raise GenieError(
                "Only work posted by this site can be paid with a bonus instead.",
                code="no-bonus",
            )
        entry = pay_instead(
            appeal.assignment_id,
            by=by,
            reason=f"appeal granted: {sentence}",
            message=sentence,
        )
        paid = format_lazy(_BONUS, dollars=f"${entry.amount_cents / 100:,.2f}")
        _tell(appeal, gettext_lazy("Your appeal was granted"), paid)
    return True


def uphold(pk: int, *, by: Account, sentence: str) -> bool:
    """Uphold the decision and notify the worker; False if it was already answered."""
    with transaction.atomic():
        appeal = _answer(pk, State.UPHELD, by, sentence)
        if appeal is None:
            return False
        _tell(appeal, gettext_lazy("Your appeal: the decision was upheld"), _STANDS)
    return True


_APPROVED = gettext_lazy(
    "Your work was reviewed again; it is approved and will be paid."
)
_BONUS = gettext_lazy(
    "Your work was reviewed again, and you were right. The platform that you came "
    "from does not allow rejections to be reversed, so you get {dollars} as a bonus "
    "instead."
)
_LET_IN = gettext_lazy(
    "The decision was reviewed: you can do this work again, and your earlier answers "
    "count again."
)
_STANDS = gettext_lazy("A person has reviewed it, and the decision was upheld.")


def _answer(pk: int, state: Appeal.State, by: Account, sentence: str) -> Appeal | None:
    """Store the answer once; None if another answer came first."""
    sentence = sentence.strip()
    if not sentence:
        raise GenieError("Write a message to the worker.", code="reason-missing")
    changed = Appeal.objects.filter(pk=pk, state=State.WAITING).update(
        state=state, answer=sentence, answered_at=timezone.now(), answered_by=by
    )
    if not changed:
        return None
    appeal = Appeal.objects.select_related("worker").get(pk=pk)
    note(by, appeal, f"{appeal.get_state_display().capitalize()}: {sentence}")
    return appeal


def _tell(appeal: Appeal, subject: Words, text: Words) -> None:
    services.send(
        appeal.worker,
        Message.Kind.APPEAL,
        subject,
        format_lazy(
            gettext_lazy("{text}\n\nMessage from the staff of this site: {answer}"),
            text=text,
            answer=appeal.answer,
        ),
        pool=appeal.pool_id,
        assignment=appeal.assignment,
        requester_assignment=appeal.requester_assignment,
    )


def outcomes() -> dict[str, tuple[int, int]]:
    """Count appeals as (answered, granted), by requester or site."""
    rows = (
        Appeal.objects.exclude(state=Appeal.State.WAITING)
        .order_by()
        .values_list("requester_assignment__hit__requester")
        .annotate(n=Count("pk"), granted=Count("pk", filter=Q(state="GRANTED")))
    )
    return {
        SITE if pk is None else key_of_requester(pk): (n, n_granted)
        for pk, n, n_granted in rows
    }
