"""Who is careless by all of their answers: what is told, and what must not be."""

import json
from dataclasses import is_dataclass, replace

import numpy as np
import pytest

from quality.detection.stats.assess import (
    AssessOptions,
    Ratings,
    Tests,
    assess_workers,
)
from quality.detection.stats.workers.answers import NO_YES, no_tests

OPTIONS = AssessOptions(guesses=NO_YES)


def assess(n_workers, tests, ratings=None, options=OPTIONS):
    return assess_workers(n_workers, tests, ratings, options=options, seed=0)


def lines(found) -> str:
    """Return estimates to four digits, as the last ones differ between machines."""
    return "".join(f"{name}: {json.dumps(of)}\n" for name, of in plain(found).items())


def plain(value):
    if isinstance(value, dict):
        return {name: plain(of) for name, of in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [plain(of) for of in value]
    if is_dataclass(value):
        return plain(vars(value))
    return value if isinstance(value, int | str) else float(f"{value:.4g}")


def drawn_tests(rng, rates, n_each):
    """Draw answers to n_each negative and positive questions in turn; rates by worker."""
    rates = np.asarray(rates, dtype=float).reshape(-1, 2)
    worker = np.repeat(np.arange(len(rates)), 2 * n_each)
    kind = np.tile([0, 1], n_each * len(rates))
    question = 2 * rng.integers(0, 60, len(worker)) + kind
    return Tests(worker, question, kind, rng.random(len(worker)) < rates[worker, kind])


def drawn_ratings(rng, answer, n_workers, n_systems=4, n_instances=120):
    """Draw one rating of each output; answer(worker, deserved) gives it."""
    n = n_systems * n_instances
    system, instance = np.divmod(np.arange(n), n_instances)
    worker = rng.permutation(n) % n_workers
    deserved = 0.5 + 0.05 * system + rng.normal(0, 0.2, n_instances)[instance]
    raw = np.array([answer(w, d) for w, d in zip(worker, deserved, strict=True)])
    value = np.clip(np.rint(4 * raw), 0, 4) / 4
    return Ratings(worker, np.arange(n), system, instance, 0 * system, value)


def test_nobody_nothing_and_one_answer_decide_nothing():
    assert assess(0, no_tests()).p_careless.shape == (0,)
    empty = assess(3, no_tests())
    assert (empty.p_careless < 0.15).all()
    assert empty.retired.size == 0
    one = np.zeros(1, dtype=np.int64)
    wrong = assess(1, Tests(one, one, one, one > 0))
    assert 0.12 < wrong.p_careless[0] < 0.6


def test_a_handful_of_answers_stays_open_however_much_it_seems_to_say():
    rng = np.random.default_rng(5)
    tests = drawn_tests(rng, [[0.95, 0.95]] * 20 + [[0.05, 0.05]], 12)
    newest = (tests.worker == 20) & (np.cumsum(tests.worker == 20) > 2)
    columns = (tests.worker, tests.question, tests.kind, tests.correct)
    few = Tests(*(column[~newest] for column in columns))
    open_at = replace(OPTIONS, at_first=0.15)
    assert assess(21, few, options=replace(open_at, least=1)).p_careless[20] > 0.16
    assert assess(21, few, options=open_at).p_careless[20] == 0.15
    assert assess(21, tests, options=open_at).p_careless[20] > 0.99


def test_a_flawless_worker_is_never_careless():
    rng = np.random.default_rng(1)
    rates = [[0.3, 0.4]] * 9 + [[1.0, 1.0]]
    for n_each in (1, 4, 20, 100):
        found = assess(10, drawn_tests(rng, rates, n_each))
        assert found.p_careless[9] < 0.3


def test_more_right_answers_never_look_worse():
    rng = np.random.default_rng(2)
    rates = [[0.9, 0.9]] * 12
    others = drawn_tests(rng, rates, 12)
    before = 1.0
    for right in range(0, 13, 3):
        extra = np.arange(12)
        tests = Tests(
            np.concatenate([others.worker, np.full(12, 12)]),
            np.concatenate([others.question, 200 + extra]),
            np.concatenate([others.kind, extra % 2]),
            np.concatenate([others.correct, extra < right]),
        )
        p = assess(13, tests).p_careless[12]
        assert p <= before + 0.02
        before = p
    assert before < 0.05


@pytest.mark.parametrize("rate", [0.95, 0.86, 0.75, 0.62])
def test_a_hard_key_excludes_nobody_honest(rate):
    rng = np.random.default_rng(3)
    tests = drawn_tests(rng, [[rate, rate]] * 40, 12)
    assert (assess(40, tests).p_careless < 0.99).all()


def test_a_key_that_is_wrong_for_one_of_three_criteria_excludes_nobody():
    # a swapped reference is off the point but fluent: the key says bad of all three
    rng = np.random.default_rng(13)
    rates = np.array([0.95, 0.15, 0.6, 0.9, 0.85, 0.7])
    worker = np.repeat(np.arange(200), 24)
    kind = np.tile(np.arange(6), 200 * 4)
    question = rng.integers(0, 50, len(worker)) * 6 + kind
    tests = Tests(worker, question, kind, rng.random(len(worker)) < rates[kind])
    options = AssessOptions(guesses=NO_YES[:1] * 3 + NO_YES[1:] * 3)
    found = assess(200, tests, options=options)
    assert (found.p_careless > 0.99).mean() <= 0.01
    assert found.good_accuracy[1] < 0.35
    assert set(found.retired % 6) <= {1, 2}


def test_always_good_is_caught_where_it_is_known_which_questions_are_good():
    rng = np.random.default_rng(4)
    rates = [[0.9, 0.85]] * 30 + [[0.03, 0.97]] * 5 + [[0.97, 0.03]] * 5
    found = assess(40, drawn_tests(rng, rates, 8))
    assert (found.p_careless[30:] > 0.9).all()
    assert (found.p_careless[:30] < 0.9).all()
    assert found.share_careless.low < 0.25 < found.share_careless.high


def test_a_question_that_careful_people_fail_is_retired():
    rng = np.random.default_rng(5)
    tests = drawn_tests(rng, [[0.95, 0.95]] * 20, 20)
    correct = np.where(tests.question == 4, False, tests.correct)
    found = assess(20, replace(tests, correct=correct))
    asked = (tests.question == 4).sum()
    assert asked > 4
    assert found.retired.tolist() == [4]


def test_questions_asked_once_are_judged_by_their_kind():
    rng = np.random.default_rng(6)
    tests = drawn_tests(rng, [[0.9, 0.9]] * 25 + [[0.1, 0.2]] * 5, 6)
    once = replace(tests, question=np.arange(len(tests.worker)))
    found = assess(30, once)
    assert (found.p_careless[25:] > 0.95).all()
    assert (found.p_careless[:25] < 0.9).all()
    assert found.retired.size == 0


def careful_tests(rng, n_workers, n_each=4):
    return drawn_tests(rng, [[0.92, 0.92]] * n_workers, n_each)


def test_strict_people_and_steady_people_are_careful():
    rng = np.random.default_rng(7)
    lower = np.where(np.arange(20) < 6, 0.25, 0.0)
    steady = np.where(np.arange(20) % 3 == 0, 0.16, 0.26)

    def answer(worker, deserved):
        return deserved - lower[worker] + rng.normal(0, steady[worker])

    ratings = drawn_ratings(rng, answer, 20)
    assert (assess(20, careful_tests(rng, 20), ratings).p_careless < 0.5).all()


def test_ratings_alone_show_who_rates_anyhow(net):
    rng = np.random.default_rng(8)

    def answer(worker, deserved):
        if worker >= 16:
            return rng.random() * 1.25 - 0.125
        return deserved + rng.normal(0, 0.15)

    ratings = drawn_ratings(rng, answer, 20, n_instances=200)
    found = assess(20, no_tests(), ratings)
    assert found.p_careless[16:].min() > found.p_careless[:16].max()
    assert (found.parts["ratings"][16:] > 0).all()
    net("assessed/ratings.txt", lines(found))


def test_a_run_of_wrong_answers_is_no_leniency():
    rng = np.random.default_rng(14)

    def answer(worker, deserved):
        return deserved + rng.normal(0, 0.2)

    ratings = drawn_ratings(rng, answer, 12)
    worker = np.repeat(np.arange(13), 9)
    kind = np.where(worker < 12, np.arange(117) % 2, 0)
    value = np.where(worker < 12, 0.25 + 0.5 * kind, 1.0)
    tests = Tests(worker, np.arange(117), kind, (value > 0.5) == kind, value=value)
    found = assess(13, tests, ratings)
    assert found.p_careless[12] > 0.99
    assert found.surely.nonzero()[0].tolist() == [12]


def test_in_a_small_crowd_a_strict_worker_stays_however_many_tests_are_wrong():
    rng = np.random.default_rng(15)
    lower = np.array([0.4, 0, 0, 0])

    def answer(worker, deserved):
        return deserved - lower[worker] + rng.normal(0, 0.1)

    worker = np.repeat(np.arange(4), 40)
    kind = np.arange(160) % 2
    value = np.clip(0.2 + 0.6 * kind - lower[worker], 0, 1)
    tests = Tests(worker, np.arange(160), kind, (value > 0.5) == kind, value=value)
    found = assess(4, tests, drawn_ratings(rng, answer, 4))
    assert not tests.correct[(worker == 0) & (kind == 1)].any()
    assert not found.surely.any()
    assert found.p_careless[0] < 0.5


def test_three_criteria_of_one_look_count_once(net):
    rng = np.random.default_rng(9)
    one = drawn_ratings(rng, lambda _, d: d + rng.normal(0, 0.25), 12)
    thrice = Ratings(
        *(np.tile(getattr(one, name), 3) for name in ("worker", "item", "system", "instance")),
        np.repeat([0, 1, 2], len(one.value)),
        np.tile(one.value, 3),
    )  # fmt: skip
    tests = careful_tests(rng, 12)
    once, again = assess(12, tests, one), assess(12, tests, thrice)
    assert again.parts["ratings"] == pytest.approx(once.parts["ratings"], abs=1.5)
    assert (again.p_careless < 0.5).all()
    net("assessed/criteria.txt", lines(again))


def test_who_turns_keeps_what_was_careful(net):
    rng = np.random.default_rng(10)
    n, turn = 30, 30
    rates = np.full((n, 60), 0.93)
    rates[0, turn:] = 0.4
    worker = np.repeat(np.arange(n), 60)
    kind = np.tile([0, 1], 30 * n)
    correct = rng.random(60 * n) < rates.ravel()
    tests = Tests(worker, rng.integers(0, 90, 60 * n) * 2 + kind, kind, correct)
    order = np.tile(np.arange(60), n)
    found = assess(n, replace(tests, order=order, value=1.0 * (correct == kind)))
    assert found.p_careless[0] > 0.99
    assert (found.p_careless[1:] < 0.5).all()
    net("assessed/turning.txt", lines(found))


def test_the_same_answers_give_the_same_and_workers_may_be_numbered_anyhow():
    rng = np.random.default_rng(11)
    tests = drawn_tests(rng, [[0.9, 0.9]] * 8 + [[0.4, 0.6]] * 3, 6)
    found, again = assess(11, tests), assess(11, tests)
    assert found.p_careless.tobytes() == again.p_careless.tobytes()
    other = rng.permutation(11)
    moved = assess(11, replace(tests, worker=other[tests.worker]))
    assert moved.p_careless[other] == pytest.approx(found.p_careless, abs=1e-9)
    rng = np.random.default_rng(12)
    found = assess(5, careful_tests(rng, 5))
    assert json.loads(json.dumps(found.parameters, allow_nan=False))["seed"] == 0


@pytest.mark.parametrize("rates_of_one", [(0.1, 0.1), (0.1, 0.9)])
def test_ratings_that_are_all_alike_do_not_outweigh_failed_tests(rates_of_one):
    rng = np.random.default_rng(4)
    rates = np.full((20, 2), 0.92)
    rates[0] = rates_of_one
    tests = drawn_tests(rng, rates, 5)
    found = assess(20, tests, drawn_ratings(rng, lambda *_: 1.0, 20))
    alone = assess(20, tests)
    assert alone.p_careless[0] > 0.55
    assert found.p_careless[0] > 0.55
    assert (found.p_careless[1:] < 0.5).all()


def test_a_crowd_most_of_whom_say_yes_does_not_make_that_careful():
    rng = np.random.default_rng(6)
    rates = np.full((30, 2), 0.9)
    rates[6:] = 0.3, 0.95
    found = assess(30, drawn_tests(rng, rates, 6))
    assert (found.good_accuracy > 0.5).all()
    assert (found.p_careless[:6] < 0.5).all()
