"""Releases that are not quite as one would wish."""

from __future__ import annotations

import pytest

from crowd.models import Item
from genie.lib import jobs
from genie.lib.errors import GenieError
from leaderboard import tasks
from leaderboard.models import Instance, Task
from leaderboard.services import approve, load
from leaderboard.services.advance import advance
from quality.models import Placement

pytestmark = pytest.mark.django_db


def test_the_same_instances_in_another_order_are_refused_in_words(task, tmp_path):
    lines = (tasks.folder("demo-qa") / "test.jsonl").read_text("utf-8").splitlines()
    (tmp_path / "test.jsonl").write_text("\n".join(reversed(lines)) + "\n", "utf-8")
    with pytest.raises(GenieError, match="in another order") as refused:
        load.load_task("demo-qa", tmp_path)
    assert refused.value.code == "release-changed"
    assert Task.objects.get().release_sha256 == task.release_sha256


def test_a_blank_reference_makes_no_test_question(hand_in, good, boss, task):
    blank = Instance.objects.filter(position__lt=15)
    blank.update(references=[" "])
    submission = hand_in(good)
    jobs.drain()
    approve.approve(submission.pk, by=boss, start_now=True)
    advance()
    jobs.drain()
    tests = Item.objects.filter(pk__in=Placement.objects.values("item"))
    assert tests.count() == 16
    assert all(item.data["prediction"].strip() for item in tests)
