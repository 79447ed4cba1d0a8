"""A new site has groups for the four jobs that staff have; what staff change stays."""

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, Permission
from django.test import Client

from leaderboard.site.roles import ROLES, make_groups

LAST = apps.get_app_config("leaderboard")
LISTS = {
    "Reviewer": ("leaderboard/submission", "crowd/worker"),
    "Organiser": ("crowd/campaign", "crowd/ledgerentry"),
    "Worker manager": ("crowd/worker", "leaderboard/submission"),
    "Finance": ("crowd/ledgerentry", "crowd/worker"),
}


@pytest.fixture
def new_site(db):
    Group.objects.all().delete()
    make_groups(LAST, "default")


@pytest.mark.parametrize("role", ROLES)
def test_a_member_sees_the_lists_of_the_job_alone(role, new_site, django_user_model):
    user = django_user_model.objects.create_user("nora", is_staff=True)
    user.groups.add(Group.objects.get(name=role))
    client = Client()
    client.force_login(user)
    assert client.get("/admin/").status_code == 200
    own, other = LISTS[role]
    assert client.get(f"/admin/{own}/").status_code == 200
    assert client.get(f"/admin/{other}/").status_code == 403


def test_groups_that_staff_changed_are_left_alone(new_site):
    Group.objects.filter(name="Finance").delete()
    group = Group.objects.get(name="Reviewer")
    group.permissions.set(Permission.objects.none())
    make_groups(LAST, "default")
    assert set(Group.objects.values_list("name", flat=True)) == ROLES.keys() - {
        "Finance"
    }
    assert not group.permissions.exists()
