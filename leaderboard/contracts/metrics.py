"""The contract of every metric that can be computed here."""

import json
import re

import numpy as np
import pytest

from genie.lib.errors import GenieError
from leaderboard.metrics.base import Batch, Metric, MetricOutput, parameters_of

GOOD = ["Rain falls on the roof.", "The dog sleeps.", "Seven ships sail north today."]
BAD = ["Roof.", "A cat runs away now.", "It is unknown."]
ODD = ["", " \n\t", "…", "🙂", "\u00ad", "a" * 20_000]

Kind = type[Metric]


def batch(predictions: list[str], references: list[str] | None = None) -> Batch:
    """Pair predictions with one reference each, which is the source as well."""
    wanted = GOOD if references is None else references
    return Batch(predictions, [[text] for text in wanted], wanted)


def says_what_it_is(metric: Kind) -> None:
    assert re.fullmatch(r"[A-Za-z0-9-]+", metric.slug)
    assert metric.label
    assert metric.paper
    assert re.match(r"\d", metric.version)
    assert metric().available() or "absent" not in metric.version
    assert metric.higher_is_better in {True, False, None}
    assert metric.cost in {"light", "heavy", "gpu"}
    assert "References" in (metric.__doc__ or "")


class MetricContract:
    def test_it_says_what_it_is(self, metric: Kind) -> None:
        says_what_it_is(metric)

    def test_one_instance_is_enough(self, metric: Kind) -> None:
        output = metric().compute(batch(BAD[:1], GOOD[:1]))
        assert output.per_instance.shape == (1,)

    @pytest.mark.parametrize("text", ODD)
    def test_odd_texts_get_finite_numbers(self, metric: Kind, text: str) -> None:
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

    def test_empty_predictions_get_nothing(self, metric: Kind) -> None:
        output = metric().compute(batch(["", "", ""]))
        # an error rate has no value for completely wrong
        worst = (metric.range[1] or 100) if metric.higher_is_better is False else 0
        assert output.overall == worst
        assert output.per_instance.tolist() == [worst] * 3

    def test_the_same_texts_give_the_same_bytes(self, metric: Kind) -> None:
        first, again = (metric().compute(batch(BAD)) for _ in range(2))
        assert first.per_instance.tobytes() == again.per_instance.tobytes()
        assert (first.overall, first.signature) == (again.overall, again.signature)

    def test_its_signature_fits_the_database_and_names_a_version(
        self, metric: Kind
    ) -> None:
        output = metric().compute(batch(BAD))
        assert len(output.signature) <= 300
        parts = r"([A-Za-z0-9-]+:[^|:]+\|)*version:[^|:]+"
        assert re.fullmatch(parts, output.signature)
        json.dumps(output.details, allow_nan=False)

    def test_the_order_of_instances_changes_nothing_but_the_order(
        self, metric: Kind
    ) -> None:
        forward = metric().compute(batch(BAD))
        backward = metric().compute(batch(BAD[::-1], GOOD[::-1]))
        assert backward.per_instance[::-1].tolist() == forward.per_instance.tolist()
        assert backward.overall == pytest.approx(forward.overall, rel=1e-12)

    def test_its_settings_name_the_version_and_every_parameter(
        self, metric: Kind
    ) -> None:
        parts = dict(part.split(":", 1) for part in metric().settings().split("|"))
        assert parts.pop("version") == metric.version
        assert list(parts) == list(parameters_of(metric))

    def test_pieces_put_together_are_the_whole(self, metric: Kind) -> None:
        made = metric()
        references = [[GOOD[0], "Rain."], [GOOD[1]], [GOOD[2]]]
        whole = made.compute(Batch(BAD, references, GOOD))
        if not metric.piece:
            assert made.combine([whole]) is whole
            return
        found = made.combine(_pieces(made, references))
        assert found.overall == pytest.approx(whole.overall, abs=1e-12)
        assert found.per_instance.tolist() == whole.per_instance.tolist()
        assert (found.signature, found.details) == (whole.signature, whole.details)

    def test_no_instances_are_refused_in_words(self, metric: Kind) -> None:
        with pytest.raises(GenieError, match="at least one instance") as caught:
            metric().compute(Batch([], []))
        assert caught.value.code == "nothing-to-measure"


def _pieces(metric: Metric, references: list[list[str]]) -> list[MetricOutput]:
    return [
        metric.compute(
            Batch(BAD[part], references[part], GOOD[part], references_each="var")
        )
        for part in (slice(0, 1), slice(1, 3))
    ]
