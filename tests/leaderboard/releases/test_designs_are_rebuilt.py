"""Scores of other scales than Likert come out of a release again, too."""

import pytest

from crowd.hit_templates.form import span_score
from leaderboard.models import Score
from leaderboard.releases.bundle import read_table
from leaderboard.releases.make import make
from tests.each import with_slow
from tests.leaderboard.evaluation.conftest import boss  # noqa: F401
from tests.leaderboard.evaluation.designs.conftest import (
    ask,  # noqa: F401
    crowd,  # noqa: F401
    measured,  # noqa: F401
    of_text,  # noqa: F401
    published,  # noqa: F401
    texts,  # noqa: F401
)
from tests.leaderboard.evaluation.designs.test_every_design_walks_to_the_board import (
    asked_in,
)
from tests.leaderboard.releases.test_releases_are_made_and_rebuilt import rebuilt

# A geometric mean of ratios, a preference whose side was drawn, a slider in bins, marks.
DESIGNS = ["plain-magnitude", "preference", "slider", "error-spans", "mqm"]


@pytest.fixture
def task(demo_task):
    demo_task.config["metrics"] = {"use": ["length"]}
    demo_task.save()
    return demo_task


@pytest.mark.parametrize("design", with_slow(DESIGNS, DESIGNS[2:]))
def test_a_whole_campaign_is_rebuilt_with_both_estimates(design, request, tmp_path):
    request.getfixturevalue("ask")(**asked_in(design), sample_size=6)
    walked = request.getfixturevalue("published")("Good", 0.25)
    board = request.getfixturevalue("task")

    folder = make(board, tmp_path / "r").folder
    said = rebuilt(folder)
    rows = read_table(folder, "judgments")
    marked = [row for row in rows if row.get("marks")]
    assert bool(marked) is (design in {"error-spans", "mqm"})
    for row in marked if design == "mqm" else []:
        assert row["value"] == span_score(row["marks"]["spans"])
    assert "numbers match the published ones" in said
    assert "scores: 0 " not in said

    score = Score.objects.get(
        submission=walked, criterion="overall", superseded_at=None
    )
    assert set(score.estimates) == {"plain", "adjusted"}
    assert score.low < score.estimates["adjusted"]["mean"] < score.high
