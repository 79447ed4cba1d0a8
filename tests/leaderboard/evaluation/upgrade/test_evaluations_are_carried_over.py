"""Data of the version before: every row, its money and its campaigns come through."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from leaderboard.evaluation.machine import STEPS
from tests.shared import own_database

ROOT = Path(__file__).resolve().parents[4]
pytestmark = pytest.mark.slow
DECIDED = {"asked_by": "nina", "decided_by": "boss", "cents": 1234}
UNFAILED = ["", "", False]


@pytest.fixture(scope="module")
def facts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("before")
    with own_database("carry") as address:
        done = subprocess.run(
            [sys.executable, "-m", "tests.leaderboard.evaluation.upgrade.carry_over"],
            cwd=ROOT,
            env={
                **os.environ,
                "DJANGO_SETTINGS_MODULE": "genie.settings",
                "DATABASE_URL": address or f"sqlite:///{folder / 'old.sqlite3'}",
                "GENIE_VAR": str(folder),
                "GENIE_SECRET_KEY": "before",
                "PYTHONPATH": str(ROOT),
            },
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr[-5000:]
    return json.loads(done.stdout)


def test_what_nobody_has_decided_on_waits_for_it(facts):
    measured = facts["submissions"]["Measured"]
    assert (measured["strategy"], measured["state"]) == ("single", "REQUESTED")
    assert (measured["design"], measured["n_instances"]) == ("direct-assessment", 4)
    assert (measured["asked_by"], measured["decided_by"]) == ("nina", None)
    assert measured["systems"] == ["Measured"]
    assert measured["campaigns"] == []
    for key in ("30", "40"):
        waiting = {**facts["comparisons"], **facts["joint"]}[key][-1]
        assert (waiting["state"], waiting["campaigns"]) == ("REQUESTED", [])
        assert waiting["cents"] is None


def test_what_was_not_measured_or_was_taken_back_before_has_none(facts):
    assert facts["submissions"]["Received"] is None
    assert facts["submissions"]["Taken back"] is None


def test_decisions_keep_who_made_them_and_why(facts):
    declined = facts["submissions"]["Declined"]
    assert (declined["state"], declined["reason"]) == ("DECLINED", "Too dear.")
    assert declined["decided_by"] == "boss"
    approved = facts["submissions"]["Approved"]
    assert {**approved, **DECIDED} == approved
    assert (approved["state"], approved["start_now"]) == ("APPROVED", True)


def test_failures_stay_until_somebody_tries_again(facts):
    failed = facts["submissions"]["Annotated"]
    assert failed["state"] == "ANNOTATED"
    assert (failed["attempts"], failed["failure"]) == (2, ["score", "No rating.", True])
    running = facts["comparisons"]["31"][-1]
    assert (running["attempts"], running["failure"]) == (
        1,
        ["collect", "No space.", False],
    )


def test_campaigns_come_in_their_order_and_are_named(facts):
    kite = facts["submissions"]["Kite"]
    assert (kite["state"], kite["finished"]) == ("SCORED", True)
    assert kite["campaigns"] == [
        ["submission:a", "right", "Tidy news: Kite (right)"],
        ["submission:a:clear", "clear", "Tidy news: Kite (clear)"],
    ]
    assert facts["submissions"]["Wren"]["campaigns"] == [
        ["submission:b", "", "Tidy news: Wren"]
    ]
    assert (facts["judged"], facts["score"]) == ("Kite", "Kite")


def test_comparisons_keep_their_key_result_and_systems(facts):
    better, seed, running = facts["comparisons"]["31"]
    assert (better, seed) == ("", 5)
    assert {**running, **DECIDED} == running
    assert (running["strategy"], running["state"]) == ("comparison", "ANNOTATING")
    assert running["systems"] == ["Kite", "Wren"]
    assert running["campaigns"] == [
        ["comparison:31", "", "Tidy news: Kite vs. Wren (overall)"]
    ]
    better, _, decided = facts["comparisons"]["32"]
    assert (better, decided["state"], decided["finished"]) == ("A", "DECIDED", True)
    assert facts["comparisons"]["30"][-1]["n_instances"] == 40
    assert facts["comparisons"]["30"][-1]["design"] == "two-choice"


def test_joint_evaluations_keep_their_key_results_and_order(facts):
    results, seed, scored = facts["joint"]["41"]
    assert (results, seed) == ({"criteria": {"right": {}}}, 5)
    assert (scored["strategy"], scored["state"]) == ("joint", "SCORED")
    assert scored["systems"] == ["Wren", "Kite"]
    assert [row[0] for row in scored["campaigns"]] == ["joint:41", "joint:41:clear"]
    assert scored["failure"] == UNFAILED
    assert facts["joint"]["40"][-1]["systems"] == ["Wren", "Kite"]


def test_what_failed_stays_where_it_was_with_its_money(facts):
    launch = ["launch", "No space.", True]
    not_launched = facts["submissions"]["Not launched"]
    for row in (not_launched, facts["comparisons"]["34"][-1]):
        assert {**row, **DECIDED} == row
        assert (row["state"], row["attempts"], row["failure"]) == (
            "APPROVED",
            3,
            launch,
        )
        assert row["campaigns"] == []
    rescored = facts["joint"]["42"][-1]
    assert (rescored["state"], rescored["failure"][0]) == ("SCORED", STEPS["SCORED"])


def test_what_was_stopped_or_taken_back_is_over(facts):
    halted, gone = (facts["submissions"][name] for name in ("Halted", "Gone"))
    assert (halted["state"], gone["state"]) == ("STOPPED", "WITHDRAWN")
    assert [len(one["campaigns"]) for one in (halted, gone)] == [1, 1]
    for row in (facts["submissions"]["Never begun"], facts["comparisons"]["33"][-1]):
        assert {**row, **DECIDED} == row
        assert row["state"] in {"WITHDRAWN", "STOPPED"}
        assert row["campaigns"] == []


def test_a_task_that_says_nothing_of_people_stops_no_migration(facts):
    bare = facts["submissions"]["Bare"]
    assert (bare["state"], bare["design"], bare["n_instances"]) == ("REQUESTED", "", 0)


def test_no_cent_is_set_aside_twice_or_lost(facts):
    keys = [key for key, _ in facts["commitments"]]
    assert len(set(keys)) == len(keys) == 11
    assert {cents for _, cents in facts["commitments"]} == {1234}


def test_a_submissions_own_state_stays(facts):
    states = facts["states"]
    assert states == {
        **dict.fromkeys(("Kite", "Wren"), "PUBLISHED"),
        "Received": "RECEIVED",
        "Bare": "MEASURED",
        "Not launched": "APPROVED",
        "Halted": "STOPPED",
        **dict.fromkeys(("Gone", "Never begun"), "WITHDRAWN"),
        "Measured": "MEASURED",
        "Declined": "DECLINED",
        "Approved": "APPROVED",
        "Taken back": "WITHDRAWN",
        "Annotated": "ANNOTATED",
    }
