"""An evaluation card answers HEDS question by question, and invents nothing."""

import pytest

from leaderboard.models import HumanEvaluation
from leaderboard.releases.selectors.heds import agreement
from quality.agreement.krippendorff import krippendorff_alpha
from tests.factories import make_worker
from tests.leaderboard.boards.pages.judged import judge, rate


@pytest.fixture
def workers(db):
    return [make_worker(name=f"secret-{n}") for n in range(3)]


@pytest.fixture
def kite(task, workers, who):
    return judge(task, 0.7, system="Kite", workers=workers, **who)


def sheet_of(client, submission):
    found = client.get(f"/submissions/{submission.pk}/card.json").json()["heds"]
    assert found["version"] == "HEDS 3.0"
    return found["answers"]


def answers_of(client, submission):
    return {one["number"]: one["answer"] for one in sheet_of(client, submission)}


def test_the_fourth_section_is_answered_for_each_criterion(client, task, workers, who):
    task.config["human"]["criteria"] = {"fluent": "It reads well.", "true": "It is so."}
    task.save()
    both = judge(task, 0.7, workers=workers, **who)
    asked = {
        one["criterion"]: one["answer"]
        for one in sheet_of(client, both)
        if one["number"] == "4.3.7"
    }
    assert asked == {"fluent": "It reads well.", "true": "It is so."}


def test_programs_are_not_called_people(client, task, who):
    robot = judge(
        task, 0.5, simulated=True, workers=[make_worker(simulated=True)], **who
    )
    found = answers_of(client, robot)
    assert (
        found["3.2.2.1"]
        == found["3.2.3"]
        == "simulated annotators (programs, not people)"
    )


def test_agreement_is_krippendorffs_alpha_over_outputs_with_two_ratings(
    task, kite, workers
):
    evaluation = HumanEvaluation.objects.get(submissions=kite)
    instances = list(task.instances.order_by("sample_rank")[:3])
    seconds = [1.0, 0.25, 0.5]
    for place, (instance, value) in enumerate(zip(instances, seconds, strict=True)):
        rate(evaluation, instance, workers[(place + 1) % 3], {"overall": value})
    from leaderboard.evaluation.selectors.system_ratings import system_ratings

    ratings = system_ratings(evaluation)
    pairs = [list(group["value"]) for _, group in ratings.groupby("instance")]
    assert [len(pair) for pair in pairs] == [2, 2, 2]
    expected = krippendorff_alpha(pairs, "ordinal").estimate
    method, said = agreement(ratings, "overall", ordered=True)
    assert method == "Krippendorff's alpha (ordinal)"
    assert said.startswith(f"{expected:.2f}, 95% interval ")
    assert "over 3 outputs with more than one rating" in said
