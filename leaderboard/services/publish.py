"""Put a scored submission on the board."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from leaderboard.models import Submission
from leaderboard.services import lifecycle, top_up

State = Submission.State


def publish(pk: int) -> None:
    """Go from SCORED to PUBLISHED; a private submission's team alone sees it."""
    private = Submission.objects.filter(
        pk=pk, visibility=Submission.Visibility.PRIVATE
    ).exists()
    with transaction.atomic():
        published = _publish(pk, private)
        if published:
            # A ban may have fallen while the scores were computed.
            top_up.reopen(pk)


def _publish(pk: int, private: bool) -> bool:
    return lifecycle.move(
        pk,
        State.SCORED,
        State.PUBLISHED,
        "The result is ready; the submission is private, so only the team can see it."
        if private
        else "The result is on the board.",
        published_at=timezone.now(),
    )
