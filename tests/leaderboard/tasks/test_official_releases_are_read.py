import hashlib
import json
from pathlib import Path

import pytest

from genie.lib.errors import GenieError
from leaderboard.tasks.readers import all_readers, read_release


def jsonl(path: Path, rows: list[dict]) -> Path:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8")
    return path


def refused(kind: str, path: Path | str, options: dict | None = None) -> GenieError:
    with pytest.raises(GenieError) as caught:
        read_release(kind, path, options)
    assert caught.value.message.endswith(".")
    return caught.value


def ids(release) -> list[str]:
    return [instance.id for instance in release.instances]


# WMT text -------------------------------------------------------------------------


@pytest.fixture
def wmt(tmp_path) -> Path:
    (tmp_path / "ids.txt").write_text("d1.1\nd1.2\nd2.1\n")
    (tmp_path / "source.txt").write_text("Eins.\nZwei\u2028halb.\nDrei.\n", "utf-8")
    (tmp_path / "reference.A.txt").write_text("One.\nTwo and a half.\nThree.\n")
    (tmp_path / "reference.B.txt").write_text("1.\n\n3.\n")
    return tmp_path


def test_parallel_text_files_are_joined_by_line(wmt):
    release = read_release("wmt-text", wmt)
    second = release.instances[1]
    assert ids(release) == ["d1.1", "d1.2", "d2.1"]
    assert second.fields == {"source": "Zwei\u2028halb."}
    assert second.source == "Zwei\u2028halb."
    assert second.references == ["Two and a half."]
    expected = hashlib.sha256((wmt / "source.txt").read_bytes()).hexdigest()
    assert release.files["source.txt"] == expected
    assert set(release.files) == {"ids.txt", "source.txt", "reference.A.txt"}


def test_several_references_may_have_gaps(wmt):
    options = {"references": ["reference.A.txt", "reference.B.txt"]}
    found = [i.references for i in read_release("wmt-text", wmt, options).instances]
    assert found == [["One.", "1."], ["Two and a half."], ["Three.", "3."]]
    release = read_release("wmt-text", wmt, {"references": []})
    assert [i.references for i in release.instances] == [[], [], []]


def test_a_single_reference_file_needs_no_letter(wmt):
    (wmt / "reference.A.txt").rename(wmt / "reference.txt")
    assert read_release("wmt-text", wmt).instances[0].references == ["One."]


def test_a_line_without_any_reference_is_refused_by_name(wmt):
    error = refused("wmt-text", wmt, {"references": "reference.B.txt"})
    assert "Line 2 (d1.2) has no reference" in error.message


# ARC-DA ---------------------------------------------------------------------------

QUESTIONS = [
    {"question_id": "M1", "question": "Why?", "answers": ["So.", "Thus."]},
    {"question_id": "M2", "question": "How?", "answers": ["Well."]},
]


def test_questions_come_with_all_their_answers(tmp_path):
    jsonl(tmp_path / "test.jsonl", QUESTIONS)
    jsonl(tmp_path / "dev.jsonl", QUESTIONS[:1])
    release = read_release("arc-da-jsonl", tmp_path)
    assert [(i.id, i.fields, i.references, i.source) for i in release.instances] == [
        ("M1", {"question": "Why?"}, ["So.", "Thus."], "Why?"),
        ("M2", {"question": "How?"}, ["Well."], "How?"),
    ]
    assert ids(read_release("arc-da-jsonl", tmp_path, {"split": "dev"})) == ["M1"]
    assert ids(read_release("arc-da-jsonl", tmp_path / "dev.jsonl")) == ["M1"]


# αNLG -----------------------------------------------------------------------------


def story(key: str = "s1", **more) -> dict:
    return {"story_id": key, "obs1": f"{key} begins.", "obs2": f"{key} ends.", **more}


def test_a_story_that_repeats_is_one_instance_with_several_references(tmp_path):
    rows = [story(hyp="a"), story("s2", hyps=["x", "y"]), story(hyp="b")]
    jsonl(tmp_path / "test.jsonl", [*rows, story(hyp="a")])
    release = read_release("anlg-jsonl", tmp_path)
    assert [(i.id, i.references) for i in release.instances] == [
        ("s1", ["a", "b"]),
        ("s2", ["x", "y"]),
    ]
    assert release.instances[0].fields == {"obs1": "s1 begins.", "obs2": "s1 ends."}
    assert release.instances[0].source == ""


def test_the_labels_file_says_which_hypothesis_counts(tmp_path):
    rows = [story(hyp1="a", hyp2="b"), story("s2", hyp1="c", hyp2="d")]
    jsonl(tmp_path / "test.jsonl", rows)
    (tmp_path / "test-labels.lst").write_text("2\n1\n")
    release = read_release("anlg-jsonl", tmp_path)
    assert [i.references for i in release.instances] == [["b"], ["c"]]
    assert set(release.files) == {"test.jsonl", "test-labels.lst"}
    (tmp_path / "test-labels.lst").unlink()
    jsonl(tmp_path / "test.jsonl", [story(hyp1="a", hyp2="b", label=2)])
    assert read_release("anlg-jsonl", tmp_path).instances[0].references == ["b"]


