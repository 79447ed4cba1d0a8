"""The scale that is shown before an import is the scale that is stored and used."""

import numpy as np
import pytest

from leaderboard.imports.readers.judgments import Judgments, frame
from leaderboard.imports.readers.names import stated_scale
from leaderboard.imports.readers.read import read
from leaderboard.imports.selectors import About
from leaderboard.imports.services.bring_in import bring_in
from leaderboard.imports.services.plan import preview_import
from leaderboard.models import Import, Score
from tests.factories import make_user
from tests.leaderboard.imports.examples import file_of
from tests.leaderboard.imports.test_alike import store
from tests.refusals import refusal


def table(values, column="value", systems=("ada", "bob")):
    lines = [f'system,instance,worker,"{column}"']
    lines += [
        f"{systems[n % len(systems)]},q{n // 2},w{n % 3},{value}"
        for n, value in enumerate(values)
    ]
    return [file_of("ratings.csv", "\n".join(lines).encode())]


def begun(values, said=None, slug="x", **more):
    files = table(values, **more)
    about = About(scales=said or {})
    choices = {"rating": more.get("column", "value")}
    judgments = read(files, choices=choices)
    shown, _ = preview_import(judgments, slug=slug, about=about, files=files)
    return judgments, shown, {"slug": slug, "about": about, "files": files}


@pytest.mark.parametrize(
    ("usual", "stray", "scale"),
    [
        (range(1, 6), [55, 55], "1 to 5"),
        (range(1, 6), [99], "1 to 5"),
        (range(1, 6), [-1], "1 to 5"),
        (range(1, 6), [0], "1 to 5"),
        (range(1, 6), [3.07], "1 to 5"),
        (range(1, 8), [77], "1 to 7"),
        (range(0, 101, 4), [999], "0 to 100"),
        ([0.1, 0.25, 0.62, 0.81, 0.97], [55], "0 to 1"),
    ],
)
def test_a_few_values_off_a_narrower_scale_are_asked_about(usual, stray, scale):
    values = list(usual) * (60 // len(usual))
    values[7 : 7 + len(stray)] = stray
    judgments, shown, task = begun(values)
    asked = f"all values are on {scale}, except {stray[0]:g}"
    assert f"{asked} (ratings.csv, row 9)" in shown.refused[0]
    assert f"({len(stray)} in all)" in shown.refused[0]
    with refusal("not-settled", match="--scale"):
        store(judgments, task)
    assert not Import.objects.exists()
    low, high = min(-100, *stray), max(100, *stray)
    said = f"{low:.0f} to {high:.0f}"
    _, shown, _ = begun(values, {"*": said})
    assert not shown.refused
    assert f"{said} (as entered)" in shown.to_text()


def test_a_code_is_asked_about_however_few_the_values_are():
    _, shown, _ = begun([1, 2, 3, 4, 5] * 2 + [99999] * 3)
    assert (
        "values are on 1 to 5, except 99999 (ratings.csv, row 12)" in shown.refused[0]
    )


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ([1, 2, 3, 4, 5] * 12 + [7] * 4, "1 to 7"),
        # estimates of magnitude, without a code
        ([3, 5, 8, 2, 111111, 90000], "magnitude"),
        # a rare highest answer is no stray while no answer below it is missing
        ([1, 2, 3, 4, 5] * 12 + [6], "1 to 6"),
        ([*range(20, 100)] * 3 + [*range(105, 113)], "magnitude"),
    ],
)
def test_values_that_are_not_few_are_part_of_the_scale(values, scale):
    _, shown, _ = begun(values)
    assert not shown.refused
    assert shown.scales[0].scale.shown == scale


def test_each_criterion_is_asked_for_and_answered_by_itself():
    rows = frame(
        {
            "worker": ["w1", "w2"] * 6,
            "instance": [f"i{n // 4}" for n in range(12)],
            "system": ["ada", "ada", "bob", "bob"] * 3,
            "criterion": ["fluency", "truth"] * 6,
            "value": [float(1 + n % 3) for n in range(12)],
        }
    )
    judgments = Judgments("plain", rows)
    about = About(scales={"fluency": "1 to 5"})
    shown, _ = preview_import(judgments, slug="x", about=about)
    assert "Confirm the scale of truth:" in shown.refused[0]
    about = About(scales={"fluency": "1 to 5", "truth": "0 to 4"})
    row = bring_in(judgments, slug="x", by=make_user("importer"), about=about)
    assert row.said["scales"] == {"fluency": "number_1_5", "truth": "number_0_4"}


def test_each_signature_names_the_scale_of_its_own_criterion():
    lines = ["system,instance,worker,fluency,adequacy,overall"]
    lines += [
        f"{system},i{n},w{n % 3},{1 + n % 5},{10 * n},{1 + n % 7}"
        for n in range(11)
        for system in ("ada", "bob")
    ]
    files = [file_of("a.csv", "\n".join(lines).encode())]
    task = {"slug": "x", "about": About(), "files": files}
    store(read(files, choices={"ranks": "overall"}), task)
    found = {
        (s.criterion, s.signature.partition("|scale:")[2].partition("|")[0])
        for s in Score.own
    }
    assert found == {
        ("fluency", "number_1_5"),
        ("adequacy", "slider-100"),
        ("overall", "number_1_7"),
    }


@pytest.mark.parametrize(
    ("text", "scale"),
    [
        ("How fluent is it? (1 = bad, 5 = perfect)", "1 to 5"),
        ("fluency (0-100)", "0 to 100"),
        ("fluency [1 to 7]", "1 to 7"),
        ("on a scale of -3 to 3", "-3 to 3"),
        ("fluency (5 = best … 1 = worst)", "1 to 5"),
        ("fluency (2 raters)", ""),
        ("Q1-5 fluency", ""),
        ("fluency", ""),
    ],
)
def test_scales_are_read_from_questions(text, scale):
    assert stated_scale(text) == scale


@pytest.mark.parametrize("how", ["header", "said", "before"])
def test_a_value_outside_a_stated_scale_never_changes_it(how):
    column = "How fluent? (1 = bad, 5 = perfect)" if how == "header" else "value"
    said = {"*": "1 to 5"} if how == "said" else {}
    good = [1, 2, 3, 4, 5, 5]
    if how == "before":
        store(*begun([*good, 1, 3])[::2])
    n = Import.objects.count()
    judgments, shown, task = begun([*good, 55, 3], said, column=column)
    (problem,) = (str(one) for one in shown.problems if "outside" in one.sentence)
    assert "ratings.csv, row 8" in problem
    assert "55 is outside the scale 1 to 5" in problem
    with refusal("not-on-the-scale", match="row 8"):
        store(judgments, task)
    assert Import.objects.count() == n
    judgments, shown, task = begun(good, said, column=column)
    assert [one.scale.slug for one in shown.scales] == ["number_1_5"]


def test_a_scale_where_lower_is_better_is_turned_round():
    judgments, _, task = begun([1, 2, 3, 1, 2, 3], {"*": "1 to 5"})
    judgments.lower_is_better = ("",)
    row = store(judgments, task)
    assert row.said["scales"] == {"": "number_-5_-1"}
    mean = np.mean([s.mean for s in Score.own])
    assert mean == pytest.approx(75.0)


@pytest.mark.parametrize("said", ["5", "9 to", "1 to 1", "number_7_1", "stars"])
def test_a_scale_that_is_none_is_refused(said):
    with refusal("unknown-scale", match="lowest and the highest"):
        begun([1, 2, 3], {"*": said})
