"""A new site has groups for the four jobs that staff have; what staff change stays."""

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, Permission

from leaderboard.site.roles import ROLES, make_groups

LAST = apps.get_app_config("leaderboard")


@pytest.fixture
def new_site(db):
    Group.objects.all().delete()
    make_groups(LAST, "default")


def test_groups_that_staff_changed_are_left_alone(new_site):
    Group.objects.filter(name="Finance").delete()
    group = Group.objects.get(name="Reviewer")
    group.permissions.set(Permission.objects.none())
    make_groups(LAST, "default")
    assert set(Group.objects.values_list("name", flat=True)) == ROLES.keys() - {
        "Finance"
    }
    assert not group.permissions.exists()
