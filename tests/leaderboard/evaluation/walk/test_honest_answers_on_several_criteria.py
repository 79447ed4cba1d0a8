"""A swapped reference is off the point but fluent: whoever says so works well."""

import numpy as np
import pytest
from django.utils import timezone

from crowd.campaigns.services import work
from crowd.models import Assignment, Pause
from crowd.workers.services import invitations, test_attempts
from crowd.workers.services.known_answers import as_item
from genie.lib.errors import GenieError
from leaderboard.designs.base import content_key
from leaderboard.evaluation.services import qualification
from quality.detection.services.assess_pool import PATIENCE
from quality.models import Ban, Grade, Standing, TestQuestion
from tests.factories import make_worker
from tests.kept import kept
from tests.leaderboard.evaluation.steps import ask, launch, settle

CRITERIA = {
    "relevance": "Does it answer the question?",
    "fluency": "Is it fluent?",
    "interest": "Is it interesting?",
}
MARKED = {"positive": list(CRITERIA), "negative": ["relevance"]}
SCALE = ["0", "0.25", "0.5", "0.75", "1"]


@pytest.fixture
def task(task):
    marked = {"criteria": CRITERIA, "test_criteria": MARKED}
    ask(task, sample_size=30, positive_share=0.3, negative_share=0.3, **marked)
    return task


class Reader:
    """Somebody who reads everything and slips by one step once in twenty times."""

    def __init__(self, task, seed, habit=None):
        self.worker = make_worker(name=f"reader-{seed}")
        invitations.give_consent(self.worker, task.slug)
        self.rng = np.random.default_rng(seed)
        self.habit = habit
        self.references = {
            content_key(task.slug, row.instance_id): row.references
            for row in task.instances.all()
        }

    def says(self, item):
        if self.habit == "always the best":
            return dict.fromkeys(CRITERIA, "1")
        on_topic = item.data["prediction"] in self.references[item.content_key]
        thinks = {"relevance": 4 if on_topic else 0, "fluency": 4, "interest": 3}
        return {name: SCALE[self._slip(at)] for name, at in thinks.items()}

    def _slip(self, at):
        step = self.rng.choice([-1, 0, 1], p=[0.025, 0.95, 0.025])
        return int(np.clip(at + step, 0, 4))

    def work(self):
        """Answer until there is nothing left; staff's jobs look after every ten."""
        n = 0
        while assignment := work.next_assignment(self.worker):
            items = assignment.hit.items.all()
            work.submit(assignment, {item.key: self.says(item) for item in items})
            n += 1
            if n % 10 == 0:
                settle()
        settle()
        return n

    def take(self, test):
        attempt = test_attempts.start(self.worker, test.name)
        for row in attempt.answers.select_related("question"):
            attempt = test_attempts.answer(
                attempt_pk=attempt.pk,
                worker=self.worker,
                position=row.position,
                raw_answers=self.says(as_item(row.question)),
            )
        return attempt


@pytest.fixture
def asked(task, hand_in, good, boss):
    def sent_out():
        return launch(hand_in(good), boss)

    return lambda: kept("asked of readers", sent_out, task.config)


def test_an_honest_worker_is_not_excluded_however_much_they_answer(asked, task):
    asked()
    reader = Reader(task, 1)
    assert reader.work() >= 30
    negative = Grade.own.filter(polarity="NEGATIVE")
    assert negative.filter(correct=True).count() >= negative.count() - 1 >= 2
    assert not Ban.own.exists()


def test_who_always_gives_the_best_answer_is_excluded(asked, task):
    asked()
    careless = Reader(task, 1, habit="always the best")
    # paused as soon as there is doubt, they go on where the pool's fit leaves it open
    while careless.work():
        Pause.own.update(created_at=timezone.now() - PATIENCE)
        settle()
    assert Standing.own.get(worker=careless.worker).p_careless > 0.99
    # alone, without others to compare with: the tests suffice
    assert Ban.own.get().worker == careless.worker


@pytest.mark.parametrize("seed", range(3))
def test_an_honest_worker_passes_the_drawn_qualification_test(task, seed):
    rules = {"pass_percent": 75, "n_tries": 1}
    test = qualification.draw_test(task, 4, rules=rules)
    qualification.qualification_tests.publish(test.pk)
    assert Reader(task, seed).take(test).passed
    assert not Reader(task, 10 + seed, habit="always the best").take(test).passed


@pytest.mark.every_engine
def test_each_placement_names_the_criteria_that_it_is_marked_on(asked):
    asked()
    named = {p.polarity: p.expected["criteria"] for p in TestQuestion.own.all()}
    assert named == {"POSITIVE": list(CRITERIA), "NEGATIVE": ["relevance"]}


def test_a_task_that_does_not_say_it_asks_nobody(task, asked):
    task.config["human"].pop("test_criteria")
    task.save()
    submission = asked()
    submission.refresh_from_db()
    assert "add test_criteria" in submission.work.failure
    assert submission.state == "APPROVED"
    with pytest.raises(GenieError, match="add test_criteria"):
        qualification.draw_test(task, 4)


def test_questions_placed_before_tasks_said_it_are_not_marked(asked, task):
    asked()
    TestQuestion.own.update(expected={})
    Reader(task, 1).work()
    assert Assignment.own.filter(state="SUBMITTED").count() >= 30
    assert not Grade.own.exists()


@pytest.mark.every_engine
def test_a_campaign_for_a_criterion_that_cannot_tell_has_no_such_question(asked, task):
    task.config["human"]["setup"] = 2
    task.save()
    asked()
    polarities = {
        (next(iter(p.campaign.hit_type.criteria)), p.polarity)
        for p in TestQuestion.own.select_related("campaign__hit_type")
    }
    assert polarities == {
        ("relevance", "POSITIVE"),
        ("relevance", "NEGATIVE"),
        ("fluency", "POSITIVE"),
        ("interest", "POSITIVE"),
    }
