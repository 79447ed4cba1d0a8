"""Each kind of bad file gets one clear sentence, with file, row and column."""

import io
import json
import zipfile

import pytest

from genie.lib.bounded import Limits as Bounds
from genie.lib.bounded import call_bounded
from leaderboard.files import Limits
from leaderboard.tables import Table
from leaderboard.tasks.intake.guess import guess
from leaderboard.tasks.intake.join import put_together
from leaderboard.tasks.intake.read import read_table
from leaderboard.tasks.intake.roles import Said
from tests.leaderboard.tasks.intake.workbook import sheet, workbook

HEAD = "id,question,ada,bob\n"
ROWS = [["id", "question", "ada"], ["1", "Why?", "So."], ["2", "Who?", "Me."]]
SMALL = Limits(n_bytes=4_000_000, n_rows=100, n_columns=20, n_characters=1_000)


def said_of(files: dict[str, bytes], said: Said | None = None) -> list[str]:
    tables, sentences = [], []
    for name, data in files.items():
        table = read_table(io.BytesIO(data), file=name, most=SMALL)
        if isinstance(table, Table):
            tables.append(table)
        else:
            sentences += [str(problem) for problem in table]
    if sentences:
        return sentences
    uses, problems = guess(tables, said)
    if not problems:
        _, problems = put_together(tables, uses)
    return [str(problem) for problem in problems]


def csv(text: str) -> dict[str, bytes]:
    return {"a.csv": text.encode()}


def lines(*rows: object) -> dict[str, bytes]:
    return {"a.jsonl": "\n".join(json.dumps(row) for row in rows).encode()}


def book(*args, **kwargs) -> dict[str, bytes]:
    return {"a.xlsx": workbook(*args, **kwargs)}


