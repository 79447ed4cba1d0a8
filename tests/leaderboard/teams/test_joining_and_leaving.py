"""Teams: owners invite, a link works once, and a team is never left without an owner."""

from datetime import timedelta

import pytest
from django.utils import timezone

from genie.lib.errors import GenieError
from leaderboard.models import Membership, TeamInvitation
from leaderboard.submissions.services import submit
from leaderboard.teams.services import teams
from tests.factories import make_team, make_user

Role = Membership.Role


@pytest.fixture
def nina():
    return make_user("nina")


@pytest.fixture
def heron(nina):
    return teams.create(nina, "Team Heron")


def code_of(action, *args, **kwargs):
    with pytest.raises(GenieError) as caught:
        action(*args, **kwargs)
    return caught.value.code


def test_who_makes_a_team_owns_it(nina, heron):
    assert teams.role_of(heron, nina) == Role.OWNER
    assert teams.role_of(submit.team_for(make_user("tom")), make_user("eve")) is None
    again = teams.create(nina, "Team Heron")
    assert again.slug != heron.slug


def test_the_team_of_a_first_submission_is_owned_too():
    tom = make_user("tom")
    assert teams.role_of(submit.team_for(tom), tom) == Role.OWNER


@pytest.mark.parametrize("name", ["", "  ", "n" * 201, "a\nb", "a\u202eb"])
def test_a_name_that_cannot_be_read_is_refused(nina, heron, name):
    assert code_of(teams.create, nina, name) == "bad-name"
    assert code_of(teams.rename, heron, name) == "bad-name"


def test_nobody_makes_teams_without_end(nina, heron, monkeypatch):
    monkeypatch.setattr(teams, "MAX_TEAMS", 1)
    assert code_of(teams.create, nina, "Another") == "too-many-teams"


@pytest.mark.every_engine
def test_an_invitation_lets_one_person_in_once(nina, heron):
    tom, eve = make_user("tom"), make_user("eve")
    token = teams.invite(heron, by=nina)
    assert token not in repr(TeamInvitation.objects.values().get())
    assert code_of(teams.accept, token, nina) == "already-a-member"
    assert teams.accept(token, tom) == heron
    assert teams.role_of(heron, tom) == Role.MEMBER
    assert code_of(teams.accept, token, eve) == "invitation-used"
    assert code_of(teams.accept, token + "x", eve) == "no-such-invitation"


def test_an_invitation_runs_out_and_can_be_taken_back(nina, heron):
    late, back = teams.invite(heron, by=nina), teams.invite(heron, by=nina)
    first, second = TeamInvitation.objects.order_by("pk")
    first.expires_at = timezone.now() - timedelta(seconds=1)
    first.save()
    assert code_of(teams.usable, late) == "invitation-expired"
    assert not teams.take_back(make_team("Rook"), second.pk)
    assert teams.take_back(heron, second.pk)
    assert not teams.take_back(heron, second.pk)
    assert code_of(teams.usable, back) == "no-such-invitation"


def test_open_invitations_are_bounded(nina, heron, monkeypatch):
    monkeypatch.setattr(teams, "MAX_OPEN_INVITATIONS", 1)
    teams.invite(heron, by=nina)
    assert code_of(teams.invite, heron, by=nina) == "too-many-invitations"


def test_the_last_owner_stays(nina, heron):
    tom = make_user("tom")
    teams.accept(teams.invite(heron, by=nina), tom)
    assert code_of(teams.remove, heron, nina.pk) == "last-owner"
    assert code_of(teams.set_role, heron, nina.pk, Role.MEMBER) == "last-owner"
    teams.set_role(heron, tom.pk, Role.OWNER)
    teams.remove(heron, nina.pk)
    assert teams.role_of(heron, nina) is None
    assert code_of(teams.remove, heron, nina.pk) == "not-a-member"


def test_an_e_mail_that_cannot_be_sent_is_no_crash(nina, heron, monkeypatch):
    def broken(*_args, **_kwargs):
        raise ConnectionRefusedError

    monkeypatch.setattr(teams, "message", broken)
    code = code_of(teams.send_invitation, heron, "t@heron.example", "link", nina)
    assert code == "mail-failed"
