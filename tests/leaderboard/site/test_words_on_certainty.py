"""Wherever an interval or a rank is shown, it is said what it rests on, and no more."""

import re
from html import unescape

import pytest
from django.conf import settings
from django.utils.html import strip_tags

from leaderboard.models import Score
from leaderboard.stats.intervals import COVERS_INSTANCES
from leaderboard.stats.ranking import RANK_RULE
from leaderboard.stats.systems.estimates import COVERS_CROWD
from tests.each import each
from tests.factories import make_task, make_worker
from tests.kept import kept
from tests.leaderboard.boards.pages.judged import judge

#: What overlapping intervals do not show, and what no bootstrap over instances covers.
TOO_MUCH = re.compile(
    r"(overlap|share)[^.]*(cannot|not) (be )?(tell|told)|cannot be told apart"
    r"|the data cannot tell|instances and workers happened",
    re.IGNORECASE,
)


@pytest.fixture
def scored(team, submitter):
    return list(kept("three by four workers", lambda: scored_of(team, submitter)))


def scored_of(team, submitter):
    task = make_task(n_instances=12, sample_size=12)
    workers = [make_worker() for _ in range(4)]
    both = {"owner": submitter, "team": team, "workers": workers}
    return [
        judge(task, quality, seed=seed, system=f"System {seed}", **both)
        for seed, quality in enumerate((0.8, 0.7, 0.2))
    ]


def words(response):
    text = unescape(strip_tags(response.content.decode()))
    return " ".join(text.replace("\\%", "%").split())


@pytest.mark.every_engine
def test_a_score_covers_workers_and_the_plain_mean_beside_it_does_not(scored):
    current = Score.own.filter(superseded_at=None)
    covers = set(current.values_list("covers", flat=True))

    assert covers == {COVERS_CROWD}
    assert {s.estimates["plain"]["covers"] for s in current} == {COVERS_INSTANCES}
    assert COVERS_INSTANCES.endswith("another crowd may differ by more")


@each("path", ["/", "/pairs/", "/methods/", "/board.tex"])
def test_every_view_of_a_board_says_what_its_intervals_cover(client, scored, path):
    said = words(client.get(f"/tasks/tidy-news{path}"))

    assert COVERS_CROWD in said
    assert not TOO_MUCH.search(said)


@pytest.mark.every_engine
@pytest.mark.parametrize("path", ["/", "/board.tex"])
def test_ranks_are_explained_by_one_rule_everywhere(client, scored, path):
    assert RANK_RULE in words(client.get(f"/tasks/tidy-news{path}"))


def test_the_rule_stands_beside_ranks_in_files_and_in_the_api(client, scored):
    board = client.get("/tasks/tidy-news/board.json").json()
    card = client.get(f"/submissions/{scored[0].pk}/card.json").json()
    schema = client.get("/api/schema/?format=json").content.decode()

    assert board["rank_rule"].startswith(RANK_RULE)
    assert card["sections"]["Results"]["ranking rule"] == board["rank_rule"]
    assert COVERS_CROWD in schema
    assert "All systems are compared in pairs under one model" in schema


def test_the_explanations_say_the_same(client, scored):
    said = words(client.get("/how-it-works/"))

    assert COVERS_CROWD in said
    assert COVERS_INSTANCES in said
    assert RANK_RULE in said
    assert not TOO_MUCH.search(said)


def test_pairs_are_said_to_be_those_behind_the_ranks(client, scored):
    said = words(client.get("/tasks/tidy-news/pairs/"))

    assert "These are the comparisons behind the board’s ranks" in said


def test_nothing_in_docs_or_code_claims_more():
    claims = [
        (path.name, found[0])
        for folder, suffix in [("docs", "md"), ("templates", "html"), ("client", "py")]
        for path in sorted((settings.BASE_DIR / folder).rglob(f"*.{suffix}"))
        if (found := TOO_MUCH.search(" ".join(path.read_text().split())))
    ]
    assert claims == []
