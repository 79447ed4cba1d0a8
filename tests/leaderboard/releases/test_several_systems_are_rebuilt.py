"""Comparisons and joint evaluations are in a release, and come out of it again."""

import csv
import io
from zipfile import ZipFile

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from crowd.campaigns.services import review, run, work
from crowd.models import Assignment, Worker
from genie.lib.errors import GenieError
from genie.lib.formats import available
from leaderboard.evaluation import decide
from leaderboard.evaluation.result_columns import columns_of
from leaderboard.evaluation.selectors.comparison_labels import votes_of
from leaderboard.evaluation.selectors.comparisons import standing_of
from leaderboard.models import Comparison, CountedVote, Submission
from leaderboard.releases import bundle
from leaderboard.releases.make import make
from leaderboard.releases.rebuilding.joint import joint_numbers
from leaderboard.releases.rebuilding.rebuild import rebuild
from leaderboard.stats.systems.estimates import Population
from quality.bans import services
from quality.models import TestQuestion
from tests.leaderboard.evaluation.days import a_day_later
from tests.leaderboard.evaluation.steps import settle
from tests.leaderboard.releases.test_releases_are_made_and_rebuilt import (
    everything,
    forged,
    genies_detector,  # noqa: F401
    rebuilt,
    rows,
)
from tests.leaderboard.releases.test_releases_as_parquet import same_everywhere


@pytest.fixture
def task(demo_task):
    """Ask for one metric: what is rebuilt here are answers of people."""
    demo_task.config["metrics"] = {"use": ["length"]}
    demo_task.save()
    return demo_task


def is_test(assignment):
    return TestQuestion.own.filter(item__hit=assignment.hit_id).exists()


def other_than(value):
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, str):
        return f"{value}?"
    return value + (1 if isinstance(value, int) else 0.01)


FORGED = {
    "comparisons": "state better n_labels n_labels_in n_votes n_pairs n_waves estimate low "
    "high answers_share answers_low answers_high answers_covers anytime_valid",
    "comparison_pairs": "position label used slot_of_a",
    "comparison_votes": "position vote answered counted",
    "joint_evaluations": "n_judgements n_instances n_workers n_excluded_workers seed "
    "normalised agreement agreement_low agreement_high",
    "joint_results": " ".join(c.name for c in columns_of("release", "joint_results")),
    "joint_pairs": "p_above wins ties losses",
    "joint_judgments": "value counts submission",
}
TABLES = list(FORGED)
# What is forged here is noticed in what was computed from it.
NOTICED_IN = {
    "slot_of_a": "comparison_votes.jsonl",
    "counted": "comparison",
    "seed": "joint_results.jsonl",
    "joint_judgments": "joint_",
}
# Numbers that say nothing of each other: all may be forged at once.
COMPARED_ALONE = ("joint_evaluations", "joint_results", "joint_pairs")


def test_a_report_of_pairs_has_a_release_that_comes_out_again(
    told_apart, client, boss, task, tmp_path
):
    address = reverse("admin:leaderboard_task_report", args=[task.pk])
    client.force_login(boss)
    answer = client.post(address)
    with ZipFile(io.BytesIO(answer.getvalue())) as packed:
        packed.extractall(tmp_path)
    report = tmp_path / task.slug
    assert "decided or had read all pairs" in (report / "methods.txt").read_text()
    assert told_apart.a.system_name in (report / "table.tex").read_text()
    assert f"{told_apart.a} vs. " in (report / "costs.csv").read_text()
    assert "comparisons: 0 " not in rebuilt(report / "data")