def test_labels_that_do_not_fit_are_refused(tmp_path):
    jsonl(tmp_path / "test.jsonl", [story(hyp1="a", hyp2="b")])
    assert "the label must be 1 or 2" in refused("anlg-jsonl", tmp_path).message
    (tmp_path / "labels").write_text("1\n2\n")
    error = refused("anlg-jsonl", tmp_path, {"labels": "labels"})
    assert "2 labels for 1 stories" in error.message


def test_one_story_with_two_beginnings_is_refused(tmp_path):
    jsonl(
        tmp_path / "test.jsonl", [story(hyp="a"), {**story(hyp="b"), "obs1": "Else."}]
    )
    assert "line 2: story s1" in refused("anlg-jsonl", tmp_path).message


# XSum -----------------------------------------------------------------------------

ARTICLES = [
    {"id": 35, "document": "Long.\nVery.", "summary": "Short."},
    {"id": "36", "document": "", "summary": "Brief."},
]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("test.json", ARTICLES),
        (
            "test.json",
            {str(a["id"]): {k: v for k, v in a.items() if k != "id"} for a in ARTICLES},
        ),
        ("test.json", {"version": 1, "data": ARTICLES}),
        ("test.jsonl", None),
        ("xsum_test.jsonl", None),
    ],
)
def test_articles_are_read_from_lists_objects_and_lines(tmp_path, name, content):
    if content is None:
        jsonl(tmp_path / name, ARTICLES)
    else:
        (tmp_path / name).write_text(json.dumps(content, indent=1))
    release = read_release("xsum", tmp_path)
    assert [(i.id, i.fields["document"], i.references) for i in release.instances] == [
        ("35", "Long.\nVery.", ["Short."]),
        ("36", "", ["Brief."]),
    ]
    assert release.instances[0].source == "Long.\nVery."


def test_the_same_texts_have_the_same_hash_whatever_file_they_came_in(tmp_path):
    lines = jsonl(tmp_path / "a.jsonl", ARTICLES)
    (tmp_path / "b.json").write_text(json.dumps(ARTICLES))
    one, two = read_release("xsum", lines), read_release("xsum", tmp_path / "b.json")
    assert one.sha256 == two.sha256
    assert one.files != two.files
    other = jsonl(
        tmp_path / "c.jsonl", [{**ARTICLES[0], "summary": "Short!"}, ARTICLES[1]]
    )
    assert read_release("xsum", other).sha256 != one.sha256
    back = jsonl(tmp_path / "d.jsonl", ARTICLES[::-1])
    assert read_release("xsum", back).sha256 != one.sha256


# WMT XML and SGML -----------------------------------------------------------------

XML = """<?xml version='1.0' encoding='utf-8'?>
<dataset id="newstest">
  <collection id="general">
  <doc id="paper.1" origlang="de">
    <src lang="de"><p><seg id="1">Äpfel &amp; Birnen</seg><seg id="2">Zwei.</seg></p></src>
    <ref lang="en" translator="A"><p><seg id="1">Apples &amp; pears</seg><seg id="2">Two.</seg></p></ref>
    <ref lang="en" translator="B"><p><seg id="1">Fruit</seg><seg id="2">2.</seg></p></ref>
    <hyp system="X" language="en"><p><seg id="1">no</seg><seg id="2">no</seg></p></hyp>
  </doc>
  <doc id="suite" origlang="de" testsuite="odd">
    <src lang="de"><p><seg id="1">Nein.</seg></p></src>
  </doc>
  <doc id="paper.2" origlang="en">
    <src lang="de"><p><seg id="1">Drei.</seg></p></src>
    <ref lang="en" translator="A"><p><seg id="1">Three.</seg></p></ref>
    <ref lang="en" translator="B"><p><seg id="1">3.</seg></p></ref>
  </doc>
  </collection>
</dataset>
"""


@pytest.fixture
def xml(tmp_path):
    def write(text: str) -> Path:
        path = tmp_path / "newstest.xml"
        path.write_text(text, encoding="utf-8")
        return tmp_path

    return write


def test_xml_documents_are_read_without_test_suites_and_hypotheses(xml):
    release = read_release("wmt-xml", xml(XML))
    assert [(i.id, i.source, i.references) for i in release.instances] == [
        ("paper.1.1", "Äpfel & Birnen", ["Apples & pears"]),
        ("paper.1.2", "Zwei.", ["Two."]),
        ("paper.2.1", "Drei.", ["Three."]),
    ]
    assert release.files.keys() == {"newstest.xml"}


def test_translators_and_original_language_can_be_chosen(xml):
    options = {"translators": ["B", "A"], "origlang": "de"}
    release = read_release("wmt-xml", xml(XML), options)
    found = [i.references for i in release.instances]
    assert found == [["Fruit", "Apples & pears"], ["2.", "Two."]]


