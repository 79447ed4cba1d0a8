"""An evaluation card answers HEDS question by question, and invents nothing."""

from __future__ import annotations

import json

import pytest

from leaderboard.models import HumanEvaluation, Score
from leaderboard.releases.selectors.heds import OF_A_CRITERION, QUESTIONS, agreement
from quality.agreement.krippendorff import krippendorff_alpha
from tests.factories import make_worker
from tests.leaderboard.boards.pages.judged import judge, rate


@pytest.fixture
def workers(db):
    return [make_worker(name=f"secret-{n}") for n in range(3)]


@pytest.fixture
def kite(task, team, submitter, workers):
    return judge(task, 0.7, system="Kite", workers=workers, owner=submitter, team=team)


def sheet_of(client, submission):
    found = client.get(f"/submissions/{submission.pk}/card.json").json()["heds"]
    assert found["version"] == "HEDS 3.0"
    return found["answers"]


def answers_of(client, submission):
    return {one["number"]: one["answer"] for one in sheet_of(client, submission)}


def test_every_question_stands_there_once_in_the_order_of_the_sheet(client, kite):
    found = [one["number"] for one in sheet_of(client, kite)]
    # 9 + 5 + (5 + 8 + 10) + (3 + 3 + 15) + 4: the form of HEDS 3.0
    assert len(found) == len(set(found)) == 62
    assert set(found) == {*QUESTIONS, *OF_A_CRITERION}
    assert found == sorted(found, key=lambda n: [int(part) for part in n.split(".")])


def test_the_fourth_section_is_answered_for_each_criterion(
    client, task, team, submitter, workers
):
    task.config["human"]["criteria"] = {"fluent": "It reads well.", "true": "It is so."}
    task.save()
    both = judge(task, 0.7, workers=workers, owner=submitter, team=team)
    asked = {
        one["criterion"]: one["answer"]
        for one in sheet_of(client, both)
        if one["number"] == "4.3.7"
    }
    assert asked == {"fluent": "It reads well.", "true": "It is so."}


def test_what_is_stored_is_answered_and_what_is_not_is_left_to_authors(client, kite):
    found = answers_of(client, kite)
    score = Score.objects.get(submission=kite)
    assert found["2.3"] == "summarisation (text-to-text)"
    assert found["3.1.1"] == "3"
    assert found["3.2.1"] == "3"
    assert "$0.09 per assignment" in found["3.2.2.2"]
    assert (found["4.2.1"], found["4.2.2"]) == ("subjective", "absolute")
    assert (found["4.3.3"], found["4.3.5"]) == ("5", "multiple-choice options")
    assert found["4.3.8"] == "(dis)agreement with quality statement"
    assert f"interval {score.low:.1f} to {score.high:.1f}" in found["4.3.10"]
    alone = "InterAA not assessed: each output has one rating that counts"
    assert found["4.3.11.1"] == found["4.3.11.2"] == alone
    assert "Kite" in found["1.1.2"]
    left = {one["number"] for one in sheet_of(client, kite) if one["open"]}
    assert left == {
        *("1.1.1", "1.3.1.1", "1.3.1.2", "1.3.1.3", "1.3.2.1", "1.3.2.2", "1.3.2.3"),
        *("3.2.2.1", "3.2.2.3", "3.2.2.4", "3.3.1", "4.1.1", "4.1.2", "4.1.3"),
        *("4.3.1.2", "5.1", "5.3", "5.4"),
    }


def test_the_sheet_is_on_the_page_and_in_every_file(client, kite, read):
    assert "4.3.7 Question shown to evaluators, verbatim" in read(
        client.get(f"/submissions/{kite.pk}/card/")
    )
    for form, sign in (("md", "**3.1.2**"), ("tex", "\\item[3.1.2]")):
        text = client.get(f"/submissions/{kite.pk}/card.{form}").content.decode()
        assert sign in text
        assert "secret-" not in text
    assert "secret-" not in json.dumps(sheet_of(client, kite))


def test_programs_are_not_called_people(client, task, team, submitter):
    robot = judge(
        task,
        0.5,
        simulated=True,
        workers=[make_worker(simulated=True)],
        owner=submitter,
        team=team,
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
    evaluation = HumanEvaluation.objects.get(submission=kite)
    instances = list(task.instances.order_by("sample_rank")[:3])
    seconds = [1.0, 0.25, 0.5]
    for place, (instance, value) in enumerate(zip(instances, seconds, strict=True)):
        rate(evaluation, instance, workers[(place + 1) % 3], {"overall": value})
    from leaderboard.evaluation.selectors.system_ratings import system_ratings

    ratings = system_ratings(evaluation)
    pairs = [list(group["value"]) for _, group in ratings.groupby("instance")]
    assert [len(pair) for pair in pairs] == [2, 2, 2]
    expected = krippendorff_alpha(pairs, "ordinal").value
    method, said = agreement(evaluation, "overall", ordered=True)
    assert method == "Krippendorff's alpha (ordinal)"
    assert said.startswith(f"{expected:.2f}, 95 % interval ")
    assert "over 3 outputs with more than one rating" in said
