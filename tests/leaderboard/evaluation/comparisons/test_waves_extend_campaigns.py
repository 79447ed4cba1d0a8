"""Another wave in a campaign that runs: once, at its end, within the money."""

import pytest

from crowd.campaigns.services import run
from crowd.hits.services.build import extend, room
from crowd.models import HIT
from leaderboard.stats.stopping.outlook import course_of, labels_needed
from leaderboard.stats.stopping.sequential import BetaMixture, rule_named
from tests.crowd.making import item, make_campaign
from tests.refusals import refusal


def test_new_hits_come_after_those_that_are_there():
    campaign = make_campaign(3)
    assert extend(campaign.pk, [item("new-1"), item("new-2")], max_assignments=2) == 2
    rows = list(HIT.objects.filter(campaign=campaign).order_by("position"))
    assert [row.position for row in rows] == [0, 1, 2, 3, 4]
    assert [row.n_available for row in rows] == [1, 1, 1, 2, 2]
    assert extend(campaign.pk, [item("new-1")]) == 0
    assert campaign.items.count() == 5


def test_what_the_budget_does_not_pay_for_is_refused_whole():
    campaign = make_campaign(3, budget_cents=45)
    assert room(campaign).n_assignments == 1
    with refusal("over-budget"):
        extend(campaign.pk, [item("a"), item("b")])
    assert campaign.items.count() == 3
    assert extend(campaign.pk, [item("a")]) == 1
    assert room(campaign).n_assignments == 0


def test_a_campaign_that_is_over_is_not_extended():
    campaign = make_campaign(3)
    run.complete(campaign.pk)
    with refusal("campaign-over"):
        extend(campaign.pk, [item("a")])


@pytest.mark.parametrize("name", ["beta-mixture", "hoeffding", "normal-mixture"])
@pytest.mark.parametrize("share", [0.1, 0.4, 0.6, 0.75, 1.0])
def test_the_number_needed_is_the_first_that_decides(name, share):
    rule = rule_named(name, 0.025)
    n = 20
    needed = labels_needed(rule, [share] * n)
    decides = rule.favours_a if share > 0.5 else rule.favours_b
    assert bool(decides(needed, needed * share))
    if needed > n:
        assert not bool(decides(needed - 1, (needed - 1) * share))


def test_there_is_no_projection_from_nothing_or_from_the_middle():
    rule = BetaMixture(0.025)
    assert labels_needed(rule, []) is None
    assert labels_needed(rule, [1, 0] * 5) is None
    assert labels_needed(rule, [0.501] * 1_000, farthest=2_000) is None


def test_a_course_keeps_its_first_and_last_label_when_it_is_thinned():
    course = course_of(BetaMixture(0.025), [1.0, 0.0] * 500, most_points=10)
    assert (course.n[0], course.n[-1]) == (1, 1_000)
    assert len(course.n) == 10
    assert ((course.low <= course.estimate) & (course.estimate <= course.high)).all()
