"""The fixed cast: who they are, and what each of them may see.

Nina submits and Tom is on her team; Rita has a
team of her own and must see nothing of theirs; Wim annotates; Una is staff without any
permission, Sam with those that open what is private; Ada may do everything; a visitor is
not signed in.
"""

from functools import cache
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import Permission
from django.test import Client

from leaderboard.submissions.selectors import Staff
from tests.factories import make_team, make_user, make_worker

CAST = [
    "visitor",
    "submitter",
    "team_mate",
    "rival",
    "worker",
    "new_staff",
    "staff",
    "superuser",
]
INSIDERS = {"submitter", "team_mate", "staff", "superuser"}


@pytest.fixture
def submitter(db):
    return make_user("nina")


@pytest.fixture
def team_mate(db):
    return make_user("tom")


@pytest.fixture
def rival(db):
    return make_user("rita")


@pytest.fixture
def worker(db):
    user = make_user("wim")
    make_worker(user=user, name="wim-at-the-platform")
    return user


@pytest.fixture
def new_staff(db):
    return make_user("una", is_staff=True)


@cache
def keys_of_permissions():
    every = Permission.objects.values_list("content_type__app_label", "codename", "pk")
    return {f"{app}.{codename}": pk for app, codename, pk in every}


def allow(user, *permissions):
    """Give an account or a group permissions named as in `app.view_model`."""
    held = getattr(user, "user_permissions", None) or user.permissions
    held.add(*(keys_of_permissions()[name] for name in permissions))


@pytest.fixture
def staff(db):
    user = make_user("sam", is_staff=True)
    allow(user, *Staff)
    return user


@pytest.fixture
def superuser(db):
    return make_user("ada", is_staff=True, is_superuser=True)


@pytest.fixture
def team(submitter, team_mate):
    return make_team("Team Heron", submitter, team_mate)


@pytest.fixture
def who(team, submitter):
    """Say whose a submission is."""
    return {"team": team, "owner": submitter}


@pytest.fixture
def rival_team(rival):
    return make_team("Team Rook", rival)


@pytest.fixture
def cast(
    submitter, team_mate, rival, worker, new_staff, staff, superuser, team, rival_team
):
    """Give everybody by name; the visitor is None."""
    return SimpleNamespace(
        visitor=None,
        submitter=submitter,
        team_mate=team_mate,
        rival=rival,
        worker=worker,
        new_staff=new_staff,
        staff=staff,
        superuser=superuser,
        team=team,
        rival_team=rival_team,
    )


@pytest.fixture
def client_of(cast):
    """Sign a member of the cast in, by name."""

    def sign_in(name):
        client = Client()
        user = getattr(cast, name)
        if user is not None:
            client.force_login(user)
        return client

    return sign_in
