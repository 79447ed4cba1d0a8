"""Several systems side by side: one campaign, one page of results."""

from collections import Counter

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from crowd.campaigns.services import run
from crowd.models import Campaign, Commitment, Item, Rating
from leaderboard.designs.base import content_key
from leaderboard.evaluation import decide
from leaderboard.evaluation.selectors.joint import estimates_of, joint_changes_of
from leaderboard.evaluation.services import joint, joint_results
from leaderboard.models import HumanEvaluation, ShownOutput
from leaderboard.releases import bundle
from leaderboard.releases.gathering.joint import evaluations as released
from leaderboard.releases.make import make
from leaderboard.releases.rebuilding.rebuild import rebuild
from quality.bans import services
from quality.models import Grade, TestQuestion
from tests.factories import make_worker, signed_in
from tests.kept import kept
from tests.leaderboard.evaluation.comparisons.conftest import config_with
from tests.leaderboard.evaluation.steps import send_out, settle
from tests.refusals import refusal


@pytest.fixture
def asked(task, three):
    def change(**joint):
        task.config = {**task.config, "joint": joint}
        task.save()
        for one in three:
            one.refresh_from_db()

    return change


def test_a_campaign_over_three_systems_ranks_them(three, ranked):
    found = ranked
    assert found.state == "SCORED", found.failure
    result = found.results["criteria"]["quality"]
    wrong, right, other = rows = estimates_of(found)["quality"]
    assert [row.submission for row in rows] == three
    assert right.low > max(wrong.high, other.high)
    assert (right.cluster, right.rank_last) == (1, 1)
    assert min(wrong.cluster, other.cluster) == 2
    assert (right.n, right.n_workers) == (10, result["n_workers"])
    assert result["p_above"][1][0] >= 0.95
    assert (result["n_instances"], result["n_judgements"]) == (10, 20)
    assert right.skill > max(wrong.skill, other.skill)
    assert right.skill_cluster == 1
    wins, ties, losses = result["win_tie_loss"][1][0]
    assert wins + ties + losses == 20
    assert wins >= 18
    assert result["win_tie_loss"][1][1] is None
    assert 0.5 < result["agreement"]["value"] <= 1
    assert "human:rankme|scale:magnitude" in result["signature"]
    assert "geometric mean" in result["normalised"]


def test_the_order_of_outputs_is_random_stored_and_tells_nothing(three, ranked):
    first = ShownOutput.objects.filter(slot="A").values_list("submission_id", flat=True)
    assert set(first) == {one.pk for one in three}
    for item in ranked.campaign.items.all():
        shown = {"fields", "lang", "outputs", "standard", "standard_value"}
        assert set(item.data) == shown
        assert [output["slot"] for output in item.data["outputs"]] == ["A", "B", "C"]


def test_an_edited_output_beside_a_good_one_must_not_come_out_best(three, ranked):
    found = ranked
    test_questions = TestQuestion.own.filter(campaign=found.campaign)
    assert test_questions.count() == 4
    own = {
        content_key(found.task.slug, row.instance_id): set(row.references)
        for row in found.task.instances.all()
    }
    said_by_systems = {
        (content_key(found.task.slug, one.instance.instance_id), one.text)
        for system in three
        for one in system.predictions.select_related("instance")
    }
    graded = 0
    for test_question in test_questions:
        slot = test_question.expected["not_best"]
        shown = {o["slot"]: o["text"] for o in test_question.item.data["outputs"]}
        key = test_question.item.content_key
        assert (key, shown.pop(slot)) not in said_by_systems
        assert test_question.kind.startswith("edit:")
        good = own[key]
        assert any(text.endswith(tuple(good)) for text in shown.values())
        for grade in test_question.grades.all():
            said = dict(
                Rating.objects.filter(assignment=grade.assignment).values_list(
                    "slot", "value"
                )
            )
            assert grade.correct == (said[slot] < max(said.values()))
            graded += 1
    assert graded == Grade.own.count() == 8
    # simulated people slip now and then
    assert Grade.own.filter(correct=True).exists()


def test_separate_criteria_have_campaigns_and_results_of_their_own(
    three, judged, asked
):
    asked(
        setup=2,
        show_input={"naturalness": False},
        criteria={
            "quality": "How many points, as a whole?",
            "naturalness": "How many points for sounding natural?",
        },
        test_criteria={"negative": ["quality"]},
    )
    found = judged(three, n_instances=3, n_workers=1)
    assert found.state == "SCORED", found.failure
    assert set(found.results["criteria"]) == {"quality", "naturalness"}
    # one judgement each leaves the agreement open
    agreement = found.results["criteria"]["quality"]["agreement"]
    assert agreement == {"form": "ICC(1,k)", "value": None, "low": None, "high": None}
    campaigns = Campaign.own.order_by("pk")
    assert [c.key for c in campaigns] == [
        f"joint:{found.pk}",
        f"joint:{found.pk}:naturalness",
    ]
    assert set(Commitment.own.values_list("key", flat=True)) == {
        c.key for c in campaigns
    }
    assert Commitment.own.filter(settled_at=None).count() == 0


