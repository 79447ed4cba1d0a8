"""One campaign with a simulated crowd: assignments, tests, stops and ratings.

Every answer costs the same, whether test or rating, and a campaign ends when every
output has a rating that counts or the money is spent.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from genie_research.crowds.people import COPYING, Crowd, answer_test, rate
from quality.counts import Floats, Ints
from quality.detection.services.assess_pool import rating_weights
from quality.detection.stats.assess import (
    Assessment,
    AssessOptions,
    Ratings,
    Tests,
    assessment_of,
    excluded_by,
)
from quality.detection.stats.detectors import DEFAULT_DETECTOR, detect
from quality.detection.stats.fitted_detector import Bools
from quality.detection.stats.schedule import (
    FIT_EVERY,
    EarlyStop,
    ScheduleOptions,
    affordable,
    test_probability,
)
from quality.detection.stats.workers.answers import NO_YES, no_ratings, no_tests
from quality.detection.stats.workers.fitting import Fitted, fit_workers

KINDS = dict(enumerate(NO_YES))
DETECTORS = ("none", "fixed", "tests", "all")


@dataclass(frozen=True)
class CampaignPlan:
    """How a campaign is run.

    Attributes
    ----------
    detector : str
        ``none``; ``fixed``: tests at a fixed share, and workers right on less than .9
        are noisy; ``tests``: tests by doubt and an estimated key; ``all``: ratings,
        too.
    extra : float
        Budget beyond one rating of every output, as a share of these.
    share_tests : float
        Share of tests in the cost that staff approved.
    largest : float
        Largest share of the outputs that one worker may rate.
    every : int
        Answers between two fits of the whole pool.
    stop_at, pause_at : float
        Probabilities of being careless at which a fit stops a worker, and at which
        their newest tests pause them until the next fit.
    """

    detector: str = "all"
    extra: float = 0.1
    share_tests: float = 0.25
    largest: float = 0.1
    every: int = FIT_EVERY
    stop_at: float = 0.99
    pause_at: float = 0.9
    schedule: ScheduleOptions = field(default_factory=ScheduleOptions)
    options: AssessOptions = field(
        default_factory=partial(AssessOptions, guesses=NO_YES)
    )

    def __post_init__(self) -> None:
        if self.detector not in DETECTORS:
            raise ValueError(f"A detector is one of {', '.join(DETECTORS)}.")


@dataclass(frozen=True)
class Outcome:
    """The result of a campaign.

    Attributes
    ----------
    value, weight : ndarray, shape (n,)
        Ratings of workers who were not stopped, and their weights.
    system, worker, instance : ndarray of int, shape (n,)
    noisy, copied : ndarray of bool, shape (n,)
        Given without care; by a worker who copies a language model.
    stopped_after : ndarray, shape (n_workers,)
        Answers before a worker was stopped, of the careless since they turned; infinite
        if never.
    answered : ndarray of int, shape (n_workers,)
    p_careless : ndarray, shape (n_workers,)
    share_low : float
        Lower end of the interval of the share of careless workers.
    asked, rated
        All tests and ratings, in the order of answering.
    """

    value: Floats
    weight: Floats
    system: Ints
    worker: Ints
    instance: Ints
    noisy: Bools
    copied: Bools
    stopped_after: Floats
    answered: Ints
    n_tests: int
    p_careless: Floats
    share_low: float
    asked: Tests = field(default_factory=no_tests)
    rated: Ratings = field(default_factory=no_ratings)


class _Campaign:
    def __init__(
        self, crowd: Crowd, plan: CampaignPlan, rng: np.random.Generator
    ) -> None:
        n, task = crowd.plan.n_workers, crowd.plan
        self.crowd, self.plan, self.rng = crowd, plan, rng
        self.tests: list[tuple[int, int, int, bool, int]] = []
        self.ratings: list[tuple[int, int, int, float, int, bool]] = []
        self.answered = np.zeros(n, dtype=np.int64)
        self.n_tests = np.zeros(n, dtype=np.int64)
        self.stopped_after = np.full(n, np.inf)
        self.seen = np.zeros((n, task.n_instances), dtype=bool)
        self.open = np.ones((task.n_systems, task.n_instances), dtype=bool)
        self.p = np.full(n, plan.options.share_careless)
        self.fitted: Fitted | None = None
        self.paused = np.zeros(n, dtype=bool)
        # right and all, of negative and positive tests; and those in the last fit
        self.counts = np.zeros((n, 2, 2), dtype=np.int64)
        self.seen_counts = self.counts.copy()
        self.before = self.p.copy()
        self.good: dict[Hashable, float] = {}

    @property
    def modelled(self) -> bool:
        return self.plan.detector in ("tests", "all")

    def run(self) -> None:
        money = round(self.open.size * (1 + self.plan.extra))
        for spent in range(money):
            if spent and spent % self.plan.every == 0:
                self.look()
            if not self.open.any():
                self.look()
            able = self._able()
            if not able.any() and self.paused.any():
                self.look()
                able = self._able()
            if not able.any() or not self.open.any():
                break
            pace = self.crowd.pace * able
            worker = int(self.rng.choice(len(pace), p=pace / pace.sum()))
            if self.rng.random() < self._p_test(worker, spent):
                self._ask_test(worker)
            else:
                self._ask_item(worker)

    def _able(self) -> Bools:
        most = self.plan.largest * self.open.size
        room = self.answered - self.n_tests < most
        return np.asarray(np.isinf(self.stopped_after) & room & ~self.paused)

    def _p_test(self, worker: int, spent: int) -> float:
        if not self.modelled:
            return self.plan.extra / (1 + self.plan.extra)
        return test_probability(
            int(self.n_tests[worker]),
            float(self.p[worker]),
            affordable(
                spent,
                float(self.n_tests.sum()),
                self.plan.share_tests,
                planned=self.open.size * (1 + self.plan.extra),
            ),
            options=self.plan.schedule,
        )

    def _ask_test(self, worker: int) -> None:
        rng, place = self.rng, int(self.answered[worker])
        # as many of either polarity, in an unpredictable order
        asked = [row[2] for row in self.tests if row[0] == worker]
        more = 2 * sum(asked) - len(asked)
        positive = int(rng.random() < (0.5 if more == 0 else 0.2 if more > 0 else 0.8))
        number = int(rng.integers(self.crowd.plan.n_questions))
        right = answer_test(self.crowd, worker, place, positive, number, rng)
        self.tests.append((worker, 2 * number + positive, positive, right, place))
        self.answered[worker] += 1
        self.n_tests[worker] += 1
        self.counts[worker, positive] += (right, 1)
        if self.modelled:
            self.p[worker] = self._now(worker)
            self.paused[worker] = self.p[worker] > self.plan.pause_at

    def _now(self, worker: int) -> float:
        seen, counts = self.seen_counts[worker].tolist(), self.counts[worker].tolist()
        known = {0: tuple(seen[0]), 1: tuple(seen[1])}
        early = EarlyStop(float(self.before[worker]), self.good, known)
        return early.probability({0: tuple(counts[0]), 1: tuple(counts[1])}, KINDS)

    def _ask_item(self, worker: int) -> None:
        free = np.flatnonzero(self.open & ~self.seen[worker])
        if not len(free):
            free = np.flatnonzero(self.open)
        place = int(free[self.rng.integers(len(free))])
        system, instance = divmod(place, self.open.shape[1])
        before = int(self.answered[worker])
        value = rate(self.crowd, worker, before, system, instance, self.rng)
        noisy = bool(self.crowd.bad[worker] and before >= self.crowd.plan.turning)
        self.ratings.append((worker, system, instance, value, before, noisy))
        self.open[system, instance] = False
        self.seen[worker, instance] = True
        self.answered[worker] += 1

    def look(self, *, rounds: int = 4) -> Assessment | None:
        if self.plan.detector == "none":
            return None
        found = None
        if self.modelled:
            found = self._fit(rounds)
            flagged = excluded_by(self.p, self.plan.stop_at)
            self.paused[:] = False
        else:
            flagged = self._fixed()
        fresh = flagged & np.isinf(self.stopped_after)
        self.stopped_after[fresh] = self.answered[fresh]
        # a ban removes all of a worker's answers, and each is asked again once
        for worker, system, instance, *_ in self.ratings:
            if fresh[worker]:
                self.open[system, instance] = True
        return found

    def _doubts(self, found: Assessment) -> Floats:
        if len(found.p_rating):
            return found.p_rating
        return self.p[[row[0] for row in self.ratings]]

    def _fixed(self) -> Bools:
        flagged: Bools = np.isfinite(self.stopped_after)
        for positive in (0, 1):
            rows = [row for row in self.tests if row[2] == positive]
            who = np.array([row[0] for row in rows], dtype=np.int64)
            right = np.array([row[3] for row in rows], dtype=np.float64)
            n = np.bincount(who, minlength=len(flagged))
            correct = np.bincount(who, right, len(flagged))
            asked = np.flatnonzero(n)
            if len(asked):
                found = detect(correct[asked], n[asked], detector=DEFAULT_DETECTOR)
                flagged[asked[found.flagged]] = True
        return flagged

    def _fit(self, rounds: int) -> Assessment:
        tests = self._tests()
        ratings = self._rated() if self.plan.detector == "all" else no_ratings()
        options = replace(self.plan.options, n_iterations=rounds)
        n = self.crowd.plan.n_workers
        self.fitted = fit_workers(n, tests, ratings, options, last=self.fitted)
        found = assessment_of(self.fitted, tests, options)
        self.p, self.before = found.p_careless.copy(), found.p_careless
        self.seen_counts = self.counts.copy()
        self.good = dict(enumerate(found.good_accuracy.tolist()))
        return found

    def _tests(self) -> Tests:
        rows = np.array(self.tests, dtype=np.int64).reshape(-1, 5)
        worker, question, kind, right, order = rows.T
        return Tests(worker, question, kind, right > 0, order)

    def _rated(self) -> Ratings:
        rows = np.array([row[:3] + row[4:5] for row in self.ratings], dtype=np.int64)
        worker, system, instance, order = rows.reshape(-1, 4).T
        value = np.array([row[3] for row in self.ratings], dtype=np.float64)
        item = system * self.open.shape[1] + instance
        return Ratings(worker, item, system, instance, 0 * item, value, order)


def run_campaign(crowd: Crowd, plan: CampaignPlan, rng: np.random.Generator) -> Outcome:
    """Run a campaign to its end.

    Ratings are weighted by the probability that they were given with care; with
    ``fixed`` and ``none`` they count in full or not at all.
    """
    campaign = _Campaign(crowd, plan, rng)
    campaign.run()
    found = campaign.look(rounds=plan.options.n_iterations)
    worker, system, instance = np.array(
        [row[:3] for row in campaign.ratings], dtype=np.int64
    ).T
    counts = np.isinf(campaign.stopped_after)[worker]
    weight = counts.astype(np.float64)
    if found is not None:
        weight = np.where(counts, rating_weights(worker, campaign._doubts(found)), 0)
    noisy = np.array([row[5] for row in campaign.ratings], dtype=bool)
    answered = campaign.stopped_after - np.where(crowd.bad, crowd.plan.turning, 0)
    return Outcome(
        value=np.array([row[3] for row in campaign.ratings]),
        weight=weight,
        system=system,
        worker=worker,
        instance=instance,
        noisy=noisy,
        copied=noisy & (crowd.kind == COPYING)[worker],
        stopped_after=answered,
        answered=campaign.answered,
        n_tests=len(campaign.tests),
        p_careless=campaign.p,
        share_low=0.0 if found is None else found.share_careless.low,
        asked=campaign._tests(),
        rated=campaign._rated(),
    )
