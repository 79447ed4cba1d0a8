"""Campaigns of simulated crowds through the site's own services, rolled back.

`simulate_crowd` simulates everything; here the product runs campaigns at the approved
shares of test questions, the next HIT, pauses, fits, exclusions, reissued work and
weights.
"""

from copy import deepcopy
from datetime import timedelta
from typing import Any

import numpy as np
from django.db import transaction
from django.utils import timezone

from crowd.campaigns.services import work
from crowd.hits.models import Item, Pool
from crowd.scales.base import all_scales
from crowd.workers.models.worker import Pause, Worker
from crowd.workers.services import invitations
from crowd.workers.services.invitations import give_consent
from genie.lib import jobs
from genie_research.crowds.campaign import CampaignPlan, Outcome
from genie_research.crowds.people import COPYING, Crowd, answer_test, rate
from leaderboard import demo
from leaderboard.evaluation import decide
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation, Subject
from leaderboard.evaluation.run import advance
from leaderboard.evaluation.selectors.system_ratings import all_system_ratings_of
from leaderboard.evaluation.services import request
from leaderboard.submissions.models import Prediction, Submission
from leaderboard.tasks import shipped
from leaderboard.tasks.models import Instance, Task
from quality.bans.models import Ban
from quality.bans.selectors import soft_weights, weight_of
from quality.bans.services import confirm
from quality.detection.models import DetectorFit, Standing
from quality.detection.stats.assess import Ratings, Tests
from quality.test_questions.models import Polarity, TestQuestion

SLUG, LIKE = "crowd-study", "demo-translation"
#: Answers of the whole crowd between two runs of the queue.
EVERY = 60
_NAMES = [
    "Ada",
    "Ben",
    "Cleo",
    "Dirk",
    "Emma",
    "Finn",
    "Gerda",
    "Hugo",
    "Ines",
    "Jakob",
    "Karla",
    "Leo",
    "Mona",
    "Nils",
]
_TOWNS = [
    "Lübeck",
    "Mainz",
    "Passau",
    "Jena",
    "Kassel",
    "Trier",
    "Ulm",
    "Worms",
    "Bonn",
    "Celle",
    "Fulda",
    "Gera",
]
_THINGS = [
    "bridges",
    "bicycles",
    "letters",
    "houses",
    "chairs",
    "apples",
    "lamps",
    "boats",
    "clocks",
]


def site_campaign(
    crowd: Crowd, plan: CampaignPlan, rng: np.random.Generator
) -> Outcome:
    """Run one campaign of each system with this crowd; all of it is rolled back.

    Staff confirm every held exclusion. Half of the share of test questions are
    positive.
    """
    with transaction.atomic():
        try:
            return _Site(crowd, plan, rng).run()
        finally:
            transaction.set_rollback(True)


class _Site:
    def __init__(
        self, crowd: Crowd, plan: CampaignPlan, rng: np.random.Generator
    ) -> None:
        self.crowd, self.rng = crowd, rng
        self.boss = demo.demo_admin()
        self.task = _task(crowd, plan)
        self.systems = _systems(self.task, crowd, self.boss)
        self.workers = _workers(crowd, self.task.slug)
        self.number = {worker.pk: i for i, worker in enumerate(self.workers)}
        self.answered = np.zeros(len(self.workers), dtype=np.int64)
        #: the columns of `Tests` and `Ratings`
        self.asked: list[tuple[int, int, int, bool, int]] = []
        self.rated: list[tuple[int, int, int, int, int, float, int]] = []
        #: (worker, item) of ratings that were given without care
        self.careless: set[tuple[int, int]] = set()

    def run(self) -> Outcome:
        for submission in self.systems:
            decide.approve(submission.evaluation, by=self.boss, start_now=True)
        self._settle()
        able = np.ones(len(self.workers), dtype=bool)
        n, looked = 0, False
        while True:
            if not able.any():
                if looked:
                    break
                # Workers who were paused or wait for returned work continue some time
                # later.
                before = timezone.now() - timedelta(days=1)
                Pause.objects.filter(pool=self.task.slug).update(created_at=before)
                self._settle()
                able[:], looked = True, True
            pace = self.crowd.pace * able
            worker = int(self.rng.choice(len(pace), p=pace / pace.sum()))
            able[worker] = self._answer(worker)
            if not able[worker]:
                continue
            n, looked = n + 1, False
            if n % EVERY == 0:
                self._settle()
                able[:] = True
        return self._outcome()

    def _settle(self) -> None:
        advance()
        jobs.drain()
        for held in Ban.proposed.filter(pool=self.task.slug):
            confirm(held.pk, by=self.boss, reason="As told.")

    def _answer(self, worker: int) -> bool:
        assignment = work.next_assignment(self.workers[worker])
        if assignment is None:
            return False
        scale = all_scales()[assignment.hit.campaign.hit_type.scale]
        options = sorted(scale.options, key=lambda option: option.value)
        answers = {}
        for item in assignment.hit.items.all():
            level = self._level(worker, item)
            answers[item.key] = dict.fromkeys(
                assignment.hit.campaign.hit_type.criteria, options[level].raw
            )
        work.submit(assignment, answers, active_seconds=12.0)
        self.answered[worker] += 1
        return True

    def _level(self, worker: int, item: Item) -> int:
        place, rng = int(self.answered[worker]), self.rng
        asked = TestQuestion.objects.filter(item=item).first()
        if asked is not None:
            positive = int(asked.polarity == Polarity.POSITIVE)
            question = asked.pk % self.crowd.plan.n_questions
            right = answer_test(self.crowd, worker, place, positive, question, rng)
            self.asked.append((worker, asked.pk, positive, right, place))
            return int(rng.integers(3, 5) if right == positive else rng.integers(0, 2))
        judged = Subject.objects.select_related("instance").get(item=item)
        own = item.campaign.asked.submission_id
        system = next(i for i, one in enumerate(self.systems) if one.pk == own)
        if self.crowd.bad[worker] and place >= self.crowd.plan.turning:
            self.careless.add((self.workers[worker].pk, item.pk))
        instance = judged.instance.position
        value = rate(self.crowd, worker, place, system, instance, rng)
        self.rated.append((worker, item.pk, system, instance, 0, value, place))
        return round(4 * value)

    def _outcome(self) -> Outcome:
        self._settle()
        pool, n = self.task.slug, len(self.workers)
        rows = all_system_ratings_of(
            list(
                HumanEvaluation.objects.filter(task=self.task).values_list(
                    "pk", flat=True
                )
            )
        )
        weights = soft_weights(pool)
        pairs = list(zip(rows["worker"].tolist(), rows["item"].tolist(), strict=True))
        counts = (rows["why_not"] == "").to_numpy()
        weight = np.array([weight_of(weights, *pair) for pair in pairs]) * counts
        worker = np.array([self.number[who] for who, _ in pairs])
        noisy = np.array([pair in self.careless for pair in pairs])
        place = {one.pk: i for i, one in enumerate(self.systems)}
        stopped = np.full(n, np.inf)
        bans = Ban.in_force.filter(pool=pool)
        for who in bans.values_list("worker", flat=True):
            i = self.number[who]
            since = self.crowd.plan.turning if self.crowd.bad[i] else 0
            stopped[i] = self.answered[i] - since
        p_careless = np.zeros(n)
        for who, p in Standing.objects.filter(pool=pool).values_list(
            "worker", "p_careless"
        ):
            p_careless[self.number[who]] = p
        fit = DetectorFit.objects.filter(pool=pool).first()
        low = fit.parameters.get("share_careless_low", 0.0) if fit else 0.0
        return Outcome(
            value=rows["value"].to_numpy(float),
            weight=weight,
            system=np.array([place[pk] for pk in rows["submission"].tolist()]),
            worker=worker,
            instance=rows["instance"].to_numpy(np.int64),
            noisy=noisy,
            copied=noisy & (self.crowd.kind == COPYING)[worker],
            stopped_after=stopped,
            answered=self.answered,
            n_tests=len(self.asked),
            p_careless=p_careless,
            share_low=low,
            asked=Tests(*_columns(self.asked, 5)),
            rated=Ratings(*_columns(self.rated, 7)),
        )


