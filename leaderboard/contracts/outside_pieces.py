"""The contracts for pieces that are installed or in GENIE_EXTENSIONS; see plugin.py."""

import inspect
import json
from typing import Any

import pytest

from crowd import hit_templates
from crowd.hit_templates import HITTemplate
from crowd.hit_templates.checks import CHECKS
from crowd.scales.base import Scale
from genie.lib import outside
from genie.lib.errors import GenieError
from leaderboard.contracts.metrics import MetricContract
from leaderboard.extensions import FINDERS, broken
from leaderboard.submissions.preflight.base import Check, Texts

WORDS = ["Rain falls on the roof.", "The dog sleeps.", "Seven ships sail north today."]


def texts(predictions: list[str], *, references: bool = True) -> Texts:
    """Return predictions with one reference each, or none, and no other submission."""
    n = len(predictions)
    given = [[WORDS[i % len(WORDS)]] if references else [] for i in range(n)]
    sources = [f"Source {i}." for i in range(n)]
    return Texts(predictions, given, sources, "en", "en", (), 2022)


class CheckContract:
    @pytest.mark.parametrize("references", [True, False])
    @pytest.mark.parametrize(
        "predictions", [WORDS * 40, ["…"], [""] * 60, ["the same"] * 60, [" \n\t"]]
    )
    def test_it_says_nothing_or_one_sentence_with_its_figures(
        self, check: type[Check], predictions: list[str], references: bool
    ) -> None:
        seen = texts(predictions, references=references)
        warning = check().look(seen)
        assert warning == check().look(seen)
        if warning is not None:
            assert warning.code == check.slug
            assert warning.sentence.strip().endswith(".")
            json.dumps(warning.figures, allow_nan=False)


NO_NUMBERS = [
    "", " ", "nan", "inf", "-inf", "1e0", "1_0", "٣", "0,5", "0.5;", "yes", "\x00", "9" * 400,
]  # fmt: skip


def refuses(scale: type[Scale], raw: str) -> bool:
    with pytest.raises(GenieError) as caught:
        scale.parse(raw)
    return caught.value.code == "not-on-the-scale"


class ScaleContract:
    def test_every_option_can_be_sent_and_comes_back_as_its_value(
        self, scale: type[Scale]
    ) -> None:
        for option in scale.options:
            assert scale.parse(option.raw) == option.value
            assert option.sent or scale.parse(str(option.value)) == option.value
            assert scale.parse(f" {option.raw} ") == option.value

    def test_options_have_their_own_keys_labels_and_values(
        self, scale: type[Scale]
    ) -> None:
        n = len(scale.options)
        for part in ("key", "label", "value"):
            assert len({getattr(option, part) for option in scale.options}) == n

    def test_labels_of_a_language_are_one_for_each_option(
        self, scale: type[Scale]
    ) -> None:
        for labels in scale.labels.values():
            # points between two labeled ones have no words
            said = [label for label in labels if label]
            assert len({*said}) == len(said)
            assert len(labels) == len(scale.options or scale.ticks or scale.ends)

    def test_the_threshold_parts_the_options_into_good_and_bad(
        self, scale: type[Scale]
    ) -> None:
        values = [option.value for option in scale.options]
        above = [value for value in values if value > scale.binary_threshold]
        assert not values or 0 < len(above) < len(values)

    @pytest.mark.parametrize("raw", NO_NUMBERS)
    def test_what_is_no_plain_number_is_refused(
        self, scale: type[Scale], raw: str
    ) -> None:
        assert refuses(scale, raw)


class TemplateContract:
    @pytest.mark.parametrize("clause", CHECKS)
    def test_it_can_be_used(self, template: HITTemplate, clause: str) -> None:
        assert CHECKS[clause](template)


def others(kind: str) -> list[Any]:
    return [
        pytest.param(piece, id=slug)
        for slug, piece in FINDERS[kind]().items()
        if not _is_ours(kind, slug, piece)
    ]


def _is_ours(kind: str, slug: str, piece: Any) -> bool:
    if kind == "templates":
        return (hit_templates.ROOT / slug).is_dir()
    return inspect.getmodule(piece).__name__.startswith(outside.KINDS[kind])  # type: ignore[union-attr]


def test_none_is_left_out() -> None:
    assert broken() == []


@pytest.mark.parametrize("metric", others("metrics"))
class TestMetrics(MetricContract):
    pass


@pytest.mark.parametrize("scale", others("scales"))
class TestScales(ScaleContract):
    pass


@pytest.mark.parametrize("check", others("preflight"))
class TestChecks(CheckContract):
    pass


@pytest.mark.parametrize("template", others("templates"))
class TestTemplates(TemplateContract):
    pass


@pytest.mark.parametrize("design", others("designs"))
def test_a_design_asks_on_scales_that_are_there(design: Any) -> None:
    assert design.scales
    assert set(design.scales) <= set(FINDERS["scales"]())


@pytest.mark.parametrize("reader", others("readers"))
def test_a_reader_says_which_files_it_reads(reader: Any) -> None:
    assert reader.layout.endswith(".")
    assert all(reader.options.values())
