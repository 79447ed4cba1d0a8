"""Pairs go out in waves until the labels decide, or the budget is used up."""

import numpy as np
import pytest

from crowd.campaigns.services import work
from crowd.hits.selectors import campaign_progress
from crowd.hits.services.build import room
from crowd.models import Assignment, Campaign, Commitment, Rating
from leaderboard.evaluation import decide as decisions
from leaderboard.evaluation import run
from leaderboard.evaluation.selectors import comparison_labels as compare_labels
from leaderboard.evaluation.selectors.comparison_labels import (
    decide,
    label_of,
    with_balanced_sides,
)
from leaderboard.evaluation.selectors.comparisons import standing_of, verdict
from leaderboard.evaluation.services import comparison as compare
from leaderboard.evaluation.services.comparison import Question
from leaderboard.models import (
    ComparedPair,
    Comparison,
    HumanEvaluation,
    Task,
)
from leaderboard.releases.make import make
from leaderboard.releases.rebuilding.rebuild import rebuild
from leaderboard.stats.stopping.sequential import Decision, rule_named
from quality.bans import services
from quality.models import Ban, DetectorFit, Grade, TestCheck, TestQuestion, Verdict
from tests.factories import make_worker, signed_in
from tests.leaderboard.evaluation.comparisons.conftest import config_with
from tests.leaderboard.evaluation.steps import settle, shown_cents, work_until
from tests.refusals import refusal

TESTS = {"positive_share": 0.2, "negative_share": 0.2}


def test_really_different_systems_are_told_apart_early(told_apart):
    found = told_apart
    assert found.delta == 0.05
    assert (found.state, found.better) == ("DECIDED", "A"), found.failure
    assert found.n_labels < 30
    assert found.result.low > 0.5
    assert found.result.mean > 0.8
    assert (found.result.submission, found.result.n) == (found.a, found.n_labels)
    assert found.result.n_workers == 5
    assert not found.a.scores.exists()
    campaign = found.campaign
    assert campaign.state == "COMPLETE"
    assert ComparedPair.objects.count() == 8 * found.n_waves < 30


def test_a_system_against_itself_ends_as_not_distinguishable(as_good):
    """One comparison through the real services; 40 more through the decision itself."""
    found = as_good
    assert (found.state, found.better) == ("UNDECIDED", "")
    assert found.n_labels == 16
    assert found.result.low < 0.5 < found.result.high
    assert ComparedPair.objects.filter(comparison=found).count() == 16


def test_test_questions_of_a_wave_wait_for_the_next_one(level, ask, crowd):
    found = ask(*level, delta=0.05, max_pairs=25)
    campaign = found.campaign
    tests = campaign.hits.filter(pk__in=TestQuestion.own.values("item__hit"))
    first = list(tests.values_list("pk", flat=True))
    tests.update(n_available=0)
    crowd.work()
    tests.update(n_available=1)
    settle()
    found.refresh_from_db()
    assert (found.n_waves, len(first) > 0) == (2, True)
    assert tests.filter(pk__in=first, n_available=1).count() == len(first)


def labels_of(name, n_workers, votes):
    """Turn three votes a pair into labels, as a live comparison would ask for them."""
    labels = []
    for three in votes:
        n = {"one-worker": 1, "majority": 3, "max-three": 2}[name]
        n += compare_labels.needs_third(name, three[:n])
        labels.append(label_of(name, n_workers, three[:n]))
    return labels


@pytest.mark.slow
@pytest.mark.parametrize(
    "strategy", [("one-worker", 1), ("majority", 3), ("max-three", 1)]
)
def test_equals_are_told_apart_in_at_most_five_percent_of_runs(strategy):
    """The same functions as live: votes to labels, and the rule on up to 400 of them."""
    rule = compare_labels.rule_of(Comparison(rule="beta-mixture", delta=0.05))
    rng = np.random.default_rng(2022)
    decided = 0
    for _ in range(40):
        votes = rng.integers(0, 2, (400, 3)).astype(float).tolist()
        decided += decide(rule, labels_of(*strategy, votes)).side != "undecided"
    # with five percent, 0.3 percent of samples of 40 have more
    assert decided <= 6


