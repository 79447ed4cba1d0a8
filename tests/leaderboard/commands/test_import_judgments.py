"""From a table of somebody's to a board, in one command."""

import json

import pytest
from django.core.management import CommandError, call_command

from leaderboard.models import Import, Score, Task
from tests.factories import make_user

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


def test_a_dry_run_says_all_and_stores_nothing(table, capsys):
    call_command("import_judgments", table, task="elsewhere", dry_run=True, json=True)
    seen = json.loads(capsys.readouterr().out)
    assert seen["n_systems"] == 2
    assert not Task.own.exists()


def test_an_import_has_a_board_and_can_be_taken_back(table, capsys):
    make_user("boss", is_staff=True, is_superuser=True)
    words = ["known", "scale"]
    said = dict(zip(words, (["pay=9 USD an hour"], ["*=number_1_7"]), strict=True))
    call_command("import_judgments", table, task="elsewhere", licence="CC0-1.0", **said)
    row = Import.objects.get()
    assert (row.known, row.licence) == ({"pay": "9 USD an hour"}, "CC0-1.0")
    scale = Score.own.first().evaluation.campaign.hit_type.scale
    assert scale == "number_1_7"
    with pytest.raises(CommandError, match="imported into elsewhere already"):
        call_command("import_judgments", table, task="elsewhere")
    call_command("import_judgments", take_back=row.pk)
    assert "the task elsewhere is gone" in capsys.readouterr().out
    assert not Task.own.exists()


def test_without_an_owner_it_says_how_to_make_one(table):
    with pytest.raises(
        CommandError, match="make an account with genie createsuperuser"
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
    path.write_text("\n".join(row[:-1] + str(n % 3 + 2) for n, row in enumerate(ROWS)))
    path.write_text(path.read_text().replace("system,item,rater,scor2", ROWS[0]))
    for dry in (True, False):
        with pytest.raises(CommandError, match="--scale"):
            call_command("import_judgments", path, task="few-values", dry_run=dry)
    assert not Task.own.exists()
    call_command("import_judgments", path, task="few-values", scale=["1 to 5"])
    row = Import.objects.get()
    assert row.said["scales"] == {"": "number_1_5"}
    assert row.task.title == "few-values"
