"""Announce events of submissions to people and programs.

Each event is announced once. Its e-mails and deliveries are stored in the transaction
that marks it, and sent by jobs.
"""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from genie.accounts.addresses import addresses_of
from genie.lib import jobs
from leaderboard.submissions.models import Submission, SubmissionEvent
from leaderboard.teams.models import Notice, NoticePreference
from leaderboard.teams.services import webhooks

State = Submission.State
# States with an e-mail. Scores may still change until they are published, so a score
# alone has none.
KINDS: dict[str, str] = {
    State.RECEIVED: "submitted",
    State.INVALID: "invalid",
    State.APPROVED: "approved",
    State.PUBLISHED: "published",
}
AT_ONCE = 200
# Events of the day before yesterday are too old to announce.
_NEWS = timedelta(days=2)


def announce() -> int:
    waiting = (
        SubmissionEvent.objects.filter(announced_at=None)
        .select_related("submission__task", "submission__team")
        .order_by("pk")[:AT_ONCE]
    )
    n = sum(_announce(event) for event in waiting)
    unsent = Notice.objects.filter(sent_at=None).order_by("pk")
    mails = unsent.values_list("pk", flat=True)[:AT_ONCE]
    jobs.enqueue_missing([("leaderboard.jobs.send_notice", {"pk": pk}) for pk in mails])
    return n


def _announce(event: SubmissionEvent) -> bool:
    now = timezone.now()
    with transaction.atomic():
        unannounced = SubmissionEvent.objects.filter(pk=event.pk, announced_at=None)
        # Compare and set: of several processes, one announces the event.
        if not unannounced.update(announced_at=now):
            return False
        # A later event of the same state is an addition, such as a corrected score.
        first = not SubmissionEvent.objects.filter(
            submission_id=event.submission_id, state=event.state, pk__lt=event.pk
        ).exists()
        webhooks.queue(event, first=first)
        if first and event.state in KINDS and now - event.at < _NEWS:
            _queue_notices(event, KINDS[event.state])
    return True


def _queue_notices(event: SubmissionEvent, kind: str) -> None:
    members = list(event.submission.team.members.order_by("pk"))
    muted = {
        row.user_id
        for row in NoticePreference.objects.filter(user__in=members)
        if kind in row.muted
    }
    reached = addresses_of(member for member in members if member.pk not in muted)
    Notice.objects.bulk_create(
        [Notice(event=event, user_id=pk, kind=kind) for pk in sorted(reached)],
        ignore_conflicts=True,
    )
