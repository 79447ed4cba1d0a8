"""Teams: created, joined by invitation, left; a team with members has an owner."""

import hashlib
import logging
import secrets
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import gettext

from genie.accounts.mail import message
from genie.lib.errors import GenieError
from genie.lib.logs import one_line
from genie.lib.typing import Account
from leaderboard.submissions.models import Team
from leaderboard.submissions.services.submit import TEAM_NAME_CHARACTERS, free_slug
from leaderboard.teams.models import Membership, TeamInvitation

logger = logging.getLogger(__name__)

Role = Membership.Role
DAYS = 14
MAX_OPEN_INVITATIONS = 50
MAX_TEAMS = 20


def create(user: Account, name: str) -> Team:
    with transaction.atomic():
        if Membership.objects.filter(user=user, role=Role.OWNER).count() >= MAX_TEAMS:
            raise GenieError(
                gettext("You already own %(max_teams)s teams.")
                % {"max_teams": MAX_TEAMS},
                code="too-many-teams",
            )
        team = Team.objects.create(
            slug=free_slug(slugify(name)[:80] or "team"), name=_checked_name(name)
        )
        Membership.objects.create(team=team, user=user, role=Role.OWNER)
    return team


def rename(team: Team, name: str) -> None:
    """Rename a team; its address stays."""
    Team.objects.filter(pk=team.pk).update(name=_checked_name(name))


def _checked_name(name: str) -> str:
    name = name.strip()
    if not name or len(name) > TEAM_NAME_CHARACTERS or not name.isprintable():
        raise GenieError(
            gettext(
                "A team's name must have 1 to %(team_name_characters)s visible "
                "characters."
            )
            % {"team_name_characters": TEAM_NAME_CHARACTERS},
            code="bad-name",
        )
    return name


def role_of(team: Team, user: Account) -> str | None:
    rows = Membership.objects.filter(team=team, user_id=user.pk)
    return rows.values_list("role", flat=True).first()


def invite(team: Team, *, by: Account, email: str = "", role: str = Role.MEMBER) -> str:
    """Create an invitation and return its token, which is not stored."""
    now = timezone.now()
    open_ = team.invitations.filter(
        accepted_at=None, revoked_at=None, expires_at__gt=now
    )
    if open_.count() >= MAX_OPEN_INVITATIONS:
        raise GenieError(
            gettext("%(max_open_invitations)s invitations are open; revoke some first.")
            % {"max_open_invitations": MAX_OPEN_INVITATIONS},
            code="too-many-invitations",
        )
    token = secrets.token_urlsafe(24)
    TeamInvitation.objects.create(
        team=team,
        token_sha256=_hash_token(token),
        email=email,
        role=Role(role),
        created_by=by,
        expires_at=now + timedelta(days=DAYS),
    )
    return token


def send_invitation(team: Team, email: str, link: str, by: Account) -> None:
    """E-mail the link; raise GenieError ``mail-failed`` if that does not work."""
    try:
        _send(team, email, link, by)
    except OSError as error:  # all of smtplib's errors are
        logger.warning("An invitation could not be sent: %s", one_line(error))
        raise GenieError(
            gettext("The e-mail could not be sent; share the link yourself."),
            code="mail-failed",
            permanent=False,
        ) from error


def _send(team: Team, email: str, link: str, by: Account) -> None:
    # in the inviting user's language, the only one that is known
    said = {"team": team.name, "person": by.get_username(), "link": link, "days": DAYS}
    subject = gettext("Join the team %(team)s") % said
    message(
        one_line(f"[Genie] {subject}"),
        gettext(
            "%(person)s invites you to the team %(team)s on Genie.\n\nTo join, open this "
            "link and sign in; you can create an account there:\n%(link)s\n\nThe link "
            "works once and expires after %(days)s days. If you do not know this person, "
            "ignore this message.\n"
        )
        % said,
        email,
        action=gettext("Join"),
    ).send()


def take_back(team: Team, pk: int) -> bool:
    rows = team.invitations.filter(pk=pk, accepted_at=None, revoked_at=None)
    return bool(rows.update(revoked_at=timezone.now()))


def usable(token: str) -> TeamInvitation:
    invitation = (
        TeamInvitation.objects.select_related("team")
        .filter(token_sha256=_hash_token(token))
        .first()
    )
    if invitation is None or invitation.revoked_at is not None:
        raise GenieError(
            gettext("This invitation does not exist or has been revoked."),
            code="no-such-invitation",
        )
    if invitation.accepted_at is not None:
        raise GenieError(
            gettext(
                "This invitation has been used. Each invitation is for one person; "
                "ask for a new one."
            ),
            code="invitation-used",
        )
    if invitation.expires_at <= timezone.now():
        raise GenieError(
            gettext("This invitation has expired; ask for a new one."),
            code="invitation-expired",
        )
    return invitation


def accept(token: str, user: Account) -> Team:
    """Join the team; an invitation works once."""
    invitation = usable(token)
    if role_of(invitation.team, user) is not None:
        raise GenieError(
            gettext(
                "You are already a member of this team; the invitation can be used "
                "by someone else."
            ),
            code="already-a-member",
        )
    try:
        with transaction.atomic():
            # Compare and set: of two users who follow one link at once, one joins.
            taken = TeamInvitation.objects.filter(
                pk=invitation.pk, accepted_at=None, revoked_at=None
            ).update(accepted_at=timezone.now())
            if not taken:
                raise GenieError(
                    gettext("This invitation has been used."), code="invitation-used"
                )
            Membership.objects.create(
                team=invitation.team, user=user, role=invitation.role
            )
    except IntegrityError:  # joined by another invitation at the same moment
        raise GenieError(
            gettext("You are already a member of this team."), code="already-a-member"
        ) from None
    return invitation.team


def set_role(team: Team, user_pk: int, role: str) -> None:
    """Make a member an owner, or an owner a member; the last owner stays one."""
    with transaction.atomic():
        member = _lock_membership(team, user_pk)
        if member.role == Role.OWNER and role != Role.OWNER:
            _refuse_last_owner(team, member)
        Membership.objects.filter(pk=member.pk).update(role=Role(role))


def remove(team: Team, user_pk: int) -> None:
    """Remove a member; their submissions for the team stay with it."""
    with transaction.atomic():
        member = _lock_membership(team, user_pk)
        if member.role == Role.OWNER:
            _refuse_last_owner(team, member)
        member.delete()


def _lock_membership(team: Team, user_pk: int) -> Membership:
    # One after the other, or two last owners could leave at once.
    Team.objects.select_for_update().get(pk=team.pk)
    member = Membership.objects.filter(team=team, user_id=user_pk).first()
    if member is None:
        raise GenieError(
            gettext("This person is not a member of the team."), code="not-a-member"
        )
    return member


def _refuse_last_owner(team: Team, member: Membership) -> None:
    others = Membership.objects.filter(team=team).exclude(pk=member.pk)
    if not others.filter(role=Role.OWNER).exists():
        raise GenieError(
            gettext("This is the team's only owner; make someone else an owner first."),
            code="last-owner",
        )


# Only the hash is stored: readers of the database cannot join a team. A token in an
# address may contain half a surrogate pair, which must not be an error.
def _hash_token(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
