"""How a person becomes a worker: by a link with one place, or with several."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext

from crowd.hits.models.campaign import Campaign
from crowd.workers.models.worker import Invitation, Worker
from genie.lib.errors import GenieError

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser


def invite(
    by: AbstractBaseUser,
    note: str = "",
    days: int = 14,
    places: int = 1,
    code: str = "",
    campaign: Campaign | None = None,
    pool: str = "",
) -> str:
    """Make an invitation for so many people and return its token, which is kept nowhere.

    Where there is a code, newcomers must know it besides. The work of a campaign that has
    an invitation is for those who come by one, workers of the site included. Newcomers see
    the work of `pool` before all other.
    """
    token = secrets.token_urlsafe(24)
    Invitation.objects.create(
        token_sha256=_hashed(token),
        note=note[:200],
        code=code.strip(),
        campaign=campaign,
        pool=pool,
        places=places,
        created_by_id=by.pk,
        expires_at=timezone.now() + timedelta(days=days),
    )
    return token


def usable(token: str) -> Invitation:
    """Give the invitation behind a token, or say why it cannot be used."""
    invitation = Invitation.objects.filter(token_sha256=_hashed(token)).first()
    if invitation is None:
        raise GenieError(
            gettext("There is no such invitation."), code="no-such-invitation"
        )
    if invitation.n_taken >= invitation.places:
        raise GenieError(_used_up(invitation), code="invitation-used")
    if invitation.expires_at <= timezone.now():
        raise GenieError(
            gettext("This invitation has expired; ask for a new one."),
            code="invitation-expired",
        )
    return invitation


@transaction.atomic
def redeem(token: str, user: AbstractBaseUser, code: str = "") -> Worker:
    """Make the user a worker; an invitation has so many places and no more."""
    invitation = usable(token)
    if not constant_time_compare(code.strip(), invitation.code):
        raise GenieError(
            gettext("The code is wrong; ask whoever sent you the link."),
            code="wrong-code",
        )
    # Compare and set: two who open the same link at once cannot both take its last place.
    row = Invitation.objects.filter(pk=invitation.pk)
    if not row.filter(n_taken__lt=F("places")).update(n_taken=F("n_taken") + 1):
        raise GenieError(_used_up(invitation), code="invitation-used")
    row.filter(n_taken=F("places")).update(used_at=timezone.now())
    # After the row is ours: who sends the form twice at once takes one place, not two.
    worker = Worker.objects.filter(user_id=user.pk).first()
    to_all = invitation.campaign_id is None
    if worker is not None and (to_all or row.filter(guests=worker).exists()):
        raise GenieError(
            gettext(
                "You are already a worker here; give the invitation to someone else."
            ),
            code="already-a-worker",
        )
    if worker is None:
        worker = register_worker(user=user, platform_worker_id=f"user-{user.pk}")
        Worker.objects.filter(pk=worker.pk).update(came_by=invitation)
    if not to_all:
        invitation.guests.add(worker)
    return worker


def register_worker(
    *,
    platform_worker_id: str,
    user: AbstractBaseUser | None = None,
    platform: str = "selfhosted",
    simulated: bool = False,
) -> Worker:
    """Give the worker of that id on that platform, made when missing."""
    worker, _ = Worker.objects.get_or_create(
        platform=platform,
        platform_worker_id=platform_worker_id,
        defaults={"user_id": user.pk if user else None, "simulated": simulated},
    )
    return worker


def _used_up(invitation: Invitation) -> str:
    if invitation.places == 1:
        return (
            "This invitation has been used. Each one is for one person; ask for a new "
            "one."
        )
    return "All places of this invitation are taken; ask for a new one."


def _hashed(token: str) -> str:
    # The token has more random bits than anybody can try, so a plain hash will do.
    return hashlib.sha256(token.encode()).hexdigest()


def forget_before(limit: datetime) -> int:
    """Forget invitations that expired before a moment; return how many.

    Those by which somebody came stay, because workers refer to them, without a note; so
    do those to one campaign, whose work they keep from everybody else.
    """
    old = Invitation.objects.filter(expires_at__lt=limit)
    stay = old.filter(Q(n_taken__gt=0) | Q(campaign__isnull=False))
    n_noted = stay.exclude(note="", code="").update(note="", code="")
    gone = old.filter(n_taken=0, workers=None, campaign=None)
    return n_noted + int(gone.delete()[0])
