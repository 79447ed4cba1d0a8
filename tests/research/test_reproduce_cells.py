import json
import math
from xml.etree import ElementTree

import pytest

from genie_research.papers.plot import table_plot
from genie_research.papers.report import summary, table_text
from genie_research.papers.table import Table, Workbench, all_tables
from leaderboard.papers.figures import Cell, Verdict

PROMISED = {
    *("genie-table-1", "genie-appendix-c", "rankme-table-2", "rankme-table-3"),
    *("rankme-table-4", "dynamic-kappas", "dynamic-table-3", "dynamic-table-6"),
    *("dynamic-table-7", "stopping-errors", "wmt21-metrics"),
}


class Sample(Table):
    slug = "sample"
    title = "A table"
    paper = "Somebody (2020), table 1"

    def cells(self, bench):
        yield from ()


def cell(paper, ours, tolerance=None, **more):
    return Cell("row", "column", paper, ours, tolerance, **more)


@pytest.mark.parametrize(
    ("paper", "ours", "tolerance", "verdict"),
    [
        (0.69, 0.6858, 0.005, Verdict.HOLDS),
        (0.69, 0.6849, 0.005, Verdict.FAILS),
        (0.38, 0.385, 0.005, Verdict.HOLDS),  # a half counts, whatever binary says
        (5, 5.0, None, Verdict.HOLDS),
        (5, 5.1, None, Verdict.FAILS),
        (0.02, 0.01, (0.01, math.inf), Verdict.HOLDS),
        (0.02, 0.03, (0.03, math.inf), Verdict.FAILS),
        (1, math.nan, 0.5, Verdict.FAILS),
        (1, math.nan, (math.nan, math.nan), Verdict.FAILS),
        ("a > b", "a > b", None, Verdict.HOLDS),
        ("a > b", "a = b", None, Verdict.FAILS),
        (None, 3.0, None, Verdict.OURS_ONLY),
        (3.0, None, 0.5, Verdict.NO_DATA),
        (None, None, None, Verdict.NO_DATA),
    ],
)
def test_a_verdict_compares_printed_numbers_with_ours(paper, ours, tolerance, verdict):
    assert cell(paper, ours, tolerance).verdict is verdict


def test_what_need_not_hold_cannot_fail_but_can_hold():
    assert cell(1, 2, 0.5, must_hold=False).verdict is Verdict.NOT_MET
    assert cell(1, 1.2, 0.5, must_hold=False).verdict is Verdict.HOLDS


def test_a_cell_is_json_even_where_it_is_no_number():
    told = cell(
        1, math.nan, (0.0, math.inf), also={"high": math.inf, "low": 2.0}
    ).to_dict()
    assert told["ours"] is None
    assert told["accepted"] == [0.0, None]
    assert told["also"] == {"high": None, "low": 2.0}
    json.dumps(told, allow_nan=False)


def test_the_text_shows_every_figure_and_each_reason_once():
    cells = [
        cell(
            30, 30.04, 0.5, why="A slip.", digits=1, also={"right": 20.41, "p": 0.0123}
        ),
        cell(43, 41.0, 0.5, why="A slip.", must_hold=False),
        cell(7, None, why="No file."),
        cell(None, math.nan),
        cell("yes", "yes"),
        cell(2, 0.000012, (0.000012, math.inf), digits=None),
        cell(2, 3.0, (-math.inf, 3.0)),
        cell(2, 3.0, (1.0, 4.0)),
    ]
    text = table_text(Sample, cells)
    lines = text.splitlines()
    assert lines[0] == "sample: Somebody (2020), table 1"
    assert "30  " in lines[3]
    assert "30.0" in lines[3]
    assert "± 0.5" in lines[3]
    assert lines[3].endswith("holds [1]    right 20.4, p 0.0123")
    assert lines[4].endswith("not met [1]")
    assert lines[5].endswith("no data [2]")
    assert "--" in lines[6]
    assert "1.2e-05  at least ours" in lines[8]
    assert "at most ours" in lines[9]
    assert "1.00 to 4.00" in lines[10]
    assert text.count("A slip.") == 1
    assert all(line == line.rstrip() for line in lines)


def test_the_summary_counts_the_verdicts():
    cells = [cell(1, 1.0), cell(1, 2.0), cell(1, 2.0, must_hold=False), cell(1, None)]
    assert summary(cells) == "4 cells: 1 holds, 1 not met, 1 FAILS, 1 no data"
    assert summary([]) == "no cells"


def test_the_picture_has_one_mark_per_printed_number_and_is_xml():
    cells = [
        cell(1, 1.1, 0.5),
        cell(100, 1.0, 0.5, must_hold=False),
        Cell("<row> & more", "c", -100, 1.0, 0.5),
        cell("a", "b"),
        cell(None, 1.0, 0.5),
        cell(1, math.nan, 0.5),
        cell(1, 1.0, (1.0, 1.0)),
        cell(1, 1.0, (1.0, math.inf)),
    ]
    picture = table_plot(Sample, cells)
    root = ElementTree.fromstring(picture)
    space = "{http://www.w3.org/2000/svg}"
    assert len(root.findall(f"{space}circle")) == 1
    marks = root.findall(f"{space}path")
    assert [mark.get("fill") for mark in marks] == ["#d55e00", "#000000"]
    titles = [mark.find(f"{space}title").text for mark in marks]
    assert titles[1].startswith("<row> & more, c: printed -100, ours 1, FAILS")


def test_without_printed_numbers_there_is_no_picture():
    assert (
        table_plot(Sample, [cell("yes", "yes"), cell(1, None), cell(None, 2.0)]) is None
    )


def test_every_promised_table_is_there_and_names_its_source():
    tables = all_tables()
    assert set(tables) >= PROMISED
    for slug, table in tables.items():
        assert slug == table.slug
        assert table.title
        assert "table" in table.paper or "section" in table.paper


def test_seeds_differ_between_parts_and_calls_and_not_between_runs(tmp_path):
    one, other = Workbench(tmp_path, seed=1), Workbench(tmp_path, seed=2)
    assert one.seed_for("a") == Workbench(tmp_path, seed=1).seed_for("a")
    assert len({one.seed_for("a"), one.seed_for("b"), other.seed_for("a")}) == 3
