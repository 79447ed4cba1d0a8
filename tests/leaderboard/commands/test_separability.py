"""The study whether test questions can be told: what it prints, and that nothing is kept."""

import json

import pytest
from django.core.management import CommandError, call_command

from leaderboard.evaluation.models.human_evaluation import ConfirmedOutput
from leaderboard.models import Submission, Task


def printed(capsys, *args) -> str:
    call_command("separability", *args)
    return capsys.readouterr().out


def test_it_prints_what_a_script_could_tell_and_keeps_nothing(capsys):
    small = ["demo-qa", "--systems", "1", "--draws", "1"]
    text = printed(capsys, *small)
    lines = text.splitlines()
    assert lines[2].startswith(
        "| demo-qa | tests and real items, one worker (7, 30) | 0."
    )
    # tests and their polarity, for one worker and for pools of two, three and five
    assert len([line for line in lines if line.startswith("| demo-qa |")]) == 2 * 7
    assert "demo-qa: 1 systems; confirmed 3, edit:" in text
    assert "Edits move chrF from" in text
    assert not Task.own.exists()
    assert not Submission.own.exists()
    assert not ConfirmedOutput.objects.exists()
    assert printed(capsys, *small) == text
    assert json.loads(printed(capsys, *small, "--json"))[0]["n_systems"] == 1


def test_a_task_without_outputs_says_what_to_name(tmp_path):
    source = tmp_path / "test.jsonl"
    with pytest.raises(CommandError, match="--source DIR"):
        call_command("separability", "wmt21-de-en")
    with pytest.raises(CommandError, match="for one task"):
        call_command("separability", "--source", str(source))
    source.write_text("", "utf-8")
    for option, said in (("--outputs", "no JSON"), ("--confirmed", "object of lists")):
        with pytest.raises(CommandError, match=said):
            call_command("separability", "demo-qa", option, source)
