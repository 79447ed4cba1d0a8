"""Bans by several hands at the same moment: one ban, one message, work goes out once."""

from types import SimpleNamespace

import pytest
from django.db import transaction

from crowd.models import Assignment, Exclusion
from genie.lib.errors import GenieError
from quality.bans import services
from quality.detection.services import judge
from quality.models import Ban, DetectorFit, Verdict
from tests.crowd.campaigns.test_races import at_once
from tests.crowd.making import POOL, do_one, make_campaign, make_worker
from tests.factories import make_user
from tests.quality.making import grade, place

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.every_engine]


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


def test_two_people_decide_while_the_detector_proposes_again_or_clears():
    make_campaign(1)
    sam = make_user("sam")
    for clears in (False, True) * 3:
        worker = make_worker()
        carry_out(fit_of(worker, noisy=True), worker)
        pk, again = Ban.proposed.get(worker=worker).pk, fit_of(worker, noisy=not clears)
        found = at_once(
            lambda pk=pk: services.confirm(pk, by=sam, reason="Clicks."),
            lambda pk=pk: services.refuse(pk, by=sam, reason="Reads."),
            lambda fit=again, w=worker: carry_out(fit, w),
        )
        decided = [not isinstance(one, GenieError) for one in found[:2]]
        assert sum(decided) == 1 or (clears and not any(decided)), found
        rows = Ban._base_manager.filter(worker=worker, pool=POOL)
        kept = rows.values_list("state", flat=True)
        assert list(kept) == ["IN_FORCE"] * decided[0] + ["REFUSED"] * decided[1]
        assert Exclusion.own.filter(worker=worker).count() == decided[0]


def fit_of(worker, *, noisy):
    name = f"{worker.pk}-{DetectorFit.own.count()}"
    fit = DetectorFit.objects.create(
        pool_id=POOL, n_workers=1, seed=1, counts_sha256=name
    )
    said = {"n_questions": 9, "n_correct": 0, "p_noisy": 1.0, "threshold": 0.99}
    Verdict.objects.create(fit=fit, worker=worker, noisy=noisy, **said)
    return fit


@transaction.atomic
def carry_out(fit, worker):
    services.carry_out(fit, simulated=False, for_people=[worker.pk])
