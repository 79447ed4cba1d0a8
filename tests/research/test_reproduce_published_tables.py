"""The published data: what must hold holds, and what does not is known."""

import json
from functools import cache

import pandas as pd
import pytest

from genie_research.papers.table import Workbench, all_tables
from leaderboard.papers.figures import Verdict
from tests.leaderboard.metrics.tiny_wordnet import needs_wordnet
from tests.shared import SHARED, needs_shared

DATA = SHARED / "data"


@cache  # tables that several tests look at
def compute(slug, data=DATA, **options):
    return list(all_tables()[slug]().cells(Workbench(data, **options)))


def of(cells, row, column):
    [found] = [c for c in cells if (c.row, c.column) == (row, column)]
    return found


def rows(cells, verdict):
    return {(c.row, c.column) for c in cells if c.verdict is verdict}


def truth(name):
    items = json.loads((DATA / "truth.json").read_text("utf-8"))["items"]
    return next(item for item in items if item["id"] == name)


@pytest.mark.slow
@needs_shared
@pytest.mark.parametrize(
    ("slug", "runs", "n_cells"),
    [
        ("dynamic-kappas", None, 3),
        ("dynamic-table-3", 300, 15),
        ("dynamic-table-6", None, 36),
        ("dynamic-table-7", None, 6),
        ("rankme-table-2", None, 36),
        ("rankme-table-3", None, 36),
        ("rankme-table-4", None, 14),
    ],
)
def test_nothing_that_should_hold_fails(slug, runs, n_cells):
    cells = compute(slug, runs=runs)
    assert len(cells) == n_cells
    assert rows(cells, Verdict.FAILS) == set()
    assert sum(c.verdict is Verdict.HOLDS for c in cells) >= len(cells) // 3
    for cell in cells:
        assert cell.paper is not None
        if cell.verdict in (Verdict.NOT_MET, Verdict.NO_DATA):
            assert cell.why


@needs_shared
def test_our_figures_are_the_independent_ones():
    kappas = compute("dynamic-kappas", runs=None)
    assert of(kappas, "V1 vs CGA", "kappa").ours == pytest.approx(
        truth("dynamic.kappa.v1")["expected"], abs=5e-5
    )
    agreement = compute("rankme-table-3", runs=None)
    for method, criterion in (("RankME", "naturalness"), ("Likert", "informativeness")):
        name = f"rankme.icc1k.setup2.{method.lower()}.{criterion}"
        found = of(agreement, f"{method} {criterion}", "setup 2").ours
        assert found == pytest.approx(truth(name)["expected"], abs=5e-4)
    between = compute("rankme-table-2", runs=None)
    expected = truth("rankme.spearman.setup1.plainme.naturalness-quality")["expected"]
    found = of(between, "naturalness, quality: plain ME", "setup 1").ours
    assert found == pytest.approx(expected["item"], abs=5e-4)


@needs_shared
@pytest.mark.slow
def test_the_tables_on_errors_keep_to_the_exact_ones():
    errors = compute("stopping-errors")
    row = "the paper's rule, delta 0.01, every label"
    exact = truth("sequential.null.hoeffding_fixed.0.01.every.n5000")["expected"]
    assert of(errors, row, "n = 5000").ours == pytest.approx(exact, abs=1e-6)
    assert of(errors, row, "n = 5000").verdict is Verdict.NOT_MET
    assert rows(errors, Verdict.FAILS) == set()
    efforts = compute("stopping-efforts")
    exact = truth("sequential.effort.0.125.stitched.0.001")["expected"]["mean"]
    found = of(efforts, "stitched, delta 0.001", "mu = 0.125")
    assert found.ours == pytest.approx(exact, rel=1e-3)


@needs_shared
@pytest.mark.slow
def test_submissions_are_measured_from_their_texts_and_put_in_step_first():
    cells = compute("wmt21-metrics")
    assert rows(cells, Verdict.FAILS) == set()
    for system in ("VolcTrans-AT", "HUMAN", "GENIE-large-6-6", "GENIE-base-3-3"):
        assert of(cells, system, "SacreBLEU").verdict is Verdict.HOLDS
        assert of(cells, system, "ROUGE").verdict is Verdict.HOLDS
    assert "shuffled" in of(cells, "GENIE-base-3-3", "ROUGE").why
    assert of(cells, "UEdin", "SacreBLEU").ours == pytest.approx(
        truth("wmt21.sacrebleu_A.UEdin")["expected"], abs=1e-3
    )
    assert of(cells, "Watermelon", "ROUGE").verdict is Verdict.NO_DATA


@needs_shared
@needs_wordnet
@pytest.mark.slow
def test_the_printed_meteor_is_that_of_old_nltk():
    cells = compute("wmt21-metrics")
    for system in ("HUMAN", "GENIE-large-6-6", "GENIE-base-3-3"):
        assert of(cells, system, "METEOR").verdict is Verdict.HOLDS
    missed = of(cells, "VolcTrans-AT", "METEOR")
    assert missed.verdict is Verdict.NOT_MET
    for cell in [c for c in cells if c.column == "METEOR" and c.ours is not None]:
        for name, ours in (("leaky", cell.ours), ("stems", cell.also["today's NLTK"])):
            if not cell.row.startswith("GENIE"):
                expected = truth(f"wmt21.meteor_{name}_A.{cell.row}")["expected"]
                assert ours == pytest.approx(expected, abs=5e-4), cell.row


@needs_shared
def test_a_file_in_another_order_gives_the_same_table(tmp_path):
    (tmp_path / "dynamic").mkdir()
    frame = pd.read_csv(DATA / "dynamic/r1.csv").sample(frac=1, random_state=1)
    frame.to_csv(tmp_path / "dynamic/r1.csv", index=False)
    for slug in ("dynamic-table-7", "dynamic-kappas"):
        here = [c.ours for c in compute(slug) if "R1" in c.row]
        there = [c.ours for c in compute(slug, tmp_path) if "R1" in c.row]
        assert here == pytest.approx(there, rel=1e-12)


@pytest.mark.slow
def test_genies_table_is_judged_by_its_range_and_its_claims(tmp_path):
    told = []
    cells = compute("genie-table-1", tmp_path, runs=30, tell=told.append)
    assert len(cells) == 52
    assert len(told) == 7
    assert rows(cells, Verdict.FAILS) == set()
    nobody = of(cells, "class, fixed 2", "1-4 recall")
    assert (nobody.ours, nobody.verdict) == (0.0, Verdict.NOT_MET)
    assert of(cells, "class, fixed 2", "1-4 precision").verdict is Verdict.NOT_MET
    assert of(cells, "rate, uniform", "1-4 precision").verdict is Verdict.NOT_MET
    assert of(cells, "rate, learned 2", "15+ recall").verdict is Verdict.HOLDS
    for cell in cells[:48]:
        low, high = cell.accepted_range
        assert not low > high
        if cell.ours == cell.ours:
            assert low <= cell.ours <= high


def test_published_intervals_fit_their_bound(tmp_path):
    cells = compute("genie-appendix-c", tmp_path)
    assert {c.verdict for c in cells} == {Verdict.HOLDS}
    assert of(cells, "n = 800", "largest standard error").ours == pytest.approx(
        100 * 0.5 / 800**0.5
    )
    alpha = of(cells, "αNLG, T5 (11B)", "half-width at n = 800")
    assert alpha.also["implied sd"] == pytest.approx(0.1515, abs=1e-4)
    assert "plausible" in alpha.why
