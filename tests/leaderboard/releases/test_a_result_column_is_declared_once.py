"""A column of results, or a detail of systems, is declared in one place and is everywhere."""

import csv
import io
import json
from contextlib import contextmanager

import pytest
from django.core.exceptions import ValidationError
from django.db import connection, models

from genie.lib.errors import GenieError
from leaderboard.evaluation import result_columns
from leaderboard.evaluation.result_columns import Column
from leaderboard.evaluation.selectors.joint import criterion_results
from leaderboard.imports.services.bring_in import bring_in
from leaderboard.models import JointEvaluation, Score, Submission
from leaderboard.releases import bundle
from leaderboard.releases.make import make
from leaderboard.releases.parquet import as_json_lines
from leaderboard.releases.rebuilding.rebuild import rebuild
from leaderboard.submissions.models import DETAILS, Detail
from leaderboard.teams.selectors import data_of
from tests.factories import make_task, make_user, make_worker
from tests.leaderboard.boards.pages.judged import judge
from tests.leaderboard.imports.test_waves import preferences

NAME, OF_FIT = "n_ratings", "n_fitted"


@contextmanager
def stored(model, name, field):
    with connection.cursor() as cursor:
        kind = field.db_type(connection)
        table = model._meta.db_table
        cursor.execute(f"ALTER TABLE {table} ADD COLUMN {name} {kind} DEFAULT NULL")
    model.add_to_class(name, field)
    yield
    model._meta.local_fields.remove(field)
    model._meta._expire_cache()
    delattr(model, name)


@pytest.fixture
def added(monkeypatch, db):
    column = Column(
        NAME,
        models.PositiveIntegerField(null=True),
        "Ratings that count.",
        compute=lambda ratings, unit: len(ratings),
        bounds=(0, 90),
    )
    field = models.FloatField(null=True)
    fitted = Column(OF_FIT, field, "", from_fit=lambda fit, number: fit.n[number])
    for table, new in (("COLUMNS", [column, fitted]), ("JOINT_COLUMNS", [column])):
        columns = (*getattr(result_columns, table), *new)
        monkeypatch.setattr(result_columns, table, columns)
    with stored(Score, NAME, column.field), stored(Score, OF_FIT, field):
        yield column


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
    assert row[f"human_{criterion}_{NAME}"] == "12"
    [row, _] = client.get(f"{board}.json").json()["rows"]
    assert row["scores"][criterion][NAME] == 12
    [row, _] = client.get(f"{api}/leaderboard/").json()["results"]
    assert row["human"][NAME] == 12
    [row, _] = client.get(f"{api}/scores/").json()["results"]
    assert row[NAME] == 12
    schemas = client.get("/api/schema/?format=json").json()["components"]["schemas"]
    for name in ("HumanScore", "Score", "ScoreRow", "JointRow"):
        described = schemas[name]["properties"][NAME]
        assert described["description"] == "Ratings that count."
        assert described["type"] == ["integer", "null"]


def test_it_is_in_releases_which_compute_it_again(task, tmp_path):
    folder = _release(task, tmp_path, "scores")
    assert {row[OF_FIT] for row in bundle.iter_table(folder, "scores")} == {12.0}
    entries = map(json.loads, (folder / bundle.LOG).read_text().splitlines())
    assert {json.loads(e["data"])[NAME] for e in entries if "data" in e} == {12}


def _release(task, tmp_path, table):
    folder = make(task, tmp_path / "release", parquet=True).folder
    rows = list(bundle.iter_table(folder, table))
    assert {row[NAME] for row in rows} == {12}
    with as_json_lines(folder) as tables:  # "12" if it were text
        assert {row[NAME] for row in bundle.iter_table(tables, table)} == {12}
    assert NAME in (folder / f"{table}.csv").read_text().splitlines()[0]
    _, _, words = (folder / bundle.CARD).read_text().partition(f"of `{table}`:")
    assert f"- `{NAME}` (integer): Ratings that count." in words
    tables = json.loads((folder / "croissant.json").read_text())["recordSet"]
    [fields] = [one["field"] for one in tables if one["name"] == table]
    [described] = [one["description"] for one in fields if one["name"] == NAME]
    assert described == "Ratings that count."
    rebuild(folder)
    for number in ({}, {NAME: 13}):
        changed = [{k: v for k, v in row.items() if k != NAME} | number for row in rows]
        bundle.write_table(folder, table, list(changed[0]), changed)
        bundle.write_checksums(folder)
        if not number:  # as of a release from before it
            rebuild(folder)
    with pytest.raises(GenieError, match=f"{NAME}: 13 was published"):
        rebuild(folder)
    return folder


def test_one_of_joint_results_is_shown_and_released(added, client, tmp_path):
    task = bring_in(preferences(), slug="x", by=make_user("importer")).task
    joint = JointEvaluation.objects.get()
    [shown] = criterion_results(joint, {})
    [sent] = client.get(f"/api/v1/joint-evaluations/{joint.pk}/").json()["criteria"]
    assert {row.n_ratings for row in shown.rows} == {12}
    assert {row[NAME] for row in sent["rows"]} == {12}
    _release(task, tmp_path, "joint_results")


def test_the_model_checks_its_bounds(added):
    check = models.CheckConstraint(condition=result_columns.within_bounds(), name="c")
    check.validate(Score, Score(n_ratings=90))
    check.validate(Score, Score(n_ratings=None))
    with pytest.raises(ValidationError):
        check.validate(Score, Score(n_ratings=91))


@pytest.fixture
def languages(db):
    field = models.CharField(max_length=30, blank=True)
    words = (
        "Languages",
        "In order.",
        "Its languages.",
        "Languages; empty if not given.",
    )
    detail = Detail(
        "languages", field, *words, "speaks %(languages)s", "[a-z, ]+", "No."
    )
    DETAILS.append(detail)
    with stored(Submission, "languages", field):
        yield
    DETAILS.remove(detail)


def test_a_detail_is_in_forms_the_api_exports_and_on_the_page(
    languages, client, team, submitter, task
):
    client.force_login(submitter)
    assert "Its languages." in client.get("/api/schema/?format=json").content.decode()
    form = client.get(f"/tasks/{task.slug}/submit/").content.decode()
    assert 'name="languages"' in form
    system = task.submissions.order_by("pk")[0]
    page = f"/submissions/{system.pk}/"
    client.post(f"{page}describe/", {"languages": "en, 7"})
    client.post(f"{page}describe/", {"languages": "en, is"})
    assert "speaks en, is" in client.get(page).content.decode()
    assert client.get(f"/api/v1{page}").json()["languages"] == "en, is"
    records = client.get(f"/tasks/{task.slug}/every-eval-ever.json").json()
    details = [record["model_info"]["additional_details"] for record in records]
    assert [one.get("languages", "") for one in details].count("en, is") == 1
    assert data_of(submitter)["submissions"][0]["languages"] == "en, is"
