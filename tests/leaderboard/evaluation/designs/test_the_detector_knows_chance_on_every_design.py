"""On every design four careful workers stay, and one who answers at random is found."""

from dataclasses import replace

import numpy as np
import pytest

from crowd import hit_templates
from crowd.scales.base import all_scales
from crowd.workers.services.known_answers import guesses_of
from leaderboard.designs.base import all_designs
from leaderboard.evaluation import decide
from leaderboard.evaluation.services import comparison, joint
from leaderboard.evaluation.services.simulate import CARELESS, Crowd
from leaderboard.models import Instance, Submission, Task
from quality.detection.services.judge import judge
from quality.detection.stats.assess import AssessOptions, Tests, assess_workers
from quality.models import Ban, HeldExclusion, Standing, TestQuestion
from tests.factories import asked_about
from tests.leaderboard.evaluation.steps import settle

MOST_SYSTEMS = 3


def ways_to_ask():
    """List each registered design with each scale that people are asked on."""
    templates = hit_templates.all_templates().values()
    for design in all_designs().values():
        fitting = [
            one.slug
            for one in templates
            if one.scale in design.scales
            and ("outputs" in one.example) == design.in_slots()
            and one.marks_errors == design.marks_errors
        ]
        # `number` is the design of imported ratings: nobody is asked in it
        for scale in design.scales if fitting else ():
            name = f"{design.slug}-{scale}"
            yield pytest.param(design, scale, fitting[0], id=name)


WAYS = list(ways_to_ask())


def guesses_in(design, scale):
    kind = all_scales()[scale]
    slots = design().slots(MOST_SYSTEMS)
    if kind.compares:
        answers = [({"slot": slot}, True, [""]) for slot in "AB"]
    elif slots:
        answers = [({"not_best": slot}, True, slots) for slot in slots]
    else:
        answers = [({}, good, [""]) for good in (True, False)]
    return tuple(
        guesses_of(expected, good=good, scale=kind, slots=own)
        for expected, good, own in answers
    )


def assessed(guesses, n, *, right=None, last=None):
    """Assess flawless workers of `n` questions; of the fifth's, so many may be right."""
    correct = np.ones((5, n), dtype=bool)
    if right is not None:
        last = np.random.default_rng(n).permutation(n) < right
    correct[4] = correct[4] if last is None else last
    worker, question = np.divmod(np.arange(5 * n), n)
    tests = Tests(worker, question, question % len(guesses), correct.ravel())
    options = AssessOptions(guesses=guesses)
    return assess_workers(5, tests, None, options=options, seed=0).p_careless


@pytest.mark.parametrize("n", [12, 24, 45])
@pytest.mark.parametrize(("design", "scale", "template"), WAYS)
def test_flawless_workers_are_careful_a_random_one_not(design, scale, template, n):
    guesses = guesses_in(design, scale)
    assert (assessed(guesses, n) < 0.01).all()
    found = assessed(guesses, n, right=round(n * 15 / 36))
    assert (found[:4] < 0.01).all()
    assert found[4] > 0.5
    assert assessed(guesses, 36, right=15)[4] > 0.5


def test_a_right_answer_never_counts_against_a_worker():
    """All questions may have the same side, or so many slots that guessing does well."""
    same_side = guesses_of(
        {"slot": "A"}, good=True, scale=all_scales()["two-choice"], slots=[""]
    )
    for n in (1, 2, 12, 45):
        assert (assessed((same_side,), n) < 0.12).all()
    scale = all_scales()["magnitude"]
    ten = tuple(
        guesses_of({"not_best": slot}, good=True, scale=scale, slots="ABCDEFGHIJ")
        for slot in "ABCDEFGHIJ"
    )
    assert (assessed(ten, 45) < 0.01).all()


@pytest.mark.parametrize("habit", [1, 2, 3])
@pytest.mark.parametrize("scale", ["two-choice", "two-choice-tie", "preference-5"])
def test_one_who_always_takes_the_same_answer_is_found(scale, habit):
    kind = all_scales()[scale]
    guesses = tuple(
        guesses_of({"slot": slot}, good=True, scale=kind, slots=[""]) for slot in "AB"
    )
    right = np.array([own[habit] for own in guesses])[np.arange(24) % 2] > 0
    found = assessed(guesses, 24, last=right)
    assert (found[:4] < 0.01).all()
    assert found[4] > 0.99


