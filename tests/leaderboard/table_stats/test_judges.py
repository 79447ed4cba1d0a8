"""The alternative annotator test gives what its authors print, and claims nothing from nothing."""

import json
import math

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from leaderboard.stats.judges.validation import (
    agreement,
    alternative_annotator_test,
    partial_association,
    validate,
)
from leaderboard.table_stats.judge_labels import read_labels
from tests.nets.conftest import tell
from tests.shared import SHARED, needs_shared

FOLDER = SHARED / "data/alt-test"
# as in the authors' notebook
ASKED = {
    "summeval": ("rmse", 0.2),
    "mtbench": ("accuracy", 0.2),
    "wax": ("accuracy", 0.1),
    "cebab_aspects": ("accuracy", 0.1),
    "cebab_stars": ("rmse", 0.1),
    "framing": ("accuracy", 0.15),
}


@pytest.mark.slow
@needs_shared
@pytest.mark.parametrize("name", ASKED)
def test_every_published_and_computed_cell_comes_out(name):
    score, epsilon = ASKED[name]
    people = read_labels(FOLDER / name / "human_annotations.json.gz")
    judges = read_labels(FOLDER / name / "llm_annotations.json.gz")
    found = {}
    for judge, labels in judges.items():
        told = alternative_annotator_test(people, labels, score=score, epsilon=epsilon)
        p_values = [one.p_value for one in told.people]
        found |= {
            f"{name}/{judge}/winning_rate": told.winning_rate,
            f"{name}/{judge}/omega_exact": told.winning_rate,
            f"{name}/{judge}/advantage_probability": told.advantage_probability,
            f"{name}/{judge}/rho_exact": told.advantage_probability,
            f"{name}/{judge}/passed": told.passes,
            f"{name}/{judge}/annotators_tested": len(told.people),
            f"{name}/{judge}/min_p": min(p_values),
            f"{name}/{judge}/max_p": max(p_values),
        }
    expected = json.loads((FOLDER / "expected.json").read_text("utf-8"))
    cells = {cell["id"]: cell for cell in expected if cell["id"] in found}
    assert len(cells) == len(found) == 6 * 8
    wrong = {
        key: (found[key], cell["value"])
        for key, cell in cells.items()
        if not abs(found[key] - cell["value"]) <= cell["tolerance"] + 1e-12
    }
    assert wrong == {}


PEOPLE = {
    name: {str(i): (i + shift) % 3 for i in range(40)}
    for name, shift in (("a", 0), ("b", 0), ("c", 0))
}


@pytest.mark.parametrize(
    ("judge", "rate", "advantage"),
    [
        ({str(i): i % 3 for i in range(40)}, 1.0, 1.0),
        ({str(i): (i + 1) % 3 for i in range(40)}, 0.0, 0.0),
    ],
    ids=["always as the others", "never"],
)
def test_a_judge_that_always_or_never_agrees(judge, rate, advantage):
    for score in ("accuracy", "rmse"):
        told = alternative_annotator_test(PEOPLE, judge, score=score)
        assert (told.winning_rate, told.advantage_probability) == (rate, advantage)


def test_who_has_few_labels_is_skipped_but_still_counts_for_others():
    few = {**PEOPLE, "d": {str(i): 9 for i in range(29)}}
    told = alternative_annotator_test(few, PEOPLE["a"])
    assert ([one.person for one in told.people], told.n_skipped) == (["a", "b", "c"], 1)


def test_nothing_is_said_where_nobody_can_be_tested():
    told = alternative_annotator_test(PEOPLE, {"0": 1})
    assert math.isnan(told.winning_rate)
    assert not told.passes
    with pytest.raises(ValueError, match="at least three people"):
        alternative_annotator_test({"a": {}, "b": {}}, {})
    with pytest.raises(ValueError, match="two instances with at least two people"):
        agreement(PEOPLE, {"0": 1}, score="accuracy", seed=1)


def test_the_command_prints_tables_and_refuses_in_words(tmp_path, capsys):
    people, judges = tmp_path / "people.json", tmp_path / "judges.json"
    people.write_text(json.dumps(PEOPLE))
    wrong = {str(i): 7 for i in range(40)}
    judges.write_text(json.dumps({"mimic": PEOPLE["a"], "wrong": wrong}))
    numbers = tmp_path / "out.json"
    call_command("test_judges", people, judges, license=True, json=numbers)
    tell(capsys.readouterr().out.replace(str(tmp_path), ""))
    tell(numbers.read_text())
    judges.write_text('{"mimic": {"q1": null}}')
    with pytest.raises(CommandError, match="from instance to text or number, not None"):
        call_command("test_judges", people, judges)


@needs_shared
def test_a_licence_is_no_easier_than_the_test():
    folder = FOLDER / "summeval"
    # a quarter of the summaries
    weak, *people = (
        dict(list(labels.items())[:1_600])
        for labels in (
            read_labels(folder / "llm_annotations.json.gz")["mistral-v03"],
            *read_labels(folder / "human_annotations.json.gz").values(),
        )
    )
    people = dict(zip("abc", people, strict=True))
    weak = validate(people, weak, score="rmse", epsilon=0.2, seed=1)
    assert [one.holds for one in weak] == [False, False, True]


def test_who_knows_only_systems_and_the_center_follows_nobody():
    rng = np.random.default_rng(4)
    names = [f"{at}__{system}" for at in range(40) for system in "abcd"]
    truth = {n: ord(n[-1]) - 96 + rng.normal() for n in names}
    people = {
        who: {n: value + rng.normal(0, 0.5) for n, value in truth.items()}
        for who in "pqr"
    }
    system = {n: float(ord(n[-1]) - 96) for n in names}
    mixed = {n: 3 + 0.01 * value for n, value in system.items()}
    noisy = {n: value + rng.normal(0, 0.01) for n, value in mixed.items()}
    for judge in (dict.fromkeys(names, 3), system, mixed, {"0__a": math.nan}, {}):
        assert partial_association(people, judge, numbers=True, seed=1) is None
    assert partial_association(people, noisy, numbers=True, seed=1).low < 0
    found = partial_association(people, truth, numbers=True, seed=1)
    assert found.low > 0
    assert found == partial_association(people, truth, numbers=True, seed=1)


def test_the_partial_correlation_is_that_of_least_squares():
    rng = np.random.default_rng(5)
    names = [f"{at}/{system}" for at in range(12) for system in range(5)][:-7]
    judge = {n: int(rng.integers(5)) for n in names}
    people = {
        who: {n: judge[n] + rng.normal() for n in names if rng.random() < 0.8}
        for who in "pqr"
    }
    rows = [
        (w, *n.split("/"), v, judge[n]) for w in people for n, v in people[w].items()
    ]
    dummies = np.array(
        [
            [row[k] == level for k in range(3) for level in {r[k] for r in rows}]
            for row in rows
        ],
        dtype=float,
    )
    sides = np.array([row[3:] for row in rows], dtype=float)
    left = sides - dummies @ np.linalg.lstsq(dummies, sides, rcond=None)[0]
    found = partial_association(people, judge, numbers=True, seed=1)
    assert found.estimate == pytest.approx(np.corrcoef(left.T)[0, 1], abs=1e-8)
