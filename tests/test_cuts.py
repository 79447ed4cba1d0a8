"""Each transaction is cut in a test, and the cutter finds what stays behind."""

import pytest
from django.contrib.auth.models import Group
from django.db import connection, transaction

from tests import cuts, guards
from tests.factories import make_user


def test_each_transaction_is_cut_in_a_test_or_says_why_not():
    cut = [name for names in cuts.CUT.values() for name in names.split()]
    listed = [*cut, *(name for names in cuts.UNCUT.values() for name in names.split())]
    assert sorted(listed) == sorted(cuts.functions_with())


@pytest.mark.parametrize("word", ["atomic", "select_for_update"])
def test_each_lock_and_transaction_is_watched(word):
    apps = ["crowd", "genie", "leaderboard", "quality"]
    assert cuts.functions_with(word, apps) - guards.watched().keys() == set()


def test_the_tests_that_cut_are_there():
    for name in [*cuts.CUT, *cuts.KILLED]:
        path, _, test = name.partition("::")
        text = (cuts.ROOT / "tests" / path).read_text("utf-8")
        assert f"def {test.partition('[')[0]}(" in text, name


def write_twice(name):
    make_user(name)
    make_user(f"{name} again")


write_at_once = transaction.atomic(write_twice)


@pytest.mark.django_db
def test_what_stays_after_a_cut_is_found():
    with cuts.cutting(["tests.test_cuts:write_at_once"]):
        write_at_once("ada")
    cut_off = cuts.cutting(["tests.test_cuts:write_twice"])
    with pytest.raises(AssertionError, match="not one transaction"), cut_off:
        write_twice("eve")
    with pytest.raises(AssertionError, match="not cut"), cuts.cutting(["tests.test_cuts:write_twice"]):  # fmt: skip
        pass


@pytest.mark.skipif(connection.vendor != "sqlite", reason="SQLite alone is watched")
@pytest.mark.django_db
def test_a_missing_lock_and_transaction_are_found(monkeypatch):
    list(Group.objects.select_for_update())
    assert guards.wrong() == ["a lock outside of a transaction"]
    name = "tests.test_cuts:write_twice"
    monkeypatch.setattr("tests.test_cuts.write_twice", write_twice)
    guards.watch_one(name, inside=False, tables={"group"})
    write_twice("ada")
    assert guards.wrong() == [
        f"{name} returns without a lock of ['group']",
        f"{name} writes outside of a transaction",
    ]
