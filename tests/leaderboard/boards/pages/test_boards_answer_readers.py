"""What readers ask of a board: filters by what systems are, sections, scales, changes, two."""

import csv
import io
import re

import pytest

from leaderboard.boards.selectors.certainty import ranked_pks
from leaderboard.boards.selectors.rows import standings
from leaderboard.models import HumanEvaluation, Score, Submission
from tests.each import each
from tests.factories import make_many_ranked, make_ranked, make_submission
from tests.leaderboard.site.test_boards import names

BOARD = "/tasks/tidy-news/"
API = "/api/v1/tasks/tidy-news/leaderboard/"
TWO = f"{BOARD}pairs/"


@pytest.fixture
def kinds(task, who):
    make_ranked(task, 80, system="Open", **who)
    make_ranked(task, 70, system="Closed", **who)
    make_ranked(task, 60, system="Person", baseline="reference", **who)
    make_ranked(task, 50, system="Lead", baseline="baseline", **who)


@pytest.mark.every_engine
@each(
    ("query", "expected"),
    [
        ("baseline=reference", ["Person"]),
        ("baseline=none", ["Open", "Closed"]),
        ("baseline=none&q=clos", ["Closed"]),
    ],
)
def test_page_and_api_filter_by_what_systems_are(client, kinds, query, expected):
    assert names(client.get(f"{BOARD}?{query}")) == expected
    rows = client.get(f"{API}?{query}").json()["results"]
    assert [row["system"] for row in rows] == expected
    # only known choices filter
    assert len(names(client.get(f"{BOARD}?baseline=x"))) == 4
    assert client.get(f"{API}?baseline=x").json()["code"] == "bad-choice"


def test_references_and_baselines_are_marked_and_can_be_filtered_by(
    client, task, who, kinds
):
    page = client.get(BOARD).content.decode()
    assert page.count('<span class="tag">human reference</span>') == 1
    assert page.count('<span class="tag">baseline</span>') == 1
    assert 'name="baseline"' in page
    Submission.own.filter(baseline="reference").update(visibility="PRIVATE")
    Submission.own.filter(baseline="baseline").update(visibility="PRIVATE")
    assert 'name="baseline"' not in client.get(BOARD).text


def test_files_mark_references_and_baselines(client, kinds):
    text = client.get(f"{BOARD}board.csv").content.decode()
    rows = csv.DictReader(io.StringIO(text))
    assert [row["baseline"] for row in rows] == ["", "", "reference", "baseline"]
    assert "Person (human reference)" in client.get(f"{BOARD}board.md").text
    assert "Lead (baseline)" in client.get(f"{BOARD}board.tex").text


@pytest.fixture
def mixed(task, who):
    """A final, a provisional, a partial and a waiting system, the provisional one ahead."""
    ahead = make_ranked(task, 90, system="Ahead", **who)
    make_ranked(task, 60, system="Final", **who)
    make_submission(task, system="Waits", **who)
    short = make_ranked(task, 95, half=30, system="Short", **who)
    HumanEvaluation.own.filter(submissions__isnull=False).update(n_instances=800)
    Score.objects.filter(submission=short).update(n=154)
    Score.objects.filter(submission=ahead).update(provisional=True)
    return ahead


def test_provisional_partial_and_waiting_systems_stand_in_parts_of_their_own(
    client, task, mixed
):
    response = client.get(BOARD)

    assert names(response) == ["Final", "Ahead", "Short", "Waits"]
    parts = re.findall(r'scope="rowgroup">([A-Z][a-z]+)', response.content.decode())
    assert parts == ["Provisional", "Partial", "Waiting"]
    # files and programs have the order of the ranks
    assert [row.system for row in standings(task)][:2] == ["Ahead", "Final"]
    by_name = client.get(f"{BOARD}?sort=system").content.decode()
    assert 'scope="rowgroup"' not in by_name


def test_a_board_that_is_provisional_as_a_whole_says_so_once(client, task, mixed):
    Score.own.update(provisional=True)

    response = client.get(BOARD)
    page = response.content.decode()

    # a short score is ranked while ratings are collected again
    assert names(response) == ["Short", "Ahead", "Final", "Waits"]
    assert "Provisional: we are still checking" not in page
    assert page.count("provisional</span>") == 1