@pytest.mark.parametrize("share", [0.5, 0.58, 0.7, 0.95])
def test_looking_after_every_wave_ends_where_one_look_at_all_labels_ends(share):
    rule = compare_labels.rule_of(Comparison(rule="beta-mixture", delta=0.05))
    rng = np.random.default_rng(7)
    for _ in range(3):
        labels = (rng.random(200) < share).astype(float).tolist()
        looks = (decide(rule, labels[:n]) for n in range(20, 201, 20))
        ended = next((look for look in looks if look.side != "undecided"), None)
        assert decide(rule, labels) == (ended or decide(rule, labels[:200]))
        assert ended or decide(rule, labels).n == 200


def test_the_default_rule_decides_over_workers(right, wrong, ask, people, tmp_path):
    crowd = people(8)
    found = ask(right, wrong, rule="", delta=0.3, max_pairs=36)
    work_until(crowd, found, lambda row: row.is_over, rounds=12)
    found.refresh_from_db()
    standing = standing_of(found)
    assert (found.state, found.better) == ("DECIDED", "A")
    assert standing.answers.n_workers >= 4
    assert standing.now.low > 0.5
    assert "independent" not in verdict(found, standing)
    rebuild(make(found.task, tmp_path / "release").folder)


def test_the_promise_is_for_both_sides_together():
    comparison = Comparison(rule="beta-mixture", delta=0.05)
    assert compare_labels.rule_of(comparison) == rule_named("beta-mixture", 0.025)


def test_a_label_speaks_for_the_system_wherever_it_stood(told_apart, right):
    slots = set(ComparedPair.objects.values_list("slot_of_a", flat=True))
    assert slots == {"A", "B"}
    for pair in ComparedPair.objects.select_related("subject__item"):
        said = Rating.objects.get(item=pair.subject.item)
        shown = {row.slot: row.submission_id for row in pair.subject.outputs.all()}
        assert shown[pair.slot_of_a] == right.pk
        assert shown[said.raw] == right.pk
    assert all(v.values == (1.0,) for v in compare_labels.votes_of(told_apart))


def test_the_rest_is_withdrawn_and_paid_back_when_it_is_decided(told_apart, crowd):
    found = told_apart
    paid = 4 * Assignment.own.filter(state="SUBMITTED").count()
    account = Commitment.own.get()
    assert account.settled_at is not None
    assert account.amount_cents == paid < found.approved_cents
    assert work.next_assignment(crowd.players[0].worker) is None
    settle()
    before = Comparison.objects.get(pk=found.pk)
    run.step(found.pk)
    assert Comparison.objects.get(pk=found.pk).finished_at == before.finished_at
    assert Comparison.objects.get(pk=found.pk).n_waves == before.n_waves


def test_majorities_ask_three_people_about_each_pair(right, wrong, ask, crowd, boss):
    held = hold_somebody(right.task.slug)
    three = {"strategy": "majority", "n_workers": 3, "wave_size": 9}
    found = ask(wrong, right, delta=0.3, max_pairs=9, **three)
    crowd.work()
    settle()
    found.refresh_from_db()
    # a person has yet to say whose votes count
    assert found.state == "ANNOTATING", found.failure
    services.refuse(held.pk, by=boss, reason="The key is wrong.")
    settle()
    found = Comparison.objects.get(pk=found.pk)
    # the better one may be the second
    assert (found.state, found.better) == ("DECIDED", "B")
    assert found.result.high < 0.5
    assert {len(v.values) for v in compare_labels.votes_of(found)} == {3}


def test_a_fixed_worker_who_is_banned_is_replaced_by_one_other(
    right, wrong, ask, crowd, finish, boss, task
):
    crowd.players = crowd.players[:3]
    found = ask(
        right, wrong, strategy="fixed-worker", delta=0.3, max_pairs=9, wave_size=9
    )
    first = crowd.players[1]
    for _ in range(3):
        assert crowd.do_hit(first)
    assert not any(crowd.do_hit(other) for other in crowd.players if other != first)
    services.ban(
        first.worker, task.slug, by=boss, reason="He answered without reading."
    )
    found = finish(found)
    assert (found.state, found.better) == ("DECIDED", "A")
    counted = Assignment.own.filter(state="SUBMITTED", replaced_at=None)
    assert len(set(counted.values_list("worker_id", flat=True))) == 1
    assert first.worker.pk not in counted.values_list("worker_id", flat=True)
    assert counted.count() >= found.n_labels


