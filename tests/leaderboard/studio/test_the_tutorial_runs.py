"""The commands of docs/own-task.md, run as they stand there."""

import io
import re
import shlex
from pathlib import Path

from django.core.management import call_command

from leaderboard.models import Submission, Task
from tests.factories import make_user

PAGE = (Path(__file__).resolve().parents[3] / "docs/own-task.md").read_text("utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.M | re.S)


def test_four_systems_in_a_table_to_a_link(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make_user("boss", is_staff=True, is_superuser=True)
    Path("answers.csv").write_text(blocks("csv")[0], "utf-8")
    said = []
    first, *_, last = blocks("sh")
    for line in (first + last).splitlines():
        command, *arguments = shlex.split(line.removeprefix("genie "))
        out = io.StringIO()
        call_command(command.replace("-", "_"), *arguments, stdout=out)
        said.append(out.getvalue())
    assert "The task was not loaded" in said[0]
    assert "/work/invitation/" in said[1]
    assert {row.state for row in Submission.own.all()} == {"ANNOTATING"}
    assert Task.own.get().n_instances == 2
    assert Path("sky-and-salt.zip").is_file()
    assert "already loaded" in said[-1]
