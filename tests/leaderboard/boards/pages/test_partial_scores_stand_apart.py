"""A score from too few instances is shown, says so, and is not ranked."""

import csv
import io

import pytest

from crowd.models import Campaign
from genie.lib.errors import GenieError
from leaderboard.boards.selectors import home
from leaderboard.boards.selectors.certainty import ranked_pks
from leaderboard.boards.selectors.history import newest_leads, results_of
from leaderboard.boards.selectors.rows import standings
from leaderboard.metric_board.selectors.snapshot import board_inputs
from leaderboard.models import HumanEvaluation, Score, Submission
from leaderboard.submissions.services import lifecycle, submit
from tests.each import each
from tests.factories import make_ranked, make_submission

BOARD = "/tasks/tidy-news/"
SAID = "stopped at 154 of 800"


@pytest.fixture
def partial(task, team, submitter):
    """Two whole systems and a better one that staff stopped early."""
    who = {"team": team, "owner": submitter}
    make_ranked(task, 60, system="Kite", **who)
    make_ranked(task, 59, system="Wren", **who)
    make_submission(task, system="Egret", **who)
    found = make_ranked(task, 95, half=30, system="Heron", **who)
    HumanEvaluation.own.filter(submissions__isnull=False).update(n_instances=800)
    cut_short(found, 154)
    return found


def cut_short(submission, n, state=Campaign.State.STOPPED):
    Score.objects.filter(submission=submission).update(n=n)
    campaigns = Campaign.objects.filter(key=f"submission:{submission.pk}")
    campaigns.update(state=state)


def test_it_has_no_rank_and_moves_nobody_elses(task, partial):
    board = standings(task)
    assert [(row.system, row.rank_first, row.rank_last) for row in board] == [
        ("Kite", 1, 2),
        ("Wren", 1, 2),
        ("Heron", None, None),
        ("Egret", None, None),
    ]
    assert [str(row.partial) for row in board] == ["None", "None", SAID, "None"]
    assert (board.n_ranked, board.n_partial, board.n_pending) == (2, 1, 1)


@each(
    ("state", "said"),
    [
        (Campaign.State.STOPPED, "stopped at 154 of 800"),
        (Campaign.State.COMPLETE, "ended at 154 of 800"),
        (Campaign.State.RUNNING, "154 of 800 so far"),
    ],
)
def test_whatever_ended_it_early_makes_it_partial(task, partial, state, said):
    cut_short(partial, 154, state)
    row = standings(task).row_of(partial.pk)
    assert (str(row.partial), row.rank_first) == (said, None)


@each(("n", "ranked"), [(759, False), (760, True), (800, True)])
def test_a_few_lost_instances_do_not_cost_the_rank(task, partial, n, ranked):
    cut_short(partial, n)
    row = standings(task).row_of(partial.pk)
    assert (row.rank_first is not None) == ranked
    assert (row.partial is None) == ranked


def test_the_board_says_how_many_instances_its_ranked_systems_were_judged_on(
    client, task, partial
):
    page = client.get(BOARD).content.decode()
    assert "4 systems · 800 items each" in page
    assert page.count(SAID) >= 1
    cut_short(partial, 770)
    page = client.get(BOARD).content.decode()
    assert "770–800 items each" in page


def test_pages_and_files_say_so(client, task, partial):
    for address in (f"/submissions/{partial.pk}/", f"{BOARD}board.tex"):
        assert SAID in client.get(address).content.decode(), address
    card = client.get(f"/submissions/{partial.pk}/card/").content.decode()
    assert SAID in card
    assert "154 randomly chosen instances" in card
    # the front page has ranked systems only
    assert "95.0" not in client.get("/").content.decode()


