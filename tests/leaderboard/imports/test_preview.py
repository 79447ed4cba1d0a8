"""What a person sees of files before anything of them is stored."""

import numpy as np

from leaderboard.imports.readers.judgments import Judgments, Problem, Role, frame
from leaderboard.imports.readers.preview import preview


def judged(values, **columns):
    made = {"worker": "w", "instance": "i", "system": "red", **columns}
    return Judgments("x", frame({**made, "value": values}))


def test_files_of_different_scales_are_refused():
    values = [4.0] * 20 + [80.0] * 20
    mixed = judged(values, file=[0] * 20 + [1] * 20)
    assert (
        "different scales of the values (4 to 4, 80 to 80)" in preview(mixed).refused[0]
    )
    standardised = judged([-1.0, 1.0] * 10 + [80.0] * 20, file=[0] * 20 + [1] * 20)
    assert preview(standardised).refused
    apart = judged(values, file=[0] * 20 + [1] * 20, criterion=["a"] * 20 + ["b"] * 20)
    assert preview(apart).refused == ()
    assert preview(judged([4.0, 80.0] * 20)).refused == ()


def test_nothing_to_store_and_nothing_to_rank_is_refused():
    planted = judged([1.0], role=Role.PLANTED.value)
    assert preview(planted).refused == ("There are no judgments.",)
    assert "names a system" in preview(judged([1.0], system="")).refused[0]


def test_preferences_and_labels_are_told():
    tied = preview(judged([1.0, 0.5], other="blue"))
    assert tied.scales[0].likely == "preference, with ties"
    assert tied.systems == {"blue": 2, "red": 2}
    words = preview(judged([np.nan] * 3, word=["yes", "no", "yes"]))
    assert words.scales[0].words == {"yes": 2, "no": 1}


def test_all_problems_are_counted_and_those_that_cost_rows_come_first():
    found = judged([1.0])
    found.problems = [Problem("a", n, "", "is odd.", fatal=n > 150) for n in range(300)]
    shown = preview(found)
    assert (shown.n_problems, shown.n_fatal, len(shown.problems)) == (300, 149, 100)
    assert all(problem.fatal for problem in shown.problems)
    assert "and 200 more" in shown.to_text()
