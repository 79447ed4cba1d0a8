"""No more than a share of a pool is excluded before a person has looked at it."""

import pytest
from django.contrib.admin.models import LogEntry
from django.db import IntegrityError, transaction

from crowd.models import Assignment, Exclusion, LedgerEntry, Pause
from genie.lib.errors import GenieError
from leaderboard.tasks.config import HumanConfig
from leaderboard.tasks.config.kinds import Place, read_table
from leaderboard.tasks.services import configuration
from quality.bans import services
from quality.bans.selectors import all_ratings_of, clean_ratings, waits_for_decision
from quality.bans.services import most_excluded
from quality.detection.services import judge
from quality.models import Ban, DetectorFit, HeldExclusion, Verdict
from tests.crowd import making
from tests.factories import make_user, make_worker, signed_in
from tests.quality.making import TASK as POOL
from tests.quality.making import graded

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("genies_detector")]


@pytest.fixture
def worker_with(campaign):
    """Make a worker who answered hidden questions: `worker_with("rrrw")`."""

    def make(marks, worker=None, polarity="NEGATIVE"):
        who = worker or make_worker()
        graded(campaign, who, marks, polarity)
        return who

    return make


@pytest.mark.parametrize(
    ("n", "share", "most"),
    [(0, 0.2, 2), (3, 0.2, 2), (15, 0.2, 3), (60, 0.2, 12), (60, 1, 60), (60, 0, 0)],
)
def test_the_share_is_rounded_down_and_small_pools_can_lose_two(n, share, most):
    assert most_excluded(n, share) == most


def test_a_share_is_a_share():
    with pytest.raises(ValueError, match="between 0 and 1"):
        most_excluded(10, 1.5)


@pytest.fixture
def held(worker_with):
    """Give four of ten workers whom the detector takes for noisy: two may go, not four."""
    noisy = [worker_with("w" * 12) for _ in range(4)]
    for _ in range(6):
        worker_with("r" * 12)
    for _ in range(10):  # programs raise no number of people
        worker_with("r", make_worker(simulated=True))
    judge.judge(POOL)
    return noisy


def test_beyond_the_share_nobody_is_excluded_and_staff_are_asked(held):
    assert not Ban.own.exists()
    assert not Exclusion.own.exists()
    rows = HeldExclusion.own.filter(state="PROPOSED")
    assert [row.worker for row in rows] == held
    assert {row.worker for row in Pause.own.all()} == set(held)
    assert waits_for_decision(POOL, simulated=False)
    assert not waits_for_decision(POOL, simulated=True)
    assert rows[0].verdict.sentence.startswith("0 of 12 negative test questions right")


def test_a_proposed_ban_changes_no_rating_no_page_of_the_worker_and_no_pay(ada):
    wim = making.make_worker(user=make_user("wim"))
    campaign, site = making.make_campaign(3), signed_in(wim.user)
    making.do_one(wim)
    pages = ("", "earnings/", "messages/", "settings/", f"appeals/ban/{making.POOL}/")
    rows = (LedgerEntry.own, Assignment.own, Exclusion.own)

    def found():
        return (
            clean_ratings(campaign).to_csv(),
            all_ratings_of([campaign.pk]).to_csv(),
            [list(one.all().values()) for one in rows],
            [making.text_of(site.get(f"/work/{page}")) for page in pages],
        )

    before = found()
    fit = DetectorFit.objects.create(pool_id=making.POOL, n_workers=1, seed=1)
    said = {"n_questions": 9, "n_correct": 0, "p_noisy": 1.0, "threshold": 0.99}
    verdict = Verdict.objects.create(fit=fit, worker=wim, noisy=True, **said)
    services.hold(making.POOL, [verdict, verdict])
    proposed = Ban.proposed.get(worker=wim)
    Pause.own.all().delete()
    assert found() == before
    with pytest.raises(IntegrityError), transaction.atomic():
        Ban.objects.create(worker=wim, pool_id=making.POOL, state="PROPOSED")
    services.confirm(proposed.pk, by=ada, reason="Clicks at random.")
    assert all(was != now for was, now in zip(before, found(), strict=True))


@pytest.mark.every_engine
def test_those_who_went_before_count_unless_people_decided(worker_with, ada):
    for _ in range(8):
        worker_with("r" * 12)
    first, second = worker_with("w" * 12), worker_with("w" * 12)
    judge.judge(POOL)
    assert {ban.worker for ban in Ban.own.all()} == {first, second}
    third = worker_with("w" * 12)
    judge.judge(POOL)
    assert [row.worker for row in HeldExclusion.own.all()] == [third]
    services.confirm(HeldExclusion.own.get().pk, by=ada, reason="Clicks at random.")
    services.lift(Ban.objects.get(worker=first).pk, by=ada, reason="Reads well.")
    fourth = worker_with("w" * 12)
    judge.judge(POOL)
    by_detector = Ban.own.filter(created_by=None, lifted_at=None)
    assert {ban.worker for ban in by_detector} == {second, fourth}


