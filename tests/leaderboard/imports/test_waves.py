"""Another wave of an imported task means what the first meant, or is refused."""

import pytest
from django.urls import reverse

from crowd.models import Campaign, Input
from genie.lib.errors import GenieError
from genie.lib.formats import engine
from leaderboard.evaluation import decide
from leaderboard.evaluation.estimates import COVERS_UNKNOWN
from leaderboard.evaluation.selectors.joint import criterion_results, estimates_of
from leaderboard.evaluation.selectors.system_ratings import marked_errors
from leaderboard.imports.readers.judgments import Judgments, Problem, Texts, from_rows
from leaderboard.imports.readers.read import read
from leaderboard.imports.selectors import judgments_of
from leaderboard.imports.services import bring_in as module
from leaderboard.imports.services.bring_in import bring_in
from leaderboard.imports.services.take_back import take_back
from leaderboard.models import Import, JointEvaluation, Score
from leaderboard.releases.make import make
from leaderboard.releases.rebuilding.rebuild import rebuild
from tests.factories import make_user
from tests.leaderboard.imports.examples import file_of
from tests.leaderboard.imports.test_bring_in import ratings
from tests.refusals import refusal


def met(pairs, criterion="overall"):
    """Each pair of systems, how often they met, and how often the first one won."""
    rows = [
        {
            "worker": f"w{i % 3}",
            "instance": f"{a}-{b}-{i}",
            "system": a,
            "other": b,
            "criterion": criterion,
            "value": float(i < won),
            "row": i + 1,
        }
        for a, b, n, won in pairs
        for i in range(n)
    ]
    return Judgments("pairs", from_rows(rows))


def preferences(criterion="overall"):
    return met([("red", "blue", 12, 6)], criterion)


@pytest.fixture
def staff():
    return make_user("importer")


def n_by_criterion():
    rows = Score.own.filter(superseded_at=None, submission__system_name="red")
    return dict(rows.values_list("criterion", "n"))


@pytest.mark.parametrize("first", ["ratings", "preferences"])
def test_ratings_and_preferences_are_never_one_score(staff, first):
    waves = [ratings(n=10, systems=("red", "blue")), preferences()]
    for wave in waves if first == "ratings" else waves[::-1]:
        task = bring_in(wave, slug="x", by=staff).task
    other = "overall-in-pairs" if first == "ratings" else "overall-rated"
    n = {"overall": 10, other: 12} if first == "ratings" else {"overall": 12, other: 10}
    assert n_by_criterion() == n
    # and files' own names are read back
    assert set(judgments_of(task).rows["criterion"]) == {"overall"}
    if first == "preferences":
        return
    # another wave with preferences alone goes to those of before
    more = preferences()
    more.rows["instance"] = "more-" + more.rows["instance"]
    bring_in(more, slug="x", by=staff)
    assert n_by_criterion() == {"overall": 10, "overall-in-pairs": 24}


@pytest.mark.parametrize("what", ["lower", "standardised"])
def test_values_that_mean_something_else_are_refused(staff, what):
    waves = [ratings(n=10), ratings(n=10, seed=5)]
    for wave in waves:
        wave.rows["value"] = (wave.rows["value"] - 60) / 20
        wave.standardised = True
    bring_in(waves[0], slug="x", by=staff)
    if what == "lower":
        waves[1].lower_is_better = ("overall",)
    else:
        waves[1].standardised = False
    with refusal("not-on-the-scale"):
        bring_in(waves[1], slug="x", by=staff)


def marked(severity, *, texts=True, of="seg"):
    rows = ratings(n=4)
    mark = {"start": 0, "end": 3, "severity": severity, "category": ""}
    rows.rows["spans"] = [[mark] for _ in range(len(rows.rows))]
    rows.rows["instance"] = rows.rows["instance"].str.replace("seg", of)
    if texts:
        systems = ("red", "blue", "green")
        outputs = {(one, f"{of}{i}"): "Udfald." for one in systems for i in range(4)}
        rows.texts = Texts(outputs=outputs)
    return rows


@pytest.mark.every_engine
def test_marked_errors_show_the_words_that_were_marked():
    row = bring_in(marked("minor"), slug="x", by=make_user("importer"))
    bring_in(marked("major", texts=False, of="more"), slug="x", by=row.imported_by)
    red = row.task.submissions.get(system_name="red").human_evaluation
    found = marked_errors(red, range(8))
    assert [one.text for errors in found.values() for one in errors] == [
        *["Udf"] * 4,
        *["…"] * 4,
    ]
    # of an unknown severity nobody knows what it takes off: it is not worth nothing
    with refusal("not-on-the-scale"):
        bring_in(marked("grave", of="third"), slug="x", by=row.imported_by)


