"""Figures of a few judgments, against arithmetic by hand and by SciPy."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from genie.lib.errors import GenieError
from genie_research.papers.folders.between_campaigns import agreement
from genie_research.papers.folders.wmt22 import with_segments
from leaderboard.imports.readers.judgments import Judgments, Role, Texts, frame
from leaderboard.papers.figure_sets.direct_assessment import DirectAssessment
from leaderboard.papers.figure_sets.domains import Domains
from leaderboard.papers.figure_sets.error_spans import ErrorSpans
from leaderboard.papers.figure_sets.judges import Judges
from leaderboard.papers.figure_sets.pages import Pages
from leaderboard.papers.figures import expected_of, find, plain
from leaderboard.papers.task_figures.computed import by_criterion, known_figures
from tests.nets.conftest import tell

RNG = np.random.default_rng(5)


@pytest.fixture(scope="module")
def crowd():
    """Four workers on 30 segments of two systems; one gives the same score throughout."""
    rows = []
    for segment in range(30):
        for system, good in (("Red", 70), ("Blue", 40)):
            worker = f"w{RNG.integers(3)}"
            value = float(np.clip(RNG.normal(good, 15), 0, 100).round())
            rows.append((worker, system, f"s{segment}", value, Role.JUDGMENT))
    rows += [("flat", "Red", "s0", 0.0, Role.JUDGMENT)]
    rows += [("flat", "Blue", "s30", 0.0, Role.JUDGMENT)]
    rows += [("w0", "Red", "s1", 5.0, Role.PLANTED)]
    columns = dict(
        zip(
            ("worker", "system", "instance", "value", "role"),
            zip(*rows, strict=True),
            strict=True,
        )
    )
    columns["role"] = [role.value for role in columns["role"]]
    return Judgments("wmt-da", frame({k: list(v) for k, v in columns.items()}))


def told(found):
    tell("\n".join(f"{name} {value}" for name, value in found.items()))


def test_scores_are_means_of_segments_of_z_over_all_a_workers_rows(crowd):
    found = DirectAssessment.compute(crowd, {})
    told(found)
    rows = crowd.rows
    by_worker = rows.groupby("worker")["value"]
    z = (rows["value"] - by_worker.transform("mean")) / by_worker.transform("std")
    red = rows[(rows["system"] == "Red") & (rows["role"] == "judgment")]
    red = red[red["worker"] != "flat"]
    assert found["Red/z"] == pytest.approx(z[red.index].mean())
    assert found["Red/raw"] == pytest.approx(red["value"].mean())
    # who is always the same counts only where nobody else judged, and there with 0
    assert (found["Red/n_all"], found["Blue/n_all"]) == (30, 31)
    blue = rows[(rows["system"] == "Blue") & (rows["worker"] != "flat")]
    expected = stats.mannwhitneyu(
        z[red.index], [*z[blue.index], 0], alternative="greater", method="asymptotic"
    ).pvalue
    assert found["Red>Blue/p"] == pytest.approx(expected)


def test_z_scores_of_a_file_have_no_raw_figures(crowd):
    rows = crowd.rows.assign(value=crowd.rows["value"] / 100)
    found = DirectAssessment.compute(
        Judgments("wmt-da", rows, standardised=True), {"whatever": 1}
    )
    told(found)


def test_segments_without_judgments_come_from_the_segment_file(crowd, tmp_path):
    (tmp_path / "ad-seg-scores-cs-en.csv").write_text(
        "SYS SID RAW.SCR Z.SCR N \nRed s1 50 .1 1 \nRed s99 0 0 2 \n"
    )
    whole, added = with_segments(crowd, Path(tmp_path), "cs-en")
    assert added == 1
    found = DirectAssessment.compute(whole, {})
    told(found)


def pages(systems="XYZ"):
    shown = [("u1", "a", [9, 5, 5]), ("u1", "b", [8, 2, 4]), ("u2", "a", [3, 7, 1])]
    shown += [("u3", "b", [5, 6, 300]), ("u2", "b", [7, 4, 6])]
    rows = [
        (worker, page, f"i{page}", systems[place], float(value), place)
        for worker, page, values in shown
        for place, value in enumerate(values)
    ]
    names = ("worker", "page", "instance", "system", "value", "place")
    outputs = {("X", "ia"): "same", ("Y", "ia"): "same", ("Z", "ia"): "other"}
    return Judgments(
        "rankme-pages",
        frame(
            {n: list(v) for n, v in zip(names, zip(*rows, strict=True), strict=True)}
        ),
        texts=Texts(outputs=outputs),
    )


def test_pages_give_pairs_ranks_and_strengths():
    found = Pages.compute(pages(), {"seed": 1})
    told(found)
    assert found["X/mean_rank"] == pytest.approx((1 + 1 + 2 + 3 + 1) / 5)
    assert found["X/win_share"] == pytest.approx(7 / 10)
    assert found["X>Y/wins"] + found["Y>X/wins"] + found["X>Y/ties"] == 5
    strengths = [found[f"{name}/bt"] for name in "XYZ"]
    assert sum(strengths) == pytest.approx(0)
    assert found["X>Y/bt_difference"] == pytest.approx(strengths[0] - strengths[1])
    with pytest.raises(ValueError, match="a system twice"):
        Pages.compute(pages("XXY"), {"seed": 1})


def test_labels_that_say_which_of_two_is_better_are_words():
    rows = []
    for i in range(40):
        for who in ("p1", "p2", "p3", "bot"):
            word = "a" if (i + len(who)) % 3 or who == "bot" else "b"
            role = Role.PREDICTION if who == "bot" else Role.JUDGMENT
            rows.append((who, f"i{i}", word, float(word == "a"), role.value))
    names = ("worker", "instance", "word", "value", "role")
    columns = {n: list(v) for n, v in zip(names, zip(*rows, strict=True), strict=True)}
    found = Judges.compute(
        Judgments("x", frame({**columns, "system": "L", "other": "R"})),
        {"epsilon": 0.1},
    )
    told(found)
    numbers = Judges.compute(Judgments("x", frame({**columns, "system": "L"})), {})
    assert "bot/mean_agreement" not in numbers


def test_spans_times_and_people():
    minor = {"start": 0, "end": 3, "severity": "minor", "category": ""}
    gone = {"missing": True, "severity": "major", "category": ""}
    marks = [[minor], [minor, gone], [], [gone], []]
    rows = frame(
        {
            "worker": "A1",
            "system": ["X", "X", "Y", "Y", "X"],
            "instance": ["1", "2", "1", "2", "3"],
            "criterion": "ESA",
            "value": [90.0, 60, 80, 70, 10],
            "role": ["judgment"] * 4 + ["planted"],
            "spans": marks,
        }
    )
    extra = pd.DataFrame(
        {
            "account": "a",
            "tag": "",
            "type": ["TGT"] * 4 + ["BAD"],
            "start": [0.0, 40, 1000, 1060, 1100],
        }
    )
    found = ErrorSpans.compute(Judgments("appraise", rows, extra=extra), {})
    told(found)
    # gaps 40, 960 and 60: the pause counts as the median of all three
    assert found["seconds_per_segment"] == pytest.approx((40 + 60 + 60) / 3)


def test_campaigns_are_compared_on_what_both_scored():
    index = pd.MultiIndex.from_product([["X", "Y", "Z"], list("123")])
    index.names = ["system", "instance"]
    first = pd.Series(np.arange(9.0), index)
    second = pd.Series([1.0, 0, 3, 2, 5, 4, 8, 7, 6], index).drop(("Z", "3"))
    found = agreement(first, second)
    assert found["n"] == 8
    expected = stats.kendalltau(first.drop(("Z", "3")), second).statistic
    assert found["kendall_b"] == pytest.approx(expected)
    assert found["spearman_systems"] == pytest.approx(1)
    assert agreement(first, second.iloc[:0]) == {"n": 0.0}


def test_domains_weigh_alike():
    domains = {str(i): "news" if i < 12 else "talk" for i in range(18)}
    noise = RNG.normal(size=(2, 20))
    rows = [
        (name, str(i), 60 + 3 * shift + noise[shift, i])
        for shift, name in enumerate(("low", "top"))
        for i in range(20)
    ]
    system, instance, value = map(list, zip(*rows, strict=True))
    columns = {"system": system, "instance": instance, "value": value}
    table = frame({**columns, "worker": "w"})
    found = Domains.compute(Judgments("x", table, domains=domains), {})
    told(found)
    # two segments have no domain: one more
    cuts = ((0, 12), (12, 18), (18, 20))
    for shift, name in enumerate(("low", "top")):
        means = [np.mean(noise[shift, a:b]) for a, b in cuts]
        expected = 60 + 3 * shift + np.mean(means)
        assert found[f"{name}/macro"] == pytest.approx(expected)


def test_criteria_are_apart_and_the_first_goes_without_its_name(crowd):
    more = crowd.rows.assign(criterion="fluency", value=100 - crowd.rows["value"])
    rows = pd.concat([crowd.rows.assign(criterion="adequacy"), more])
    both = Judgments("wmt-da", rows.reset_index(drop=True))
    found = by_criterion(DirectAssessment, both, {})
    assert found["Red/raw"] == found["adequacy/Red/raw"]
    assert found["Red/raw"] == pytest.approx(100 - found["fluency/Red/raw"])
    assert by_criterion(DirectAssessment, Judgments("x", frame({})), {}) == {}


def test_lists_are_read_as_json_and_csv():
    text = '[{"id": "A/wins", "value": true}, {"id": "B/c", "value": [1, 3], "tolerance": 0}]'
    first, second = expected_of(text)
    assert (first.value, first.tolerance, first.source) == ("yes", None, "published")
    assert (second.value, second.tolerance) == ("1-3", 0)
    [row] = expected_of("id,value,tolerance\nA/z,0.5,\n")
    assert (row.value, row.tolerance) == (0.5, None)
    assert find({"A>B/p": 0.1, "x/A>B/p": 0.2}, "x/p/A>B") == 0.2
    assert plain(np.int64(3)) == 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[{]", "is not JSON"),
        ('[{"value": 1}]', "entry 1 has no id"),
        ("[1]", "entry 1 has no id"),
        ('[{"id": "a"}]', r"entry 1 \(a\) has no value"),
        ('[{"id": "a", "value": 1}, {"id": "a", "value": 2}]', "a appears twice"),
        (
            '[{"id": "a", "value": 1, "tolerance": "x"}]',
            r"\(a\) has a value that is not a number",
        ),
        ('[{"id": "a", "value": NaN}]', r"\(a\) has an infinite number"),
    ],
)
def test_a_wrong_list_is_refused_with_what_is_wrong(text, said):
    with pytest.raises(GenieError, match=said):
        expected_of(text)


def test_the_documentation_has_every_figure():
    page = Path("docs/published-figures.md").read_text("utf-8")
    sets = dict(re.findall(r"^### `(\w+)`\n(.*?)(?=^### |\Z)", page, re.M | re.S))
    figures = [slug.split("-", 1) for slug in known_figures()]
    assert [name for part, name in figures if f"`{name}`" not in sets[part]] == []
