"""The contracts for pieces that are installed or in GENIE_EXTENSIONS; see plugin.py."""

import inspect
from typing import Any

import pytest

from crowd import hit_templates
from genie.lib import outside
from leaderboard.contracts.metrics import MetricContract
from leaderboard.contracts.preflight import CheckContract
from leaderboard.contracts.scales import ScaleContract
from leaderboard.contracts.templates import TemplateContract
from leaderboard.extensions import FINDERS, broken


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
