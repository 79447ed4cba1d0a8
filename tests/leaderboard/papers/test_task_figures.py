"""Published numbers that are kept with a task, beside what comes out here."""

import io
import json

import pytest
from django.contrib.auth.models import Group
from django.core.management import CommandError, call_command
from django.urls import reverse

from crowd.models import Worker
from genie.accounts.models import TaskRole
from genie.lib.errors import GenieError
from leaderboard.evaluation import decide
from leaderboard.imports.selectors import judgments_of, platform_worker_id
from leaderboard.imports.services.bring_in import bring_in
from leaderboard.models import PublishedFigure
from leaderboard.papers.figures import Verdict, expected_of
from leaderboard.papers.task_figures.beside import beside
from leaderboard.papers.task_figures.computed import judgments_for
from leaderboard.papers.task_figures.keep import keep_published
from quality.models import Ban
from tests.cast import allow
from tests.factories import make_ranked, make_task, make_team, make_user
from tests.leaderboard.imports.test_bring_in import ratings

pytestmark = pytest.mark.django_db


@pytest.fixture
def task():
    task = make_task("menu")
    by = {"team": make_team("Birds"), "owner": make_user("nina")}
    make_ranked(task, 70, system="Red", **by)
    make_ranked(task, 60, system="Blue", **by)
    return task


def listed(*entries):
    return expected_of(json.dumps([dict(entry) for entry in entries]))


RED = {"id": "Red/score", "value": 70.2, "tolerance": 0.5, "table": "Table 2"}
BLUE = {"id": "Blue/score", "value": 65, "tolerance": 0.5, "table": "Table 2"}


def test_numbers_of_a_paper_stand_beside_the_board(task, client):
    board, here = reverse("leaderboard:board", args=["menu"]), "/tasks/menu/published/"
    assert here not in client.get(board).content.decode()
    keep_published(task, listed(RED, BLUE))
    assert here in client.get(board).content.decode()
    cells = [one.cell for one in beside(task)]
    assert [cell.verdict for cell in cells] == [Verdict.HOLDS, Verdict.FAILS]
    page = client.get(reverse("leaderboard:published", args=["menu"])).content.decode()
    assert "1 of 2 published numbers hold" in page
    assert "Table 2" in page
    assert "differs" in page
    # a known reason explains a difference
    keep_published(task, listed({**BLUE, "why": "Two raters were left out later."}))
    [cell] = [one.cell for one in beside(task)]
    assert cell.verdict is Verdict.NOT_MET
    assert cell.why == "Two raters were left out later."


def test_what_is_not_published_or_that_nobody_computes_is_named(task):
    with pytest.raises(GenieError, match="None of the 1 numbers is published"):
        keep_published(task, listed({**RED, "source": "computed"}))
    with pytest.raises(GenieError, match="Red/charm is not a figure") as error:
        keep_published(task, listed({"id": "Red/charm", "value": 1}))
    assert "board-score" in str(error.value)
    assert not PublishedFigure.objects.exists()


def test_the_same_table_again_replaces_its_numbers_only(task):
    keep_published(task, listed(RED, {**BLUE, "table": "Table 3"}))
    keep_published(task, listed({**RED, "value": 71}))
    kept = PublishedFigure.objects.values_list("table", "value")
    assert set(kept) == {("Table 2", 71), ("Table 3", 65)}


def test_files_and_api_say_the_same(task, client):
    keep_published(task, listed(RED))
    given = client.get(reverse("leaderboard:published-file", args=["menu", "json"]))
    [record] = json.loads(given.content)
    found = (record["row"], record["figure"], record["verdict"])
    assert found == ("Red", "board-score", "holds")
    answer = client.get(reverse("api:published", args=["menu"])).json()
    assert (answer["n_cells"], answer["n_holding"]) == (1, 1)
    assert answer["cells"] == [record]
    csv = client.get(reverse("leaderboard:published-file", args=["menu", "csv"]))
    assert csv.content.decode().splitlines()[0].startswith("table,row,column,figure")
    assert client.get("/tasks/menu/published.xls").status_code == 404