def test_a_ban_after_the_end_changes_the_results(ranked, boss, task):
    found = ranked
    old, was = found.results["criteria"]["quality"], estimates_of(found)["quality"]
    worker = found.campaign.hits.first().assignments.first().worker
    services.ban(worker, task.slug, by=boss, reason="He clicked at random.")
    # who rated nothing here is no reason
    services.ban(make_worker(), task.slug, by=boss, reason="She did so elsewhere.")
    settle()
    found.refresh_from_db()
    new = found.results["criteria"]["quality"]
    assert new["n_judgements"] < old["n_judgements"]
    assert new["ratings_sha256"] != old["ratings_sha256"]
    assert new["n_excluded_workers"] == 1
    # what reads otherwise than before is told, with the reason
    moved = [
        (before.mean, after.mean)
        for before, after in zip(was, estimates_of(found)["quality"], strict=True)
        if f"{before.mean:.1f}" != f"{after.mean:.1f}"
    ]
    page = Client().get(f"/joint-evaluations/{found.pk}/").text
    assert ("1 worker excluded after publication" in page) == bool(moved)
    told = Client().get(f"/api/v1/joint-evaluations/{found.pk}/").json()
    assert [(one["before"], one["after"]) for one in told["changes"]] == moved
    assert not told["provisional"]


def test_results_are_provisional_while_something_is_open(ranked, monkeypatch):
    opened = ["1 appeal to be decided by staff"]
    for module in ("rescoring", "selectors.joint"):
        monkeypatch.setattr(
            f"leaderboard.evaluation.{module}.unsettled", lambda _row: opened
        )
    found = ranked
    HumanEvaluation.own.update(final_at=None)
    settle()
    found.refresh_from_db()
    assert found.final_at is None
    address = f"/joint-evaluations/{found.pk}/"
    page = Client().get(address).text
    assert "The results may change before they are final" in page
    assert opened[0] in page
    assert Client().get(f"/api/v1{address}").json()["provisional"] is True
    (listed,) = Client().get("/api/v1/joint-evaluations/").json()["results"]
    assert listed["provisional"] is True
    listing = Client().get(f"/tasks/{found.task.slug}/pairs/")
    assert "provisional" in listing.text
    (row, *_) = released([found])
    assert row["provisional"] is True
    opened.clear()
    settle()
    found.refresh_from_db()
    assert HumanEvaluation.objects.get(pk=found.pk).final_at is not None
    assert "Provisional" not in Client().get(address).text
    assert joint_changes_of(found) == []
    (row, *_) = released([found])
    assert row["provisional"] is False


def test_doubtful_workers_count_less_here_and_in_a_release(
    three, ranked, monkeypatch, tmp_path
):
    found = ranked
    full, old = found.results["criteria"]["quality"], estimates_of(found)["quality"]
    shown = found.subjects.values("item")
    one = Rating.objects.filter(item__in=shown).order_by("pk").first()
    worker = one.assignment.worker_id
    # and one rating of theirs from before they stopped reading; another task's is not theirs
    earlier = f"{worker}:{one.item_id}"
    doubted = {str(worker): 0.3, earlier: 0.9, f"{worker}:0": 0.1}
    monkeypatch.setattr(joint_results, "soft_weights", lambda _pool: doubted)
    results = joint_results.results_of(found)
    assert joint_results.write(found, results)
    assert not joint_results.write(found, results)
    found.refresh_from_db()
    assert found.results["weights"] == {str(worker): 0.3, earlier: 0.9}
    less, new = found.results["criteria"]["quality"], estimates_of(found)["quality"]
    assert [row.mean for row in new] != [row.mean for row in old]
    assert less["win_tie_loss"] == full["win_tie_loss"]
    folder = make(found.task, tmp_path / "release").folder
    rows = bundle.read_table(folder, "joint_judgments")
    assert {row["weight"] for row in rows} == {0.3, 0.9, 1.0}
    assert rebuild(folder).n_same["joint evaluations"] > 0


