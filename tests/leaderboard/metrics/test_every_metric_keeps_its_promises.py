"""One walk over the folder: what holds for every metric, those of tomorrow too."""

import re
from pathlib import Path

import numpy as np
import pytest

from genie.lib.errors import GenieError
from leaderboard.contracts.metrics import (
    BAD,
    GOOD,
    MetricContract,
    batch,
    says_what_it_is,
)
from leaderboard.metrics.base import Batch, Metric, MetricOutput, all_metrics

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


def test_the_metrics_of_the_first_boards_are_there():
    wanted = {"sacrebleu", "chrf", "rouge1", "rouge2", "rougeL", "length"}
    wanted |= {"bleu", "chrf-plus-plus", "ter", "rougeLsum", "meteor", "bertscore"}
    wanted |= {"bleurt", "exact-match", "token-f1", "comet", "metricx"}
    assert wanted <= set(all_metrics())


@pytest.mark.parametrize("slug", all_metrics())
def test_it_says_what_it_is(slug):
    metric = all_metrics()[slug]
    assert metric.slug == slug
    says_what_it_is(metric)


@pytest.mark.parametrize("metric", [all_metrics()[slug] for slug in HERE], ids=HERE)
class TestOurs(MetricContract):
    pass


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


def test_what_has_no_pieces_is_not_put_together():
    metric = all_metrics()["chrf"]()
    one = metric.compute(batch(BAD))
    assert metric.combine([one]) is one
    with pytest.raises(ValueError, match="cannot be combined"):
        metric.combine([one, one])
    with pytest.raises(ValueError, match="no batch"):
        metric.combine([])


@pytest.mark.parametrize(
    "slug", [s for s, m in all_metrics().items() if m.needs_references]
)
@pytest.mark.parametrize("lacking", [[], "one text instead of a list"])
def test_an_instance_without_references_is_refused_in_words(slug, lacking):
    with pytest.raises(GenieError, match="instance number 2 has none") as caught:
        all_metrics()[slug]().compute(Batch(["a", "b"], [["a"], lacking], ["a", "b"]))
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


def test_the_example_in_the_documentation_works():
    page = Path(__file__).parents[3] / "docs" / "metrics.md"
    [code] = re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    found: dict = {}
    exec(compile(code, "metrics.md", "exec"), found)  # our own page
    output = found["FirstWord"]().compute(batch([GOOD[0], "", GOOD[2]]))
    assert output.overall == pytest.approx(200 / 3)
    assert output.per_instance.tolist() == [100, 0, 100]


def test_of_conversations_only_the_assistant_is_measured():
    metric = all_metrics()["sacrebleu"]()
    talk = "User: Where is it?\n\nAssistant: It is here now.\n\nUser: Ah.\n\nAssistant: Yes."
    whole = metric.compute(Batch([talk], [[talk]], conversations=True))
    said = metric.compute(Batch(["It is here now.\nYes."], [["It is here now.\nYes."]]))
    assert whole.overall == said.overall
    # other numbers than of the whole text, so another signature
    assert whole.signature == f"{said.signature}|turns:assistant"
    other = Batch([talk.replace("It is here", "It was")], [[talk]], conversations=True)
    assert metric.compute(other).overall < 100
