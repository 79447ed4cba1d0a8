"""A first submission makes a team: one, with a name that every database keeps."""

import pytest
from django.contrib.auth import get_user_model

from leaderboard.models import Team
from leaderboard.submissions.services import submit
from tests.crowd.campaigns.test_races import at_once


@pytest.mark.every_engine
@pytest.mark.django_db(transaction=True)
def test_two_first_submissions_at_once_are_of_one_team():
    for number in range(4):
        user = get_user_model().objects.create_user(f"new-{number}")
        teams = at_once(*[lambda u=user: submit.team_for(u)] * 3)
        assert len({team.pk for team in teams}) == 1
        assert Team.objects.filter(members=user).count() == 1


def test_a_long_name_of_a_person_is_cut_for_the_team():
    user = get_user_model().objects.create_user(
        "u" * 150, first_name="F" * 150, last_name="L" * 150
    )
    team = submit.team_for(user)
    team.refresh_from_db()
    assert len(team.name) == 200
    assert len(team.slug) <= 100


def test_names_that_look_alike_get_slugs_of_their_own():
    users = get_user_model().objects
    slugs = [
        submit.team_for(users.create_user(name)).slug
        for name in ("a-b-2", "a.b", "a-b", "a_b", "ß", "@")
    ]
    assert len(set(slugs)) == 6
    assert all(slugs)


def test_half_a_character_in_a_files_name_is_left_out(hand_in, good):
    assert hand_in(good, file_name="pre\udcffdictions.json").file_name == (
        "predictions.json"
    )
