"""The first sentence of a metric board, case by case."""

import pytest

from leaderboard.metric_board.selectors.headline import (
    headline,
    person_sentence,
    short,
    williams_sentence,
)
from leaderboard.metric_board.selectors.snapshot import Cell, Line, Shown
from leaderboard.models import MetricBoard


def line(label, low, cluster=1, by="pairwise-accuracy"):
    cells = {by: Cell(0.86, low, 0.93)}
    return Line(
        label.lower(), label, "↑", None, "", True, 12, cluster, cells, epsilon=None
    )


def shown(*lines, n=12, by="pairwise-accuracy", simulated=False, **payload):
    payload = {"systems": [{}] * n, "rankings": {}, **payload}
    board = MetricBoard(payload=payload, simulated=simulated)
    return Shown("READY", board, lines=list(lines), by=by)


def test_it_names_the_best_how_surely_and_what_chance_is():
    said = headline(shown(line("BLEU", 0.78), line("chrF", 0.7, cluster=2)))
    assert said == (
        "BLEU ranks systems most like people: pairwise accuracy .86, "
        "95% interval .78 to .93, 12 systems; chance is .50."
    )


def test_an_interval_that_holds_chance_is_called_that():
    said = headline(shown(line("BLEU", 0.5)))
    assert said.startswith(
        "BLEU comes first, but may agree with people no better than chance: "
    )


def test_what_is_not_significantly_worse_is_named_too():
    lines = [line(label, 0.78) for label in ("BLEU", "chrF", "TER", "A", "B")]
    assert ", tied with chrF:" in headline(shown(*lines[:2]))
    assert ", tied with chrF, TER and A:" in headline(shown(*lines[:4]))
    assert ", tied with chrF, TER and 2 others:" in headline(shown(*lines))


def test_five_systems_name_no_metric():
    said = headline(shown(line("BLEU", 0.78), n=5, simulated=True))
    assert said == (
        "5 systems are too few to show which metric agrees with simulated annotators."
    )


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [(0.6, 0.7, "is above"), (0.95, 0.97, "is below"), (0.7, 0.9, "clearly differ")],
)
def test_a_person_is_compared_by_intervals_and_never_alone(low, high, word):
    cell = {"value": 0.8, "low": low, "high": high, "n": 9}
    person = {"n_raters": 9, "n_outputs": 31.0, "covers": "", "instance": {}}
    person["system"] = {"pairwise-accuracy": cell}
    said = person_sentence(shown(line("BLEU", 0.78), person=person))
    assert "the average of 9 with a median of 31 outputs; BLEU, which" in said
    assert word in said
    person["system"] = {"pairwise-accuracy": {**cell, "value": None}}
    assert person_sentence(shown(line("BLEU", 0.78), person=person)) == ""


def test_williams_says_what_is_not_significant():
    ranking = {"order": ["bleu", "chrf"], "williams": [[None, 0.2], [None, None]]}
    lines = [line("BLEU", 0.78), line("chrF", 0.7)]
    said = williams_sentence(shown(*lines, rankings={"pearson": ranking}))
    assert "does not correlate significantly better with people than" in said
    assert "chrF (Pearson, Williams’ test, one-sided p = .200, 12 systems)" in said
    assert williams_sentence(shown(*lines)) == ""


def test_shares_are_written_as_papers_do():
    assert [short(v) for v in (0.5, 1.0, -0.104, 0.0, -0.001)] == [
        *(".50", "1.00", "−.10", "0.00", "0.00")
    ]
