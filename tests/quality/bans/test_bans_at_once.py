"""Bans by several hands at the same moment: one ban, one message, work goes out once."""

from types import SimpleNamespace

import pytest

from crowd.models import HIT, Assignment, Exclusion
from quality.bans import services
from quality.detection.services import judge
from quality.models import Ban, DetectorFit
from tests.crowd.campaigns.test_races import at_once
from tests.crowd.making import POOL, do_one, make_campaign, make_worker
from tests.factories import make_user
from tests.quality.making import grade, place

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.every_engine]


def test_two_people_who_ban_a_worker_at_the_same_moment_ban_once():
    for number in range(4):
        make_campaign(1)
        worker = make_worker()
        do_one(worker)
        staff = [make_user(f"staff-{number}-{i}") for i in range(3)]
        got = at_once(
            *[
                lambda by=by, w=worker: services.ban(w, POOL, by=by, reason="Noise.")
                for by in staff
            ]
        )
        assert len({one.pk for one in got}) == 1
        assert Exclusion.own.filter(worker=worker).count() == 1
        assert HIT.objects.latest("pk").max_assignments == 2
        HIT.own.update(n_available=0)


def test_a_detector_and_a_person_do_not_block_each_other(monkeypatch, settings):
    settings.GENIE = {**settings.GENIE, "MOST_EXCLUDED": 1}

    def all_noisy(n_correct, n_questions, **_):
        n = len(n_correct)
        return SimpleNamespace(p_noisy=[1.0] * n, flagged=[True] * n, parameters={})

    monkeypatch.setattr(judge, "detect", all_noisy)
    campaign = make_campaign(12)
    workers = [make_worker() for _ in range(6)]
    for _ in range(2):
        for worker in workers:
            do_one(worker)
    for assignment in Assignment.own.all():
        test_question = place(campaign, assignment.hit.items.get())
        grade(test_question, assignment, pool=POOL)
    sam = make_user("sam")
    at_once(
        lambda: judge.judge(POOL),
        lambda: [
            services.ban(w, POOL, by=sam, reason="Noise.") for w in reversed(workers)
        ],
        lambda: judge.judge(POOL),
    )
    assert DetectorFit.own.count() == 1
    assert Ban.own.count() == Exclusion.own.count() == 6
    assert Assignment.own.filter(replaced_at=None).count() == 0
