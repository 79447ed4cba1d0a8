"""Visits that began while Prolific could not be asked: out of scores until it answers."""

import pytest
from django.test import Client
from django.urls import reverse

from crowd.elsewhere.services import study
from crowd.hits.selectors import is_done
from crowd.models import Assignment, ExternalSession, LedgerEntry
from genie.accounts import throttles
from leaderboard.evaluation import campaigns
from quality.bans.selectors import all_ratings_of, clean_ratings
from tests.crowd.platforms.test_prolific_campaign import (
    Person,
    approve_all,
    campaign,  # noqa: F401
    done_cents,
    look,
    study_of,
)

State = Assignment.State
BUSY, SILENT = "429", "reset"


def ask_fault(there, kind):
    """Let questions about single submissions fail; the list of all still answers."""
    there.faults = [["GET", "submissions/.+", kind, 10**6]] if kind else []


class Forger(Person):
    """A stranger who knows the study and invents the ids."""

    def come(self, campaign):  # noqa: F811
        self.session = f"66{self.name[2:]}"
        path = reverse("work:arrive", args=["prolific", campaign.pk])
        self.query = {
            "PROLIFIC_PID": self.name,
            "STUDY_ID": study_of(campaign),
            "SESSION_ID": self.session,
        }
        return self.browser.get(path, self.query)


def sessions():
    rows = ExternalSession.own.values_list("session_id", "is_vouched")
    return dict(rows)


def states(person):
    work = Assignment.objects.filter(session_work__session__session_id=person.session)
    return {one.state for one in work}


@pytest.fixture
def visited(there, campaign):  # noqa: F811
    """An honest visit and a forged one, worked to the end while Prolific is busy."""
    look(campaign)
    ask_fault(there, BUSY)
    wanda, forger = Person(there, "1"), Forger(there, "2")
    for person in (wanda, forger):
        assert person.come(campaign).status_code == 302
        assert person.work() == reverse("work:finished")
    return wanda, forger


def test_work_counts_only_once_prolific_vouches_for_the_visit(there, campaign, visited):  # noqa: F811
    wanda, forger = visited
    assert sessions() == {wanda.session: None, forger.session: None}
    assert len(clean_ratings(campaign)) == 0
    whole = all_ratings_of([campaign.pk])
    assert set(whole["why_not"]) == {"visit not vouched for"}
    assert len(whole) == 6
    assert not is_done(campaign)
    campaign.state = campaign.State.STOPPED
    assert not campaigns.is_over(campaign)
    # Prolific lists the honest visit, and still answers no question about the other.
    look(campaign)
    assert sessions() == {wanda.session: True, forger.session: None}
    ask_fault(there, SILENT)
    look(campaign)
    assert sessions()[forger.session] is None
    assert states(forger) == {State.SUBMITTED}
    assert not is_done(campaign)
    workers = set(clean_ratings(campaign)["worker"])
    assert workers == {ExternalSession.own.get(is_vouched=True).worker_id}
    assert len(clean_ratings(campaign)) == 3
    assert set(all_ratings_of([campaign.pk])["why_not"]) == {
        "",
        "visit not vouched for",
    }


def test_a_visit_that_prolific_denies_later_is_neither_counted_nor_paid(
    there,
    campaign,  # noqa: F811
    visited,
):
    wanda, forger = visited
    wanda.go_back()
    approve_all(campaign)  # before anything is known: also the forged work
    ask_fault(there, None)
    look(campaign)
    assert sessions() == {wanda.session: True, forger.session: False}
    assert (states(wanda), states(forger)) == ({State.APPROVED}, {State.REJECTED})
    assert len(clean_ratings(campaign)) == 3
    denied = ExternalSession.own.get(is_vouched=False)
    assert (denied.status, denied.problem) == ("rejected", study.DENIED)
    forged = LedgerEntry.objects.filter(
        assignment__session_work__session=denied
    ).values_list("state", flat=True)
    assert set(forged) == {"CANCELLED"}
    look(campaign)
    assert set(there.paid) == {wanda.name}
    assert done_cents(campaign) == there.rewards + there.fees
    # Its HITs are asked again, and its link leads nowhere.
    assert campaign.hits.filter(n_available=1).count() == 3
    again = forger.come(campaign)
    assert again.status_code == 400
    assert "does not know this session" in again.text
    n = len([1 for method, path in there.requests if forger.session in path])
    look(campaign)
    assert n == len([1 for _, path in there.requests if forger.session in path])


