"""One walk over the folder: what holds for every metric, those of tomorrow too."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from genie.lib.errors import GenieError
from leaderboard.metrics.base import (
    Batch,
    Metric,
    MetricOutput,
    all_metrics,
    parameters_of,
)

GOOD = ["Rain falls on the roof.", "The dog sleeps.", "Seven ships sail north today."]
BAD = ["Roof.", "A cat runs away now.", "Nobody knows."]
# those with models have tests of their own, on a model that the tests build
HERE = [
    slug
    for slug, metric in all_metrics().items()
    if metric.cost != "gpu" and metric().available() is None
]
# METEOR's penalty keeps even a copy below its best value
BEST = [
    slug for slug in HERE if all_metrics()[slug].needs_references and slug != "meteor"
]


def batch(predictions, references=GOOD, **more) -> Batch:
    return Batch(predictions, [[text] for text in references], references, **more)


def test_the_metrics_of_the_first_boards_are_there():
    wanted = {"sacrebleu", "chrf", "rouge1", "rouge2", "rougeL", "length"}
    wanted |= {"bleu", "chrf-plus-plus", "ter", "rougeLsum", "meteor", "bertscore"}
    wanted |= {"bleurt", "exact-match", "token-f1", "distinct-1", "distinct-2"}
    wanted |= {"novelty", "compression"}
    assert wanted <= set(all_metrics())


@pytest.mark.parametrize("slug", all_metrics())
def test_it_says_what_it_is(slug):
    metric = all_metrics()[slug]
    assert metric.slug == slug
    assert re.fullmatch(r"[A-Za-z0-9-]+", slug)
    assert metric.label
    assert metric.paper
    assert re.match(r"\d", metric.version)
    assert metric().available() or "absent" not in metric.version
    assert metric.higher_is_better in {True, False, None}
    assert metric.cost in {"light", "heavy", "gpu"}
    assert "References" in (metric.__doc__ or "")


@pytest.mark.parametrize("slug", BEST)
def test_texts_equal_to_their_references_get_the_best_value(slug):
    metric = all_metrics()[slug]
    same, other = metric().compute(batch(GOOD)), metric().compute(batch(BAD))
    best = {True: metric.range[1], False: metric.range[0], None: 1.0}[
        metric.higher_is_better
    ]
    assert same.overall == pytest.approx(best)
    assert same.per_instance == pytest.approx(np.full(3, best))
    assert other.overall != pytest.approx(best)


@pytest.mark.parametrize("slug", HERE)
def test_one_instance_is_enough(slug):
    output = all_metrics()[slug]().compute(batch(BAD[:1], GOOD[:1]))
    assert output.per_instance.shape == (1,)


@pytest.mark.parametrize("slug", HERE)
@pytest.mark.parametrize("text", ["", " \n\t", "…", "🙂", "\u00ad", "a" * 20_000])
def test_odd_texts_get_finite_numbers(slug, text):
    metric = all_metrics()[slug]
    for predictions, references in [
        ([text] * 2, ["A word."] * 2),
        (["A word."] * 2, [text] * 2),
    ]:
        output = metric().compute(
            Batch(predictions, [[r] for r in references], ["A source."] * 2)
        )
        assert np.isfinite(output.per_instance).all()
        low, high = metric.range
        assert output.per_instance.min() >= low
        assert high is None or output.per_instance.max() <= high + 1e-9


@pytest.mark.parametrize("slug", HERE)
def test_empty_predictions_get_nothing(slug):
    metric = all_metrics()[slug]
    output = metric().compute(batch(["", "", ""]))
    # of an error rate, nothing is all wrong
    worst = 100 if metric.higher_is_better is False else 0
    assert output.overall == worst
    assert output.per_instance.tolist() == [worst] * 3


@pytest.mark.parametrize("slug", HERE)
def test_the_same_texts_give_the_same_bytes(slug):
    first, again = (all_metrics()[slug]().compute(batch(BAD)) for _ in range(2))
    assert first.per_instance.tobytes() == again.per_instance.tobytes()
    assert (first.overall, first.signature) == (again.overall, again.signature)


@pytest.mark.parametrize("slug", HERE)
def test_its_signature_fits_the_database_and_names_a_version(slug):
    output = all_metrics()[slug]().compute(batch(BAD))
    assert len(output.signature) <= 300
    assert re.fullmatch(r"([A-Za-z0-9-]+:[^|:]+\|)*version:[^|:]+", output.signature)
    json.dumps(output.details, allow_nan=False)


@pytest.mark.parametrize("slug", HERE)
def test_the_order_of_instances_changes_nothing_but_the_order(slug):
    metric = all_metrics()[slug]
    forward = metric().compute(batch(BAD))
    backward = metric().compute(batch(BAD[::-1], GOOD[::-1]))
    assert backward.per_instance[::-1].tolist() == forward.per_instance.tolist()
    assert backward.overall == pytest.approx(forward.overall, rel=1e-12)


@pytest.mark.parametrize("slug", HERE)
def test_its_settings_name_the_version_and_every_parameter(slug):
    metric = all_metrics()[slug]
    parts = dict(part.split(":", 1) for part in metric().settings().split("|"))
    assert parts.pop("version") == metric.version
    assert list(parts) == list(parameters_of(metric))


@pytest.mark.parametrize("slug", [s for s in HERE if all_metrics()[s].piece])
def test_pieces_put_together_are_the_whole(slug):
    metric = all_metrics()[slug]()
    references = [[GOOD[0], "Rain."], [GOOD[1]], [GOOD[2]]]
    whole = metric.compute(Batch(BAD, references))
    pieces = [
        metric.compute(Batch(BAD[part], references[part], references_each="var"))
        for part in (slice(0, 1), slice(1, 3))
    ]
    found = metric.combine(pieces)
    assert found.overall == pytest.approx(whole.overall, abs=1e-12)
    assert found.per_instance.tolist() == whole.per_instance.tolist()
    assert (found.signature, found.details) == (whole.signature, whole.details)


def test_what_has_no_pieces_is_not_put_together():
    metric = all_metrics()["chrf"]()
    one = metric.compute(batch(BAD))
    assert metric.combine([one]) is one
    with pytest.raises(ValueError, match="cannot be combined"):
        metric.combine([one, one])
    with pytest.raises(ValueError, match="no batch"):
        metric.combine([])


@pytest.mark.parametrize("slug", HERE)
def test_no_instances_are_refused_in_words(slug):
    with pytest.raises(GenieError, match="at least one instance") as caught:
        all_metrics()[slug]().compute(Batch([], []))
    assert caught.value.code == "nothing-to-measure"


@pytest.mark.parametrize(
    "slug", [s for s, m in all_metrics().items() if m.needs_references]
)
@pytest.mark.parametrize("lacking", [[], "one text instead of a list"])
def test_an_instance_without_references_is_refused_in_words(slug, lacking):
    with pytest.raises(GenieError, match="instance number 2 has none") as caught:
        all_metrics()[slug]().compute(Batch(["a", "b"], [["a"], lacking]))
    assert caught.value.code == "no-references"


def test_texts_that_are_not_aligned_are_refused():
    with pytest.raises(GenieError, match="2 predictions but 1 lists"):
        Batch(["a", "b"], [["a"]])
    with pytest.raises(GenieError, match="2 predictions but 1 sources"):
        Batch(["a", "b"], [["a"], ["b"]], ["a"])


class Scripted(Metric):
    label = "Scripted"
    higher_is_better = True
    range = (0.0, 1.0)
    needs_sources = True

    def __init__(self, output: MetricOutput) -> None:
        self.output = output

    def _measure(self, batch: Batch) -> MetricOutput:
        return self.output


@pytest.mark.parametrize("sources", [[], [""], [" \n"]])
def test_a_metric_that_needs_sources_says_so(sources):
    metric = Scripted(MetricOutput(0.0, np.zeros(1), ""))
    with pytest.raises(GenieError, match="needs the source") as caught:
        metric.compute(Batch(["a"], [["a"]], sources))
    assert caught.value.code == "no-sources"


def test_a_metric_that_cannot_be_computed_here_says_why():
    class Absent(Scripted):
        def available(self):
            return "The library is on holiday."

    metric = Absent(MetricOutput(0.0, np.zeros(1), ""))
    with pytest.raises(GenieError, match="The library is on holiday") as caught:
        metric.compute(Batch(["a"], [["a"]], ["a"]))
    assert caught.value.code == "not-computed-here"


@pytest.mark.parametrize(
    "output",
    [
        MetricOutput(0.0, np.zeros(2), ""),
        MetricOutput(float("nan"), np.zeros(1), ""),
        MetricOutput(0.0, np.array([np.inf]), ""),
    ],
)
def test_a_broken_metric_is_not_believed(output):
    with pytest.raises(GenieError) as caught:
        Scripted(output).compute(Batch(["a"], [["a"]], ["a"]))
    assert caught.value.code == "metric-broken"


def test_finding_the_metrics_imports_none_of_their_libraries():
    code = (
        "import sys; from leaderboard.metrics.base import all_metrics;"
        "[metric().available() for metric in all_metrics().values()];"
        "print([m for m in ('sacrebleu', 'rouge_score', 'nltk', 'rapidfuzz', 'django',"
        " 'torch', 'transformers', 'bert_score') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_the_example_in_the_documentation_works():
    page = Path(__file__).parents[3] / "docs" / "metrics.md"
    [code] = re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    found: dict = {}
    exec(compile(code, "metrics.md", "exec"), found)  # our own page
    output = found["FirstWord"]().compute(batch([GOOD[0], "", GOOD[2]]))
    assert output.overall == pytest.approx(200 / 3)
    assert output.per_instance.tolist() == [100, 0, 100]