def zipped(files: dict[str, str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return out.getvalue()


def damaged(data: bytes) -> bytes:
    return data[:40] + bytes(255 - byte for byte in data[40:46]) + data[46:]


TALK = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]
BAD = {
    "one row": (
        csv(HEAD + "1,Why?,So.,No.\n"),
        "a.csv: there is only one input, on which nothing can be compared; add more.",
    ),
    "half of UTF-16": (
        {"a.csv": HEAD.encode("utf-16") + b"x"},
        "a.csv, line 2: the byte 0x78 is not UTF-16; save the file as UTF-8 (in a "
        "spreadsheet: CSV UTF-8).",
    ),
    "a control character": (
        csv(HEAD + "1,Why?,So.\x07,No.\n"),
        "a.csv, line 2, column “ada”: the character U+0007 stands here, which cannot be "
        "shown as it is; remove it.",
    ),
    "a control character behind an escape": (
        lines({"question": "Why?", "ada": "So.\u202e"}),
        "a.jsonl, line 1, column “ada”: the character U+202E stands here, which cannot "
        "be shown as it is; remove it.",
    ),
    "an id twice": (
        csv(HEAD + "1,Why?,So.,No.\n1,Who?,Me.,You.\n"),
        "a.csv, line 3, column “id”: the id “1” is also in line 2; each row needs "
        "a unique id.",
    ),
    "an id missing": (
        csv(HEAD + "1,Why?,So.,No.\n,Who?,Me.,You.\n"),
        "a.csv, line 3, column “id”: the id is missing.",
    ),
    "an output missing": (
        csv(HEAD + "1,Why?,So.,No.\n2,Who?,,You.\n"),
        "a.csv, line 3, column “ada”: the output is missing; where a system gave none, "
        "write so, such as “(no output)”.",
    ),
    "an input missing": (
        csv(HEAD + "1,Why?,So.,No.\n2,,Me.,You.\n"),
        "there is no input for the id “2”.",
    ),
    "ids that differ": (
        {
            "a.csv": b"id,question,output\n1,Why?,So.\n2,Who?,Me.\n",
            "b.csv": b"id,question,output\n1,Why?,No.\n3,Who?,You.\n",
        },
        "b.csv: compared with a.csv, it lacks the id “2”; all files must be about the "
        "same inputs.",
    ),
    "another number of rows": (
        {"a.csv": b"question,output\nWhy?,So.\nWho?,Me.\n", "b.txt": b"No.\n"},
        "b.txt: it has 1 rows and a.csv 2; without a column of ids, rows are matched by "
        "their order.",
    ),
    "another input under the same id": (
        {
            "a.csv": b"id,question,output\n1,Why?,So.\n2,Who?,Me.\n",
            "b.csv": b"id,question,output\n1,Why?,No.\n2,Where?,You.\n",
        },
        "b.csv, line 3, column “question”: the input of “2” differs from an earlier "
        "row.",
    ),
    "one system in two files": (
        {
            "x/ada.csv": b"id,question,output\n1,Why?,So.\n2,Who?,Me.\n",
            "y/Ada.csv": b"id,question,output\n1,Why?,No.\n2,Who?,You.\n",
        },
        "y/Ada.csv, column “output”: a system called “Ada” is in x/ada.csv as well; give "
        "one another name (--system COLUMN=NAME).",
    ),
    "a name twice in one object": (
        {"a.jsonl": b'{"q": "Why?", "q": "Who?"}\n{"q": "x"}\n'},
        "a.jsonl, line 1: the name “q” appears twice in one object.",
    ),
    "a list of texts": (
        {"a.json": b'["Why?", "Who?"]'},
        "a.json, entry 1: this is a text; every row must be an object.",
    ),
    "a nested value": (
        lines({"question": ["Why?", ["Who?"]], "ada": "So."}),
        "a.jsonl, line 1, column “question”: a nested value stands here; a text, a list "
        "of texts (references) or a list of turns with “role” and “content” is needed.",
    ),
    "mixed kinds in one column": (
        lines({"prompt": TALK, "ada": "So."}, {"prompt": "Hello", "ada": "Me."}),
        "a.jsonl, line 2, column “prompt”: “Hello” stands here, and a conversation in "
        "line 1; use one kind in a column.",
    ),
    "a turn without content": (
        lines({"prompt": [{"role": "user"}], "ada": "So."}),
        "a.jsonl, line 1, column “prompt”: turn 1 has no text under “content”.",
    ),
    "outputs of two kinds": (
        lines(
            {"prompt": "Hello", "output_ada": TALK, "output_bob": "Hi"},
            {"prompt": "Bye", "output_ada": TALK, "output_bob": "Hi"},
        ),
        "a.jsonl, column “output_bob”: this is plain text, and “output_ada” of a.jsonl "
        "holds conversations; all systems' outputs must be of one kind.",
    ),
    "no system": (
        csv("id,question,score\n1,Why?,2\n2,Who?,3\n"),
        "a.csv: no column looks like a system's outputs among “id”, “question”, "
        "“score”; say which ones do.",
    ),
    "no input": (
        csv("id,output_ada,output_bob\n1,So.,No.\n2,Me.,You.\n"),
        "a.csv: no column looks like an input that people can judge outputs against; "
        "say which one is.",
    ),
    "too many rows": (
        csv(HEAD + "".join(f"{n},Why?,So.,No.\n" for n in range(200))),
        "a.csv: there are more than 100 rows or 20 columns.",
    ),
    "too long a text": (
        csv(HEAD + f"1,Why?,{'So ' * 500},No.\n"),
        "a.csv, line 2, column “ada”: the text has 1,500 characters; 1,000 are possible.",
    ),
    "an old Excel file": (
        {"a.xls": b"\xd0\xcf\x11\xe0 and so on"},
        "a.xls: the file is an old Excel file, or one with a password; save it as CSV.",
    ),
    "a PDF": (
        {"a.csv": b"%PDF-1.7 ..."},
        "a.csv: the file is a PDF; save the table as CSV.",
    ),
    "a zip archive": (
        {"a.zip": zipped({"a.csv": HEAD, "b.csv": HEAD})},
        "a.zip: it holds several files or sheets (a.csv, b.csv); keep one.",
    ),
    "a zip bomb": (
        book(sheet(ROWS), parts={"xl/sharedStrings.xml": b" " * 9_000_000}),
        "a.xlsx: it has over 4,000,000 bytes or 2,000 files; split or unpack it.",
    ),
    "a member of an archive that is damaged": (
        {"a.zip": damaged(zipped({"a.csv": HEAD * 200}))},
        "a.zip: the archive or workbook is damaged (Error -3 while decompressing data: "
        "invalid code lengths set); upload it again.",
    ),
    "an empty workbook": (book(sheet([])), "a.xlsx: all visible sheets are empty."),
    "half a character in a column's name": (
        lines({"question": "Why?", "a\ud800": "So."}),
        "a.jsonl: in a column's name: the character U+D800 stands here, which cannot be "
        "shown as it is; remove it.",
    ),
    "two inputs of nearly one name": (
        csv("question,Question,ada\na,b,c\nd,e,f\n"),
        "a.csv, column “Question”: this name and “question” of another input are too "
        "much alike; rename one.",
    ),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_file_gets_one_clear_sentence(kind):
    files, sentence = BAD[kind]
    assert said_of(files)[0] == sentence


def test_all_that_is_wrong_is_said_at_once_and_the_rest_is_counted():
    rows = "".join(f"{n},Why {n}?,,No.\n" for n in range(9))
    sentences = said_of(csv(HEAD + rows + "9,Why?,So.,\n"))
    assert [s.partition(":")[0] for s in sentences] == [
        *(f"a.csv, line {n}, column “ada”" for n in range(2, 7)),
        "a.csv, line 11, column “bob”",
        "a.csv, column “ada”",
    ]
    assert sentences[-1].endswith("4 more rows have this problem (missing-cell).")


def test_a_table_may_begin_after_many_empty_lines():
    rows = "1,Why?,So.,No.\n2,Who?,Me.,You.\n"
    assert said_of(csv("\n" * 60 + HEAD + rows)) == []


def test_a_column_that_is_not_there_is_named_with_the_nearest():
    files = csv(HEAD + "1,Why?,So.,No.\n2,Who?,Me.,You.\n")
    assert said_of(files, Said(ignored=["qestion"])) == [
        "there is no column “qestion”; “question” is near."
    ]


def test_a_name_that_would_break_the_line_is_escaped():
    sentences = said_of({"a\u202e\n.csv": b""})
    assert sentences == ["a\\u202e\\u000a.csv: the file is empty."]


@pytest.mark.bounded
def test_a_file_is_read_in_a_child_with_limits():
    data = io.BytesIO(workbook(sheet(ROWS)))
    bounds = Bounds(cpu_seconds=5, memory_bytes=256 << 20)
    table = call_bounded(read_table, data, bounds, with_packages=True, file="a.xlsx")
    assert isinstance(table, Table)
    assert table.columns == ("id", "question", "ada")
