"""Results are about the declared raters, and all pages and files name these."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from crowd.models import Rating
from genie.lib.errors import GenieError
from leaderboard.boards.selectors import pairs
from leaderboard.boards.selectors.certainty import ranked_pks
from leaderboard.evaluation.services.refit import refit_board
from leaderboard.models import Task
from leaderboard.stats.systems.estimates import Population
from leaderboard.studio.services import keep
from leaderboard.tasks.drafts.draft import draft
from leaderboard.tasks.intake.join import Item, Material
from leaderboard.tasks.services import load
from tests.factories import make_user
from tests.leaderboard.studio.test_imports import table

ASSUMED = "This was assumed, because the import did not declare it."


def declare(task, raters):
    task.config["human"]["raters"] = raters
    task.save()
    refit_board(task := Task.objects.get(pk=task.pk))
    return task


def matrix(task, **options):
    return pairs.matrix(task, ranked_pks(task), cents_per_rating=10.0, **options)


def test_only_the_team_and_staff_see_the_other_population(judged, client, submitter):
    board = f"/tasks/{judged.slug}/pairs/"
    other = board + "?raters=these"
    assert "Not the board’s comparisons" not in client.get(other).content.decode()
    client.force_login(make_user("stranger"))
    assert "?raters=" not in client.get(other).content.decode()
    client.force_login(submitter)
    assert "?raters=these" in client.get(board).content.decode()
    shown = client.get(other).content.decode()
    assert "These comparisons are for these raters." in shown
    assert "with different instances" in shown
    wide = matrix(judged)
    found = matrix(judged, population=Population.THESE)
    task = declare(judged, "these")
    assert found.covers == matrix(task).covers != wide.covers
    found_p, own_p = (m.pairs[0].p_value for m in (found, matrix(task)))
    assert found_p == pytest.approx(own_p)
    # more instances by the same raters, and no more raters
    assert {pair.more_workers for pair in found.pairs} <= {0, None}


def test_they_change_until_the_first_rating_only(judged):
    before = dict(judged.config)
    changed = {**before, "human": {**before["human"], "raters": "these"}}
    with pytest.raises(GenieError, match="has its first rating"):
        load.revise(judged, changed)
    Rating.objects.filter(item__campaign__pool=judged.slug).delete()
    assert "human.raters" in load.revise(judged, changed).changes


@pytest.mark.parametrize(
    ("who", "raters"), [("link", "these"), ("invited", "these"), ("prolific", "like")]
)
def test_they_follow_from_how_people_are_found(who, raters):
    row = keep.Draft(slug="mine", title="Mine", state={"people": {"who": who}})
    item = Item("1", {"source": "A text."}, [])
    material = Material({"source": "Source"}, {}, "text", [item], {"ada": {"1": "Hi."}})
    document = draft(material, keep.ask_of(row)).document
    assert document["human"]["raters"] == raters


@pytest.mark.parametrize("said", ["these", "like", ""])
def test_an_import_asks_and_the_board_says_what_it_assumed(said, client, tmp_path):
    make_user("boss", is_staff=True, is_superuser=True)
    path, into = tmp_path / "ratings.csv", {"task": "old", "owner": "boss"}
    path.write_bytes(table())
    call_command("import_judgments", path, **into, stdout=StringIO(), raters=said)
    task = Task.objects.get(slug="old")
    assert task.human.raters == (said or None)
    page = client.get("/tasks/old/").content.decode()
    assert f"about {Population(said or 'like').label}." in page
    assert (ASSUMED in page) == (not said)
    path.write_bytes(table(9))
    into["raters"] = "like" if said == "these" else "these"
    with pytest.raises(CommandError, match="has its first rating"):
        call_command("import_judgments", path, **into, stdout=StringIO())


@pytest.mark.parametrize("paired", [False, True])
def test_a_table_asks_too(tmp_path, paired):
    path = tmp_path / "table.csv"
    path.write_bytes(table())
    if paired:
        rows = [
            f"x,y,{i},{r},{'xyyxy'[(i + r) % 5]}" for i in range(9) for r in range(3)
        ]
        path.write_text("\n".join(["system_a,system_b,instance,worker,winner", *rows]))
    texts = {}
    for said in ("", "these", "like"):
        out = StringIO()
        call_command("stats", path, stdout=out, **({"raters": said} if said else {}))
        texts[said] = " ".join(out.getvalue().split())
    assert "Results are about these raters." in texts["these"]
    assert "which instances were drawn, for these raters" in texts["these"]
    assert "Assumed that results are about raters like these" in texts[""]
    assert "Assumed that" not in texts["these"] + texts["like"]
