"""Pieces from outside: a package that is installed, a folder, and what is wrong with either."""

import io
import os
import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from django.core.checks import run_checks
from django.test import Client
from django.urls import reverse

from crowd import hit_templates
from genie.lib import extension, outside
from leaderboard.extensions import FINDERS, broken
from leaderboard.files import File
from leaderboard.imports.readers.read import read as read_judgments
from leaderboard.metric_runs import services
from leaderboard.tasks import shipped
from leaderboard.tasks.services import load
from tests import installed
from tests.factories import make_predictions, make_submission, make_team, make_user

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "docs" / "example-extension"

METRIC = """
import numpy as np
from leaderboard.metrics.base import Metric, MetricOutput, versions

class Vowels(Metric):
    slug = "vowels"
    label = "Vowels"
    version = versions(1)
    higher_is_better = None
    range = (0.0, None)
    paper = "none"

    def _measure(self, batch):
        values = np.array([sum(c in "aeiou" for c in t) for t in batch.predictions], float)
        return MetricOutput(float(values.mean()), values, f"version:{self.version}")
"""
LAYOUT = """
from leaderboard.imports.readers.judgments import Judgments, from_rows
from leaderboard.imports.readers.layout import Layout, Look

class Smileys(Layout):
    slug = "smileys"
    title = "Smileys"

    @classmethod
    def look(cls, sources):
        return Look(float(sources[0].suffix == ".smile"))

    @classmethod
    def read(cls, sources, choices):
        happy = b":-)" in sources[0].head()
        return Judgments(cls.slug, from_rows([{"system": "red", "value": happy}]))
"""
DETECTOR = """
from quality.detection.stats.detector_specs import DetectorSpec

SPEC = DetectorSpec("rate-mine", "rate, mine", "rate", 1)
"""


def look_again():
    for forget in (extension._discover, hit_templates.all_templates):
        forget.cache_clear()
    outside.forget()


@pytest.fixture
def others(monkeypatch):
    def add(*, folder: Path | None = None, on_path: Path | None = None) -> None:
        if folder:
            monkeypatch.setenv("GENIE_EXTENSIONS", str(folder))
        if on_path:
            monkeypatch.syspath_prepend(on_path)
        look_again()

    yield add
    monkeypatch.undo()
    look_again()


def put(folder: Path, name: str, text: str) -> Path:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    return folder


def reasons() -> dict[str, str]:
    return {Path(one.where).name: one.reason for one in broken()}


def test_files_in_the_folder_are_pieces_like_ours(others, tmp_path):
    others(folder=put(tmp_path, "metrics/vowels.py", METRIC))
    assert FINDERS["metrics"]()["vowels"].label == "Vowels"
    assert "sacrebleu" in FINDERS["metrics"]()
    assert broken() == []


def test_a_layout_of_others_is_guessed_and_read_as_ours_are(others, tmp_path):
    others(folder=put(tmp_path, "layouts/smileys.py", LAYOUT))
    found = read_judgments([File("a.smile", partial(io.BytesIO, b":-)"))])
    assert (found.layout, found.rows["value"].tolist()) == ("smileys", [1.0])
    assert broken() == []


def test_a_detector_is_an_object_and_is_there_from_the_start(tmp_path):
    """In a process of its own: it imports the module that is just looking for it."""
    put(tmp_path, "detectors/mine.py", DETECTOR)
    code = (
        "from quality.detection.stats.detector_specs import DETECTORS, PAPER_DETECTORS;"
        "print('rate-mine' in DETECTORS, 'rate-mine' in PAPER_DETECTORS)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True,
        text=True, env={**os.environ, "GENIE_EXTENSIONS": str(tmp_path)},
    )  # fmt: skip
    assert done.stdout == "True False\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import nowhere_at_all", "ModuleNotFoundError: No module named 'nowhere_at_all'"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("def (", "SyntaxError"),
        ("x = 1", "it has no subclass of Metric"),
        (METRIC.replace("def _measure", "def measure"), "it has no subclass of"),
        (METRIC.replace('"vowels"', '"chrf"'), "the slug chrf is already in use"),
        (METRIC.replace('"vowels"', '"a/b"'), "its slug 'a/b' must have at most"),
    ],
)  # fmt: skip
def test_a_broken_metric_is_named_and_all_else_works(
    others, tmp_path, caplog, text, reason
):
    others(folder=put(tmp_path, "metrics/broken.py", text))
    ours = FINDERS["metrics"]()
    assert "chrf" in ours
    assert ours["chrf"].__module__ == "leaderboard.metrics.sacrebleu_metrics"
    assert reasons()["broken.py"].startswith(reason)
    assert len(broken()) == 1
    assert [r.message for r in caplog.records if "broken.py" in r.message]


