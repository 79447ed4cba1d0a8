"""Files as people have them: what each column is, and what is put together of it."""

import io
import json

import pytest

from leaderboard.tasks.intake.guess import guess
from leaderboard.tasks.intake.join import put_together
from leaderboard.tasks.intake.read import read_table
from leaderboard.tasks.intake.roles import Said
from tests.leaderboard.tasks.intake.workbook import sheet, workbook

SPREADSHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def tables_of(files):
    return [read_table(io.BytesIO(data), file=name) for name, data in files.items()]


def roles_of(files, said=None):
    uses, problems = guess(tables_of(files), said)
    assert problems == []
    return {(use.file, use.column): (use.role, use.name) for use in uses}


def material_of(files, said=None):
    tables = tables_of(files)
    uses, problems = guess(tables, said)
    assert problems == []
    material, problems = put_together(tables, uses)
    assert problems == []
    return material


WIDE = (
    "id,source,reference,output_ada,output_bob,score\n"
    "1,Eins,One,Won,Uno,3\n2,Zwei,Two,Too,Due,4\n"
)


def test_a_column_for_each_system():
    material = material_of({"a.csv": WIDE.encode()})
    assert material.labels == {"source": "Source"}
    assert [item.references for item in material.items] == [["One"], ["Two"]]
    assert material.systems == {
        "ada": {"1": "Won", "2": "Too"},
        "bob": {"1": "Uno", "2": "Due"},
    }


@pytest.mark.parametrize(
    "encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32"], ids=str
)
def test_byte_order_marks_say_the_encoding(encoding):
    mark = "\ufeff" if encoding == "utf-16-le" else ""
    data = (mark + WIDE).encode(encoding)
    assert material_of({"a.csv": data}) == material_of({"a.csv": WIDE.encode()})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", WIDE.replace(",", ";")),
        ("a.tsv", WIDE.replace(",", "\t")),
        ("a.txt.csv", WIDE.replace("\n", "\r\n")),
        ("a.csv", WIDE.replace("\n", "\r")),
    ],
    ids=["semicolons", "tabs", "CRLF", "CR"],
)
def test_separators_and_line_ends_are_seen(name, text):
    assert material_of({name: text.encode()}) == material_of({"a.csv": WIDE.encode()})


def test_a_workbook_is_read_as_its_csv():
    rows = [line.split(",") for line in WIDE.splitlines()]
    data = workbook(sheet(rows))
    assert material_of({"a.xlsx": data}) == material_of({"a.csv": WIDE.encode()})


