"""A new design is one file: nothing else is edited between task.toml and the board."""

import shutil
import sys
from textwrap import dedent

import pytest
from django.urls import reverse

from genie.lib import extension
from leaderboard import designs
from leaderboard.models import JudgedOutput, Score
from leaderboard.releases.make import make
from leaderboard.tasks import shipped
from leaderboard.tasks.services import load
from quality.models import Grade
from tests.leaderboard.releases.test_releases_are_made_and_rebuilt import rebuilt

# The output always stands on the left; a score is the mean preference itself.
BESIDE_A_PERSON = """
from leaderboard.designs.base import SeveralOutputs
from leaderboard.designs.unit import Unit

class BesideAPerson(SeveralOutputs):
    slug = "beside-a-person"
    scales = ("preference-5",)
    n_outputs = (2, 2)
    references_among = 1
    needs_reference = True

    def order(self, n, *, seed, instance_id):
        return list(range(n))

    @classmethod
    def unit(cls, criterion, scale, *, asked):
        return Unit(0.0, 1.0, percent=False)
"""
# Errors are counted, whatever their severity.
COUNTED_ERRORS = """
from leaderboard.designs.base import Beside, OneOutput
from leaderboard.designs.unit import Unit

class CountedErrors(OneOutput):
    slug = "counted-errors"
    scales = ("slider-100",)
    marks_errors = True
    beside = {"n_errors": Beside("Errors in a text.", Unit(0.0, 9.0, percent=False))}

    @classmethod
    def values_beside(cls, detail):
        return {"n_errors": len(detail["spans"])} if "spans" in detail else {}
"""
SETTINGS = {
    BESIDE_A_PERSON: ("beside-a-person", "preference-5", "preference-summarization"),
    COUNTED_ERRORS: ("counted-errors", "slider-100", "error-span-translation"),
}


@pytest.fixture
def source(request):
    return request.param


@pytest.fixture
def added(source, tmp_path, monkeypatch):
    """Put the design's file where designs are looked for."""
    slug = SETTINGS[source][0]
    name = slug.replace("-", "_")
    (tmp_path / f"{name}.py").write_text(dedent(source), "utf-8")
    monkeypatch.setattr(designs, "__path__", [*designs.__path__, str(tmp_path)])
    extension._discover.cache_clear()
    yield slug
    sys.modules.pop(f"leaderboard.designs.{name}", None)
    vars(designs).pop(name, None)
    extension._discover.cache_clear()


@pytest.fixture
def task(added, source, db, tmp_path, monkeypatch):
    """Load a task whose task.toml names the new design."""
    design, scale, template = SETTINGS[source]
    folder = tmp_path / "tasks" / "demo-qa"
    shutil.copytree(shipped.folder("demo-qa"), folder)
    text = (folder / "task.toml").read_text("utf-8")
    for old, new in {
        "direct-assessment": design,
        '"likert-5"': f'"{scale}"',
        '"question-answering"\n# the other': f'"{template}"\n# the other',
        "sample_size = 30": "sample_size = 8",
        '["sacrebleu", "rougeL", "meteor"]': '["length"]',
        '"sacrebleu", "chrf", "rouge1", "rouge2", "rougeL", "length", "meteor"': (
            '"length"'
        ),
    }.items():
        assert old in text
        text = text.replace(old, new)
    (folder / "task.toml").write_text(text, "utf-8")
    monkeypatch.setattr(shipped, "FOLDER", folder.parent)
    return load.load_task("demo-qa").task


@pytest.mark.parametrize("source", [BESIDE_A_PERSON], indirect=True)
def test_outputs_beside_a_reference_go_from_toml_to_board(
    added, published, client, task, tmp_path
):
    good, poor = published("Good", 1.0), published("Poor", 0.25)
    assert (good.state, poor.state) == ("PUBLISHED", "PUBLISHED"), good.failure
    best, worst = (
        Score.objects.get(submission=one, superseded_at=None) for one in (good, poor)
    )
    # its own unit: from 0 to 1
    assert 0 <= worst.low <= worst.high < best.low <= best.high <= 1
    assert f"human:{added}|scale:preference-5" in best.signature
    # its own order
    slots = JudgedOutput.objects.filter(submission=poor).values_list("slot", flat=True)
    assert set(slots) == {"A"}
    assert Grade.objects.filter(correct=True).exists()
    board = client.get(reverse("leaderboard:board", args=["demo-qa"]))
    shown = board.text
    assert shown.index("Good") < shown.index("Poor")
    assert_its_scores_come_out_of_a_release_again(task, tmp_path)


@pytest.mark.parametrize("source", [COUNTED_ERRORS], indirect=True)
def test_what_a_design_makes_of_marks_stands_beside(
    added, published, client, boss, task, tmp_path
):
    poor = published("Poor", 0.25)
    assert poor.state == "PUBLISHED", poor.failure
    scores = {one.criterion: one for one in Score.objects.filter(submission=poor)}
    assert set(scores) == {"overall", "n_errors"}
    # six of eight are wrong, and a simulated worker marks one error in each
    plain = scores["n_errors"].estimates["plain"]["mean"]
    assert plain == pytest.approx(0.75, abs=0.1)
    client.force_login(boss)
    page = client.get(reverse("leaderboard:submission", args=[poor.pk]))
    assert "Errors in a text." in page.text
    assert_its_scores_come_out_of_a_release_again(task, tmp_path)


def assert_its_scores_come_out_of_a_release_again(task, tmp_path):
    said = rebuilt(make(task, tmp_path / "r").folder)
    assert "numbers match the published ones" in said
    assert "scores: 0 " not in said
