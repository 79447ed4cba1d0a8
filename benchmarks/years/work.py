"""What workers were asked in years, and what they answered."""

from typing import Any

import numpy as np

from benchmarks.years.bulk import fill
from benchmarks.years.size import EACH, JUDGED, RATINGS, TESTS, Size, after, slug


def make_work(size: Size, task: int, at: Any) -> None:
    """Write what workers were asked and what they answered."""
    from crowd import models as crowd
    from leaderboard.models import Prediction, Subject
    from quality.models import Grade, TestQuestion

    n, shown = size.systems, JUDGED + TESTS
    inputs = task * shown
    fill(
        crowd.Input,
        shown,
        id=after(inputs, shown),
        scope=slug(task),
        content_key=[f"input-{k}" for k in range(shown)],
    )
    system, instance = (
        grid.ravel() for grid in np.mgrid[0:n, 0:JUDGED].astype(np.int64)
    )
    open_now = (system >= n - size.being_judged) & (instance >= JUDGED // 2)
    n_hits = n * JUDGED
    before = task * (n_hits + TESTS)
    hits = after(before, n_hits + TESTS)
    # the tests are HITs of the first system that is being judged
    of_tests = task * n + n - size.being_judged + 1
    campaign = [*(task * n + system + 1).tolist(), *[of_tests] * TESTS]
    fill(
        crowd.HIT,
        len(hits),
        id=hits,
        campaign_id=campaign,
        input_id=[*(inputs + instance + 1).tolist(), *after(inputs + JUDGED, TESTS)],
        position=[*instance.tolist(), *range(JUDGED, shown)],
        n_available=[*np.where(open_now, RATINGS, 0).tolist(), *[0] * TESTS],
        max_assignments=[RATINGS] * n_hits + [size.crowd] * TESTS,
    )
    texts = {
        "fields": [{"label": "Text", "text": "A text.", "lang": "en"}],
        "prediction": "An output that a system gave.",
        "lang": "en",
    }
    fill(
        crowd.Item,
        len(hits),
        id=hits,
        campaign_id=campaign,
        hit_id=hits,
        key=[f"item-{pk}" for pk in hits],
        data=texts,
        content_key=[*(f"input-{k}" for k in instance), *["test"] * TESTS],
    )
    asked = after(task * n_hits, n_hits)
    instances = (task * EACH + instance + 1).tolist()
    fill(
        Subject,
        n_hits,
        id=asked,
        evaluation_id=campaign[:n_hits],
        item_id=hits[:n_hits],
        instance_id=instances,
    )
    fill(
        Prediction,
        n_hits,
        id=asked,
        submission_id=campaign[:n_hits],
        instance_id=instances,
        text="An output that a system gave.",
    )
    done = np.flatnonzero(~open_now)
    hit = np.repeat(done, RATINGS)
    rating = np.tile(np.arange(RATINGS), len(done))
    worker = (instance[hit] * 7 + system[hit] * RATINGS + rating) % size.crowd
    everybody = np.arange(size.crowd)
    hit = np.concatenate(
        [hit, np.repeat(np.arange(n_hits, n_hits + TESTS), size.crowd)]
    )
    worker = np.concatenate([worker, np.tile(everybody, TESTS)])
    first = task * (n_hits * RATINGS + TESTS * size.crowd)
    work = after(first, len(hit))
    hit_pks = (before + hit + 1).tolist()
    worker_pks = (task * size.crowd + worker + 1).tolist()
    fill(
        crowd.Assignment,
        len(work),
        id=work,
        hit_id=hit_pks,
        worker_id=worker_pks,
        state="APPROVED",
        reward_cents=9,
        accepted_at=at,
        deadline_at=at,
        submitted_at=at,
        decided_at=at,
        active_seconds=20.0,
    )
    rng = np.random.default_rng(task)
    quality = np.concatenate([0.4 + 0.4 * rng.random(n), [0.1]])
    of = np.concatenate([system, np.full(TESTS, n)])[hit]
    points = rng.binomial(4, quality[of])
    fill(
        crowd.Rating,
        len(work),
        id=work,
        assignment_id=work,
        item_id=hit_pks,
        criterion="overall",
        value=(points / 4).tolist(),
        raw=(points + 1).tolist(),
    )
    fill(
        crowd.LedgerEntry,
        len(work),
        id=work,
        idempotency_key=[f"reward:{pk}" for pk in work],
        campaign_id=[campaign[k] for k in hit.tolist()],
        assignment_id=work,
        kind="REWARD",
        state="DONE",
        amount_cents=9,
        created_at=at,
        done_at=at,
    )
    placed = after(task * TESTS, TESTS)
    fill(
        TestQuestion,
        TESTS,
        id=placed,
        campaign_id=of_tests,
        item_id=hits[n_hits:],
        polarity="NEGATIVE",
    )
    n_graded = TESTS * size.crowd
    fill(
        Grade,
        n_graded,
        id=after(task * n_graded, n_graded),
        test_question_id=np.repeat(placed, size.crowd).tolist(),
        assignment_id=work[-n_graded:],
        worker_id=worker_pks[-n_graded:],
        pool_id=slug(task),
        criterion="overall",
        polarity="NEGATIVE",
        correct=(points[-n_graded:] <= 1).tolist(),
        graded_at=at,
    )