def test_a_broken_template_is_named_and_all_else_works(others, tmp_path):
    others(
        folder=put(tmp_path, "templates/half-done/template.toml", "title = 'no more'")
    )
    assert "translation" in hit_templates.all_templates()
    assert "half-done" not in hit_templates.all_templates()
    assert "half-done cannot be read" in reasons()[f"half-done of {tmp_path}/templates".rpartition("/")[2]]  # fmt: skip


@pytest.mark.django_db
def test_checks_and_the_admin_say_what_is_left_out(others, tmp_path, client):
    others(folder=put(tmp_path, "metrics/broken.py", "1 / 0"))
    told = [m for m in run_checks() if m.id == "genie.W004"]
    assert [("broken.py" in m.msg, "division by zero" in m.msg) for m in told] == [
        (True, True)
    ]
    client.force_login(make_user("root", is_staff=True, is_superuser=True))
    page = client.get(reverse("admin:index")).content.decode()
    assert "Disabled extensions" in page
    assert "division by zero" in page
    client.force_login(make_user("staff", is_staff=True))
    assert (
        "Disabled extensions" not in client.get(reverse("admin:index")).content.decode()
    )


def test_a_folder_that_is_not_there_is_named(others, tmp_path):
    others(folder=tmp_path / "nowhere")
    assert reasons() == {"nowhere": "there is no such folder"}


def test_tasks_are_folders_that_can_be_loaded(others, tmp_path):
    ours = shipped.folder("demo-qa")
    shutil.copytree(ours, tmp_path / "tasks" / "my-qa")
    others(folder=tmp_path)
    assert "my-qa" in shipped.outside()
    assert shipped.folder("my-qa") == tmp_path / "tasks" / "my-qa"
    assert shipped.folder("demo-qa") == ours


@pytest.fixture(scope="module")
def example(tmp_path_factory) -> Path:
    """Install the package from the documentation into a folder of its own."""
    made = tmp_path_factory.mktemp("example")
    listed = [str(p.relative_to(EXAMPLE)) for p in EXAMPLE.rglob("*") if p.is_file()]
    names = [name for name in listed if "__pycache__" not in name]
    wheel = installed.build(EXAMPLE, names, made / "source", made / "wheel")
    installed.pip("install", "--no-deps", "--target", made / "packages", wheel)
    return made / "packages"


@pytest.mark.slow
@pytest.mark.django_db
def test_a_task_uses_the_example_of_the_documentation(others, example, tmp_path):
    folder = tmp_path / "tasks" / "headlines"
    shutil.copytree(shipped.folder("demo-summarization"), folder)
    text = (folder / "task.toml").read_text("utf-8")
    for key, value in {
        "slug": '"headlines"',
        "use": '["closing-mark"]',
        "headline": '["closing-mark"]',
        "hit_template": '"headline-judgement"',
        "demo": "false",
    }.items():
        text = re.sub(rf"^{key} = .*$", f"{key} = {value}", text, count=1, flags=re.M)
    (folder / "task.toml").write_text(text)
    others(on_path=example, folder=tmp_path)
    assert [m for m in run_checks() if m.id and m.id.startswith("genie.")] == []
    task = load.load_task("headlines").task
    nina = make_user("nina")
    submission = make_submission(
        task, team=make_team("Kites", nina), owner=nina, state="VALID"
    )
    make_predictions(submission, "Nothing ends well")
    services.run(submission.pk)
    (result,) = submission.metric_results.all()
    assert (result.metric, result.value) == ("closing-mark", 0.0)
    page = Client().get(reverse("leaderboard:methods", args=["headlines"]))
    assert "Judging headlines" in page.content.decode()


@pytest.mark.slow
def test_the_contract_tests_are_a_plugin_that_finds_what_is_installed(
    example, tmp_path
):
    put(tmp_path, "extensions/metrics/vowels.py", METRIC)
    ours = ("GENIE_", "DJANGO_", "DATABASE_URL", "PYTEST_")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "leaderboard.contracts.plugin",
         "-p", "no:django", "-p", "no:cacheprovider", "-q", "--genie-extensions"],
        cwd=tmp_path,
        env={**kept, "PYTHONPATH": f"{ROOT}:{example}",
             "GENIE_EXTENSIONS": str(tmp_path / "extensions")},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    # the metric without references in its docstring, and nothing of the example's
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
    assert len(failed) == 1, done.stdout
    assert "test_it_says_what_it_is[vowels]" in failed[0]
    assert "headline-judgement" not in failed[0]