def test_a_page_may_show_some_of_the_systems(three, level, judged, boss):
    systems = [*three, level[1]]
    found = judged(systems, n_instances=6, n_workers=2, per_page=2)
    assert found.state == "SCORED", found.failure
    shown = [
        set(row.outputs.values_list("submission", flat=True))
        for row in found.subjects.all()
    ]
    assert {len(pks) for pks in shown} == {2}
    times = Counter(pk for pks in shown for pk in pks)
    assert set(times.values()) == {3}
    assert len(set(map(frozenset, shown))) == 6
    # test questions are as large as other pages
    assert {len(item.data["outputs"]) for item in Item.own} == {2}
    assert found.results["criteria"]["quality"]["n_judgements"] == 12
    assert {row.n for row in estimates_of(found)["quality"]} == {3}
    best = max(estimates_of(found)["quality"], key=lambda row: row.mean)
    assert best.submission == three[1]
    page = Client().get(f"/joint-evaluations/{found.pk}/").text
    assert "2 of 4 systems per page" in page
    # the price is by page, whatever stands on it
    whole = joint.request(systems, by=boss, n_instances=6, n_workers=2)
    assert decide.quote(whole) == decide.quote(found)
    assert whole.per_page is None


def test_what_cannot_be_asked_is_refused_in_words(three, boss):
    for systems, question, code in [
        (three[:1], {}, "wrong-number-of-systems"),
        ([three[0], three[0]], {}, "same-submission"),
        (three, {"criteria": ["beauty"]}, "unusable-question"),
        (three, {"n_instances": 10_000}, "unusable-question"),
        (three, {"n_workers": 0}, "unusable-question"),
        (three, {"per_page": 1}, "wrong-number-of-systems"),
        (three, {"per_page": 4}, "wrong-number-of-systems"),
    ]:
        with refusal(code):
            joint.request(systems, by=boss, **question)


def test_errors_are_marked_in_pairs_of_systems(three, judged, asked, task, tmp_path):
    name = "error-span-pairs"
    asked(design=name, scale="slider-100", hit_template=name)
    found = judged(three, n_instances=6, n_workers=1)
    assert found.state == "SCORED", found.failure
    assert found.per_page == 2
    result = found.results["criteria"]["overall"]
    best = max(estimates_of(found)["overall"], key=lambda row: row.mean)
    assert best.submission == three[1]
    assert "scale:slider-100|criterion:overall|agg:mean|est" in result["signature"]
    details = Rating.own.values_list("slot", "detail")
    assert all(slot in "AB" and "spans" in detail for slot, detail in details)
    page = Client().get(f"/joint-evaluations/{found.pk}/").text
    assert "Magnitude" not in page
    folder = make(task, tmp_path / "release").folder
    assert rebuild(folder).n_same["joint evaluations"] > 0


def test_reference_outputs_may_be_worth_another_number(three, judged, asked):
    asked(standard_value=10)
    found = judged(three, n_instances=3, n_workers=1)
    assert found.campaign.items.first().data["standard_value"] == 10
    # the same opinion in other numbers: still percent of the reference output
    assert 60 < estimates_of(found)["quality"][1].mean < 200


def test_the_config_of_comparisons_does_not_leak_into_it(task):
    config_with(task, hit_template="two-choice-outputs", wave_size=3)
    assert joint.criteria_of(task) == {
        "quality": "How many points is the text worth, as a whole?"
    }


@pytest.mark.parametrize(("publish", "state"), [(True, "SCORED"), (False, "STOPPED")])
def test_a_stopped_campaign_gives_a_result_only_when_staff_say_so(
    three, task, boss, crowd, publish, state, client
):

    def begin():
        found = send_out(
            joint.request(three, by=boss, n_instances=10, n_workers=1), boss
        )
        # the first pages of a worker are mostly test questions
        for player in 3 * crowd.players[:3]:
            crowd.do_hit(player)
        return found

    found = kept("begun", begin, task.config)
    run.stop(Campaign.own.get().pk, boss, "Enough.", publish=publish)
    settle()
    found.refresh_from_db()
    assert (found.state, bool(found.results)) == (state, publish)
    assert found.finished_at is not None
    client.force_login(boss)
    page = client.get(f"/joint-evaluations/{found.pk}/")
    assert (" of 10 instances" in page.text) == publish


def test_it_is_named_after_its_systems_and_a_list_asks_no_more_for_more_of_them(
    three, boss
):
    def listed():
        with CaptureQueriesContext(connection) as queries:
            page = staff.get("/admin/leaderboard/jointevaluation/").text
        return page, len(queries)

    staff = signed_in(boss)
    listed()  # what a first page asks for once
    first = joint.request(three[:2], by=boss)
    assert str(first) == f"joint evaluation {first.pk}: Wrong, Right"
    page, n_queries = listed()
    assert str(first) in page
    for _ in range(3):
        joint.request(three, by=boss)
    assert listed()[1] == n_queries