def _columns(rows: list[Any], n: int) -> list[np.ndarray[Any, Any]]:
    return [np.array([row[i] for row in rows]) for i in range(n)]


def _task(crowd: Crowd, plan: CampaignPlan) -> Task:
    n = crowd.plan.n_instances
    config: dict[str, Any] = deepcopy(dict(shipped.definition(LIKE)))
    config["human"] |= {
        "sample_size": n,
        "positive_share": plan.share_tests / 2,
        "negative_share": plan.share_tests / 2,
        "repost_share": plan.extra,
    }
    config["metrics"] = {"use": ["length"], "headline": ["length"]}
    Pool.objects.create(slug=SLUG)
    task = Task.objects.create(
        slug=SLUG,
        title="Study of crowds",
        kind=config["kind"],
        config=config | {"slug": SLUG},
        release_sha256="0" * 64,
        n_instances=n,
        sample_seed=1,
        source_language="de",
        target_language="en",
    )
    Instance.objects.bulk_create(
        [
            Instance(
                task=task,
                instance_id=f"i{place}",
                position=place,
                fields={"source": f"Satz {place}."},
                references=[_sentence(place, "sold")],
                sample_rank=place,
            )
            for place in range(n)
        ]
    )
    return task


def _sentence(place: int, verb: str) -> str:
    names, towns, things = len(_NAMES), len(_TOWNS), len(_THINGS)
    return (
        f"In the year {1700 + place} the merchant {_NAMES[place % names]} from "
        f"{_TOWNS[place % towns]} {verb} {12 + 7 * place} old {_THINGS[place % things]} "
        f"to {_NAMES[(place + place // names + 3) % names]}, who lived near "
        f"{_TOWNS[(place + place // towns + 5) % towns]}."
    )


def _systems(task: Task, crowd: Crowd, boss: Any) -> list[Submission]:
    team = demo.team("Crowd study", "crowd-study", boss)
    verbs = ("offered", "gave", "sent", "promised", "showed", "brought", "lent")
    made = []
    for number in range(crowd.plan.n_systems):
        verb = f"{verbs[number % len(verbs)]}{' again' * (number // len(verbs))}"
        submission = Submission.objects.create(
            task=task,
            team=team,
            owner=boss,
            system_name=f"System {number}",
            file_bytes=0,
            own_state=Submission.State.MEASURED,
            simulated=True,
        )
        Prediction.objects.bulk_create(
            [
                Prediction(
                    submission=submission,
                    instance=row,
                    text=_sentence(row.position, verb),
                )
                for row in task.instances.all()
            ]
        )
        submission.human_evaluation = request.requested(
            [submission],
            HumanEvaluation,
            by=boss.pk,
            design=task.human.design,
            n_instances=task.sample_size,
        )
        submission.save(update_fields=["human_evaluation"])
        made.append(submission)
    return made


def _workers(crowd: Crowd, pool: str) -> list[Worker]:
    workers = []
    for number in range(crowd.plan.n_workers):
        worker = invitations.register_worker(
            platform_worker_id=f"study-{number}", simulated=True
        )
        give_consent(worker, pool)
        workers.append(worker)
    return workers
