"""With documents, comparisons and joint evaluations ask about whole documents."""

from collections import Counter
from itertools import groupby

import pytest

from genie.lib.errors import GenieError
from leaderboard.evaluation import waves
from leaderboard.evaluation.services import comparison as compare
from leaderboard.evaluation.services import joint
from leaderboard.evaluation.services.comparison import Question
from leaderboard.models import Comparison, JointEvaluation, Task
from leaderboard.submissions.models import Prediction
from leaderboard.tasks.drafts.documents import whole_wave

SIZES = [4, 4, 2, 5, 4, 4, 3, 5, 4, 5]
PAGES = {"page_by": "document", "items_per_page": 4, "worker_percent": 100}


@pytest.fixture(autouse=True)
def _documents(task, right, level):
    names = [f"doc {number}" for number, size in enumerate(SIZES) for _ in range(size)]
    for row, name in zip(task.instances.order_by("position"), names, strict=True):
        row.fields = {**row.fields, "document": name}
        row.save(update_fields=["fields"])
    config = {
        **task.config,
        "comparison": {**task.config["comparison"], **PAGES},
        "joint": {**task.config.get("joint", {}), **PAGES},
    }
    Task.objects.filter(pk=task.pk).update(config=config)
    for system in (right, *level):
        system.task.refresh_from_db()


def asked_of(found):
    rows = found.pairs.order_by("position").select_related("subject__instance")
    return [(row.wave, row.subject.instance) for row in rows]


def is_whole(instances):
    found = Counter(row.fields["document"] for row in instances)
    return found == {name: SIZES[int(name.split()[1])] for name in found}


def test_every_wave_has_whole_documents_up_to_the_pairs_that_were_priced(
    level, ask, finish
):
    found = finish(ask(*level, max_pairs=14, wave_size=5))
    asked = asked_of(found)
    by_wave = [[row for _, row in of] for _, of in groupby(asked, lambda one: one[0])]
    assert len(by_wave) > 2
    assert all(is_whole(wave) and len(wave) <= 5 for wave in by_wave)
    assert len(asked) == found.n_instances == 14
    assert len({row.pk for _, row in asked}) == 14


def test_a_wave_smaller_than_its_first_document_has_that_document(right, level, ask):
    found = ask(right, level[0], max_pairs=32, wave_size=1)
    assert len(asked_of(found)) in SIZES
    assert is_whole(row for _, row in asked_of(found))
    assert not waves.wave_of(found, found.pairs.count(), 1, most=1).pairs


def test_what_began_pair_by_pair_goes_on_so_and_asks_each_pair_once(
    level, ask, finish, monkeypatch
):
    def as_before(names, n, permuted):
        return [int(at) for at in permuted(len(names))], n

    with monkeypatch.context() as patch:
        patch.setattr(waves, "whole_first", as_before)
        patch.setattr(waves, "whole_wave", lambda _names, size, _most: size)
        found = ask(*level, max_pairs=13, wave_size=5)
        planned = [one.spec.key for one in waves.whole(found).judged]
        tests = [one.spec.key for one in waves.whole(found).hidden]
    begun = [row.pk for _, row in asked_of(found)]
    assert not is_whole(row for _, row in asked_of(found))
    assert [one.spec.key for one in waves.whole(found).judged] == planned
    assert [one.spec.key for one in waves.whole(found).hidden] == tests
    finish(found)
    asked = [row.pk for _, row in asked_of(found)]
    assert asked[: len(begun)] == begun
    assert len(asked) == len(set(asked)) == found.n_instances == 13
    rows = found.pairs.order_by("position")
    assert list(rows.values_list("subject__item__key", flat=True)) == planned


def test_pairs_that_were_asked_stay_first_when_the_task_names_no_documents_any_more(
    right, level, ask, task
):
    found = ask(right, level[0], max_pairs=30)
    begun = [row.pk for _, row in asked_of(found)]
    comparison = {**found.task.config["comparison"], "page_by": ""}
    config = {**found.task.config, "comparison": comparison}
    Task.objects.filter(pk=task.pk).update(config=config)
    again = type(found).objects.get(pk=found.pk)
    order = [row.pk for row in waves.draw_instances(again).pairs]
    assert order[: len(begun)] == begun
    assert len(set(order)) == len(order)


def test_numbers_that_cut_a_document_are_refused_with_one_that_fits(right, level, boss):
    systems, fits = [right, level[0]], "choose 2, so that whole"
    with pytest.raises(GenieError, match=fits):
        compare.request(*systems, Question("overall", max_pairs=1), by=boss)
    with pytest.raises(GenieError, match=fits):
        joint.request(systems, by=boss, n_instances=1)
    assert not Comparison.objects.exists()
    assert not JointEvaluation.objects.exists()
    # more than there are cuts none
    compare.request(*systems, Question("overall", max_pairs=400), by=boss)


@pytest.mark.parametrize("n", [7, 13, 40])
def test_a_joint_evaluation_of_its_own_size_has_whole_documents(task, right, level, n):
    found, others = joint.shared_instances(right.task, [right, *level], n=n)
    assert len(found) == n
    assert is_whole(found)
    rest = task.instances.exclude(pk__in=[row.pk for row in found])
    assert {row.pk for row in others} == {row.pk for row in rest}


def test_of_shared_instances_too(task, right, level):
    lost = task.instances.get(position=0)
    Prediction.objects.filter(submission=right, instance=lost).delete()
    found, _ = joint.shared_instances(right.task, [right, level[0]], n=39)
    assert len(found) == 39
    assert lost not in found
    # requested before sizes were checked: the largest that is whole, within the price
    found, _ = joint.shared_instances(right.task, [right, level[0]], n=38)
    assert len(found) == 37


def test_waves_of_scattered_documents_are_as_large_as_asked():
    assert whole_wave(["a", "b", "a"], 1, 3) == 1
    assert whole_wave(["a", "a", "b"], 1, 3) == 2
