import json

import pytest

from crowd.models import Budget, Commitment
from crowd.money.services import budgets
from genie.history.models import LogEntry
from genie.lib.errors import GenieError
from tests.crowd.making import make_pools

pytestmark = [pytest.mark.django_db, pytest.mark.every_engine]


@pytest.fixture(autouse=True)
def _site_has_a_thousand_cents(settings):
    settings.GENIE = {**settings.GENIE, "SITE_BUDGET_CENTS": 1_000}
    make_pools("xsum", "other")


def commit(key, cents, by, pool="xsum"):
    return budgets.commit(key=key, pool=pool, amount_cents=cents, by=by)


def test_the_sites_budget_holds_for_all_pools_together(sam):
    commit("a", 600, sam)
    commit("b", 300, sam, pool="other")
    assert budgets.budget_left("xsum") == budgets.budget_left("third") == 100
    with pytest.raises(GenieError) as caught:
        commit("c", 101, sam)
    assert caught.value.code == "over-budget"
    assert caught.value.details["left_cents"] == 100
    assert "$1.01" in caught.value.message
    assert "$1.00 is left" in caught.value.message
    assert not Commitment.own.filter(key="c").exists()


def test_a_pools_own_budget_holds_too(sam):
    Budget.objects.create(pool_id="xsum", limit_cents=250)
    assert budgets.budget_left("xsum") == 250
    assert budgets.budget_left("other") == 1_000
    with pytest.raises(GenieError, match="budget of xsum"):
        commit("a", 251, sam)
    commit("a", 250, sam)
    commit("b", 750, sam, pool="other")


def test_a_pool_with_much_left_is_held_by_the_site_as_staff_set_it(sam):
    Budget.objects.create(pool_id="xsum", limit_cents=99_999)
    assert budgets.budget_left("xsum") == 1_000
    Budget.objects.create(pool=None, limit_cents=5)
    assert budgets.budget_left("xsum") == 5


def test_a_commitment_is_made_and_settled_once(sam):
    first = commit("a", 600, sam)
    second = commit("a", 600, sam)
    assert first.pk == second.pk
    assert budgets.budget_left("xsum") == 400
    assert budgets.settle("a", 150)
    assert budgets.budget_left("xsum") == 850
    assert not budgets.settle("a", 0)
    assert budgets.budget_left("xsum") == 850
    assert commit("a", 600, sam).amount_cents == 150


def test_the_log_says_once_what_was_spent(sam):
    def settled():
        said = [
            json.loads(one) for one in LogEntry.objects.values_list("data", flat=True)
        ]
        return [one["cents"] for one in said if one["is"] == "settled"]

    for spent in (150, 150, 90, 90, 150):
        commit("a", 600, sam)
        budgets.set_aside_again(key="a", pool="xsum", cents=0, at_most=600)
        assert budgets.settle("a", spent)
    assert settled() == [150, 90, 150]
    budgets.set_aside_again(key="a", pool="xsum", cents=20, at_most=600)
    budgets.settle("a", 150)
    assert settled() == [150, 90, 150, 150]


def test_released_money_can_be_committed_again_under_the_same_key(sam):
    commit("a", 600, sam)
    assert budgets.release("a")
    assert budgets.budget_left("xsum") == 1_000
    assert commit("a", 700, sam).settled_at is None
    assert budgets.budget_left("xsum") == 300
    assert Commitment.own.count() == 1


def test_corrections_reach_settled_commitments_only(sam):
    commit("open", 100, sam)
    commit("closed", 100, sam)
    budgets.settle("closed", 50)
    for key in ("open", "closed", "nowhere"):
        budgets.correct(key, 10)
    assert dict(Commitment.own.values_list("key", "amount_cents")) == {
        "open": 100,
        "closed": 60,
    }
    budgets.correct("closed", -100)
    assert Commitment.own.get(key="closed").amount_cents == 0
    assert not budgets.settle("nowhere", 10)
    assert not budgets.release("nowhere")


def test_a_budget_lowered_below_what_is_set_aside_lets_nothing_more_through(sam):
    commit("a", 600, sam)
    Budget.own.update(limit_cents=500)
    assert budgets.budget_left("xsum") == -100
    with pytest.raises(GenieError, match=r"\$0.00 is left"):
        commit("b", 1, sam)