def test_a_line_with_words_separates_clusters(client, task, who):
    for mean, system in ((80, "A"), (79, "B"), (50, "C")):
        make_ranked(task, mean, system=system, **who)

    page = client.get(BOARD).content.decode()

    body = re.sub(r"\s+", " ", page.partition("<tbody>")[2])
    assert body.count("Cluster 2<") == 1
    assert body.index(">B<") < body.index("Cluster 2<") < body.index(">C<")
    assert "Cluster 2" not in client.get(f"{BOARD}?sort=system").text


def ticks(page):
    scale = re.search(r'class="h iv">.*?</th>', page, re.S)[0]
    return [float(tick) for tick in re.findall(r'middle">([\d.]+)<', scale)]


def test_the_axis_is_as_wide_as_the_scores_until_the_full_scale_is_asked_for(
    client, task, who
):
    make_ranked(task, 62, system="A", **who)
    make_ranked(task, 71, system="B", **who)

    zoomed = client.get(BOARD).content.decode()
    full = client.get(f"{BOARD}?axis=full&sort=system").content.decode()

    assert "zoomed axis" in zoomed
    assert (min(ticks(zoomed)), max(ticks(zoomed))) == (60, 75)
    assert "zoomed axis" not in full
    assert (min(ticks(full)), max(ticks(full))) == (0, 100)
    assert 'href="?axis=full"' in zoomed
    assert "sort=system&amp;dir=desc&amp;axis=full" in full
    # a zoom that saves less than a third is not offered
    make_ranked(task, 20, system="C", **who)
    make_ranked(task, 90, system="D", **who)
    page = client.get(BOARD).text
    assert (min(ticks(page)), max(ticks(page))) == (0, 100)
    assert "zoomed" not in page
    assert "axis=full" not in page


def test_a_system_that_left_the_board_has_no_rank_of_it(client, task, who):
    kite = make_ranked(task, 62, system="Kite", **who)
    make_ranked(task, 71, system="Wren", **who)
    standings(task)  # ranks are stored with the scores
    Score.own.update(rank_first=1, rank_last=2)
    page = f"/submissions/{kite.pk}/"
    assert '<span class="rank">rank 1–2 of 2' in client.get(page).text

    Submission.objects.filter(pk=kite.pk).update(own_state="WITHDRAWN")

    client.force_login(kite.owner)
    shown = client.get(page)
    assert shown.status_code == 200
    assert 'class="rank"' not in shown.text


def test_the_search_stands_in_view_from_15_rows_on(client, task, who):
    make_many_ranked(task, 14, **who)
    assert 'role="search"' not in client.get(BOARD).text
    make_ranked(task, 50, system="Last", **who)
    page = client.get(f"{BOARD}?sort=system&axis=full").text
    form = re.search(r'<form[^>]*role="search">.*?</form>', page, re.S)[0]
    assert 'name="sort" value="system"' in form
    assert 'name="axis" value="full"' in form


def of(name):
    return Submission.objects.get(system_name=name).pk


def test_the_request_for_a_comparison_has_both_chosen(client_of, judged):
    first, second = ranked_pks(judged)[:2]
    sent = {"a": first, "b": second}
    page = client_of("submitter").get("/tasks/tidy-news/compare/", sent).text
    chosen = re.findall(r'value="(\d+)" selected', page)
    assert list(map(int, chosen[:2])) == [first, second]


def test_other_than_two_public_scored_systems_give_one_clear_sentence(
    client, client_of, judged, who
):
    first, second, third = ranked_pks(judged)
    waiting = make_submission(judged, system="Waits", **who).pk
    for typed in ([first], [first, first], [first, second, third], ["x", second], [""]):
        words = client.get(TWO, {"s": typed}).text
        assert "Select exactly two systems to compare" in words, typed
    Submission.objects.filter(pk=third).update(visibility="PRIVATE")
    for other in (waiting, third, 999_999):
        words = client_of("submitter").get(TWO, {"s": [first, other]}).text
        assert "Both systems must have a public score on this board." in words


def test_hidden_references_stay_hidden_beside_two_systems(client, judged):
    two = {"s": ranked_pks(judged)[:2]}
    assert "<h3>Reference" in client.get(TWO, two).text
    judged.hidden_references = True
    judged.save()
    page = client.get(TWO, two).text
    assert '<article class="pair"' in page
    assert "<h3>Reference" not in page