def test_a_withdrawn_system_comes_back_with_nobodys_import(staff):
    red = bring_in(ratings(n=8), slug="x", by=staff).task.submissions.first()
    decide.withdraw(red, by=staff, reason="Asked to.")
    row = bring_in(ratings(n=8, seed=3), slug="x", by=staff)
    red.refresh_from_db()
    assert red.state == red.State.WITHDRAWN
    take_back(row)
    red.refresh_from_db()
    assert red.state == red.State.WITHDRAWN


def test_a_moment_that_is_none_is_not_known():
    at = [1e18, -1e15, float("inf")] * 2
    rows = ratings(n=3, at=at, seconds=float("inf"), systems=("red", "blue"))
    assert bring_in(rows, slug="x", by=make_user("importer")).known == {}


def test_nobody_is_named_by_a_path_or_a_problem(client):
    rows = ratings(n=4)
    path = "annotation_output/eva@example.org/ratings.csv"
    rows.problems = [Problem(path, 3, "score", "'li@example.org' is not a number.")]
    files = [file_of(path, b"1")]
    row = bring_in(rows, slug="x", by=make_user("importer"), files=files)
    kept = f"{row.files} {row.problems}"
    assert "ratings.csv, row 3, score: '…' is not a number." in row.problems
    assert "@" not in kept
    assert "annotation_output" not in kept
    for page in ("/tasks/x/", "/api/v1/tasks/x/"):
        assert "example.org" not in client.get(page).text
    with pytest.raises(GenieError) as refused:
        bring_in(ratings(n=4), slug="x", by=row.imported_by, files=files)
    assert "@" not in refused.value.message


@pytest.mark.every_engine
def test_taking_back_twice_takes_back_once(staff):
    bring_in(ratings(n=4), slug="x", by=staff)
    row = bring_in(ratings(n=4, seed=3), slug="x", by=staff)
    again = Import.objects.get(pk=row.pk)
    assert take_back(row)
    assert take_back(again)
    assert n_by_criterion() == {"overall": 4}


def test_a_wrong_column_makes_no_thousands_of_systems(monkeypatch):
    monkeypatch.setattr(module, "MOST_SYSTEMS", 2)
    with refusal("too-many-systems"):
        bring_in(ratings(n=4), slug="x", by=make_user("importer"))


def test_only_scores_between_0_and_100_are_said_to_be(client):
    penalties, points = (ratings(n=6, systems=("red", "blue")) for _ in range(2))
    penalties.lower_is_better = ("overall",)
    said = {}
    for name, rows in (("penalties", penalties), ("points", points)):
        bring_in(rows, slug=name, by=make_user(name))
        answers = [
            client.get(f"/tasks/{name}/{end}")
            for end in ("", "board.svg", "board.md", "board.tex")
        ]
        assert {one.status_code for one in answers} == {200}
        said[name] = ["0 to 100" in one.text for one in answers]
    assert said == {"penalties": [False] * 4, "points": [True] * 4}


@pytest.mark.every_engine
def test_cells_of_files_hold_nothing_that_no_database_stores(tmp_path):
    path = tmp_path / "ratings.parquet"
    with engine() as connection:
        row = "SELECT 'red' AS system, 3 AS score, 'news' || chr(0) AS document"
        connection.sql(row).write_parquet(str(path))
    half = b'[{"system": "red", "score": 3, "document": "news\\ud800"}]'
    files = (path.name, path.read_bytes()), ("ratings.json", half)
    found = [read([file_of(*one)]).rows["document"].tolist() for one in files]
    assert found == [["news\ufffd"], ["news?"]]


