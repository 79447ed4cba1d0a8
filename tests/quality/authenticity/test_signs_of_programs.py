"""The signs of a program's answers: against scipy, on degenerate answers, on real models."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from quality.authenticity.evidence import crowd_evidence, page_evidence
from quality.authenticity.selectors import Noticed
from quality.authenticity.stats.colluders import agreeing_pairs, better_on_tests
from quality.authenticity.stats.likelihood_ratio import (
    Answers,
    assess_authenticity,
    center_answers,
    estimate_quality,
    similarity,
    spread,
)

NONE = np.array([], dtype=np.int64)


def some(value, judge=None, n_texts=40):
    """A crowd in which everybody answers about every text."""
    value = np.asarray(value, dtype=float)
    n_workers = value.size // n_texts
    who, text = np.repeat(np.arange(n_workers), n_texts), np.tile(np.arange(n_texts), n_workers)  # fmt: skip
    judged = np.empty(0) if judge is None else np.asarray(judge, dtype=float)[text]
    return Answers(who, text, text, 0 * text, value.ravel(), judged)


def test_the_partial_correlation_is_that_of_regressions():
    rng = np.random.default_rng(1)
    held, judge = rng.normal(size=(2, 40))
    value = 0.5 * judge + held + rng.normal(size=40)
    sign = similarity(some(value), judge, held)
    rests = [
        column - np.polyval(np.polyfit(held, column, 1), held)
        for column in (value, judge)
    ]
    r = stats.pearsonr(*rests).statistic
    assert np.tanh(sign.value[0]) == pytest.approx(r)
    assert sign.error[0] == pytest.approx(1 / np.sqrt(40 - 4))


def test_what_a_text_deserves_is_never_told_by_the_worker():
    rng = np.random.default_rng(2)
    value = rng.normal(size=(4, 40))
    before = estimate_quality(some(value))
    value[1] = rng.normal(size=40)
    after = estimate_quality(some(value))
    assert before[40:80] == pytest.approx(after[40:80])
    assert before[:40] != pytest.approx(after[:40])
    rng = np.random.default_rng(3)
    value = rng.normal(size=(3, 40))
    assert center_answers(some(value)) == pytest.approx(
        center_answers(some(value + np.arange(3)[:, None]))
    )


@pytest.mark.parametrize(
    "answers",
    [
        Answers(NONE, NONE, NONE, NONE, np.empty(0)),
        some(np.zeros(40)),
        some(np.zeros(160)),
        some(np.zeros(160), np.zeros(40)),
        some(np.random.default_rng(0).normal(size=160), np.full(40, np.nan)),
        some(np.random.default_rng(0).normal(size=160), np.zeros(40)),
        some(np.tile(np.random.default_rng(0).normal(size=40), 4)),
        some([0.5], n_texts=1),
        some(np.arange(20.0), n_texts=1),
        some(np.random.default_rng(0).normal(size=160) * 1e9, np.arange(40.0) * 1e-9),
    ],
    ids=["nothing", "one", "constant", "judge too", "no judge", "constant judge", "copies",
         "one answer", "one text", "far apart"],
)  # fmt: skip
def test_degenerate_answers_are_no_evidence_and_no_error(answers):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        signs = assess_authenticity(answers)
        pairs = agreeing_pairs(answers)
        n = answers.n_workers
        better_on_tests(answers, np.full(n, 3), np.full(n, 4))
    assert np.isfinite(signs.log_ratio).all()
    assert np.isfinite(signs.error).all()
    assert ((signs.probability >= 0) & (signs.probability <= 1)).all()
    assert np.isfinite(pairs.adjusted).all()


def test_pairs_of_independent_people_are_rarely_named():
    rng, named = np.random.default_rng(6), 0
    for _ in range(30):
        quality = rng.normal(size=40)
        pairs = agreeing_pairs(some(quality + rng.normal(size=(20, 40))))
        named += (pairs.adjusted < 0.05).any()
    assert named <= 3


def test_colluders_are_named_among_people_who_agree_on_quality():
    rng = np.random.default_rng(7)
    quality, whim = rng.normal(size=(2, 40))
    value = quality + rng.normal(size=(20, 40))
    value[[3, 11]] = quality + whim + 0.4 * rng.normal(size=(2, 40))
    pairs = agreeing_pairs(some(value))
    k = pairs.adjusted < 0.05
    assert len(pairs.n) == 190
    assert list(zip(pairs.first[k].tolist(), pairs.second[k].tolist(), strict=True)) == [(3, 11)]  # fmt: skip


def test_half_the_spread_is_a_quarter_of_the_variance():
    rng = np.random.default_rng(8)
    value = rng.normal(size=(2, 4_000)) * np.array([[1.0], [0.5]])
    sign = spread(some(value, n_texts=4_000), np.zeros(8_000))
    assert sign.value[0] - sign.value[1] == pytest.approx(np.log(4), abs=0.1)
    assert sign.error[0] == pytest.approx(np.sqrt(2 / 4_000), rel=0.1)


def test_the_evidence_in_sentences_is_as_committed(net):
    """Two programs, two who agree, a narrow one, and one with too few answers."""
    rng = np.random.default_rng(1)
    who, text = np.repeat(np.arange(12), 60), np.tile(np.arange(60), 12)
    quality, model = rng.normal(size=(2, 60))
    value = np.where(who < 2, model[text], quality[text]) + rng.normal(size=720)
    value[who == 3] = value[who == 2] + 0.1 * rng.normal(size=60)
    value[who == 4] *= 0.01
    kept = (who < 11) | (text < 4)
    columns = (who, text, text // 3, text % 3, value, model[text])
    answers = Answers(*(column[kept] for column in columns))
    tests = [(10, 10)] * 8 + [(4, 9), (0, 5), (0, 0), (1, 1)]
    alone = replace(answers, judge=NONE.astype(float))
    pages = [Noticed([], [], [], [], 0, 0, {}, {})]
    for n, seconds, most in ((5, 19.0, 4.1), (5, 20.0, 4.0), (4, 1.0, 9.0), (9, 1.0, 0.5)):  # fmt: skip
        done, there = [seconds] * n, [30.0] * (n % 2)
        names = ("n_changes", "n_focus_losses", "n_copies", "n_pastes")
        mean = dict(zip(names, (9, 0, 0, most / 4), strict=True))
        among = dict.fromkeys(names, 0.25) | {"n_pastes": 0.25 if n < 9 else 0.1}
        pages.append(Noticed(done, [60.0] * n, there, there, n, n % 2, mean, among))
    lines = [line for one in pages for line in page_evidence(one)]
    for some_answers, judge in ((answers, "gpt"), (alone, "")):
        of_one = crowd_evidence(some_answers, list("abcdefghijkl"), tests, judge)
        lines += [line for worker in range(12) for line in of_one(worker)]
    said = (f"{'! ' * one.unusual}{one.about}: {one.sentence}\n" for one in lines)
    net("authenticity.txt", "".join(said))
