"""Deletion of accounts: names are deleted, scientific data stay."""

import secrets

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.contrib.auth import get_user_model
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from crowd.money.services.payouts import forget_the_gone
from crowd.workers.models.worker import Worker
from crowd.workers.services.invitations import forget_profile
from genie.accounts.models import AccessToken, TaskRole
from genie.history import log
from genie.lib.errors import GenieError
from genie.lib.typing import Account
from leaderboard.submissions.models import IdempotencyKey, Team
from leaderboard.teams.models import (
    Membership,
    Notice,
    NoticePreference,
    TeamInvitation,
)

# The name of a one-person team after that person has left.
NAMELESS = "a deleted account"
_OF_THE_PERSON = (
    AccessToken,
    TaskRole,
    EmailAddress,
    SocialAccount,
    Authenticator,
    UserSession,
    NoticePreference,
    Notice,
    IdempotencyKey,
)


def delete(user_pk: int) -> None:
    """Anonymize an account.

    Its row stays without name, address and password, because submissions and decisions
    refer to it; signing in is no longer possible.
    """
    with transaction.atomic():
        user = get_user_model().objects.select_for_update().get(pk=user_pk)
        _refuse_last_superuser(user)
        for model in _OF_THE_PERSON:
            model.objects.filter(user=user).delete()
        for worker in Worker.objects.filter(user=user):
            log.forget([worker.pk])
            forget_profile(worker)
        # invitations that they sent no longer work
        TeamInvitation.objects.filter(
            created_by=user, accepted_at=None, revoked_at=None
        ).update(revoked_at=timezone.now())
        for team in Team.objects.filter(members=user).order_by("pk"):
            _leave(team, user)
        user.username = f"deleted-{secrets.token_hex(6)}"
        user.first_name = user.last_name = user.email = ""
        user.is_active = user.is_staff = user.is_superuser = False
        user.set_unusable_password()
        user.save()
        # workers are still paid what they are owed
        forget_the_gone()
        user.groups.clear()
        # the requester's keys and money stay
        user.requesters.clear()
        user.user_permissions.clear()


def _refuse_last_superuser(user: Account) -> None:
    others = get_user_model().objects.filter(is_superuser=True, is_active=True)
    if user.is_superuser and not others.exclude(pk=user.pk).exists():
        raise GenieError(
            gettext("You are the only superuser; make someone else a superuser first."),
            code="last-superuser",
        )


def _leave(team: Team, user: Account) -> None:
    """Leave a team; the longest member replaces the last owner."""
    # A first team is named after its owner, and would keep the name.
    if team.name in {user.get_username(), user.get_full_name()}:
        Team.objects.filter(pk=team.pk).update(name=NAMELESS)
    Membership.objects.filter(team=team, user=user).delete()
    remaining = Membership.objects.filter(team=team).order_by("pk")
    heir = remaining.first()
    if heir is not None and not remaining.filter(role=Membership.Role.OWNER).exists():
        Membership.objects.filter(pk=heir.pk).update(role=Membership.Role.OWNER)
