"""Releases that are not quite as one would wish."""

from shutil import copytree

import pytest

from crowd.models import Item
from genie.lib import jobs
from genie.lib.errors import GenieError
from leaderboard.evaluation import decide
from leaderboard.evaluation.run import advance
from leaderboard.models import Instance, Task
from leaderboard.tasks import shipped
from leaderboard.tasks.services import load
from quality.models import TestQuestion
from tests.factories import asked_about
from tests.refusals import refusal


@pytest.mark.every_engine
def test_the_same_instances_in_another_order_are_refused_in_words(task, tmp_path):
    lines = (shipped.folder("demo-qa") / "test.jsonl").read_text("utf-8").splitlines()
    (tmp_path / "test.jsonl").write_text("\n".join(reversed(lines)) + "\n", "utf-8")
    with refusal("release-changed", match="in a different order"):
        load.load_task("demo-qa", tmp_path)
    assert Task.own.get().release_sha256 == task.release_sha256


def test_a_blank_reference_makes_no_test_question(hand_in, good, boss, task):
    blank = Instance.own.filter(position__lt=20)
    blank.update(references=[" "])
    submission = hand_in(good)
    jobs.drain()
    decide.approve(asked_about(submission), by=boss, start_now=True)
    advance()
    jobs.drain()
    tests = Item.objects.filter(pk__in=TestQuestion.own.values("item"))
    assert tests.count() == 4
    assert all(item.data["prediction"].strip() for item in tests)


def test_a_task_with_its_texts_needs_no_source_beside_demos(db, tmp_path, monkeypatch):
    copytree(shipped.folder("demo-qa"), tmp_path / "demo-qa")
    path = tmp_path / "demo-qa/task.toml"
    path.write_text(path.read_text("utf-8").replace("demo = true", "demo = false"))
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)
    assert load.load_task("demo-qa").n_instances == 40
    (tmp_path / "demo-qa/test.jsonl").unlink()
    with pytest.raises(GenieError, match="--source DIR"):
        load.load_task("demo-qa")
