"""Whether a rejection can be taken back, and what staff should know before they do."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from crowd.models import Assignment, ExternalSession, OutwardCall
from crowd.platforms.base import Platform, kind_of

HERE = (
    "Reversing the rejection approves and pays the work; its answers count again "
    "unless they have been replaced."
)
PANEL = " The panel is not notified: pay it there, and mark it as paid here."
BONUS = (
    " The reward can be paid there as a bonus instead; the answers still do not count."
)


@dataclass(frozen=True)
class TakingBack:
    """What taking one rejection back does; `tells` where a platform must hear of it."""

    possible: bool
    sentence: str
    tells: bool = False


def taking_back(assignment: Assignment, now: datetime) -> TakingBack:
    """Say whether the rejection of an assignment can be taken back."""
    kind = kind_of(assignment.hit.campaign.platform)
    if not kind.capabilities.external:
        ours = kind.slug == "selfhosted"
        return TakingBack(True, HERE if ours else HERE + PANEL)
    session = ExternalSession.objects.filter(work__assignment=assignment).first()
    if session is None or session.status not in {"submitted", "rejected"}:
        return TakingBack(False, f"{kind.title} has no rejection of this work.")
    told = OutwardCall.objects.filter(session=session, kind=OutwardCall.Kind.DECIDE)
    failed = told.filter(wish="override", state=OutwardCall.State.FAILED).first()
    if failed is not None:
        return TakingBack(
            False,
            f"{kind.title} refused to reverse it: {failed.trouble.rstrip('.')}. It "
            "can be resent under outward calls." + BONUS,
        )
    heard = session.status == "rejected" or told.filter(wish="reject").exists()
    if not heard:
        return TakingBack(True, f"{HERE} {kind.title} has not been told of it yet.")
    return _there(kind, session, now)


def _there(kind: type[Platform], session: ExternalSession, now: datetime) -> TakingBack:
    days = kind.capabilities.override_window_days
    if not days:
        return TakingBack(
            False, f"{kind.title} does not allow rejections to be reversed.{BONUS}"
        )
    until = (session.submitted_at or now) + timedelta(days=days)
    said = f"{until:%Y-%m-%d %H:%M} UTC, {days} days after the work was submitted"
    if now > until:
        return TakingBack(
            False,
            (
                f"{kind.title} allowed this rejection to be reversed until "
                f"{said}.{BONUS}"
            ),
        )
    return TakingBack(
        True, f"{HERE} {kind.title} is told, and allows it until {said}.", True
    )