def test_a_board_of_partial_scores_alone_does_not_say_that_there_are_none(
    client, task, who, without_decoys
):
    cut_short(make_ranked(task, 60, **who), 154)
    HumanEvaluation.objects.filter(submissions__isnull=False).update(n_instances=800)
    board = client.get(BOARD).content.decode()
    assert "No system has enough ratings for a rank yet." in board
    home_page = client.get("/").content.decode()
    assert "Only partial scores so far" in home_page
    assert "No system has been rated here yet" not in home_page


def test_exports_and_the_api_say_so(client, task, partial):
    text = client.get(f"{BOARD}board.csv").content.decode()
    row = list(csv.DictReader(io.StringIO(text)))[2]
    assert (row["rank_first"], row["partial"]) == ("", SAID)
    assert (row["human_overall_n"], row["human_overall_of"]) == ("154", "800")
    rows = client.get(f"{BOARD}board.json").json()["rows"]
    assert [one["partial"] for one in rows] == [None, None, SAID, None]
    rows = client.get("/api/v1/tasks/tidy-news/leaderboard/").json()["results"]
    assert rows[2]["partial"] == {"n": 154, "of": 800, "said": SAID}
    assert rows[2]["rank_first"] is None
    scores = client.get(f"/api/v1/submissions/{partial.pk}/").json()["scores"]
    assert (scores[0]["of"], scores[0]["partial"]) == (800, SAID)


def test_it_leads_nowhere(task, partial):
    assert [lead.result.system for lead in newest_leads(task, 50)] == ["Kite"]
    assert results_of(task).count() == 3
    card, _decoy = home.task_cards(home.tasks_in_order())
    assert [score.submission.system_name for score in card.best] == ["Kite", "Wren"]
    assert (card.n_ranked, card.n_pending) == (2, 1)
    assert partial.pk not in ranked_pks(task)
    names = [system.name for system in board_inputs(task, "overall").systems]
    assert names == ["Kite", "Wren"]


def test_a_contrastive_system_is_listed_without_a_rank(task, team, submitter, client):
    who = {"team": team, "owner": submitter}
    make_ranked(task, 60, system="Kite", **who)
    heron = make_ranked(task, 95, system="Heron", **who)
    make_ranked(task, 59, system="Wren", **who)
    Submission.own.filter(pk=heron.pk).update(entry="contrastive")
    board = standings(task)
    assert [(row.system, row.rank_first) for row in board] == [
        ("Kite", 1),
        ("Wren", 1),
        ("Heron", None),
    ]
    assert (board.n_ranked, board.n_partial) == (2, 0)
    assert heron.pk not in ranked_pks(task)
    assert home.newest_board() == task
    assert [lead.result.system for lead in newest_leads(task, 50)][-1] == "Kite"
    page = client.get(BOARD).content.decode()
    assert '<span class="tag">contrastive</span>' in page


def test_a_team_has_one_primary_system_for_a_task(task, team, submitter):
    def hand_in(system, entry="", **more):
        file = io.BytesIO(b"{}")
        return submit.receive(
            task=task, team=team, owner=submitter, system_name=system, file=file,
            file_name="a.json", entry=entry, **more,
        )  # fmt: skip

    first, main = hand_in("Wren"), hand_in("Kite", "primary")
    later = hand_in("Heron")
    first.refresh_from_db()
    assert [first.entry, main.entry, later.entry] == [
        "contrastive",
        "primary",
        "contrastive",
    ]
    task.config["quota"]["submissions"] = 9
    with pytest.raises(GenieError, match="Kite is your team's primary system"):
        hand_in("Egret", "primary")
    lifecycle.withdraw(main, "a test", by=submitter)
    said = {"description": "", "links": []}
    assert submit.describe(later, **said, entry="primary") == ["entry"]
    main.refresh_from_db()
    with pytest.raises(GenieError, match="can be restored"):
        lifecycle.restore(main, None, by=submitter)
    rated = make_ranked(task, 60, system="Gull", team=team, owner=submitter)
    with pytest.raises(GenieError, match="once people are asked"):
        submit.describe(rated, **said, entry="contrastive")
