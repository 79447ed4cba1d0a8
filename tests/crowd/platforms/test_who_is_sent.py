"""What a campaign requires becomes Prolific's filters, and who is sent then gets work."""

import pytest
from django.test import Client
from django.urls import reverse

from crowd.elsewhere.services import attested
from crowd.models import (
    Assignment,
    ExternalCampaign,
    LedgerEntry,
    OutwardCall,
    PanelSource,
    Requirement,
)
from crowd.platforms.base import Requirements, StudyTerms
from crowd.platforms.prolific_protocol import filters
from genie.lib.errors import GenieError
from tests.crowd.making import POOL, make_campaign
from tests.crowd.platforms.prolific_standin import FILTERS
from tests.crowd.platforms.test_prolific_campaign import (
    Person,
    approve_all,
    come,
    look,
    pay_all,
)

HERE = {"current-country-of-residence": "1", "approval_rate": 99}
CATALOGUE = {row["filter_id"]: row for row in FILTERS}


@pytest.fixture
def campaign(there):
    Requirement.objects.create(pool_id=POOL, kind="COUNTRY", countries="US GB")
    Requirement.objects.create(pool_id=POOL, kind="APPROVED_PERCENT", at_least=98)
    return make_campaign(6, platform="prolific")


def test_each_requirement_is_a_filter_and_who_passes_it_gets_work(there, campaign):
    look(campaign)
    (study,) = there.studies.values()
    by_name = {one["filter_id"]: one for one in study["filters"]}
    assert by_name["current-country-of-residence"]["selected_values"] == ["0", "1"]
    assert by_name["approval_rate"]["selected_range"] == {"lower": 98, "upper": 100}
    german = Person(there, "1")
    there.people[german.name] = {**HERE, "current-country-of-residence": "3"}
    assert german.come(campaign) is None
    assert Person(there, "2").come(campaign) is None  # nobody knows where they live
    wanda = Person(there, "3")
    there.people[wanda.name] = HERE
    assert wanda.do_all(campaign) == "AWAITING REVIEW"
    assert Assignment.own.count() == 3


def test_what_is_required_after_publication_lets_nobody_in_and_is_told(there, campaign):
    look(campaign)
    row = Requirement.objects.create(pool_id=POOL, kind="APPROVED", at_least=5)
    look(campaign)
    assert "at least 5 approved" in ExternalCampaign.own.get().trouble
    wanda = Person(there, "1")
    there.people[wanda.name] = HERE
    wanda.come(campaign)
    wanda.work()
    assert not Assignment.own.exists()
    row.delete()
    look(campaign)
    assert ExternalCampaign.own.get().trouble == ""


def test_a_study_is_as_the_task_says(there):
    campaign = make_campaign(9, platform="prolific")
    Requirement.objects.create(pool_id=POOL, kind="COUNTRY", countries="US GB")
    Requirement.objects.create(pool_id=POOL, kind="LANGUAGE", languages="de zh")
    terms = StudyTerms(
        groups=["64b0000000000000000000aa"],
        without_groups=["64b0000000000000000000bb"],
        ai_taskers=True,
        visits=2,
        content_warning="sensitive",
        content_warning_details="Some texts are about illness.",
        screen_out_cents=10,
        screen_out_places=2,
        quotas={"US": 60, "GB": 40},
    )
    attested.keep_terms(campaign, terms)
    there.groups = {
        name: {"id": name, "name": name, "members": ["5f" + "0" * 21 + "1"]}
        for name in (*terms.groups, *terms.without_groups)
    }
    there.groups[terms.without_groups[0]]["members"] = []
    look(campaign)
    (study,) = there.studies.values()
    by_name = {one["filter_id"]: one for one in study["filters"]}
    assert by_name["fluent-languages"]["selected_values"] == ["7", "24"]
    assert by_name["ai-taskers"]["selected_values"] == ["0"]
    assert by_name["current-country-of-residence"]["weightings"] == {"1": 60, "0": 40}
    assert by_name["participant_group_allowlist"]["selected_values"] == terms.groups
    assert len(by_name["participant_group_blocklist"]["selected_values"]) == 2
    assert study["submissions_config"] == {"max_submissions_per_participant": 2}
    assert study["content_warnings"] == ["sensitive"]
    assert study["content_warning_details"] == "Some texts are about illness."
    wanda = Person(there, "1")
    told = {"ai-taskers": "0", "fluent-languages": "24", **HERE}
    there.people[wanda.name] = told
    assert wanda.do_all(campaign) == wanda.do_all(campaign) == "AWAITING REVIEW"
    assert Assignment.own.count() == 6
    assert wanda.come(campaign) is None


