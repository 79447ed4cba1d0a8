"""Another wave of an imported task means what the first meant, or is refused."""

from __future__ import annotations

import pytest

from genie.lib.errors import GenieError
from leaderboard.evaluation import decide
from leaderboard.evaluation.selectors.ratings_beside import marked_errors
from leaderboard.imports.readers.judgments import Judgments, Texts, from_rows
from leaderboard.imports.selectors.judgments_of import judgments_of
from leaderboard.imports.services.bring_in import bring_in
from leaderboard.imports.services.take_back import take_back
from leaderboard.models import Score
from tests.factories import make_user
from tests.leaderboard.imports.test_bring_in import ratings

pytestmark = pytest.mark.django_db


def preferences(criterion="overall", systems=("red", "blue")):
    rows = [
        {
            "worker": f"w{i % 3}",
            "instance": f"s{i}",
            "system": systems[0],
            "other": systems[1],
            "criterion": criterion,
            "value": float(i % 2),
            "row": i + 1,
        }
        for i in range(12)
    ]
    return Judgments("pairs", from_rows(rows))


def n_by_criterion():
    rows = Score.objects.filter(superseded_at=None, submission__system_name="red")
    return dict(rows.values_list("criterion", "n"))


@pytest.mark.parametrize("first", ["ratings", "preferences"])
def test_ratings_and_preferences_are_never_one_score(first):
    staff = make_user("importer")
    waves = [ratings(n=10), preferences()]
    for wave in waves if first == "ratings" else waves[::-1]:
        task = bring_in(wave, slug="x", by=staff).task
    other = "overall-in-pairs" if first == "ratings" else "overall-rated"
    n = {"overall": 10, other: 12} if first == "ratings" else {"overall": 12, other: 10}
    assert n_by_criterion() == n
    # and files' own names are read back
    assert set(judgments_of(task).rows["criterion"]) == {"overall"}


def test_a_wave_with_preferences_alone_goes_to_those_of_before():
    staff = make_user("importer")
    bring_in(ratings(n=10), slug="x", by=staff)
    bring_in(preferences(), slug="x", by=staff)
    more = preferences()
    more.rows["instance"] = "more-" + more.rows["instance"]
    bring_in(more, slug="x", by=staff)
    assert n_by_criterion() == {"overall": 10, "overall-in-pairs": 24}


@pytest.mark.parametrize("what", ["lower", "standardised"])
def test_values_that_mean_something_else_are_refused(what):
    staff = make_user("importer")
    waves = [ratings(n=10), ratings(n=10, seed=5)]
    for wave in waves:
        wave.rows["value"] = (wave.rows["value"] - 60) / 20
        wave.standardised = True
    bring_in(waves[0], slug="x", by=staff)
    if what == "lower":
        waves[1].lower_is_better = ("overall",)
    else:
        waves[1].standardised = False
    with pytest.raises(GenieError) as refused:
        bring_in(waves[1], slug="x", by=staff)
    assert refused.value.code == "not-on-the-scale"


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
    with pytest.raises(GenieError) as refused:
        bring_in(marked("grave", of="third"), slug="x", by=row.imported_by)
    assert refused.value.code == "not-on-the-scale"


def test_a_withdrawn_system_comes_back_with_nobodys_import():
    staff = make_user("importer")
    red = bring_in(ratings(n=8), slug="x", by=staff).task.submissions.first()
    decide.withdraw(red, by=staff, reason="Asked to.")
    row = bring_in(ratings(n=8, seed=3), slug="x", by=staff)
    red.refresh_from_db()
    assert red.state == red.State.WITHDRAWN
    take_back(row)
    red.refresh_from_db()
    assert red.state == red.State.WITHDRAWN


@pytest.mark.parametrize("at", [1e18, -1e15, float("inf")])
def test_a_moment_that_is_none_is_not_known(at):
    row = bring_in(
        ratings(n=4, at=at, seconds=float("inf")), slug="x", by=make_user("importer")
    )
    assert row.known == {}
