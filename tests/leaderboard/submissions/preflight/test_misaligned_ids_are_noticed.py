import json
from pathlib import Path

import numpy as np
import pytest

from leaderboard.submissions.preflight import preflight
from leaderboard.submissions.preflight.checks import alignment
from leaderboard.tasks import shipped
from tests.leaderboard.metrics import wmt21
from tests.leaderboard.submissions.preflight.cast import (
    reworded,
    sentences,
    warnings_of,
)
from tests.shared import needs_shared

CODE = "misaligned-ids"


def shuffled(texts: list[str], seed: int = 3) -> list[str]:
    return [texts[i] for i in np.random.default_rng(seed).permutation(len(texts))]


@pytest.mark.parametrize("n", [12, 40, 300])
def test_shuffled_and_shifted_files_are_noticed_and_straight_ones_are_not(n):
    references = sentences(n)
    predictions = reworded(references)
    assert warnings_of(predictions, references) == {}
    assert CODE in warnings_of(shuffled(predictions), references)
    assert CODE in warnings_of(predictions[1:] + predictions[:1], references)


def test_a_block_out_of_step_is_noticed():
    references = sentences(200)
    predictions = reworded(references)
    predictions[50:90] = predictions[51:90] + predictions[50:51]
    assert CODE in warnings_of(predictions, references)


def bad_systems() -> dict[str, list[str]]:
    references = sentences(200)
    generator = np.random.default_rng(8)
    words = " ".join(references).split()
    return {
        "noise": [" ".join(generator.choice(words, 8)) for _ in references],
        "one answer": ["I could not say."] * 200,
        "one of two answers": [
            ("Yes.", "No.")[int(x)] for x in generator.integers(0, 2, 200)
        ],
        "off topic": sentences(400, seed=99)[200:],
        "mostly wrong": reworded(references, share=0.8),
        "first words": [" ".join(text.split()[:2]) for text in references],
        "nothing": [""] * 200,
    }


@pytest.mark.parametrize("kind", bad_systems())
def test_a_system_that_is_merely_bad_is_left_alone(kind):
    assert CODE not in warnings_of(bad_systems()[kind], sentences(200))


def test_a_guesser_of_short_answers_is_left_alone():
    answers = ["gravity", "friction", "heat", "light", "sound", "water"]
    generator = np.random.default_rng(2)
    right = [answers[int(i)] for i in generator.integers(0, 6, 120)]
    guessed = [answers[int(i)] for i in generator.integers(0, 6, 120)]
    assert CODE not in warnings_of(guessed, right)


def test_several_references_count_together():
    references = sentences(40)
    both = [
        [other, text]
        for other, text in zip(sentences(80, 50)[40:], references, strict=True)
    ]
    assert CODE not in warnings_of(references, both)
    assert CODE in warnings_of(references[1:] + references[:1], both)


def test_where_there_are_no_references_nothing_is_said():
    texts = sentences(20)
    assert CODE not in warnings_of(texts, [[] for _ in texts])
    assert alignment(texts, [[] for _ in texts], seed=1) is None
    assert alignment(["one"], [["one"]], seed=1) is None


def test_instances_without_references_do_not_hide_the_others():
    references = [[text] for text in sentences(60)]
    predictions = [row[0] for row in references]
    references[::3] = [[] for _ in references[::3]]
    assert CODE not in warnings_of(predictions, references)
    assert CODE in warnings_of(predictions[1:] + predictions[:1], references)


@pytest.mark.slow
def test_large_files_are_judged_by_a_seeded_sample():
    references = sentences(2_500)
    predictions = references[1:] + references[:1]
    rows = [[text] for text in references]
    first, again, other = (alignment(predictions, rows, seed) for seed in (1, 1, 2))
    assert first is not None
    assert first.n == 1_000
    assert first == again
    assert first != other
    assert first.is_misaligned
    straight = alignment(references, rows, 1)
    assert straight is not None
    assert not straight.is_misaligned


@needs_shared
@pytest.mark.parametrize(
    "system", ["hyp.GENIE-base-3-3", "hyp.GENIE-large-6-6", "hyp.happypoet", "ref.B"]
)
def test_of_the_real_submissions_only_the_two_shuffled_ones_are_noticed(system):
    found = preflight(
        list(wmt21.predictions(system)),
        [[text] for text in wmt21.lines("reference.A.txt")],
        list(wmt21.lines("source.txt")),
        target_language="en",
        source_language="de",
        seed=1,
    )
    expected = [CODE] if "GENIE" in system else []
    assert [warning.code for warning in found] == expected


def demo_files() -> list[Path]:
    return sorted(Path(shipped.__file__).parent.glob("demo-*/systems/*.json"))


@pytest.mark.parametrize("path", demo_files(), ids=lambda path: path.stem)
def test_the_demonstrations_systems_are_in_step_even_the_weak_ones(path):
    rows = (path.parents[1] / "test.jsonl").read_text("utf-8").splitlines()
    instances = [json.loads(row) for row in rows]
    by_id = json.loads(path.read_text("utf-8"))
    predictions = [by_id[instance["id"]] for instance in instances]
    assert CODE not in warnings_of(predictions, [i["references"] for i in instances])


def test_the_demonstration_has_systems():
    assert len(demo_files()) >= 12
