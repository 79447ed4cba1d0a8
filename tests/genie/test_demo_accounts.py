"""The demo makes accounts of its own and touches nobody else's."""

import pytest
from django.contrib.auth import get_user_model
from django.core.management import call_command

from genie.lib.errors import GenieError
from leaderboard import demo


def test_a_database_with_an_admin_of_its_own_is_left_alone():
    users = get_user_model().objects
    users.create_superuser("admin", "boss@example.org", "a real password")
    with pytest.raises(GenieError, match="account 'admin' that the demo did not"):
        call_command("demo", "--no-serve")
    assert users.get(username="admin").check_password("a real password")


@pytest.mark.every_engine
def test_an_earlier_start_that_was_cut_off_is_gone_on_with():
    for name in (demo.ADMIN, demo.SUBMITTER, demo.WORKER):
        demo.account(name)
    demo.refuse_strangers()
    assert get_user_model().own.count() == 3
    get_user_model().objects.create_user("somebody", "somebody@example.org")
    demo.refuse_strangers()


def test_passwords_are_drawn_once_and_anew_only_for_new_accounts(settings, tmp_path):
    settings.VAR_DIR = tmp_path
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    first = demo.passwords()
    assert demo.passwords() == first
    assert (tmp_path / "demo-passwords.json").stat().st_mode & 0o777 == 0o600
    get_user_model().objects.get(username=demo.WORKER).delete()
    later = demo.passwords()
    assert [old == new for old, new in zip(first, later, strict=True)] == [1, 1, 0]
    for one in later:
        user = get_user_model().objects.get(username=one.username)
        assert user.check_password(one.password)
