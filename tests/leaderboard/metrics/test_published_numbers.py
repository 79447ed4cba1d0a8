"""The published automatic numbers of real submissions come out."""

import csv
import json

import pytest

from leaderboard.metrics.base import all_metrics
from tests.leaderboard.metrics import wmt21
from tests.shared import SHARED, needs_shared

COLUMNS = {"sacrebleu": "sacrebleu", "rouge_l": "rougeL", "chrf2": "chrf"}
PAPER = {"sacrebleu": "paper_sacrebleu", "rouge_l": "paper_rouge"}
TRUTH = {
    "sacrebleu_A": ("sacrebleu", ("A",), {}),
    "sacrebleu_lc_A": ("sacrebleu", ("A",), {"lowercase": True}),
    "sacrebleu_AB": ("sacrebleu", ("A", "B"), {}),
    "chrf_A": ("chrf", ("A",), {}),
    "sacrebleu_B": ("sacrebleu", ("B",), {}),
    "chrf_B": ("chrf", ("B",), {}),
    "chrf_AB": ("chrf", ("A", "B"), {}),
    "rouge1_f1_stem_A": ("rouge1", ("A",), {}),
    "rouge2_f1_stem_A": ("rouge2", ("A",), {}),
    "rougeL_f1_stem_A": ("rougeL", ("A",), {}),
}
# of twelve: one in the paper, one with shuffled ids; the next test has another
CHECKED = {"VolcTrans-AT", "GENIE-base-3-3"}


def overall(slug, system, references, **parameters):
    batch = wmt21.batch(f"hyp.{system}", *references)
    return all_metrics()[slug](**parameters).compute(batch).overall


@pytest.mark.slow
@needs_shared
def test_submissions_as_handed_in_have_their_published_numbers():
    with (wmt21.FOLDER / "expected.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["system"] in CHECKED]
    assert len(rows) == len(CHECKED)
    for row in rows:
        for column, slug in COLUMNS.items():
            value = overall(slug, row["system"], ("A",))
            assert f"{value:.2f}" == row[column], (row["system"], slug)
            paper = row.get(PAPER.get(column, ""))
            if paper and not row["system"].startswith("GENIE"):  # ids are shuffled
                assert f"{value:.1f}" == paper


@pytest.mark.slow
@needs_shared
def test_every_definition_has_its_value():
    values = json.loads((SHARED / "data" / "truth.json").read_text(encoding="utf-8"))
    truth = {row["id"]: row for row in values["items"]}
    for key, (slug, references, parameters) in TRUTH.items():
        row = truth[f"wmt21.{key}.happypoet"]
        value = overall(slug, "happypoet", references, **parameters)
        assert value == pytest.approx(row["expected"], abs=row["tol"]), key
