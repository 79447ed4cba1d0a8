"""Beside the stopping rule's result is how often workers would prefer A."""

from datetime import UTC, datetime

import pytest
from django.test import Client

from crowd.models import Assignment
from leaderboard.evaluation.selectors.comparison_labels import (
    Votes,
    answers_read,
    share_of,
)
from leaderboard.evaluation.selectors.comparisons import standing_of
from leaderboard.releases import bundle
from leaderboard.releases.make import make
from leaderboard.releases.rebuilding.rebuild import rebuild
from leaderboard.stats.systems.estimates import (
    COVERS_CROWD,
    COVERS_DAYS,
    COVERS_THESE,
)


@pytest.fixture(autouse=True)
def _static(settings, tmp_path):
    settings.STATIC_ROOT = tmp_path


def test_beside_the_rule_stands_an_interval_that_covers_other_workers(as_good):
    found = as_good
    answers = standing_of(found).answers
    assert answers.covers == COVERS_CROWD
    assert answers.n_answers == found.n_labels
    page = Client().get(f"/comparisons/{found.pk}/").text
    assert f"Of 16 answers by {answers.n_workers} raters" in page
    assert f"interval covers {COVERS_CROWD}. It includes 50%." in page
    assert "every label prefers A with the same probability" in page
    told = Client().get(f"/api/v1/comparisons/{found.pk}/").json()["standing"]
    assert told["answers"] == {
        "share": answers.estimate,
        "low": answers.low,
        "high": answers.high,
        "covers": COVERS_CROWD,
        "n_answers": 16,
        "n_workers": answers.n_workers,
    }
    # a list has no room to say what an interval covers
    listed = Client().get("/tasks/demo-qa/pairs/").text
    row = listed[listed.index("<tbody>") : listed.index("</tbody>")]
    assert f"{100 * found.result.mean:.0f}%" in row
    assert "[" not in row


def test_days_count_once_there_are_three(as_good, tmp_path):
    found = as_good
    one_day = standing_of(found).answers
    work = Assignment.objects.filter(hit__campaign=found.campaign)
    for place, pk in enumerate(work.order_by("pk").values_list("pk", flat=True)):
        at = datetime(2026, 11, 1 + place % 4, 12, tzinfo=UTC)
        work.filter(pk=pk).update(submitted_at=at)
    answers = standing_of(found).answers
    assert (answers.estimate, answers.covers) == (one_day.estimate, COVERS_DAYS)
    assert (answers.low, answers.high) != (one_day.low, one_day.high)
    page = Client().get(f"/comparisons/{found.pk}/").text
    assert f"The interval covers {COVERS_DAYS}." in page
    # a release knows the days and the raters, too
    for raters, covers in (("like", COVERS_DAYS), ("these", COVERS_THESE)):
        found.task.config["human"]["raters"] = raters
        found.task.save()
        answers = standing_of(found).answers
        assert answers.covers == covers
        folder = make(found.task, tmp_path / raters).folder
        (row,) = bundle.read_table(folder, "comparisons")
        assert (row["answers_low"], row["answers_high"]) == (answers.low, answers.high)
        rebuild(folder)


def test_before_the_first_label_there_is_no_share(right, wrong, ask):
    found = ask(right, wrong, max_pairs=30)
    assert standing_of(found).answers is None
    told = Client().get(f"/api/v1/comparisons/{found.pk}/").json()["standing"]
    assert told["answers"] is None


def test_the_share_is_that_of_the_answers_which_the_rule_read():
    def pair(position, **votes):
        return Votes(
            position, position, position, 0, tuple(votes), tuple(votes.values())
        )

    votes = [pair(0, a=1.0, b=0.0), pair(1), pair(2, a=1.0), pair(3, c=0.0)]
    days = {(0, "a"): "2026-11-01"}
    read = answers_read(votes, [0.5, None, 1.0, 0.0], 2, days)
    assert read == [("a", 0, 1.0, "2026-11-01"), ("b", 0, 0.0, ""), ("a", 2, 1.0, "")]
    assert share_of(read).estimate == pytest.approx(2 / 3)
    assert share_of([]) is None