# Of a random worker's test questions so many are right: 15 of 36.
LUCK = (False, True, False, False, True, False, True, False, False, True, False, True)


class FlawlessCrowd(Crowd):
    """Workers who see what a text is worth; the careless one does so by luck."""

    def _answers(self, hit_type, item, player):
        self.lucky = self.rng.choice(LUCK)
        if player.habit == CARELESS and TestQuestion.own.filter(item=item).exists():
            self.n_tests = getattr(self, "n_tests", -1) + 1
            self.lucky = LUCK[self.n_tests % len(LUCK)]
        return super()._answers(hit_type, item, player)

    def _opinion(self, quality, habit):
        return 1 - quality if habit == CARELESS and not self.lucky else quality


@pytest.fixture
def task(task):
    first = task.instances.count()
    Instance.objects.bulk_create(
        Instance(
            task=task,
            instance_id=f"more-{number}",
            position=number,
            fields={"question": f"Which bird has number {number}?"},
            references=[f"The bird with number {number} is called Avis {number}."],
            sample_rank=number,
        )
        for number in range(first, 40)
    )
    Task.objects.filter(pk=task.pk).update(n_instances=40)
    task.refresh_from_db()
    return task


# The numbers of questions are crossed above; a walk of each size would say the same.
def walks():
    for way in WAYS:
        quick = way.id in {"preference-preference-5", "rankme-magnitude"}
        marks = () if quick else pytest.mark.slow
        yield pytest.param(*way.values, id=way.id, marks=marks)


@pytest.mark.slow
@pytest.mark.parametrize(("design", "scale", "template"), list(walks()))
def test_on_the_site_four_careful_workers_stay_and_a_random_one_is_found(
    design, scale, template, task, boss, measured, crowd, of_text, ask
):
    human = {
        "sample_size": 4,
        "ratings_per_instance": 5,
        "workers": 5,
        "worker_percent": 100,
        "positive_share": 1.5,
        "negative_share": 1.5,
        # outputs here equal public references, which make no positive question
        "test_questions": "references",
    }
    ask(**human)
    table = {
        "design": design.slug,
        "scale": scale,
        "hit_template": template,
        "criteria": {"overall": "Is it good?"},
    }
    compares = all_scales()[scale].compares
    kind = "comparison" if compares else "joint"
    if design.about_one_system():
        ask(**human, **table)
        submission = measured("Fair", 0.5)
        decide.approve(asked_about(submission), by=boss, start_now=True)
    else:
        Task.objects.filter(pk=task.pk).update(config={**task.config, kind: table})
        systems = [measured("Good", 1.0), measured("Poor", 0.0)]
        question = comparison.Question(
            "overall",
            rule="beta-mixture",
            n_workers=5,
            max_pairs=4,
            wave_size=4,
            strategy="majority",
        )
        wish = (
            comparison.request(*systems, question, by=boss)
            if compares
            else joint.request(
                [*systems, measured("Fair", 0.5)], by=boss, n_instances=4, n_workers=5
            )
        )
        decide.approve(wish, by=boss)
    settle()
    players = crowd.players[:5]
    players[4] = replace(players[4], habit=CARELESS)
    FlawlessCrowd(
        players,
        quality=lambda item: of_text(item, item.data["prediction"]),
        of_text=of_text,
        seed=3,
    ).work()
    settle()
    judge(task.slug, simulated=True)
    workers = [player.worker.pk for player in players]
    found = {row.worker_id: row for row in Standing.own.all()}
    *careful, random = [(found[pk].n_questions, found[pk].p_careless) for pk in workers]
    # .01 is promised for 12 of 12; who has done all other work is asked fewer, and an input comes once
    assert all(p < (0.01 if n >= 12 else 0.02) for n, p in careful), careful
    assert min(n for n, _ in careful) >= 5
    assert random[1] > 0.5, random
    assert not Ban.objects.filter(worker__in=workers[:4]).exists()
    assert not HeldExclusion.own.filter(worker__in=workers[:4]).exists()
    assert not Submission.own.exclude(failure="").exists()
