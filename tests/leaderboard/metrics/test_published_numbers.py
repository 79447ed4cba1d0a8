"""The published automatic numbers of real submissions come out."""

import csv
import json
from functools import cache

import pytest

from leaderboard.metrics.base import all_metrics
from tests.leaderboard.metrics import wmt21
from tests.shared import SHARED, needs_shared

COLUMNS = {"sacrebleu": "sacrebleu", "rouge_l": "rougeL", "chrf2": "chrf"}
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
# Those against reference A only: the person's text is reference B.
N_OF_HUMAN = 6


def expected() -> list[dict[str, str]]:
    path = wmt21.FOLDER / "expected.csv"
    if not path.exists():
        return []
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def truth() -> dict[str, dict]:
    values = json.loads((SHARED / "data" / "truth.json").read_text(encoding="utf-8"))
    rows = next(value for value in values.values() if isinstance(value, list))
    return {row["id"]: row for row in rows}


@pytest.fixture(scope="module", autouse=True)
def _references_read_once():
    """Have sacrebleu read the same references once for all systems: half of its time."""
    from sacrebleu.metrics.base import Metric

    read, found = Metric._cache_references, {}

    def once(metric, references):
        settings = {k: v for k, v in vars(metric).items() if isinstance(v, int | str)}
        settings |= {"kind": type(metric), "num_refs": None}
        key = (*sorted(map(str, settings.items())), *map(tuple, references))
        if key not in found:
            found[key] = read(metric, references)
        return found[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Metric, "_cache_references", once)
        yield


@cache
def overall(slug, system, references, **parameters):
    """Compute a number once, whichever test asks for it."""
    batch = wmt21.batch(system, *references)
    return all_metrics()[slug](**parameters).compute(batch).overall


@needs_shared
@pytest.mark.parametrize("row", expected(), ids=lambda row: row["system"])
def test_a_submission_as_handed_in_has_its_published_numbers(row):
    name = row["system"]
    system = name if name in wmt21.systems() else f"hyp.{name}"
    for column, slug in COLUMNS.items():
        value = overall(slug, system, ("A",))
        assert f"{value:.2f}" == row[column], slug
        paper = row.get(
            {"sacrebleu": "paper_sacrebleu", "rouge_l": "paper_rouge"}.get(column, "")
        )
        if paper and not name.startswith("GENIE"):  # their ids are shuffled
            assert f"{value:.1f}" == paper


@needs_shared
@pytest.mark.parametrize(
    "system", [name for name in wmt21.systems() if "GENIE" not in name]
)
def test_every_definition_has_its_value(system, truth):
    name = "HUMAN" if system == "ref.B" else system.removeprefix("hyp.")
    found = 0
    for key, (slug, references, parameters) in TRUTH.items():
        row = truth.get(f"wmt21.{key}.{name}")
        if row is None:  # a person's text is a reference itself
            continue
        value = overall(slug, system, references, **parameters)
        assert value == pytest.approx(row["expected"], abs=row["tol"]), key
        found += 1
    assert found == (len(TRUTH) if name != "HUMAN" else N_OF_HUMAN)


@needs_shared
def test_texts_shifted_by_one_line_lose_their_bleu():
    batch = wmt21.batch("hyp.SMU")
    shifted = type(batch)(
        batch.predictions[1:] + batch.predictions[:1], batch.references
    )
    assert all_metrics()["sacrebleu"]().compute(shifted).overall < 3