def test_who_is_screened_out_is_paid_for_coming_as_often_as_was_approved(there):
    campaign = make_campaign(3, platform="prolific")
    terms = StudyTerms(screen_out_cents=10, screen_out_places=2)
    attested.keep_terms(campaign, terms)
    look(campaign)
    campaign.hits.update(n_available=0)
    wanda = Person(there, "1")
    wanda.come(campaign)
    assert wanda.go_back() == "SCREENED OUT"
    for _ in range(2):
        look(campaign)
    done = LedgerEntry.own.filter(state="DONE").values_list("kind", "amount_cents")
    assert sorted(done) == [("FEE", 5), ("REWARD", 10)]
    assert (there.rewards, there.fees) == (10, 5)


def test_a_simulated_campaign_is_tried_by_test_participants_and_costs_nothing(there):
    campaign = make_campaign(3, platform="prolific", simulated=True)
    look(campaign)
    assert "test participant" in OutwardCall.own.get(kind="PUBLISH").trouble
    wanda = Person(there, "1")
    there.testers.add(wanda.name)
    OutwardCall.own.update(state="PLANNED", first_sent_at=None)
    look(campaign)
    assert [study["status"] for study in there.studies.values()] == [
        "UNPUBLISHED",
        "ACTIVE",
    ]
    assert Person(there, "2").come(campaign) is None
    assert wanda.do_all(campaign) == "AWAITING REVIEW"
    pay_all(campaign)
    assert there.submissions[wanda.session]["status"] == "APPROVED"
    assert (there.rewards, there.fees) == (0, 0)


@pytest.mark.parametrize(
    ("asked", "study", "catalogue", "said"),
    [
        (Requirements(countries=["FR"]), StudyTerms(), CATALOGUE, "no choice 'France'"),
        (Requirements(countries=["US"]), StudyTerms(), {}, "has no filter current-"),
        (Requirements(minimum_approved=99_999), StudyTerms(), CATALOGUE, "ends at 10000"),
        (Requirements(languages=["Elvish"]), StudyTerms(), CATALOGUE, "'Elvish'"),
        (Requirements(), StudyTerms(content_warning="loud"), CATALOGUE, "'loud'"),
        (Requirements(), StudyTerms(ai_taskers=True), {"ai-taskers": {"choices": {}}}, "changed"),
    ],
)  # fmt: skip
def test_what_no_filter_says_is_refused_in_words(asked, study, catalogue, said):
    with pytest.raises(GenieError, match=said) as refused:
        filters.filters_of(asked, study, catalogue)
    assert refused.value.code == "requirement-not-checked"


@pytest.mark.parametrize(("countries", "n"), [("US", 1), ("US FR", 0), ("", 0)])
def test_a_panel_that_guarantees_the_countries_brings_people_to_work(countries, n):
    Requirement.objects.create(pool_id=POOL, kind="COUNTRY", countries="US GB")
    campaign = make_campaign(1, platform="panel")
    PanelSource.objects.create(name="connect", title="Connect", countries=countries)
    browser = Client()
    link = reverse("work:panel", args=["connect", campaign.pk])
    browser.get(link, {"participantId": "7"})
    browser.post(reverse("work:consent", args=[POOL]))
    browser.post(reverse("work:next"), {"pool": POOL})
    assert Assignment.own.count() == n


def test_approved_answers_are_paid_beside_what_is_paid_for_coming(there):
    campaign = make_campaign(3, platform="prolific")
    attested.keep_terms(campaign, StudyTerms(screen_out_cents=10, screen_out_places=2))
    wanda = come(there, campaign)
    wanda.work(at_most=1)
    there.give_up(wanda.session, "SCREENED OUT")
    look(campaign)
    approve_all(campaign)
    for _ in range(3):
        look(campaign)
    assert there.paid == {wanda.name: 10}
    done = LedgerEntry.own.filter(state="DONE", kind="REWARD")
    assert list(done.values_list("amount_cents", flat=True)) == [10, 10]
    assert not LedgerEntry.own.filter(state="PLANNED").exists()
