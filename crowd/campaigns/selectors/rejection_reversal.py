from dataclasses import dataclass
from datetime import datetime, timedelta

from crowd.elsewhere.models import ExternalSession, OutwardCall
from crowd.hits.models import Assignment
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
    possible: bool
    sentence: str
    tells: bool = False


def taking_back(assignment: Assignment, now: datetime) -> TakingBack:
    platform_class = kind_of(assignment.hit.campaign.platform)
    if not platform_class.capabilities.external:
        is_selfhosted = platform_class.slug == "selfhosted"
        return TakingBack(True, HERE if is_selfhosted else HERE + PANEL)
    session = ExternalSession.objects.filter(work__assignment=assignment).first()
    if session is None or session.status not in {"submitted", "rejected"}:
        return TakingBack(
            False, f"{platform_class.title} has no rejection of this work."
        )
    decisions = OutwardCall.objects.filter(
        session=session, kind=OutwardCall.Kind.DECIDE
    )
    failed = decisions.filter(wish="override", state=OutwardCall.State.FAILED).first()
    if failed is not None:
        return TakingBack(
            False,
            f"{platform_class.title} refused to reverse it: "
            f"{failed.trouble.rstrip('.')}. It can be resent under outward "
            f"calls." + BONUS,
        )
    heard = session.status == "rejected" or decisions.filter(wish="reject").exists()
    if not heard:
        return TakingBack(
            True, f"{HERE} {platform_class.title} has not been notified yet."
        )
    return _there(platform_class, session, now)


def _there(
    platform_class: type[Platform], session: ExternalSession, now: datetime
) -> TakingBack:
    days = platform_class.capabilities.override_window_days
    if not days:
        return TakingBack(
            False,
            f"{platform_class.title} does not allow rejections to be reversed.{BONUS}",
        )
    until = (session.submitted_at or now) + timedelta(days=days)
    deadline = f"{until:%Y-%m-%d %H:%M} UTC, {days} days after the work was submitted"
    if now > until:
        return TakingBack(
            False,
            f"{platform_class.title} allowed this rejection to be reversed "
            f"until {deadline}.{BONUS}",
        )
    return TakingBack(
        True,
        f"{HERE} Genie notifies {platform_class.title}, which allows this until {deadline}.",
        True,
    )