@pytest.mark.every_engine
def test_a_confirmed_exclusion_is_a_ban_with_its_reason_and_happens_once(held, ada):
    row = HeldExclusion.own.first()
    ban = services.confirm(row.pk, by=ada, reason="Clicks at random.")
    assert (ban.pk, ban.state, ban.verdict) == (row.pk, "IN_FORCE", row.verdict)
    assert (ban.created_by, ban.reason) == (ada, "Clicks at random.")
    for again in (services.confirm, services.refuse):
        with pytest.raises(GenieError, match="has already been decided"):
            again(row.pk, by=ada, reason="Once more.")


def test_a_refused_exclusion_does_not_come_back(held, ada, worker_with):
    for row in HeldExclusion.own.all():
        services.refuse(row.pk, by=ada, reason="The key is wrong.")
    worker_with("www", worker=held[0])
    judge.judge(POOL)
    assert not Ban.own.exists()
    assert not waits_for_decision(POOL, simulated=False)


def test_a_decision_wants_a_reason_and_a_ban_by_hand_is_one(held, ada):
    with pytest.raises(GenieError, match="Give a reason"):
        services.refuse(HeldExclusion.own.first().pk, by=ada, reason=" ")
    services.ban(held[0], POOL, by=ada, reason="He told us.")
    row = HeldExclusion.own.get(worker=held[0])
    assert (row.state, row.created_by) == ("IN_FORCE", ada)


def test_whom_a_later_fit_clears_waits_no_longer(held, worker_with):
    worker_with("r" * 120, worker=held[0])
    judge.judge(POOL)
    assert services.waiting_workers(POOL) == {worker.pk for worker in held[1:]}


def test_who_is_cleared_on_one_polarity_only_waits_on(worker_with):
    """The answers to the other polarity are not judged again before they change."""
    noisy = [worker_with("w" * 12) for _ in range(4)]
    for _ in range(6):
        worker_with("r" * 12, worker=worker_with("r" * 12, polarity="POSITIVE"))
    for worker in noisy:
        worker_with("w" * 12, worker=worker, polarity="POSITIVE")
    judge.judge(POOL)
    worker_with("r" * 120, worker=noisy[0])
    judge.judge(POOL)
    held = HeldExclusion.own.get(worker=noisy[0])
    assert (held.state, held.verdict.fit.polarity) == ("PROPOSED", "POSITIVE")
    worker_with("r" * 120, worker=noisy[0], polarity="POSITIVE")
    judge.judge(POOL)
    assert services.waiting_workers(POOL) == {worker.pk for worker in noisy[1:]}


@pytest.mark.every_engine
def test_staff_read_who_and_why_and_decide_with_a_reason(held, ada):
    client = signed_in(ada)
    front = client.get("/admin/").text
    assert "Exclusions to confirm or reject (scores are waiting): 5" in front
    path = "/admin/quality/heldexclusion/"
    rows = [row.pk for row in HeldExclusion.own.all()]
    assert "0 of 12 negative test questions right" in client.get(path).text
    for action, pks, state in (
        ("confirm_selected", rows[:1], "IN_FORCE"),
        ("refuse_selected", rows[1:], "REFUSED"),
    ):
        data = {"action": action, "_selected_action": pks}
        page = client.post(path, data)
        assert "0 of 12 negative test questions right" in page.text
        client.post(path, data | {"confirmed": "1", "reason": "I read them."})
        found = HeldExclusion.own.filter(pk__in=pks)
        assert {(row.state, row.reason + row.lifted_reason) for row in found} == {
            (state, "I read them.")
        }
    assert LogEntry.own.count() == 4
    assert Ban.own.get().worker == held[0]


def noisy_below(table):
    return configuration.noisy_below(read_table(HumanConfig, table, Place("human", [])))


def test_a_task_says_below_which_share_a_worker_is_noisy(worker_with, settings):
    """Careful people agree with a hard key two times in three."""
    for _ in range(12):
        worker_with("rrw" * 8, polarity="POSITIVE")
    worker_with("w" * 24, polarity="POSITIVE")
    judge.judge(POOL)
    assert HeldExclusion.own.count() > 2
    HeldExclusion.own.all().delete()
    said = noisy_below({"noisy_below": {"positive": 0.4}})
    judge.judge(POOL, noisy_below=said)
    assert Ban.own.count() == 1
    fits = DetectorFit.own.filter(polarity="POSITIVE").order_by("pk")
    assert [fit.threshold_rate for fit in fits] == [0.9, 0.4]
    assert fits[1].parameters["threshold_rate"] == 0.4
    settings.GENIE = {**settings.GENIE, "NOISY_BELOW": 0.35}
    judge.judge(POOL)
    assert DetectorFit.own.latest("pk").threshold_rate == 0.35


def test_one_number_holds_for_both_polarities_and_none_for_the_sites_own():
    both = noisy_below({"noisy_below": 0.7})
    assert both == {"POSITIVE": 0.7, "NEGATIVE": 0.7}
    assert noisy_below({}) == {"POSITIVE": 0.9, "NEGATIVE": 0.9}
    one = noisy_below({"noisy_below": {"positive": 0.6}})
    assert one == {"POSITIVE": 0.6, "NEGATIVE": 0.9}
