"""A new design is one file: nothing else is edited between task.toml and the board."""

import io
import shutil
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from django.core.management import call_command
from django.urls import reverse

from genie.lib import extension
from leaderboard import designs
from leaderboard.designs.base import all_designs
from leaderboard.models import Draft, Score, ShownOutput
from leaderboard.releases.make import make
from leaderboard.tasks import shipped
from leaderboard.tasks.services import load
from quality.models import Grade
from tests.leaderboard.api.test_bundles import sent
from tests.leaderboard.releases.test_releases_are_made_and_rebuilt import rebuilt
from tests.leaderboard.studio.test_new import WIDE, csv_of
from tests.leaderboard.studio.test_pages import asked, at, begin, text

# The output always stands on the left; a score is the mean preference itself.
BESIDE_A_PERSON = """
from leaderboard.designs.base import SeveralOutputs
from leaderboard.designs.base import Unit

class BesideAPerson(SeveralOutputs):
    slug = "beside-a-person"
    scales = ("preference-5",)
    label = "A text beside a person's"
    hit_template = "preference-summarization"
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
from leaderboard.designs.base import Unit

class CountedErrors(OneOutput):
    slug = "counted-errors"
    scales = ("slider-100",)
    hit_template = "error-span-translation"
    marks_errors = True
    beside = {"n_errors": Beside("Errors in a text.", Unit(0.0, 9.0, percent=False))}

    @classmethod
    def values_beside(cls, detail):
        return {"n_errors": len(detail["spans"])} if "spans" in detail else {}
"""
SLUGS = {BESIDE_A_PERSON: "beside-a-person", COUNTED_ERRORS: "counted-errors"}


@pytest.fixture
def source(request):
    return request.param


@pytest.fixture
def added(source, tmp_path, monkeypatch):
    slug = SLUGS[source]
    name = slug.replace("-", "_")
    (tmp_path / f"{name}.py").write_text(dedent(source), "utf-8")
    monkeypatch.setattr(designs, "__path__", [*designs.__path__, str(tmp_path)])
    extension._discover.cache_clear()
    yield slug
    sys.modules.pop(f"leaderboard.designs.{name}", None)
    vars(designs).pop(name, None)
    extension._discover.cache_clear()


@pytest.fixture
def task(added, db, tmp_path, monkeypatch):
    design = all_designs()[added]
    folder = tmp_path / "tasks" / "demo-qa"
    shutil.copytree(shipped.folder("demo-qa"), folder)
    text = (folder / "task.toml").read_text("utf-8")
    for old, new in {
        "direct-assessment": added,
        '"likert-5"': f'"{design.scales[0]}"',
        '"question-answering"\n# the other': f'"{design.hit_template}"\n# the other',
        "sample_size = 30": "sample_size = 8",
        '["sacrebleu", "rougeL"]': '["length"]',
        '"sacrebleu", "chrf", "rouge1", "rouge2", "rougeL", "length"': '"length"',
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
    assert (good.state, poor.state) == ("PUBLISHED", "PUBLISHED"), good.work.failure
    best, worst = (
        Score.objects.get(submission=one, superseded_at=None) for one in (good, poor)
    )
    # its own unit: from 0 to 1
    assert 0 <= worst.low < best.low
    assert worst.high < best.high <= 1
    assert f"human:{added}|scale:preference-5" in best.signature
    # its own order
    slots = ShownOutput.objects.filter(submission=poor).values_list("slot", flat=True)
    assert set(slots) == {"A"}
    assert Grade.own.filter(correct=True).exists()
    board = client.get(reverse("leaderboard:board", args=["demo-qa"]))
    shown = board.text
    assert shown.index("Good") < shown.index("Poor")
    assert_its_scores_come_out_of_a_release_again(task, tmp_path)


@pytest.mark.parametrize("source", [COUNTED_ERRORS], indirect=True)
def test_what_a_design_makes_of_marks_stands_beside(
    added, published, client, boss, task, tmp_path
):
    poor = published("Poor", 0.25)
    assert poor.state == "PUBLISHED", poor.work.failure
    scores = {one.criterion: one for one in Score.objects.filter(submission=poor)}
    assert set(scores) == {"overall", "n_errors"}
    # a simulated worker marks one error in each wrong output
    rated = poor.predictions.filter(instance__in=poor.human_evaluation.subjects.values("instance"))  # fmt: skip
    wrong = [row.text not in row.instance.references for row in rated]
    plain = scores["n_errors"].estimates["plain"]["mean"]
    assert plain == pytest.approx(sum(wrong) / len(wrong), abs=0.1)
    client.force_login(boss)
    page = client.get(reverse("leaderboard:submission", args=[poor.pk]))
    assert "Errors in a text." in page.text
    assert_its_scores_come_out_of_a_release_again(task, tmp_path)


def assert_its_scores_come_out_of_a_release_again(task, tmp_path):
    said = rebuilt(make(task, tmp_path / "r").folder)
    assert "numbers match the published ones" in said
    assert "scores: 0 " not in said


@pytest.mark.parametrize("source", SLUGS, indirect=True)
def test_it_is_offered_in_studio_command_and_api(added, boss, client, tmp_path):
    label = {"beside-a-person": "A text beside a person&#x27;s"}.get(added, added)
    content = csv_of({**WIDE, "reference": WIDE["ada"]})
    client.force_login(boss)
    begin(client, {"a.csv": content})
    draft = Draft.objects.get()
    option = f'<option value="{added}">{label}</option>'
    assert option in text(client.get(at(draft, "ask")))
    answer = client.post(at(draft, "ask"), asked(design=added, on=""))
    assert answer["Location"] == at(draft, "people")
    for step in ("people", "tests", "page"):
        assert client.get(at(draft, step)).status_code == 200
    (tmp_path / "a.csv").write_text(content, "utf-8")
    options = ("--design", added, "--ask", "It is true.", "--dry-run", "--save", str(tmp_path / "out"))  # fmt: skip
    said = io.StringIO()
    call_command("new", "mine", "--outputs", tmp_path / "a.csv", *options, stdout=said)
    assert f"Questions to raters ({added}, " in said.getvalue()
    home = said.getvalue().partition("Written to ")[2].split(".\n")[0]
    archive = shutil.make_archive(str(tmp_path / "sent"), "zip", home)
    assert sent(client, Path(archive).read_bytes()).status_code == 201
    config = client.get("/api/v1/tasks/mine/configuration/").json()["config"]
    assert config["human"]["design"] == added