def test_a_third_person_is_asked_only_where_two_disagree(level, ask, finish):
    found = finish(ask(*level, strategy="max-three", max_pairs=8))
    votes = compare_labels.votes_of(found)
    assert found.is_over
    for one in votes:
        assert len(one.values) == (3 if len(set(one.values[:2])) > 1 else 2) or (
            len(one.values) == 3 and sum(one.values) in {1.0, 2.0}
        )
    assert {len(one.values) for one in votes} == {2, 3}


def test_labels_of_a_banned_worker_are_asked_for_again(
    right, wrong, ask, crowd, boss, finish, task
):
    human = {**task.config["human"], "correct_side": True}
    Task.objects.filter(pk=task.pk).update(config={**task.config, "human": human})
    found = ask(right, wrong, delta=0.3, max_pairs=9, wave_size=9)
    worker = crowd.players[0].worker
    for _ in range(4):
        crowd.do_hit(crowd.players[0])
    n_before = sum(len(v.values) for v in compare_labels.votes_of(found))
    services.ban(worker, task.slug, by=boss, reason="He answered without reading.")
    assert n_before > 0
    assert sum(len(v.values) for v in compare_labels.votes_of(found)) == 0
    found = finish(found)
    assert (found.state, found.better) == ("DECIDED", "A")
    # where the task wants it, both sides count equally
    assert found.sides_balanced
    assert found.result.low <= found.result.mean <= found.result.high
    assert worker.pk not in set(
        Assignment.own.filter(state="SUBMITTED", replaced_at=None).values_list(
            "worker_id", flat=True
        )
    )


def test_tests_hide_among_the_pairs_and_are_no_labels(right, wrong, ask, finish, task):
    config_with(task, **TESTS, reward_cents=4, expected_seconds=9, wave_size=5)
    found = finish(ask(right, wrong, delta=0.3, max_pairs=15))
    assert found.n_waves == 2
    test_questions = TestQuestion.own.filter(campaign=found.campaign)
    assert test_questions.count() == 2 * found.n_waves
    pairs = set(ComparedPair.objects.values_list("subject__item_id", flat=True))
    assert pairs.isdisjoint(test_questions.values_list("item_id", flat=True))
    assert Grade.own.filter(correct=False).count() == 0
    assert {row.expected["slot"] for row in test_questions} <= {"A", "B"}


def test_unaskable_questions_are_refused(right, wrong, boss):
    for wrong_question, sentence in [
        ({"criterion": "beauty"}, "criteria overall"),
        ({"delta": 0}, "delta"),
        ({"delta": 1.0}, "delta"),
        ({"rule": "gut-feeling"}, "beta-mixture"),
        ({"strategy": "everybody"}, "one-worker"),
        ({"strategy": "majority", "n_workers": 4}, "odd"),
        ({"strategy": "majority", "n_workers": 1}, "odd"),
        ({"wave_size": 0}, "wave"),
        ({"max_pairs": 0}, "pairs"),
        (
            {"strategy": "fixed-worker", "rule": "worker-sign-flips"},
            "worker-sign-flips reads one",
        ),
    ]:
        question = Question(**{"criterion": "overall", **wrong_question})
        with refusal("unusable-question", match=sentence):
            compare.request(right, wrong, question, by=boss)


def test_a_submission_is_not_compared_with_itself(right, boss):
    with refusal("same-submission"):
        compare.request(right, right, Question("overall"), by=boss)