@pytest.mark.parametrize(
    "attack",
    [
        '<!DOCTYPE d [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><d>&b;</d>',
        '<!DOCTYPE d SYSTEM "file:///etc/passwd"><d/>',
        '<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]><d>&x;</d>',
    ],
)
def test_document_types_and_entities_are_refused(xml, attack):
    error = refused("wmt-xml", xml(attack))
    assert (
        error.message
        == "newstest.xml, line 1: document types and entities are not read."
    )


def test_deep_xml_does_no_harm(xml):
    deep = "<a>" * 50_000 + "</a>" * 50_000
    assert refused("wmt-xml", xml(deep)).code == "release-empty"


SGML = """<{set}set setid="newstest" srclang="any" trglang="en">
<doc sysid="ref" docid="paper.1" genre="news" origlang="de">
<p>
<seg id="1">{one}</seg>
<seg id="2"> {two} </seg>
</p>
</doc>
<doc docid="paper.2" origlang="en"><seg id="1">{three}</seg></doc>
</{set}set>
"""


@pytest.fixture
def sgml(tmp_path) -> Path:
    source = SGML.format(
        set="src", one="Äpfel &amp; Birnen", two='"Zwei"', three="Drei <3"
    )
    reference = SGML.format(
        set="ref", one="Apples &amp; pears", two="Two", three="Three"
    )
    (tmp_path / "newstest-deen-src.de.sgm").write_text(source, encoding="utf-8")
    (tmp_path / "newstest-deen-ref.en.sgm").write_text(reference, encoding="utf-8")
    return tmp_path


def test_sgml_sources_and_references_are_joined_by_id(sgml):
    release = read_release("wmt-sgml", sgml)
    assert [(i.id, i.source, i.references) for i in release.instances] == [
        ("paper.1.1", "Äpfel & Birnen", ["Apples & pears"]),
        ("paper.1.2", '"Zwei"', ["Two"]),
        ("paper.2.1", "Drei <3", ["Three"]),
    ]
    german = read_release("wmt-sgml", sgml, {"origlang": "de"})
    assert ids(german) == ["paper.1.1", "paper.1.2"]


def test_sgml_segments_on_one_side_only_are_refused(sgml):
    path = sgml / "newstest-deen-ref.en.sgm"
    path.write_text(path.read_text().replace('<seg id="2"> Two </seg>', ""))
    error = refused("wmt-sgml", sgml)
    assert "the first is paper.1.2" in error.message
    path.unlink()
    for where in (sgml, sgml / "newstest-deen-src.de.sgm"):
        assert refused("wmt-sgml", where).code == "release-missing"


# Genie's own ----------------------------------------------------------------------


def test_genies_own_layout_is_read(tmp_path):
    rows = [
        {"id": "a", "fields": {"obs1": "x", "obs2": "y"}, "references": ["r"]},
        {"id": "b", "fields": {"obs1": "z", "obs2": ""}},
    ]
    jsonl(tmp_path / "test.jsonl", rows)
    release = read_release("demo-jsonl", tmp_path, {"source": "obs2"})
    assert [(i.id, i.references, i.source) for i in release.instances] == [
        ("a", ["r"], "y"),
        ("b", [], ""),
    ]
    assert {tuple(i.fields) for i in release.instances} == {("obs1", "obs2")}
    assert read_release("demo-jsonl", tmp_path).instances[0].source == "x"
    error = refused("demo-jsonl", tmp_path, {"source": "nope"})
    assert "the field nope is missing" in error.message


# every layout ---------------------------------------------------------------------


def test_ids_and_texts_that_cannot_be_kept_are_refused(tmp_path):
    for bad in ("", " ", "x" * 201, "a\0b"):
        jsonl(tmp_path / "test.jsonl", [{"id": bad, "fields": {"a": "x"}}])
        assert refused("demo-jsonl", tmp_path).code == "release-broken", bad
    for text in ("a\0", "\ud800"):
        row = {"id": "a", "fields": {"a": "x"}, "references": [text]}
        (tmp_path / "test.jsonl").write_text(json.dumps(row))
        assert "cannot be stored" in refused("demo-jsonl", tmp_path).message


@pytest.mark.parametrize("kind", sorted(all_readers()))
def test_a_folder_that_is_not_there_and_one_that_is_empty_are_refused(kind, tmp_path):
    assert refused(kind, tmp_path / "nowhere").code == "release-missing"
    assert refused(kind, tmp_path).code == "release-missing"


def test_unknown_layouts_and_options_are_refused_with_what_there_is():
    error = refused("wmt", ".")
    assert error.code == "unknown-reader"
    assert "wmt-text" in error.message
    error = refused("xsum", ".", {"spilt": "test"})
    assert error.code == "unknown-option"
    assert "'spilt'" in error.message
