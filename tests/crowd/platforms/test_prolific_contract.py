"""What we send to Prolific, and expect of it, is what it publishes."""

import re

import pytest

from crowd.platforms.prolific_protocol import terms
from tests.crowd.platforms import prolific_contract as contract
from tests.crowd.platforms.prolific_standin import ROUTES

ONE = "a" * 24


def test_every_call_is_a_published_one():
    kept = contract.kept()
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", kept["read"]["on"])
    assert kept["read"]["from"] == contract.SOURCE
    for pattern, verb, _ in ROUTES:
        path = re.sub(r"\(.*?\)", ONE, pattern)
        assert contract.operation(verb, f"/api/v1/{path}"), (verb, path)


def test_our_words_are_its_words():
    there = contract.kept()["components"]["schemas"]
    transition = there["SubmissionTransition"]["properties"]
    assert list(terms.CATEGORIES) == transition["rejection_category"]["enum"]
    states = set(there["SubmissionDetail"]["properties"]["status"]["enum"])
    assert states - {"UNKNOWN"} == set(terms.STATUSES) - {"PROCESSING"}


@pytest.mark.parametrize(
    ("body", "said"),
    [({"action": "PUBLISH"}, ""), ({"action": "OPEN"}, "not one of"), ({}, "required")],
)
def test_what_is_not_as_published_is_told(body, said):
    wrong = contract.wrong_request("POST", f"studies/{ONE}/transition/", body)
    assert said in wrong
    assert bool(wrong) is bool(said)