def test_parquet_is_read_as_its_csv(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    (tmp_path / "a.csv").write_text(WIDE)
    table = duckdb.read_csv(str(tmp_path / "a.csv"), header=True)
    table.write_parquet(str(tmp_path / "a.parquet"))
    data = (tmp_path / "a.parquet").read_bytes()
    assert material_of({"a.parquet": data}) == material_of({"a.csv": WIDE.encode()})


def test_shared_texts_numbers_and_gaps_of_a_workbook():
    rows = [
        ["question", "ada", "bob"],
        [
            '<c r="A2" t="s"><v>0</v></c>',
            '<c r="B2"><v>12.0</v></c>',
            '<c r="C2" t="b"><v>1</v></c>',
        ],
        ["Who?", "Me", "You"],
    ]
    shared = "<si><r><t>Wh</t></r><r><t>y?</t></r><rPh><t>x</t></rPh></si>"
    table = read_table(io.BytesIO(workbook(sheet(rows), shared=shared)), file="a.xlsx")
    assert dict(next(table.rows).cells) == {
        "question": "Why?",
        "ada": "12",
        "bob": "true",
    }


def test_a_file_for_each_system_with_ids_and_one_with_the_inputs():
    files = {
        "inputs.jsonl": b'{"id": 7, "question": "Why?"}\n{"id": 8, "question": "Who?"}\n',
        "ada.json": json.dumps({"8": "Me.", "7": "So."}).encode(),
        "Bob-2.csv": b"id,text\n7,No.\n8,You.\n",
    }
    material = material_of(files)
    assert material.systems == {
        "ada": {"8": "Me.", "7": "So."},
        "Bob-2": {"7": "No.", "8": "You."},
    }
    assert [item.fields for item in material.items] == [
        {"question": "Why?"},
        {"question": "Who?"},
    ]


def test_files_with_inputs_in_each_of_them():
    files = {
        "ada.jsonl": b'{"prompt": "Why?", "answer": "So."}\n{"prompt": "Who?", "answer": "I"}',
        "bob.jsonl": b'{"prompt": "Why?", "answer": "No."}\n{"prompt": "Who?", "answer": "U"}',
    }
    assert set(roles_of(files).values()) == {
        ("input", "Prompt"),
        ("output", "ada"),
        ("output", "bob"),
    }
    assert material_of(files).systems["bob"] == {"1": "No.", "2": "U"}


def test_lines_of_text_for_each_system():
    files = {
        "inputs.csv": b"source\nEins\nZwei\n",
        "ada.txt": b"One\nTwo\n",
        "bob.txt": "Won\nTo\u2028o\n".encode(),
    }
    assert material_of(files).systems["bob"] == {"1": "Won", "2": "To\u2028o"}


@pytest.mark.parametrize("name", ["inputs", "questions", "source", "Unheard of"])
def test_lines_of_text_for_inputs_and_references_too(name):
    files = {
        f"{name}.txt": b"Why?\nWho?\n",
        "ada.txt": b"So.\nI\n",
        "bob.txt": b"No.\nU\n",
        "references.txt": b"Yes.\nMe\n",
    }
    said = Said(inputs=[name]) if name == "Unheard of" else None
    material = material_of(files, said)
    assert [list(item.fields.values()) for item in material.items] == [
        ["Why?"],
        ["Who?"],
    ]
    assert [item.references for item in material.items] == [["Yes."], ["Me"]]
    assert {*material.systems} == {"ada", "bob"}
    assert material.systems["bob"] == {"1": "No.", "2": "U"}


def test_a_row_for_each_output():
    text = (
        "question,model,response\nWhy?,ada,So.\nWhy?,bob,No.\nWho?,ada,I\nWho?,bob,U\n"
    )
    material = material_of({"long.csv": text.encode()})
    assert material.systems == {
        "ada": {"1": "So.", "2": "I"},
        "bob": {"1": "No.", "2": "U"},
    }


def test_an_answer_is_a_reference_beside_systems_and_else_the_output():
    beside = {"a.csv": b"question,answer,ada,bob\nWhy?,So,S,N\nWho?,I,J,K\n"}
    assert roles_of(beside)["a.csv", "answer"] == ("reference", "")
    alone = {"ada.csv": b"question,answer\nWhy?,So\nWho?,I\n"}
    assert roles_of(alone)["ada.csv", "answer"] == ("output", "ada")


def test_several_inputs_and_no_references():
    material = material_of(
        {"a.csv": b"context,question,ada,bob\nA,Why?,So,No\nB,Who?,I,U\n"}
    )
    assert material.labels == {"context": "Context", "question": "Question"}
    assert all(item.references == [] for item in material.items)


def test_several_references_in_a_list():
    rows = [
        {"q": "Why?", "references": ["So.", "Thus."], "ada": "S", "bob": "B"},
        {"q": "Who?", "references": ["I", "I"], "ada": "J", "bob": "B"},
    ]
    data = json.dumps(rows).encode()
    items = material_of({"a.json": data}).items
    assert [item.references for item in items] == [["So.", "Thus."], ["I"]]


def test_conversations_become_readable_texts():
    talk = [
        {"role": "user", "content": "Hello\n\nNote: be brief"},
        {"role": "assistant", "content": "Hi"},
        {"role": "user", "content": "Why?"},
    ]
    rows = [{"messages": talk, "ada": "So.", "bob": "No."}] * 2
    material = material_of({"a.json": json.dumps(rows).encode()})
    assert material.formats == {"messages": "conversation"}
    text = "User: Hello\n\n Note: be brief\n\nAssistant: Hi\n\nUser: Why?"
    assert material.items[0].fields == {"messages": text}
    # in a table, a conversation is a cell of JSON
    cell = json.dumps(talk).replace('"', '""')
    csv = f'messages,ada,bob\n"{cell}",So.,No.\n"{cell}",So.,No.\n'
    assert material_of({"a.csv": csv.encode()}) == material


def test_hostile_text_is_kept_as_it_is():
    text = "<script>alert(1)</script>"
    csv = f'question,ada,bob\n"{text}",=1+1,{{{{ x }}}}\nWho?,{text},U\n'
    material = material_of({"a.csv": csv.encode()})
    assert material.items[0].fields["question"] == text
    assert material.systems == {
        "ada": {"1": "=1+1", "2": text},
        "bob": {"1": "{{ x }}", "2": "U"},
    }


def test_what_a_person_says_holds():
    files = {"a.csv": b"q,hint,gold,x,y\nWhy?,h,So,S,N\nWho?,h,I,J,K\n"}
    said = Said(inputs=["hint"], systems={"x": "Ada", "gold": ""}, references=["y"])
    assert roles_of(files, said) == {
        ("a.csv", "q"): ("ignored", ""),
        ("a.csv", "hint"): ("input", "Hint"),
        ("a.csv", "gold"): ("system", "gold"),
        ("a.csv", "x"): ("system", "Ada"),
        ("a.csv", "y"): ("reference", ""),
    }


def test_a_file_can_be_given_a_systems_name():
    files = {
        "run1.csv": b"id,question,output\n1,Why?,So.\n2,Who?,I\n",
        "run2.csv": b"id,question,output\n1,Why?,No.\n2,Who?,U\n",
    }
    said = Said(systems={"run1": "Ada", "run2.csv": "Bob"})
    assert set(material_of(files, said).systems) == {"Ada", "Bob"}


def test_a_date_of_a_workbook_is_written_as_one():
    formats = (
        '<numFmts><numFmt numFmtId="164" formatCode="&quot;day&quot; 0"/>'
        '<numFmt numFmtId="165" formatCode="d.m.yyyy"/></numFmts><cellXfs>'
        '<xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="14"/>'
        "</cellXfs>"
    )
    styles = f'<styleSheet xmlns="{SPREADSHEET}">{formats}</styleSheet>'
    row = [f'<c r="{at}2" s="{n}"><v>46024</v></c>' for n, at in enumerate("ABCD")]
    data = workbook(
        sheet([["a", "b", "c", "d"], row]), parts={"xl/styles.xml": styles.encode()}
    )
    table = read_table(io.BytesIO(data), file="a.xlsx")
    assert list(next(table.rows).cells.values()) == [
        *("46024", "46024", "2026-01-02", "2026-01-02")
    ]


def test_a_name_that_looks_like_an_affix_is_one_system_among_others():
    files = {
        "a.csv": b"id,question,reference,King-QA,Echo-Answer\n1,A,B,C,D\n2,E,F,G,H\n"
    }
    roles = roles_of(files)
    assert roles["a.csv", "King-QA"] == ("system", "King-QA")
    assert roles["a.csv", "Echo-Answer"] == ("system", "Echo-Answer")


def test_a_campaign_of_pearmut_is_a_table_with_a_column_for_each_system():
    def item(name, **texts):
        return {"item_id": name, "src": f"Source {name}", "tgt": texts}

    first = [item("a", red="A", blue="a"), item("b", red="B", blue="b")]
    campaign = {
        "campaign_id": "en-da",
        "info": {"assignment": "task-based", "protocol": "ESA"},
        # two users, who share a document; green stands in the second one's alone
        "data": [[first, [item("c", red="C")]], [[item("a", green="g"), item("b", green="h")]]],
        "data_welcome": [[item("tutorial", red="T")]],
    }  # fmt: skip
    table = read_table(io.BytesIO(json.dumps(campaign).encode()), file="campaign.json")
    assert table.columns == ("id", "source", "red", "blue", "green")
    assert [row.cells["id"] for row in table.rows] == ["doc1.1", "doc1.2", "doc2.1"]
    assert dict(list(table.rows)[1].cells) == {
        **{"id": "doc1.2", "source": "Source b"},
        **{"red": "B", "blue": "b", "green": "h"},
    }
    deep = json.dumps({**campaign, "data": [[[[[first]]]]]}).encode()
    assert not hasattr(read_table(io.BytesIO(deep), file="a.json"), "rows")