@pytest.mark.slow
def test_every_number_comes_out_again_and_each_forged_one_is_named(
    told_apart, right, wrong, level, ask, finish, judged, task, tmp_path
):
    decided = told_apart
    undecided = finish(ask(*level, strategy="max-three", max_pairs=6))
    together = judged([wrong, right, level[0]], n_instances=6)
    assert (decided.state, undecided.state) == ("DECIDED", "UNDECIDED")
    assert together.state == "SCORED"

    folder = make(task, tmp_path / "r").folder
    if available():
        same_everywhere(make(task, tmp_path / "parquet", parquet=True).folder)

    with CaptureQueriesContext(connection) as captured:
        said = rebuilt(folder)
    assert len(captured) == 0
    assert "comparisons: 0 " not in said
    assert "joint evaluations: 0 " not in said
    assert "not checked" not in said
    for name in TABLES:
        text = (folder / f"{name}.csv").read_text("utf-8")
        assert len(list(csv.DictReader(io.StringIO(text)))) == len(rows(folder, name))
        assert f"`{name}`" in (folder / bundle.CARD).read_text("utf-8")
    _nothing_is_told_that_was_not(folder)

    for table, names in FORGED.items():
        fields = names.split()
        at_once = [f for f in fields if table in COMPARED_ALONE and f != "seed"]
        for named in [at_once] * bool(at_once) + [
            [field] for field in fields if field not in at_once
        ]:

            def change(found, named=named):
                found[0] |= {field: other_than(found[0][field]) for field in named}

            with forged(folder, table, change):
                with pytest.raises(GenieError) as refused:
                    rebuild(folder)
                if at_once == named:
                    differ = [
                        n.what
                        for n in joint_numbers(folder, Population.LIKE)
                        if not n.same
                    ]
                    assert {what.split(", ")[-1] for what in differ} == {*named}
            assert refused.value.code == "differs", (table, named)
            sentence = refused.value.message
            where = NOTICED_IN.get(named[0], NOTICED_IN.get(table))
            assert sentence.startswith(where or f"{table}.jsonl, "), (table, named)
            assert where or "was published" in sentence
    for table in TABLES:
        with (
            forged(folder, table, lambda found: found.pop()),
            pytest.raises(GenieError),
        ):
            rebuild(folder)
    assert rebuild(folder).n_same["comparisons"] > 50


def _nothing_is_told_that_was_not(folder):
    text = everything(folder)
    for worker in Worker.own:
        assert worker.pseudonym not in text
        assert worker.platform_worker_id not in text
    names = {row["worker"] for row in rows(folder, "comparison_votes")}
    names |= {row["worker"] for row in rows(folder, "joint_judgments")}
    assert all(name.startswith("r-") for name in names)
    assert len(names) <= Worker.own.count()
    assert TestQuestion.own.count() > 0
    pairs = rows(folder, "comparison_pairs")
    assert len(pairs) == sum(c["n_pairs"] for c in rows(folder, "comparisons"))
    # who was asked and for how much is between them and staff
    assert "cents" not in "".join(rows(folder, "comparisons")[0])
    assert {row["submission"] for row in rows(folder, "systems")} >= {
        row[side] for row in rows(folder, "comparisons") for side in "ab"
    }


def test_a_ban_after_the_end_changes_neither_decision_nor_its_votes(
    told_apart, boss, task, tmp_path
):
    found = told_apart
    before = standing_of(found)
    worker = Assignment.own.filter(state="SUBMITTED").first().worker
    services.ban(worker, task.slug, by=boss, reason="He clicked at random.")
    settle()
    found.refresh_from_db()

    after = standing_of(found)
    assert (after.now, after.n_labels, after.n_votes) == (
        before.now,
        before.n_labels,
        before.n_votes,
    )
    folder = make(task, tmp_path / "r").folder
    assert "comparisons: " in rebuilt(folder)
    excluded = [v for v in rows(folder, "comparison_votes") if v["why_not"]]
    assert excluded
    assert all(vote["counted"] for vote in excluded)
    assert {vote["why_not"] for vote in excluded} == {"worker excluded"}