def test_prolific_is_asked_again_when_a_visit_is_sent_in(there, campaign):  # noqa: F811
    look(campaign)
    people = Person(there, "1"), Forger(there, "2")
    for person in people:
        ask_fault(there, BUSY)
        person.come(campaign)
        assert person.work(at_most=1) != reverse("work:finished")
        assert sessions()[person.session] is None
        ask_fault(there, None)
        person.work()
    wanda, forger = people
    assert sessions() == {wanda.session: True, forger.session: False}
    assert (states(wanda), states(forger)) == ({State.SUBMITTED}, {State.REJECTED})
    assert len(clean_ratings(campaign)) == 3


def test_a_denied_visit_loses_its_open_page_and_gets_no_more_work(there, campaign):  # noqa: F811
    look(campaign)
    ask_fault(there, BUSY)
    forger = Forger(there, "2")
    forger.come(campaign)
    forger.work(at_most=1)
    ask_fault(there, "400")
    look(campaign)
    assert states(forger) == {State.REJECTED, State.RETURNED}
    assert forger.work() == reverse("work:finished")
    page = forger.browser.get(reverse("work:finished")).text
    assert "There is no more of this work for you" in page


def test_work_that_comes_in_during_the_denial_is_refused_at_the_next_look(
    there,
    campaign,  # noqa: F811
    visited,
):
    _, forger = visited
    ask_fault(there, None)
    late = Assignment.objects.filter(session_work__session__session_id=forger.session)
    ExternalSession.objects.filter(session_id=forger.session).update(
        is_vouched=False, status="rejected"
    )
    assert len(clean_ratings(campaign)) == 0
    assert late.count() == 3
    look(campaign)
    assert states(forger) == {State.REJECTED}


def test_forged_visits_buy_no_places(there, campaign):  # noqa: F811
    look(campaign)
    ask_fault(there, BUSY)
    at_work, late = (
        [Forger(there, name) for name in names] for names in ("234567", "89")
    )
    for person in (*at_work, *late):
        assert person.come(campaign).status_code == 302
    for person in at_work:
        assert "/hit/" in person.work(at_most=0)
    for person in late:
        assert person.work() == reverse("work:finished")
    # Prolific denies those at work, so that theirs is open again, and is busy for the rest.
    there.faults = [
        ["GET", f"submissions/{one.session}.*", BUSY, 10**6] for one in late
    ]
    look(campaign)
    look(campaign)
    assert sessions() == {
        **{person.session: False for person in at_work},
        **{person.session: None for person in late},
    }
    assert campaign.hits.filter(n_available=1).count() == 6
    (row,) = there.studies.values()
    assert row["total_available_places"] == 2


def test_visits_that_were_not_vouched_for_are_limited_by_address(
    there,
    campaign,  # noqa: F811
    monkeypatch,
):
    monkeypatch.setattr(throttles.WrongLinks, "rate", "2/hour")
    look(campaign)
    ask_fault(there, BUSY)
    first = Forger(there, "2")
    assert first.come(campaign).status_code == 302
    ask_fault(there, None)
    assert Forger(there, "3").come(campaign).status_code == 400
    n = len(there.requests)
    refused = Forger(there, "4").come(campaign)
    assert refused.status_code == 429
    assert int(refused["Retry-After"]) > 0
    assert len(there.requests) == n  # Prolific was not asked
    # A visit that has begun goes on, and another address is not limited.
    assert first.browser.get(reverse("work:finished")).status_code == 200
    assert first.come(campaign).status_code == 302
    wanda = Person(there, "1")
    wanda.browser = Client(REMOTE_ADDR="192.0.2.9")
    assert wanda.come(campaign).status_code == 302
    assert sessions()[wanda.session] is True