def test_commands_keep_compare_and_forget(task, tmp_path):
    file = tmp_path / "paper.csv"
    file.write_text("id,value,tolerance,table\nmenu/Red/score,70.2,.5,Table 2\n")
    out = io.StringIO()
    options = {"task": "menu", "part": "menu", "verbosity": 0}
    call_command("reproduce", published=file, stdout=out, **options)
    assert "1 cells: 1 holds" in out.getvalue()
    assert PublishedFigure.objects.get().table == "Table 2"
    out = io.StringIO()
    call_command("reproduce", expected=file, stdout=out, **options)
    assert "menu/Red  score" in out.getvalue()
    with pytest.raises(CommandError, match="menu has no published numbers"):
        call_command("reproduce", forget=True, stdout=out, **options)
    with pytest.raises(CommandError, match="Give either --data or --task"):
        call_command("reproduce", stdout=out)


def test_staff_add_numbers_on_the_page_and_take_them_back(task, client):
    here = reverse("leaderboard:published", args=["menu"])
    assert "Add published numbers" not in client.get(here).content.decode()
    assert client.post(here, {"cells": "id,value\nRed/score,70"}).status_code == 403
    client.force_login(make_user("root", is_superuser=True, is_staff=True))
    wrong = client.post(here, {"cells": "id,value\nRed/charm,1\n,2\nBlue/score,"})
    assert wrong.status_code == 400
    for said in ("Entry 2 has no id", "Entry 3 (Blue/score) has no value"):
        assert said in wrong.content.decode()
    unknown = client.post(here, {"cells": "id,value\nRed/charm,1\nRed/wit,2"})
    assert "Red/wit is not a figure" in unknown.content.decode()
    assert not PublishedFigure.objects.exists()
    cells = "id,value,tolerance\nRed/score,70.2,.5\nBlue/score,65,.5\n"
    assert client.post(here, {"cells": cells, "table": "Table 2"}).status_code == 302
    assert "1 of 2 published numbers hold" in client.get(here).content.decode()
    client.post(here, {"forget": "Table 2"})
    assert not PublishedFigure.objects.exists()


def test_programs_add_numbers_and_take_them_back(task, client):
    here, body = reverse("api:published", args=["menu"]), {"cells": [RED, BLUE]}

    def send(**more):
        return client.post(here, {**body, **more}, content_type="application/json")

    assert send().status_code == 401
    other = make_user("other", is_staff=True)
    client.force_login(other)
    assert send().status_code == 403
    group = Group.objects.create(name="keepers")
    allow(group, "leaderboard.change_task")
    TaskRole.objects.create(user=other, role=group, pool="menu")
    answer = send(cells=[{"id": "Red/charm", "value": 1}])
    assert (answer.status_code, answer.json()["code"]) == (400, "bad-expected")
    assert send(dry_run=True).json()["n_cells"] == 0
    answer = send()
    assert (answer.status_code, answer.json()["n_holding"]) == (201, 1)
    make_task("elsewhere")
    elsewhere = reverse("api:published", args=["elsewhere"])
    assert client.delete(elsewhere).status_code == 403
    assert client.delete(f"{here}?table=Table+3").status_code == 204
    assert PublishedFigure.objects.count() == 2
    assert client.delete(here).status_code == 204
    assert not PublishedFigure.objects.exists()


def test_figures_of_an_import_leave_out_who_was_banned_and_what_was_withdrawn():
    rows = ratings(n=12, workers=3)
    row = bring_in(rows, slug="elsewhere", by=make_user("importer"))
    plain = rows.rows[["system", "worker", "value"]]
    worker = Worker.objects.get(
        platform_worker_id=platform_worker_id("elsewhere", "w1")
    )
    Ban.objects.create(worker=worker, pool_id="elsewhere", reason="careless")
    red = row.task.submissions.get(system_name="red")
    decide.withdraw(red, by=row.imported_by, reason="Asked to.")
    found = judgments_for(row.task).rows
    kept = plain[(plain["system"] != "red") & (plain["worker"] != "w1")]
    assert sorted(found["value"]) == sorted(kept["value"])
    assert set(found["system"]) == {"blue", "green"}
    # what the files said is kept all the same
    assert len(judgments_of(row.task).rows) == len(plain)