def test_a_stopped_one_keeps_what_had_been_said_and_takes_nothing_more(
    right, wrong, ask, boss, crowd, task, tmp_path
):
    found = ask(right, wrong, max_pairs=30)
    run.lift_share(found.campaign.pk, boss, "One of them does most of it.")
    for _ in range(4):
        crowd.do_hit(crowd.players[1])
    # somebody is at work when it is stopped, and may hand in
    late = crowd.players[2]
    while is_test(work.next_assignment(late.worker)):
        work.give_back(work.next_assignment(late.worker))
    decide.stop(found, by=boss, reason="The texts were the wrong ones.")
    kept = CountedVote.objects.count()
    assert kept >= 3
    assert crowd.do_hit(late)
    assert sum(len(one.values) for one in votes_of(found)) == kept + 1
    running = ask(right, wrong, max_pairs=30)
    found.refresh_from_db()
    assert (found.state, found.n_labels, found.votes_kept) == ("STOPPED", kept, True)
    assert standing_of(found).n_labels == kept

    folder = make(task, tmp_path / "r").folder
    row = rows(folder, "comparisons")[0]
    assert (row["state"], row["better"], row["n_labels"]) == ("STOPPED", "", kept)
    # one that is still asking is not told
    assert [r["comparison"] for r in rows(folder, "comparisons")] == [found.pk]
    assert Comparison.objects.get(pk=running.pk).state == "ANNOTATING"
    assert "numbers match" in rebuilt(folder)


def test_what_not_everybody_may_see_stays_out(
    told_apart, right, wrong, judged, task, tmp_path
):
    assert judged([right, wrong], n_instances=6).state == "SCORED"
    task.licence = ""
    task.save()

    closed = make(task, tmp_path / "closed").folder
    assert "Nobody knows about" not in everything(closed)
    assert rows(closed, "comparisons")
    assert rows(closed, "joint_results")
    assert [row["system"] for row in rows(closed, "systems")] == ["Right", "Wrong"]
    assert "numbers match" in rebuilt(closed)

    for place, hidden in enumerate(
        ({"visibility": "PRIVATE"}, {"own_state": "WITHDRAWN"})
    ):
        Submission.objects.filter(pk=wrong.pk).update(
            **{"visibility": "PUBLIC", "own_state": "MEASURED", **hidden}
        )
        folder = make(task, tmp_path / str(place)).folder
        assert not any(rows(folder, name) for name in TABLES)
        assert "Wrong" not in everything(folder)


def test_results_that_are_about_to_change_are_not_released(
    right, wrong, judged, boss, task, tmp_path
):
    found = judged([right, wrong])
    worker = found.campaign.hits.first().assignments.first().worker
    services.ban(worker, task.slug, by=boss, reason="He clicked at random.")
    with pytest.raises(CommandError, match="about to be rescored"):
        call_command("release", task.slug, "--out", str(tmp_path / "early"))
    settle()
    folder = make(task, tmp_path / "later").folder
    assert rows(folder, "joint_evaluations")[0]["n_excluded_workers"] == 1
    assert "numbers match" in rebuilt(folder)

    rejected = Assignment.own.exclude(worker=worker).filter(
        hit__campaign=found.campaign, state="SUBMITTED"
    )
    rejected = rejected.exclude(hit__in=TestQuestion.own.values("item__hit"))
    review.reject(rejected.first().pk, by=boss, reason="Wrong language.")
    a_day_later()
    settle()
    folder = make(task, tmp_path / "last").folder
    assert {row["why_not"] for row in rows(folder, "joint_judgments")} == {
        "",
        "worker excluded",
        "work rejected",
    }
    assert "numbers match" in rebuilt(folder)


@pytest.mark.every_engine
def test_one_that_ended_before_votes_were_kept_is_said_not_to_be_tried(
    right, wrong, ask, boss, task, tmp_path
):
    found = ask(right, wrong, max_pairs=10)
    decide.stop(found, by=boss, reason="The texts were the wrong ones.")
    Comparison.objects.filter(pk=found.pk).update(votes_kept=False)
    folder = make(task, tmp_path / "r").folder
    assert "not stored at the end (1 comparisons)" in rebuilt(folder)
    assert rows(folder, "comparison_pairs")[0]["used"] is None
