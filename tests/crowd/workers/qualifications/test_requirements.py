"""Campaigns require things of workers: who lacks one gets no work and is told why."""

import pytest
from django.core.exceptions import ValidationError
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from crowd.campaigns.selectors.offers import offers
from crowd.campaigns.services import review
from crowd.campaigns.services.run import watch_crowd as watch
from crowd.campaigns.services.work import next_assignment
from crowd.models import Requirement, WorkerRecord
from crowd.workers.selectors.eligible import campaigns_for
from crowd.workers.selectors.requirements import TrackRecord, unmet
from crowd.workers.services import requirements
from crowd.workers.services.requirements import Wanted
from tests.crowd.making import POOL, do_all, items, make_campaign, make_worker, refused
from tests.crowd.workers.qualifications.making import NAME, drawn_test, take


def lacking(worker, campaign):
    return [str(one) for one in unmet(worker, [campaign], timezone.now()).get(campaign.pk, [])]  # fmt: skip


def said(worker):
    return [one.sentence for offer in offers(worker) for one in offer.lacking]


def test_work_that_requires_a_test_goes_to_those_who_passed_it():
    drawn_test(2)
    campaign = make_campaign(2)
    requirements.of_campaign(campaign, Wanted(), test_name=NAME)
    worker = make_worker()
    assert next_assignment(worker) is None
    offer = offers(worker)[0]
    assert offer.test is not None
    assert said(worker) == ["This work requires a short test first."]
    take(worker)
    assert next_assignment(worker) is not None
    assert offers(worker)[0].lacking == ()


def test_staff_require_it_of_a_whole_pool():
    drawn_test(1)
    campaign, other = make_campaign(1), make_campaign(1, pool="other", of=items(1, "o"))
    requirements.test_of_pool(POOL, NAME)
    requirements.test_of_pool(POOL, NAME)
    assert Requirement.own.count() == 1
    worker = make_worker(POOL, "other")
    assert lacking(worker, campaign) == [f"qualification {NAME}"]
    assert [one.pk for one in campaigns_for(worker)] == [other.pk]


def test_one_campaign_requires_more_than_its_pool_and_the_rest_is_still_offered():
    make_campaign(2)
    strict = make_campaign(2, of=items(2, "s-"))
    requirements.of_campaign(strict, Wanted(approved=5))
    worker = make_worker()
    assert offers(worker)[0].lacking == ()
    assert strict not in campaigns_for(worker)


def test_the_number_and_the_share_of_approvals_are_counted_from_our_own_records():
    worker = make_worker()
    make_campaign(3)
    done = do_all(worker)
    review.approve([done[0].pk, done[1].pk])
    review.reject(done[2].pk, None, "Empty.")
    campaign = make_campaign(1, of=items(1, "later-"))
    campaign.requirements.create(kind="APPROVED", at_least=2)
    assert lacking(worker, campaign) == []
    campaign.requirements.update(at_least=3)
    assert lacking(worker, campaign) == ["at least 3 approved HITs"]


@pytest.mark.parametrize(
    ("approved", "rejected", "percent"),
    [(0, 0, 100), (0, 99, 100), (99, 1, 99), (50, 50, 50), (199, 1, 99), (0, 100, 0)],
)
def test_a_share_counts_once_there_is_enough_work(approved, rejected, percent):
    assert TrackRecord(approved, rejected).percent == percent


def test_a_country_keeps_out_who_lives_elsewhere_or_nobody_knows_where():
    campaign = make_campaign(1)
    requirements.of_campaign(campaign, Wanted(countries=["US", "GB"]))
    assert campaign.requirements.get().country_codes == ["US", "GB"]
    worker = make_worker()
    assert lacking(worker, campaign) == ["lives in US GB"]
    record = WorkerRecord.objects.create(worker=worker, country="DE")
    assert lacking(worker, campaign) == ["lives in US GB"]
    assert said(worker) == ["This work is for people who live in US, GB."]
    record.country = "GB"
    record.save()
    assert lacking(worker, campaign) == []


@pytest.mark.every_engine
def test_a_configuration_is_written_down_once():
    campaign = make_campaign(1)
    config = Wanted(approved=10, approved_percent=99, countries=["US"])
    for _ in range(2):
        requirements.of_campaign(campaign, config, test_name=NAME)
    assert campaign.requirements.count() == 4


def test_an_unusable_configuration_is_refused():
    campaign = make_campaign(1)
    for config in (
        Wanted(approved=-1),
        Wanted(approved_percent=101),
        Wanted(approved="many"),
        Wanted(countries=["USA"]),
        Wanted(countries=[]),
    ):
        refused("bad-requirements", requirements.of_campaign, campaign, config)
    assert not Requirement.own.exists()
    for fields in (
        {"kind": "APPROVED", "at_least": 1},
        {"kind": "TEST", "pool_id": POOL},
        {"kind": "APPROVED", "pool_id": POOL},
        {"kind": "APPROVED_PERCENT", "pool_id": POOL, "at_least": 101},
        {"kind": "COUNTRY", "pool_id": POOL, "countries": "U1"},
    ):
        with pytest.raises(ValidationError):
            Requirement(**fields).full_clean()


def test_what_is_lacking_is_said_in_words():
    campaign = make_campaign(1)
    requirements.of_campaign(campaign, Wanted(approved=5), test_name="missing")
    worker = make_worker()
    first, second = said(worker)
    assert "at least 5 approved HITs; you have 0" in first
    assert "not ready yet" in second
    assert offers(worker)[0].test is None


@pytest.mark.every_engine
def test_it_takes_no_query_for_each_campaign():
    drawn_test(1)
    requirements.test_of_pool(POOL, NAME)
    requirements.of_campaign(make_campaign(1), Wanted(approved=1, approved_percent=9))
    worker = make_worker()

    def count():
        with CaptureQueriesContext(connection) as queries:
            campaigns_for(worker)
        return len(queries)

    few = count()
    for n in range(5):
        campaign = make_campaign(1, of=items(1, f"{n}-"))
        requirements.of_campaign(campaign, Wanted(approved=n, approved_percent=9))
    assert count() == few


def test_nothing_required_costs_one_query():
    make_campaign(1)
    worker = make_worker()
    with CaptureQueriesContext(connection) as queries:
        campaigns_for(worker)
    assert sum("crowd_requirement" in one["sql"] for one in queries) == 1
    assert not any("testattempt" in one["sql"] for one in queries)


def test_work_that_nobody_can_qualify_for_is_shown_as_stuck():
    drawn_test(2, n_tries=1)
    campaign = make_campaign(1)
    requirements.of_campaign(campaign, Wanted(), test_name=NAME)
    worker = make_worker()
    assert not watch(campaign)  # there is a try left
    take(worker, n_wrong=2)
    assert watch(campaign)
    take(make_worker())
    assert not watch(campaign)
    campaign.requirements.create(kind="APPROVED", at_least=1)
    assert watch(campaign)
