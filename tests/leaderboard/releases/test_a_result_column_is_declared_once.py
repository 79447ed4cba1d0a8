"""A column of results that is declared in one place appears wherever results do."""

import csv
import io
import json

import pytest
from django.core.exceptions import ValidationError
from django.db import connection, models

from genie.lib.errors import GenieError
from leaderboard.evaluation import result_columns
from leaderboard.evaluation.result_columns import Column
from leaderboard.models import Score
from leaderboard.releases import bundle
from leaderboard.releases.make import make
from leaderboard.releases.parquet import as_json_lines
from leaderboard.releases.rebuilding.rebuild import rebuild
from tests.factories import make_task, make_worker
from tests.leaderboard.boards.pages.judged import judge
from tests.nets.conftest import FILES
from tests.nets.releases import rebuilt, unpack

NAME = "n_tens"


@pytest.fixture
def added(monkeypatch, db):
    field = models.PositiveIntegerField(null=True)
    column = Column(
        NAME,
        field,
        "Ratings that count, in tens.",
        compute=lambda ratings, unit: len(ratings) // 10,
        bounds=(0, 90),
    )
    monkeypatch.setattr(result_columns, "COLUMNS", (*result_columns.COLUMNS, column))
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE leaderboard_score ADD COLUMN {NAME} integer")
    Score.add_to_class(NAME, field)
    yield column
    Score._meta.local_fields.remove(field)
    Score._meta._expire_cache()
    del Score.n_tens


@pytest.fixture
def task(added, team, submitter):
    task = make_task(n_instances=12, sample_size=12, licence="CC BY 4.0")
    workers = [make_worker() for _ in range(4)]
    for seed in (1, 2):
        both = {"owner": submitter, "team": team, "workers": workers}
        judge(task, seed / 3, seed=seed, system=f"System {seed}", **both)
    return task


def test_it_is_on_boards_in_files_and_in_the_api(task, client):
    board, api = f"/tasks/{task.slug}/board", f"/api/v1/tasks/{task.slug}"
    [criterion] = task.human.criteria
    [row, _] = csv.DictReader(io.StringIO(client.get(f"{board}.csv").content.decode()))
    assert row[f"human_{criterion}_{NAME}"] == "4"
    [row, _] = client.get(f"{board}.json").json()["rows"]
    assert row["scores"][criterion][NAME] == 4
    [row, _] = client.get(f"{api}/leaderboard/").json()["results"]
    assert row["human"][NAME] == 4
    [row, _] = client.get(f"{api}/scores/").json()["results"]
    assert row[NAME] == 4
    schemas = client.get("/api/schema/?format=json").json()["components"]["schemas"]
    for name in ("HumanScore", "Score", "ScoreRow"):
        described = schemas[name]["properties"][NAME]
        assert described["description"] == "Ratings that count, in tens."
        assert (described["type"], described["nullable"]) == ("integer", True)


def test_it_is_in_releases_which_compute_it_again(task, added, tmp_path):
    folder = make(task, tmp_path / "release", parquet=True).folder
    assert {row[NAME] for row in bundle.iter_table(folder, "scores")} == {4}
    with as_json_lines(folder) as tables:  # "4" if it were text
        assert {row[NAME] for row in bundle.iter_table(tables, "scores")} == {4}
    assert f"{NAME}" in (folder / "scores.csv").read_text().splitlines()[0]
    words = f"- `{NAME}` (integer): {added.description}"
    assert words in (folder / bundle.CARD).read_text()
    tables = json.loads((folder / "croissant.json").read_text())["recordSet"]
    [scores] = [table["field"] for table in tables if table["name"] == "scores"]
    [described] = [one["description"] for one in scores if one["name"] == NAME]
    assert described == added.description
    entries = map(json.loads, (folder / bundle.LOG).read_text().splitlines())
    assert {json.loads(e["data"])[NAME] for e in entries if "data" in e} == {4}
    assert rebuild(folder).n_same["scores"] > 0
    changed = [{**row, NAME: 5} for row in bundle.iter_table(folder, "scores")]
    bundle.write_table(folder, "scores", list(changed[0]), changed)
    bundle.write_checksums(folder)
    with pytest.raises(GenieError, match=f"{NAME}: 5 was published"):
        rebuild(folder)


def test_the_model_checks_its_bounds(added):
    check = models.CheckConstraint(condition=result_columns.within_bounds(), name="c")
    check.validate(Score, Score(n_tens=90))
    check.validate(Score, Score(n_tens=None))
    with pytest.raises(ValidationError):
        check.validate(Score, Score(n_tens=91))


def test_a_release_from_before_it_is_rebuilt(added, tmp_path):
    archive = FILES / "releases" / "conversations.zip"
    assert NAME not in (unpack(archive, tmp_path) / "scores.csv").read_text()
    assert rebuilt(archive) in (archive.with_suffix(".txt")).read_text()