def test_all_pairs_share_the_error_and_decided_ones_ask_no_more(
    right, wrong, level, boss, finish, task
):
    together = compare.request_all_pairs(
        [right, wrong, level[0]],
        Question("overall", 0.9, "beta-mixture", max_pairs=12, wave_size=9),
        by=boss,
    )
    pairs = list(together.comparisons.order_by("pk"))
    assert [round(one.delta, 9) for one in pairs] == [0.3] * 3
    pairs = [one for one in pairs if one.a_id == wrong.pk or one.b_id == wrong.pk]
    for one in pairs:
        decisions.approve(one, by=boss)
    settle()
    for one in pairs:
        finish(one)
    ended = {(one.a.system_name, one.b.system_name): one for one in pairs}
    assert ended["Right", "Wrong"].better == "A"
    assert ended["Wrong", "One"].state == "UNDECIDED"
    first = ended["Right", "Wrong"]
    assert first.n_labels == 9
    assert first.pairs.count() < ended["Wrong", "One"].pairs.count()


def test_all_pairs_need_at_least_two_and_not_too_many(right, boss):
    for n in (0, 1, 13):
        with refusal("wrong-number-of-systems"):
            compare.request_all_pairs([right] * n, Question("overall"), by=boss)


def test_money_for_third_opinions_is_not_spent_on_tests(task, level, ask, crowd):
    config_with(task, **TESTS, reward_cents=4, expected_seconds=9, wave_size=5)
    found = ask(*level, strategy="max-three", max_pairs=15)
    crowd.work()
    campaign = found.campaign
    thirds = 4 * 5
    left = 4 * 13
    spent = campaign_progress(campaign).committed_cents
    Campaign.objects.filter(pk=campaign.pk).update(budget_cents=spent + thirds + left)
    for _ in range(3):
        settle()
        if Comparison.objects.get(pk=found.pk).n_waves == 2:
            break
        crowd.work()
    campaign.refresh_from_db()
    second = ComparedPair.objects.filter(comparison=found, wave=1).count()
    assert second > 0
    assert room(campaign).n_assignments >= second


DECISION = Decision(0.75, 0.55, 0.9, "A", 4, anytime_valid=True)


def test_both_sides_count_equally_and_the_decision_stays():
    labels, slots = [1.0, 1.0, 1.0, 0.5, 0.0], ["A", "A", "A", "B", "B"]
    found = with_balanced_sides(DECISION, labels, slots)
    # what came after the decision is not used; the interval is the rule's
    assert (found.estimate, found.side, found.n) == (0.75, "A", 4)
    assert (found.low, found.high) == (0.55, 0.9)
    far = with_balanced_sides(DECISION, [1.0, 1.0, 1.0, 0.0], slots[:4])
    assert far.estimate == 0.55  # one half lies outside what the rule allows for
    alone = with_balanced_sides(DECISION, [1.0, 0.0], ["A", "A"])
    assert alone.estimate == DECISION.estimate


def hold_somebody(pool):
    fit = DetectorFit.objects.create(pool_id=pool, n_workers=1, seed=1)
    worker = make_worker(name="held", simulated=True)
    said = {"n_questions": 9, "n_correct": 0, "p_noisy": 1.0, "threshold": 0.99}
    verdict = Verdict.objects.create(fit=fit, worker=worker, noisy=True, **said)
    services.hold(pool, [verdict])
    return Ban.proposed.get(worker=worker)


def test_a_comparison_of_which_tests_stand_out_is_approved_with_a_word(
    task, wrong, level, boss, settings
):
    settings.GENIE = {**settings.GENIE, "TEST_QUESTIONS_CHECKED": True}
    config_with(task, **TESTS, test_questions="references")
    found = compare.request(wrong, level[0], Question("overall", max_pairs=12), by=boss)
    # where people are asked
    HumanEvaluation.own.update(simulated=False)
    decisions.measure_together(found)
    client = signed_in(boss)
    page = f"/admin/leaderboard/comparison/{found.pk}/approve/"
    asked = client.get(page).text
    assert "Start even though test questions stand out, because" in asked
    sent = {"confirmed": "1", "shown_cents": shown_cents(asked), "despite": ""}
    refused = client.post(page, sent, follow=True).text
    assert "stand out" in refused
    assert TestCheck.own.get().accepted_at is None
    client.post(page, {**sent, "despite": "A trial."}, follow=True)
    assert TestCheck.own.get().accepted_because == "A trial."
    found.refresh_from_db()
    assert found.state == "APPROVED"
