"""Copies with a phrase replaced: who judged an output gets its copy, later and once."""

from __future__ import annotations

import pytest

from crowd.campaigns.services.work import next_assignment
from crowd.models import HIT, Item
from crowd.workers.models.worker import Worker
from quality.bans.selectors.clean_ratings import clean_ratings
from quality.models import PlantedCopy
from quality.test_questions.edits.phrases import damaged
from quality.test_questions.planted import of_worker, paired_test
from quality.test_questions.services import plant
from quality.test_questions.services.plant import GAP, CopySpec
from tests.crowd.making import POOL, item, items, make_campaign, make_worker, send_in

pytestmark = pytest.mark.django_db
N, N_COPIES = 20, 5


@pytest.fixture
def campaign():
    judged = items(N)
    copies = [
        CopySpec(item(f"copy-{i}", content_key=f"copy-{i}"), judged[i].key, {})
        for i in range(N_COPIES)
    ]
    made = make_campaign(of=[*judged, *(copy.spec for copy in copies)])
    plant.place(made, copies, places=1)
    return made


def answered(worker: Worker) -> list[str]:
    keys = []
    while assignment := next_assignment(worker):
        key = assignment.hit.items.get().key
        send_in(assignment, "0.25" if key.startswith("copy") else "0.75")
        keys.append(key)
    return keys


@pytest.mark.every_engine
def test_a_copy_comes_after_its_original_and_something_in_between(campaign):
    keys = answered(make_worker())
    copies = [key for key in keys if key.startswith("copy")]
    assert 2 <= len(copies) == len(set(copies)) <= N_COPIES
    for key in copies:
        original = f"item-{key.rpartition('-')[2]}"
        assert keys.index(key) - keys.index(original) > GAP
    # what nobody was due to get stays closed, and keeps no campaign from ending
    left = PlantedCopy.objects.filter(n_left=1).values("item__hit")
    assert set(HIT.objects.filter(pk__in=left).values_list("n_available")) == {(0,)}
    assert len(keys) - len(copies) == N
    assert not HIT.objects.filter(n_available__gt=0).exists()


def test_nobody_gets_a_copy_of_what_they_did_not_judge(campaign):
    first, second = make_worker(), make_worker()
    for _ in range(N // 2):
        send_in(next_assignment(first))
    theirs = {key.rpartition("-")[2] for key in answered(second) if "item" in key}
    answers = Item.objects.filter(answers__assignment__worker=second)
    got = answers.filter(key__startswith="copy").values_list("key", flat=True)
    assert {key.rpartition("-")[2] for key in got} <= theirs


@pytest.mark.every_engine
def test_copies_are_no_ratings_and_are_compared_with_their_originals(campaign):
    worker = make_worker()
    n = sum(key.startswith("copy") for key in answered(worker))
    assert len(clean_ratings(campaign)) == N
    ((pool, _criterion, found),) = of_worker(worker)
    assert (pool, found.n, found.original, found.copy) == (POOL, n, 0.75, 0.25)
    assert found.p is None  # each was rated lower by the same
    assert of_worker(worker, ["another-pool"]) == []
    assert of_worker(make_worker()) == []


def test_the_paired_test_is_one_sided():
    better, worse = [80, 90, 70, 85, 60], [20, 60, 65, 30, 62]
    assert paired_test(better, worse).p + paired_test(worse, better).p == pytest.approx(
        1
    )
    # p, t and n as WMT22 published them of workers M0805 and M1246
    from scipy import stats

    assert stats.t.cdf(-0.726327, 18 - 1) == pytest.approx(0.2387603, abs=1e-6)
    assert stats.t.cdf(-4.157442, 79 - 1) == pytest.approx(4.094562e-05, rel=1e-5)
    assert paired_test([5], [1]).p is None
    for wrong in (([], []), ([1], [1, 2])):
        with pytest.raises(ValueError, match="Each original"):
            paired_test(*wrong)


@pytest.mark.parametrize(
    ("text", "n"), [("word", 1), ("a b c d", 2), ("他把自行车卖给了一个朋友", 4)]
)
def test_a_phrase_of_the_usual_length_is_replaced(text, n):
    other = "天气很好我们去公园散步" if " " not in text and n > 1 else "x y z w v u"
    changed, old, new = damaged(text, [other], seed=3)
    assert changed != text
    pieces = (lambda said: said.split()) if " " in other else list
    assert len(pieces(old)) == len(pieces(new)) == n
    assert damaged(text, [other], seed=3) == (changed, old, new)


def test_nothing_is_made_of_nothing():
    assert damaged("", ["one two"], seed=1) is None
    assert damaged("one two", ["", "one"], seed=1) is None
