"""With documents, whole documents are drawn for the sample."""

import copy
import json

import pytest

from genie.lib.errors import GenieError
from leaderboard.tasks import shipped
from leaderboard.tasks.drafts.documents import draw_documents, whole_size
from leaderboard.tasks.models import Task
from leaderboard.tasks.services.load import load_definition

# The document's number to how many segments it has.
SIZES = {1: 4, 2: 4, 3: 2, 4: 5, 5: 4, 6: 4, 7: 3}


def load(tmp_path, n, slug="demo-qa", **human):
    document = copy.deepcopy(dict(shipped.definition("demo-qa")))
    document["slug"] = slug
    document["human"] |= {"sample_size": n, "items_per_page": 4, **human}
    folder = shipped.folder("demo-qa")
    sample = json.loads(next(folder.glob("*.jsonl")).read_text("utf-8").splitlines()[0])
    rows = [
        {**sample, "id": f"news-{doc}.{part}"}
        for doc, size in SIZES.items()
        for part in range(size)
    ]
    lines = "\n".join(map(json.dumps, rows))
    (tmp_path / next(folder.glob("*.jsonl")).name).write_text(lines, "utf-8")
    return load_definition(slug, document, tmp_path).task


def documents(task):
    found = {}
    rows = task.instances.filter(sample_rank__lt=task.sample_size)
    for name in rows.values_list("instance_id", flat=True):
        number = int(name.partition("-")[2].partition(".")[0])
        found[number] = found.get(number, 0) + 1
    return found


@pytest.mark.parametrize("n", [8, 11, 26])
def test_the_sample_has_whole_documents(tmp_path, n):
    task = load(tmp_path, n, page_by="id")
    found = documents(task)
    assert sum(found.values()) == task.sample_size == n
    assert found == {number: SIZES[number] for number in found}
    ranks = task.instances.values_list("sample_rank", flat=True)
    assert sorted(ranks) == list(range(26))


def test_a_sample_that_cuts_a_document_is_refused_with_the_size_that_fits(tmp_path):
    with pytest.raises(GenieError) as caught:
        load(tmp_path, 1, page_by="id")
    assert "human.sample_size is 1" in caught.value.message
    assert "set it to 2" in caught.value.message
    assert not Task.own.exists()


def test_without_documents_the_draw_stays_as_it_was(tmp_path):
    found = documents(load(tmp_path, 8))
    assert found != {number: SIZES[number] for number in found}


def test_documents_fill_a_sample_exactly_when_some_do():
    assert whole_size([5, 5, 3], 9) == 8
    assert draw_documents([5, 5, 3], 8) == [0, 2]
    assert whole_size([7, 9], 3) == 7


def test_a_loaded_task_takes_no_sample_that_cuts_a_document(tmp_path):
    whole = load(tmp_path, 8, page_by="id")
    load(tmp_path, 8, page_by="id")
    at_end = {
        row.sample_rank
        for row in whole.instances.all()
        if row.instance_id.endswith(".0") and row.sample_rank > 8
    }
    load(tmp_path, min(at_end), page_by="id")
    with pytest.raises(GenieError, match="would cut documents"):
        load(tmp_path, min(at_end) + 1, page_by="id")
    scattered = load(tmp_path, 8, slug="mixed")
    with pytest.raises(GenieError, match="would cut documents"):
        load(tmp_path, 8, slug="mixed", page_by="id")
    assert scattered.human.page_by == ""
