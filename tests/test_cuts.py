"""Each transaction is cut in a test, and the cutter finds what stays behind."""

import pytest
from django.db import transaction

from tests import cuts
from tests.factories import make_user


def test_each_transaction_is_cut_in_a_test_or_says_why_not():
    cut = [name for names in cuts.CUT.values() for name in names.split()]
    listed = [*cut, *(name for names in cuts.UNCUT.values() for name in names.split())]
    assert sorted(listed) == sorted(cuts.functions_with_transactions())


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
