"""Rounds of all pairs: undecided ones that are likely to be decided soonest go first."""

from __future__ import annotations

import pytest

from crowd.models import Commitment
from genie.lib.errors import GenieError
from leaderboard.evaluation import decide as decisions
from leaderboard.evaluation import run, waves
from leaderboard.evaluation.services import comparison as compare
from leaderboard.evaluation.services.comparison import Question
from leaderboard.evaluation.strategies import rounds
from leaderboard.models import ComparedPair, ComparisonSet, HumanEvaluation
from tests.leaderboard.api.conftest import Api
from tests.leaderboard.evaluation.steps import settle

pytestmark = pytest.mark.django_db
QUESTION = Question("overall", delta=0.06, max_pairs=30, wave_size=5)


@pytest.fixture
def started(right, wrong, level, boss):
    """Approve all pairs of some systems and send out the first waves."""

    def start(systems, max_in_all, approved=None):
        together = compare.request_all_pairs(
            systems,
            QUESTION,
            by=boss,
            informative_first=True,
            max_in_all=max_in_all,
        )
        for one in together.comparisons.order_by("pk")[:approved]:
            decisions.approve(one, by=boss)
        settle()
        return together

    return start


def n_asked(together):
    return ComparedPair.objects.filter(comparison__within=together).count()


def finish(together, crowd):
    for _ in range(20):
        crowd.work()
        settle()
        assert n_asked(together) <= together.max_in_all
        if all(one.is_over for one in together.comparisons.all()):
            return
    raise AssertionError("It does not end.")


def test_four_systems_share_what_may_be_asked_in_all(
    started, right, wrong, level, crowd
):
    together = started([right, wrong, *level], 90)
    finish(together, crowd)
    pairs = {
        (one.a.system_name, one.b.system_name): one
        for one in together.comparisons.all()
    }
    assert pairs["Right", "Wrong"].better == "A"
    # equally good ones are not told apart, however often they are drawn
    assert pairs["One", "Other"].better == ""
    assert {one.state for one in pairs.values()} <= {"DECIDED", "UNDECIDED"}
    # never beyond it; what a decided pair had drawn and did not need goes to others
    assert n_asked(together) == 90
    rows = ComparedPair.objects.filter(comparison__within=together)
    assert set(rows.filter(wave=0).values_list("propensity", flat=True)) == {None}
    later = rows.filter(wave__gt=0).values_list("propensity", flat=True)
    assert later
    assert all(0 < chance <= 1 for chance in later)
    # what was not spent is free again
    assert not Commitment.objects.filter(settled_at=None).exists()
    spent = sum(row.amount_cents for row in Commitment.objects.all())
    assert spent < sum(one.approved_cents for one in pairs.values())


@pytest.mark.every_engine
def test_a_round_waits_for_all_waves_and_goes_out_once(
    started, right, wrong, level, crowd, monkeypatch
):
    together = started([right, wrong, level[0]], 60)
    pairs = list(together.comparisons.order_by("pk"))
    crowd.work()
    for one in pairs[:-1]:
        run.step(one.evaluation_id)
        one.refresh_from_db()
        assert (one.n_waves, one.n_allotted) == (1, 0)

    def killed(*_args, **_options):
        raise RuntimeError("killed between drawing and sending")

    with monkeypatch.context() as patch:
        patch.setattr(waves, "remember", killed)
        for one in pairs:
            run.step(one.evaluation_id)
    assert n_asked(together) == 15
    chances = rounds.propensities(together)
    run.step(pairs[-1].evaluation_id)
    # drawn for all at once; what the others may send waits for them
    pairs[-1].refresh_from_db()
    drawn = {one.pk: one.n_allotted for one in together.comparisons.all()}
    drawn[pairs[-1].pk] = pairs[-1].pairs.count() - 5
    assert sum(drawn.values()) == 15
    for one in [*pairs, *pairs]:
        run.step(one.evaluation_id)
    assert {one.pk: one.pairs.count() - 5 for one in pairs} == drawn
    sent = ComparedPair.objects.filter(comparison__within=together, wave=1)
    for pk, chance in sent.values_list("comparison", "propensity"):
        assert chance == pytest.approx(chances[pk])


def test_equal_labels_are_drawn_alike_and_the_leader_most(
    started, right, wrong, level, crowd
):
    together = started([right, wrong, *level], 90)
    pairs = list(together.comparisons.order_by("pk"))
    chances = rounds.propensities(together)
    assert list(chances.values()) == pytest.approx([1 / 6] * 6)
    crowd.work()
    chances = rounds.propensities(together)
    of = {(one.a.system_name, one.b.system_name): chances[one.pk] for one in pairs}
    assert sum(of.values()) == pytest.approx(1)
    assert of["Right", "Wrong"] > of["One", "Other"] > 0
    # of ended ones nothing is drawn, although their labels count
    HumanEvaluation.objects.filter(pk=pairs[0].evaluation_id).update(state="UNDECIDED")
    assert pairs[0].pk not in rounds.propensities(together)


def test_what_is_not_approved_yet_keeps_its_first_wave(started, level, right, crowd):
    together = started([right, *level], 20, approved=2)
    for _ in range(4):
        crowd.work()
        settle()
    assert n_asked(together) == 15
    last = together.comparisons.order_by("pk").last()
    decisions.approve(last, by=last.requested_by)
    finish(together, crowd)
    assert n_asked(together) == 20


def test_the_form_and_the_api_ask_for_it(right, level, sam, client):
    client.force_login(sam)
    systems = [row.pk for row in (right, *level)]
    body = {"criterion": "overall", "delta": "0.05", "strategy": "one-worker"}
    body |= {"rule": "beta-mixture", "max_pairs": 30, "systems": systems}
    body |= {"informative_first": "on", "max_in_all": 50}
    two = client.post("/tasks/demo-qa/compare/", {**body, "systems": systems[:2]})
    assert "This needs at least three systems." in two.content.decode()
    assert client.post("/tasks/demo-qa/compare/", body).status_code == 302
    by_form = ComparisonSet.objects.get()
    assert (by_form.informative_first, by_form.max_in_all) == (True, 50)
    page = client.get(f"/comparisons/{by_form.comparisons.first().pk}/")
    assert "50 pairs in all comparisons at most" in page.content.decode()

    api = Api(sam)
    api.headers["Idempotency-Key"] = "k" * 20
    asked = {"criterion": "overall", "max_pairs": 30, "systems": systems}
    asked |= {"informative_first": True, "max_in_all": 60}
    first, again = (api.post("/comparisons/all-pairs/", asked) for _ in range(2))
    assert (first.status_code, again.json()["id"]) == (201, first.json()["id"])
    made = first.json()
    assert (made["informative_first"], made["max_in_all"]) == (True, 60)
    assert [one["all_pairs"]["id"] for one in made["comparisons"]] == [made["id"]] * 3
    assert ComparisonSet.objects.count() == 2


@pytest.mark.parametrize(
    ("question", "options"),
    [
        ({}, {"max_in_all": 60}),
        ({}, {"informative_first": True, "max_in_all": 14}),
        ({"rule": "hoeffding"}, {"informative_first": True}),
    ],
)
def test_rounds_that_promise_too_much_are_refused(
    question, options, right, level, boss
):
    asked = Question(**{**vars(QUESTION), **question})
    with pytest.raises(GenieError) as refused:
        compare.request_all_pairs([right, *level], asked, by=boss, **options)
    assert refused.value.code == "unusable-question"
