"""`load_task`: once, again, changed, hidden."""

import json
import shutil

import pytest
from django.core.management import CommandError, call_command

from leaderboard.models import Instance, Task
from tests.shared import SHARED, needs_shared


@pytest.fixture
def release(tmp_path):
    folder = tmp_path / "release"
    folder.mkdir()
    names = ("question_id", "question", "answers")
    rows = (
        (f"Q{n}", f"{n} and {n}?", [str(2 * n), f"It is {2 * n}."]) for n in range(30)
    )
    return Release(folder, [dict(zip(names, row, strict=True)) for row in rows])


class Release:
    def __init__(self, folder, lines):
        self.folder, self.lines = folder, lines
        self.write()

    def write(self):
        text = "".join(json.dumps(line) + "\n" for line in self.lines)
        (self.folder / "test.jsonl").write_text(text)


def everything():
    return (
        list(Task.own.order_by("pk").values()),
        list(Instance.own.order_by("pk").values()),
    )


def test_a_demo_task_needs_no_source(run):
    found = run("load_task", "demo-qa")
    task = Task.objects.get(slug="demo-qa")
    assert found.returncode == 0
    assert found.out.startswith(f"Loaded demo-qa: {task.n_instances} instances")
    assert task.instances.count() == task.n_instances > 30
    # loading it again changes nothing
    before = everything()
    found = run("load_task", "demo-qa")
    assert found.returncode == 0
    assert "has not changed" in found.out
    assert everything() == before


def test_an_official_release_is_read_from_its_folder(run, release):
    found = run("load_task", "arc-da", source=str(release.folder))
    assert found.refusal == ""
    assert "30 instances" in found.out
    first = Instance.own.order_by("position")[0]
    assert (first.instance_id, first.references) == ("Q0", ["0", "It is 0."])


def test_a_changed_release_is_refused_with_its_differences(run, release):
    run("load_task", "arc-da", source=str(release.folder))
    before = everything()
    release.lines[3]["answers"] = ["seven"]
    del release.lines[7]
    for n in range(25):
        release.lines.append({**release.lines[0], "question_id": f"NEW{n}"})
    release.write()
    found = run("load_task", "arc-da", source=str(release.folder))
    assert found.returncode == 1
    assert everything() == before
    lines = {
        line.split()[0]: line.split(None, 2)[1:] for line in found.refusal.split("\n")
    }
    assert lines["added"][0] == "25"
    assert lines["added"][1].startswith("NEW0, NEW1, ")
    assert lines["added"][1].endswith("NEW19, …")  # the first twenty
    assert lines["removed"] == ["1", "Q7"]
    assert lines["changed"] == ["1", "Q3"]


def test_references_can_be_hidden_and_stay_hidden(run, release):
    run("load_task", "arc-da", source=str(release.folder))
    found = run("load_task", "arc-da", source=str(release.folder), hide_references=True)
    assert Task.own.get().hidden_references
    assert "has not changed" not in found.out
    assert "references hidden" in found.out
    found = run("load_task", "arc-da", source=str(release.folder))
    assert "references hidden" in found.out
    assert Task.own.get().hidden_references


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["no-such-task"], "There is no task 'no-such-task'"),
        (["arc-da"], "--source"),
        (["arc-da", "--source", "/no/such/folder"], "/no/such/folder"),
    ],
)
def test_what_is_missing_is_named(run, args, words):
    found = run("load_task", *args)
    assert found.returncode == 1
    assert words in found.refusal
    assert not Task.own.exists()


def test_a_broken_line_is_named_and_nothing_is_loaded(run, release):
    with (release.folder / "test.jsonl").open("a") as file:
        file.write('{"question_id": "Q99", ')
    found = run("load_task", "arc-da", source=str(release.folder))
    assert found.returncode == 1
    assert "31" in found.refusal
    assert not Task.own.exists()
    assert not Instance.own.exists()


@pytest.mark.every_engine
@needs_shared
def test_a_real_release_of_a_thousand_segments_loads_once(run, tmp_path):
    folder = SHARED / "data" / "wmt21-de-en"
    found = run("load_task", "wmt21-de-en", source=str(folder))
    assert "1,000 instances" in found.out
    again = run("load_task", "wmt21-de-en", source=str(folder))
    assert "has not changed" in again.out
    changed = tmp_path / "changed"
    shutil.copytree(folder, changed, ignore=shutil.ignore_patterns("submissions"))
    lines = (changed / "reference.A.txt").read_text(encoding="utf-8").split("\n")
    lines[4] += " Or not."
    (changed / "reference.A.txt").write_text("\n".join(lines), encoding="utf-8")
    refused = run("load_task", "wmt21-de-en", source=str(changed))
    assert refused.returncode == 1
    ids = (folder / "ids.txt").read_text().splitlines()
    assert f"changed      1  {ids[4]}" in refused.refusal


def test_a_task_without_its_texts_says_what_to_get_and_from_where():
    with pytest.raises(CommandError) as refused:
        call_command("load_task", "wmt21-de-en")
    told = str(refused.value)
    assert "ids.txt, source.txt, reference.A.txt" in told
    assert "https://www.statmt.org/wmt21/" in told
