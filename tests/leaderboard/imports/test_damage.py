"""Damaged files change no number silently: they are refused, or a problem names the place."""

from __future__ import annotations

import pytest

from genie.lib.errors import GenieError
from leaderboard.imports.about import About
from leaderboard.imports.readers.item_fields import number_of
from leaderboard.imports.readers.read import read
from leaderboard.imports.readers.sources import Source
from leaderboard.imports.services.settle import preview_import
from tests.leaderboard.imports.examples import DA, RANKME

pytestmark = pytest.mark.django_db


def problems(files, layout, choices=None, scales=None):
    sources = [Source(name, text.encode()) for name, text in files.items()]
    judgments = read(sources, layout=layout, choices=choices)
    about = About(scales=scales or {})
    shown, _ = preview_import(judgments, slug="x", about=about, files=sources)
    return judgments, " ".join(str(one) for one in shown.problems)


def test_workers_means_that_cannot_be_read_give_no_other_scores():
    damaged = {**DA, "worker-mean-sd-da-en.csv": ""}
    with pytest.raises(GenieError, match="add the file worker-mean-sd"):
        problems(damaged, "wmt-da")


def test_rows_that_are_there_twice_are_named():
    head, *rows = DA["ad-daen-good-stnd.csv"].splitlines()
    doubled = {**DA, "ad-daen-good-stnd.csv": "\n".join([head, *rows, *rows])}
    _, told = problems(doubled, "wmt-da")
    assert "3 judgments are the same as an earlier one" in told
    assert "the same as an earlier one" not in problems(DA, "wmt-da")[1]


@pytest.mark.parametrize("text", ["", "PK\3\4"])
def test_files_of_which_nothing_is_read_are_named(text):
    files = {**RANKME, "a_likert_quality.csv": text}
    judgments, told = problems(files, "rankme-pages", scales={"*": "1 to 6"})
    assert set(judgments.judged["criterion"]) == {"tone"}
    assert "No rating was read from a_likert_quality.csv, texts.csv." in told


@pytest.mark.parametrize("word", ["inf", "nan", "1e999", "1_0", "-Infinity"])
def test_what_is_no_finite_number_is_a_problem(word):
    scores = f"red\t1.5\nred\t-1\nblue\t{word}\nblue\t2\n"
    judgments, told = problems({"en-da.x.seg.score": scores}, "mt-metrics-eval")
    assert f"row 3, score: {word!r} is neither a number nor None" in told
    assert judgments.judged["value"].tolist() == [1.5, -1.0, 2.0]
    assert number_of(word) != number_of(word)


def test_a_criterion_that_one_cell_keeps_out_is_named_with_the_cell():
    rows = ["system,item,rater,fluency,adequacy"]
    rows += [f"s{n % 2},i{n},r{n % 3},{n % 5 + 1},{n % 5 + 1}" for n in range(8)]
    rows[4] = rows[4].rpartition(",")[0] + ",four"
    judgments, told = problems({"a.csv": "\n".join(rows)}, "plain")
    assert set(judgments.judged["criterion"]) == {"fluency"}
    assert "a.csv, row 5, adequacy: 'four' is not a number" in told
    assert "The column is not imported" in told
