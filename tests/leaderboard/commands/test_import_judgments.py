"""From a table of somebody's to a board, in one command."""

import io
import json
import sys
import tomllib

import pytest
from django.core.management import CommandError, call_command

from leaderboard.models import Import, Score, Task
from tests.factories import make_user
from tests.leaderboard.studio.test_imports import ODD

ROWS = [
    "system,item,rater,score",
    *(
        f"{system},{item},r{item % 3},{item % 4 + place}"
        for place, system in enumerate(("red", "blue"), 1)
        for item in range(9)
    ),
]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text("\n".join(ROWS) + "\n")
    return str(path)


def test_a_dry_run_says_all_and_stores_nothing(
    table, capsys, django_assert_num_queries
):
    with django_assert_num_queries(0):
        call_command("import_judgments", table, scale=["1 to 7"])
    assert "can be imported with --task SLUG" in capsys.readouterr().out
    call_command("import_judgments", table, task="elsewhere", dry_run=True, json=True)
    seen = json.loads(capsys.readouterr().out)
    assert seen["n_systems"] == 2
    assert not Task.own.exists()


def test_an_import_has_a_board_and_can_be_taken_back(table, capsys):
    make_user("boss", is_staff=True, is_superuser=True)
    words = ["known", "scale"]
    said = dict(zip(words, (["pay=9 USD an hour"], ["*=number_1_7"]), strict=True))
    call_command("import_judgments", table, task="elsewhere", license="CC0-1.0", **said)
    row = Import.objects.get()
    told = f"Import {row.pk}: /tasks/elsewhere/ has its board. Missing details: recru"
    assert told in capsys.readouterr().out
    assert (row.known, row.licence) == ({"pay": "9 USD an hour"}, "CC0-1.0")
    scale = Score.own.first().evaluation.campaign.hit_type.scale
    assert scale == "number_1_7"
    with pytest.raises(CommandError, match="imported into elsewhere already"):
        call_command("import_judgments", table, task="elsewhere")
    call_command("import_judgments", take_back=row.pk, json=True)
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["task_remains"] is False
    assert not Task.own.exists()


def test_without_an_owner_it_says_how_to_make_one(table):
    with pytest.raises(
        CommandError, match="Create an account with genie createsuperuser"
    ):
        call_command("import_judgments", table, task="elsewhere")
    for name in ("ada", "bob"):
        make_user(name, is_staff=True, is_superuser=True)
    with pytest.raises(CommandError, match="several superusers"):
        call_command("import_judgments", table, task="elsewhere")


def test_a_list_of_nothing_published_stops_it_before_storing(table, tmp_path):
    make_user("boss", is_staff=True, is_superuser=True)
    printed = tmp_path / "printed.csv"
    printed.write_text("id,value,source\nred/board-score,5,computed\n")
    with pytest.raises(CommandError, match="None of the 1 numbers is published"):
        call_command("import_judgments", table, task="elsewhere", published=printed)
    assert not Task.own.exists()


def test_a_scale_is_asked_for_and_may_be_of_every_criterion(tmp_path):
    make_user("boss", is_staff=True, is_superuser=True)
    path = tmp_path / "few.csv"
    rows = [row[:-1] + str(n % 3 + 2) for n, row in enumerate(ROWS[1:])]
    path.write_text("\n".join([ROWS[0], *rows]))
    for dry in (True, False):
        with pytest.raises(CommandError, match="--scale"):
            call_command("import_judgments", path, task="few-values", dry_run=dry)
    assert not Task.own.exists()
    call_command("import_judgments", path, task="few-values", scale=["1 to 5"])
    row = Import.objects.get()
    assert row.said["scales"] == {"": "number_1_5"}
    assert row.task.title == "few-values"


@pytest.fixture
def odd(tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text("\n".join(ODD) + "\n")
    return path


def test_a_refusal_lists_the_columns_and_the_options_that_settle_it(odd, capsys):
    with pytest.raises(CommandError) as refused:
        call_command("import_judgments", odd)
    for words in ("--choose system=", "  sigma: ignore; ", "such as gut, schlecht"):
        assert words in str(refused.value)
    roles = ["rater=wer", "item=was", "system=sigma", "rating=rang"]
    with pytest.raises(CommandError, match=r"words of rang.*schlecht"):
        call_command("import_judgments", odd, choose=roles)
    # without a task it is a dry run
    chosen = {"choose": [*roles, "words=gut=2, schlecht=1"], "scale": ["1 to 2"]}
    call_command("import_judgments", odd, **chosen)
    assert "  blau: 1.667 (n = 9)" in capsys.readouterr().out
    assert not Task.own.exists()


def test_a_terminal_is_asked_and_the_answers_become_a_mapping(odd, capsys, monkeypatch):
    typed = io.StringIO("\n".join(["kein", "3", "2", "viel", "2", "1", ""]))
    monkeypatch.setattr(typed, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys, "stdin", typed)
    call_command("import_judgments", odd, scale=["1 to 2"])
    found = capsys.readouterr()
    assert "There is no column 'kein' for system" in found.err
    assert "The word 'schlecht' is worth a number" in found.err
    mapping = found.err.partition("save this for --mapping:\n")[2]
    assert tomllib.loads(mapping)["words"] == {"gut": 2, "schlecht": 1}
    odd.with_name("m.toml").write_text(mapping)
    again = {"mapping": odd.with_name("m.toml"), "scale": ["1 to 2"], "json": True}
    call_command("import_judgments", odd, **again)
    said = json.loads(capsys.readouterr().out)
    assert said["board"][1] == ["blau", [[9, 15 / 9]]]
    assert {one["name"]: one["role"] for one in said["columns"]}["sigma"] == "system"
    with pytest.raises(CommandError, match="a question has no answer"):
        call_command("import_judgments", odd)


def test_losing_ratings_takes_a_confirmation(table, tmp_path):
    path = tmp_path / "lost.csv"
    path.write_text("\n".join([*ROWS, ",9,r1,3"]))
    lost = {"scale": ["1 to 7"], "dry_run": True, "task": "lost"}
    with pytest.raises(
        CommandError, match=r"1 of \d+ ratings .*\n  --choose lost=.*yes"
    ):
        call_command("import_judgments", path, **lost)
    call_command("import_judgments", path, choose=["lost=yes"], **lost)