@pytest.mark.every_engine
def test_what_only_a_taken_back_wave_brought_goes_with_it(staff):
    first, second, third = ratings(n=4), ratings(n=8, seed=3), ratings(n=6, seed=4)
    for rows, of in ((second, "seg"), (third, "more")):
        rows.rows["instance"] = rows.rows["instance"].str.replace("seg", of)
    # texts of one that nobody judged, and an output of a system that stays
    second.texts = Texts(
        inputs={"unjudged": {"source": "x"}}, outputs={("red", "unjudged"): "y"}
    )
    task = bring_in(first, slug="x", by=staff).task
    row = bring_in(second, slug="x", by=staff)
    bring_in(third, slug="x", by=staff)
    task.refresh_from_db()
    assert task.n_instances == 8 + 1 + 6
    assert take_back(row)
    task.refresh_from_db()
    kept = task.instances.order_by("position").values_list("instance_id", "position")
    names = [f"seg{i}" for i in range(4)] + [f"more{i}" for i in range(6)]
    assert list(kept) == [(name, place) for place, name in enumerate(names)]
    assert (task.n_instances, task.sample_size) == (10, 10)
    assert Input.own.filter(scope="x").count() == 10
    assert n_by_criterion() == {"overall": 10}
    # the first may go, too, and what is left is the third's
    assert take_back(task.imports.first())
    task.refresh_from_db()
    assert task.n_instances == 6


def standardised(*ends, of="seg"):
    rows = ratings(n=8, seed=7)
    rows.rows["instance"] = rows.rows["instance"].str.replace("seg", of)
    rows.rows["value"] = (rows.rows["value"] - 60) / 20
    rows.rows.loc[rows.rows.index[:2], "value"] = ends
    rows.standardised = True
    return rows


def test_a_wave_beyond_the_ends_of_z_scores_or_penalties_moves_them(staff):
    first, second = standardised(-1.5, 1.5), standardised(-3.25, 2.5, of="more")
    task = bring_in(first, slug="x", by=staff).task
    bring_in(second, slug="x", by=staff)
    task.refresh_from_db()
    scales = Campaign.objects.filter(pool="x").values_list("hit_type__scale", flat=True)
    assert {*scales, task.human.scale} == {"z_-4_3"}
    assert {row.said["scales"]["overall"] for row in task.imports.all()} == {"z_-4_3"}
    found = judgments_of(task).rows["value"]
    assert (found.min(), found.max()) == (-3.25, 2.5)
    both = [*first.rows["value"], *second.rows["value"]]
    red = [
        one
        for one, system in zip(both, [*first.rows["system"]] * 2, strict=True)
        if system == "red"
    ]
    score = Score.own.get(superseded_at=None, submission__system_name="red")
    assert score.mean == pytest.approx(100 * sum(red) / len(red))
    assert ":z_-4_3|" in score.signature or "scale:z_-4_3" in score.signature


@pytest.mark.parametrize("known", [0, 2])
def test_unknown_workers_are_no_diligent_one(known, client, tmp_path):
    rows = ratings(n=24)
    unnamed = rows.rows["instance"].str.replace("seg", "").astype(int) >= known
    rows.rows.loc[unnamed, "worker"] = ""
    row = bring_in(rows, slug="x", by=make_user("importer"))
    scores = Score.own.filter(superseded_at=None).order_by("-mean")
    # instances are drawn, workers are not: these systems differ by more than chance
    assert [one.cluster for one in scores] == [1, 2, 3]
    for one in scores:
        assert (one.n_workers, one.effective_workers) == (known, None)
        assert one.covers == COVERS_UNKNOWN
    assert row.n_workers == known
    back = judgments_of(row.task).rows["worker"]
    assert (back == "").tolist() == unnamed.tolist()
    submission = scores[0].submission_id
    told = client.get(f"/submissions/{submission}/").text
    assert "raters not recorded" in told
    assert ("the files do not identify who rated" in told) == (not known)
    made = make(row.task, tmp_path / "release")
    assert rebuild(made.folder).n_same


def test_a_board_of_preferences_says_when_pairs_met_unevenly(staff, client):
    even = [("red", "blue", 6, 6), ("blue", "green", 6, 6), ("red", "green", 6, 5)]
    bring_in(met(even), slug="even", by=staff)
    assert "Uneven pairings" not in client.get("/tasks/even/").text
    uneven = [("red", "blue", 30, 29), ("blue", "green", 6, 6), ("red", "green", 6, 6)]
    task = bring_in(met(uneven), slug="uneven", by=staff).task
    joint = JointEvaluation.objects.get(task=task)
    page = client.get("/tasks/uneven/").text
    assert "Uneven pairings" in page
    assert reverse("leaderboard:joint", args=[joint.pk]) in page
    [result] = criterion_results(joint, {})
    ends = [end for row in result.rows for end in (row.low, row.high)]
    assert min(one.low for one in estimates_of(joint)["overall"]) < 0
    assert (min(ends), max(ends)) == (0.0, 100.0)
