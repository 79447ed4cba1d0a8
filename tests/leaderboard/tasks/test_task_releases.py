import json

import pytest

from genie.lib.errors import GenieError
from leaderboard.tasks import shipped
from leaderboard.tasks.models import Task
from leaderboard.tasks.readers import read_release
from leaderboard.tasks.services.load import load_definition

DEMOS = [slug for slug in shipped.known_tasks() if shipped.definition(slug).get("demo")]
# two instances in each official layout, in words of our own
SGML = "<doc docid='a' origlang='de'><seg id='1'>{}</seg><seg id='2'>{}</seg></doc>"
RELEASES = {
    "arc-da": {
        "test.jsonl": '{"question_id": "1", "question": "Why?", "answers": ["So."]}\n'
        '{"question_id": "2", "question": "How?", "answers": ["Thus.", "Well."]}\n'
    },
    "anlg": {
        "test.jsonl": '{"story_id": "1", "obs1": "A.", "obs2": "C.", "hyps": ["B."]}\n'
        '{"story_id": "2", "obs1": "D.", "obs2": "F.", "hyps": ["E.", "G."]}\n'
    },
    "xsum": {
        "test.json": '[{"id": "1", "document": "Long.", "summary": "Short."},'
        ' {"id": "2", "document": "Longer.", "summary": "Shorter."}]'
    },
    "wmt21-de-en": {
        "ids.txt": "a.1\na.2\n",
        "source.txt": "Eins.\nZwei.\n",
        "reference.A.txt": "One.\nTwo.\n",
        "reference.B.txt": "1.\n2.\n",
    },
    "wmt19-de-en": {
        "newstest2019-deen-src.de.sgm": SGML.format("Eins.", "Zwei."),
        "newstest2019-deen-ref.en.sgm": SGML.format("One.", "Two."),
        "newstest2019-deen-ref.fr.sgm": SGML.format("Un.", "Deux."),
    },
}
REFERENCES = {
    "arc-da": [["So."], ["Thus.", "Well."]],
    "anlg": [["B."], ["E.", "G."]],
    "xsum": [["Short."], ["Shorter."]],
    "wmt21-de-en": [["One."], ["Two."]],
    "wmt19-de-en": [["One."], ["Two."]],
}


def release_of(slug, path):
    release = shipped.definition(slug)["release"]
    return read_release(release["reader"], path, release["options"])


@pytest.mark.parametrize("slug", sorted(RELEASES))
def test_an_official_release_gives_the_fields_that_the_task_labels(slug, tmp_path):
    for name, text in RELEASES[slug].items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = release_of(slug, tmp_path).instances
    assert len(found) == 2
    for instance in found:
        assert list(instance.fields) == list(shipped.definition(slug)["fields"])
    assert [list(instance.references) for instance in found] == REFERENCES[slug]


@pytest.mark.parametrize("slug", DEMOS)
def test_a_demo_is_read_by_its_reader_as_it_stands(slug):
    found = release_of(slug, shipped.folder(slug)).instances
    text = (shipped.folder(slug) / "test.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    assert [instance.id for instance in found] == [row["id"] for row in rows]
    assert [dict(instance.fields) for instance in found] == [
        row["fields"] for row in rows
    ]
    assert [list(instance.references) for instance in found] == [
        row["references"] for row in rows
    ]
    source = shipped.definition(slug)["source"]["field"]
    assert all(instance.source == instance.fields.get(source, "") for instance in found)


def test_pages_by_a_field_that_no_instance_has_are_refused():
    document = shipped.definition("demo-qa")
    document["human"]["page_by"] = "chapter"
    folder = shipped.folder("demo-qa")
    with pytest.raises(
        GenieError, match=r"human\.page_by is 'chapter', which no instance"
    ):
        load_definition("demo-qa", document, folder)
    assert not Task.own.exists()
    document["human"]["page_by"] = "id"
    assert load_definition("demo-qa", document, folder).created
