"""A comparison is not decided while a person has yet to say whose votes count."""

from leaderboard.models import Comparison
from quality.bans.services import held_exclusions
from quality.models import DetectorFit, HeldExclusion, Verdict
from tests.factories import make_worker
from tests.leaderboard.evaluation.steps import settle


def hold_somebody(pool):
    fit = DetectorFit.objects.create(
        pool=pool,
        polarity="NEGATIVE",
        detector="rate-guarded-2",
        counts_sha256="0" * 64,
        n_workers=1,
        seed=1,
        code_version="0",
    )
    worker = make_worker(name="held", simulated=True)
    verdict = Verdict.objects.create(
        fit=fit,
        worker=worker,
        n_questions=9,
        n_correct=0,
        p_noisy=1.0,
        threshold=0.99,
        noisy=True,
    )
    return HeldExclusion.objects.create(worker=worker, pool=pool, verdict=verdict)


def test_it_goes_on_once_the_exclusion_is_decided(right, wrong, ask, crowd, boss):
    held = hold_somebody(right.task.slug)
    found = ask(right, wrong, delta=0.3, max_pairs=9, wave_size=9)
    crowd.work()
    settle()
    found.refresh_from_db()
    assert found.state == "ANNOTATING", found.failure
    held_exclusions.refuse(held.pk, by=boss, reason="The key is wrong.")
    settle()
    assert Comparison.objects.get(pk=found.pk).state == "DECIDED"
