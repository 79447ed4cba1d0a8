"""A task whose people judge by what the plain script counts, with errors of their own."""

from itertools import combinations

import numpy as np

from crowd.models import Campaign, HITType
from leaderboard.models import (
    Comparison,
    EvaluatedSystem,
    EvaluationCampaign,
    Instance,
    ShownOutput,
    Subject,
)
from tests.factories import answer, make_evaluation, make_item, make_task, make_worker
from tests.leaderboard.judges.conftest import add_system, worked

NAMES = ("Kite", "Wren", "Owl", "Lark", "Finch", "Crane")


def make_world(slug="planted", *, seed, n_systems=3, n_instances=14, n_people=3):
    rng = np.random.default_rng(seed)
    human = {"scale": "slider-100"}
    task = make_task(slug, n_instances=n_instances)
    task.config["human"].update(human)
    task.save()
    task.worth, texts = {}, {}
    for one in task.instances.order_by("position"):
        words = [f"w{number}" for number in rng.permutation(1000)[:60]]
        Instance.objects.filter(pk=one.pk).update(fields={"source": " ".join(words)})
        for system in range(n_systems):
            length = int(rng.integers(8, 41))  # worth nothing to people
            shared = rng.random()
            said = [
                words[at] if rng.random() < shared else f"x{rng.integers(10**6)}"
                for at in range(length)
            ]
            texts[system, one.position] = " ".join(said)
            known = np.mean([word in words for word in said])
            task.worth[system, one.position] = 50 * (1 + known)
    task.systems = [
        add_system(
            task,
            f"{NAMES[system]} {slug}",
            lambda at, system=system: texts[system, at],
            state="PUBLISHED",
        )
        for system in range(n_systems)
    ]
    task.people = [make_worker() for _ in range(n_people)]
    return task


def rate(task, rng):
    for number, system in enumerate(task.systems):
        for judged in make_evaluation(system).subjects.select_related("instance"):
            worth = task.worth[number, judged.instance.position]
            for person in task.people:
                answer(judged.item, person, worth + float(rng.normal(0, 12)))


def compare(task, rng):
    """Let everybody choose in every pair, the one or the other standing first."""
    for one, other in combinations(range(len(task.systems)), 2):
        evaluation = _evaluation(task, one, other)
        campaign = evaluation.campaign
        for instance in task.instances.order_by("position"):
            item = make_item(campaign, instance.instance_id)
            judged = Subject.objects.create(
                evaluation=evaluation, item=item, instance=instance
            )
            order = [one, other] if rng.random() < 0.5 else [other, one]
            for slot, system in zip("AB", order, strict=True):
                ShownOutput.objects.create(
                    subject=judged, slot=slot, submission=task.systems[system]
                )
            worth = [task.worth[system, instance.position] for system in order]
            for person in task.people:
                said = np.array(worth) + rng.normal(0, 12, 2)
                answer(item, person, float(said[0] > said[1]))


def _evaluation(task, one, other):
    systems = [task.systems[one], task.systems[other]]
    evaluation = Comparison.objects.create(
        task=task, a=systems[0], b=systems[1], delta=0.05, wave_size=9, max_pairs=9,
        state="DECIDED", design="pairwise", n_instances=task.n_instances, seed=1,
        requested_by=systems[0].owner,
    )  # fmt: skip
    # a campaign like any other, but for what makes it one of pairs
    campaign = make_evaluation(systems[0], n=0).campaign
    EvaluationCampaign.objects.filter(campaign=campaign).update(evaluation=evaluation)
    pairs = {"template": "pairwise", "scale": "two-choice"}
    HITType.objects.filter(pk=campaign.hit_type_id).update(**pairs)
    key = f"comparison:{systems[0].pk}-{systems[1].pk}"
    Campaign.objects.filter(pk=campaign.pk).update(key=key)
    for position, system in enumerate(systems):
        EvaluatedSystem.objects.create(
            evaluation=evaluation, submission=system, position=position
        )
    evaluation.refresh_from_db()
    return evaluation


def done(run):
    while worked(run).state == "RUNNING":
        pass
    return run


def biases(licence):
    return {
        one.name.removeprefix("bias: "): one
        for one in licence
        if one.name.startswith("bias: ")
    }
