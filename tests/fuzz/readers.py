"""Every reader of what strangers wrote: its name, what it reads, and good examples."""

import io
import json
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from crowd import hit_templates
from crowd.elsewhere import hooks
from crowd.hit_templates import foreign
from crowd.hit_templates.form import Errors
from crowd.hit_templates.formats import to_html
from crowd.hit_templates.template import FILES
from crowd.hits.services import check_answers
from crowd.hits.services.check_answers import checked_spans
from crowd.platforms.mturk_protocol import calls
from crowd.platforms.mturk_protocol.xml import read_answers
from crowd.requester.api import _parse
from crowd.requester.batches import post
from crowd.requester.batches import post as review
from crowd.requester.protocol.validate import check_request
from crowd.requester.questions import template as batch_template
from crowd.requester.questions.answer_format import AnswerFormat, FormatError
from crowd.requester.questions.answers import grade, read_key
from crowd.requester.questions.question_form import read_form, safe_html
from crowd.requester.questions.questions import read_question
from genie.lib.errors import GenieError
from genie.lib.formats import engine
from genie.upkeep import archive
from leaderboard.imports.readers.preview import preview
from leaderboard.imports.readers.read import layout_of
from leaderboard.imports.readers.read import read as read_judgments
from leaderboard.metric_board.readers import read_scores
from leaderboard.submissions.readers import read_predictions
from leaderboard.table_stats.read import read_tables
from leaderboard.tasks import shipped
from leaderboard.tasks.config.task import read_task
from leaderboard.tasks.drafts.bundle import DATA, DEFINITION, unpack_bundle
from leaderboard.tasks.intake.read import read_table
from leaderboard.tasks.readers import read_release
from leaderboard.tasks.services import archives
from tests.crowd.requester.making import SCHEMAS
from tests.crowd.requester.test_forms_and_tests import FORM, PERCENT, RANGE, SCALE
from tests.crowd.requester.test_forms_and_tests import mapped as key_mapped
from tests.leaderboard.imports.examples import by_reader, file_of
from tests.leaderboard.tasks.intake.workbook import sheet, workbook
from tests.leaderboard.tasks.test_official_releases_are_read import SGML, XML

Parts = dict[str, bytes]
ONE = ""  # the name of the only file


@dataclass(frozen=True)
class Reader:
    """What is called with files, and the good files that are changed for it."""

    read: Callable[[Parts], object]
    good: tuple[Parts, ...]
    refusals: tuple[type[Exception], ...] = (GenieError,)


def _one(read: Callable[[bytes], object], *good: str | bytes, **more) -> Reader:
    texts = [one.encode() if isinstance(one, str) else one for one in good]
    return Reader(
        lambda parts: read(parts.get(ONE, b"")),
        tuple({ONE: text} for text in texts),
        **more,
    )


def _text(read: Callable[[str], object], *good: str, **more) -> Reader:
    """Read what has been decoded: as a form or JSON gives it, halves of pairs and all."""
    return _one(
        lambda data: read(data.decode("utf-8", "surrogateescape")), *good, **more
    )


def zipped(parts: Parts) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in parts.items():
            packed.writestr(name, data)
    return out.getvalue()


def unzipped(data: bytes) -> Parts:
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def in_folder(parts: Parts, read: Callable[[Path], object]) -> object:
    with tempfile.TemporaryDirectory(prefix="genie-fuzz-") as folder:
        for name, data in parts.items():
            (Path(folder) / name).write_bytes(data)
        return read(Path(folder))


STORY = '{"story_id": "s", "obs1": "a", "obs2": "b", "hyp1": "c", "hyp2": "d"}\n'
ROWS = (
    '{"id": "q1", "source": "Why?", "Ada": "Because.", "references": ["So.", "Yes."]}\n'
    '{"id": "q2", "source": "How?", "Ada": "Thus.", "references": []}\n'
)
TALK = json.dumps(
    [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]
)


def predictions(ending: str, *good: str) -> Reader:
    ids = ["q1", "q2"]
    return _one(
        lambda data: read_predictions(
            io.BytesIO(data), filename=f"p{ending}", instance_ids=ids,
            max_bytes=1 << 20, max_chars_per_prediction=200,
        ),
        *good,
    )  # fmt: skip


def table(ending: str, *good: str) -> Reader:
    return _one(lambda data: read_table(io.BytesIO(data), file=f"t{ending}"), *good)


def xlsx() -> Reader:
    book = workbook(
        sheet([["id", "text"], ["1", "Hello"], ["2", '<c r="B3" t="s"><v>0</v></c>']],
              extra='<mergeCells count="1"><mergeCell ref="A1:A1"/></mergeCells>'),
        shared="<si><t>shared</t></si>",
    )  # fmt: skip
    return Reader(
        lambda parts: read_table(io.BytesIO(zipped(parts)), file="t.xlsx"),
        (unzipped(book),),
    )


def _bundle(parts: Parts) -> object:
    """Do what an import does before anything is stored."""
    templates = hit_templates.all_templates()
    bundle = unpack_bundle(zipped(parts))
    read_task(bundle.document, templates)
    with tempfile.TemporaryDirectory(prefix="genie-fuzz-") as folder:
        read = archives.texts_of(bundle, folder)
    if read.release is None:
        raise GenieError(read.problem)
    return read


def bundle() -> Reader:
    home = Path(shipped.__file__).parent
    rows = b'{"id": "1", "fields": {"q": "Why?"}, "references": ["So."]}\n'
    lines = {"a": b"1\n"}
    of_reader: dict[str, tuple[str, Parts]] = {
        "demo-jsonl": ('split = "test"\nsource = "q"', {}),
        "wmt-xml": ('translators = ["A"]', {"t.xml": XML.encode()}),
        "wmt-text": ('ids = "a"\nsource = "a"\nreferences = ["a"]', lines),
        "anlg-jsonl": (
            'split = "a"\nlabels = "a"',
            {"a.jsonl": STORY.encode(), **lines},
        ),
    }
    made: list[Parts] = [
        {
            DEFINITION: (
                f'slug = "mine"\n[release]\nreader = "{name}"\n[release.options]\n{text}\n'
            ).encode(),
            DATA: rows,
            **files,
        }
        for name, (text, files) in of_reader.items()
    ]
    for slug in ("demo-qa", "demo-translation"):
        texts = (home / slug / DATA).read_bytes()[:2_000].rpartition(b"\n")[0]
        made.append({DEFINITION: (home / slug / DEFINITION).read_bytes(), DATA: texts})
    return Reader(_bundle, tuple(made))


def layout(kind: str, parts: dict[str, str]) -> Reader:
    return Reader(
        lambda found: in_folder(found, lambda folder: read_release(kind, folder)),
        ({name: text.encode() for name, text in parts.items()},),
    )


def template() -> Reader:
    slugs = ("question-answering", "two-choice-outputs", "error-span-translation")
    homes = [hit_templates.ROOT / slug for slug in slugs]

    def read(parts: Parts) -> object:
        found = foreign.read("mine", parts)
        return found.render(found.example), found.instructions

    return Reader(
        read,
        tuple({name: (home / name).read_bytes() for name in FILES} for home in homes),
    )


def scores(*good: str) -> Reader:
    return _one(
        lambda data: read_scores(
            io.BytesIO(data),
            systems={"Kite": [7]},
            instance_ids=["a", "b"],
            max_bytes=1 << 20,
        ),
        *good,
    )


@cache
def parquet_file() -> Parts:
    """Make one when it is asked for: the engine takes long to come, and to go again."""
    with tempfile.TemporaryDirectory(prefix="genie-fuzz-") as folder, engine() as duck:
        duck.execute(
            "copy (select * from (values ('A', 'i1', 'w1', 0.5), ('B', 'i1', 'w1', 1.0))"
            f" as t(system, instance, worker, value)) to '{folder}/r' (format parquet)"
        )
        return {"r.parquet": (Path(folder) / "r").read_bytes()}


def parquet() -> Reader:
    def read(parts: Parts) -> object:
        return in_folder(parts, lambda folder: read_tables([folder / "r.parquet"]))

    return Reader(read, ())


def good(name: str) -> tuple[Parts, ...]:
    """Give files that a reader reads."""
    return READERS[name].good or (parquet_file(),)


def ratings(name: str, *good: str | bytes) -> Reader:
    return _one(
        lambda data: in_folder(
            {name: data}, lambda folder: read_tables([folder / name])
        ),
        *good,
    )


def judgments(slug: str, choices: dict, examples: list[dict[str, str]]) -> Reader:
    """Look at files by every layout and read them by one, to the end of the preview."""

    def read(parts: Parts) -> object:
        files = [file_of(name, data) for name, data in parts.items()]
        layout_of(files)
        return preview(read_judgments(files, layout=slug, choices=choices)).to_text()

    return Reader(
        read,
        tuple(
            {name: text.encode() for name, text in files.items()} for files in examples
        ),
    )


def _key(text: str) -> object:
    key = read_key(text)
    return grade(key, [])


def _operation(name: str, *good: dict) -> Reader:
    return _one(
        lambda data: check_request(name, _parse(data)),
        *[json.dumps(one) for one in good],
    )


def _batch(text: str) -> object:
    columns, rows = post.read_table(text)
    source = "<p>${text} ${lang} $${x}</p>"
    batch_template.check_fields(source, columns)
    values = dict(zip(columns, rows[0].values, strict=True))
    return batch_template.fill(source, values, markup=False)


def _prolific(body: bytes) -> object:
    signed = hooks.signature("s", "1000", body)
    return hooks.read("s", body=body, timestamp="1000", signed=signed, now=1000.0)


def _backup(parts: Parts) -> object:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, data in parts.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return in_folder(
        {"b": out.getvalue()}, lambda folder: archive.checked_manifest(folder / "b")
    )


SUMMED = {
    "bytes": 1,
    "sha256": "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb",
}
QUESTION = (
    f'<HTMLQuestion xmlns="{SCHEMAS}2011-11-11/HTMLQuestion.xsd"><HTMLContent>'
    "<![CDATA[<p>Hello</p>]]></HTMLContent><FrameHeight>450</FrameHeight></HTMLQuestion>"
)
EXTERNAL = (
    f'<ExternalQuestion xmlns="{SCHEMAS}2006-07-14/ExternalQuestion.xsd"><ExternalURL>'
    "https://example.org:443/a?b=c</ExternalURL><FrameHeight>0</FrameHeight>"
    "</ExternalQuestion>"
)
ANSWERS = (
    "<QuestionFormAnswers xmlns='urn:x'><Answer><QuestionIdentifier>a</QuestionIdentifier>"
    "<FreeText>1 &lt; 2</FreeText></Answer></QuestionFormAnswers>"
)
NOTICE = '{"Type": "Notification", "MessageId": "7", "Message": "{\\"Events\\": [{\\"HITId\\": \\"3AB\\"}]}"}'
HIT = {
    "MaxAssignments": 2, "LifetimeInSeconds": 3600, "AssignmentDurationInSeconds": 60,
    "Reward": "0.10", "Title": "T", "Description": "D", "Question": QUESTION,
    "QualificationRequirements": [
        {"QualificationTypeId": "3AB", "Comparator": "In", "IntegerValues": [1, 2],
         "LocaleValues": [{"Country": "US"}], "RequiredToPreview": True}
    ],
    "AssignmentReviewPolicy": {
        "PolicyName": "P/2011-09-01", "Parameters": [{"Key": "K", "Values": ["1"]}]
    },
}  # fmt: skip

READERS: dict[str, Reader] = {
    "predictions, JSON": predictions(".json", '{"q1": "a", "q2": "b"}', ROWS),
    "predictions, JSONL": predictions(".jsonl", '{"id": "q1", "hyp": "a"}\n{"id": "q2", "hyp": "b"}'),
    "predictions, TSV": predictions(".tsv", "q1\ta\nq2\tb\n"),
    "studio, CSV": table(".csv", 'id,source,Ada\n1,"Why, so?",Because\n2,How?,Thus\n', f"id;talk\n1;'{TALK}'\n"),
    "studio, TSV": table(".tsv", "id\tsource\tAda\n1\tWhy?\tBecause\n"),
    "studio, JSON": table(".json", ROWS, f"[{ROWS.strip().replace(chr(10), ',')}]", f'[{{"talk": {TALK}}}]'),
    "studio, lines": table(".txt", "One.\nTwo.\n"),
    "studio, XLSX": xlsx(),
    "bundle": bundle(),
    "release of WMT, XML": layout("wmt-xml", {"t.xml": XML}),
    "release of WMT, SGML": layout(
        "wmt-sgml",
        {f"n-{part}.x.sgm": SGML.format(set=part, one="A &amp; B", two="C", three="D")
         for part in ("src", "ref")},
    ),
    "release of WMT, text": layout("wmt-text", {"ids.txt": "1\n2\n", "source.txt": "A\nB\n", "reference.A.txt": "C\nD\n"}),
    "release of aNLG": layout("anlg-jsonl", {
        "test.jsonl": '{"story_id": "s", "obs1": "a", "obs2": "b", "hyp1": "c", "hyp2": "d", "label": 1}\n',
        "test-labels.lst": "1\n",
    }),
    "release of ARC-DA": layout("arc-da-jsonl", {"test.jsonl": '{"question_id": "M1", "question": "Why?", "answers": ["So."]}\n'}),
    "release of XSum": layout("xsum", {"test.json": '{"1": {"id": "1", "document": "D", "summary": "S"}}'}),
    "template": template(),
    "scores of a metric": scores("Kite\t0.5\nKite\t1\n", "system,instance,value\nKite,a,0.5\nKite,b,1\n", '{"system": "Kite", "instance": "a", "value": 1}\n'),
    "ratings, CSV": ratings("r.csv",
        "system,instance,worker,value\nA,i1,w1,0.5\nB,i1,w1,1\nA,i2,w2,0.25\n",
        "system_a,system_b,instance,worker,preferred\nA,B,i1,w1,A\nA,B,i2,w1,\n",
        "submission,criterion,instance,worker,value,counts\n2,fluency,01,w1,0.5,true\n10,truth,1,w3,1,false\n"),
    "ratings, JSONL": ratings("r.jsonl",
        '{"system": "A", "instance": "i1", "worker": "w1", "value": 0.5}\n{"system": "B", "instance": "i1", "worker": "w1", "value": 1}\n',
        '{"system_a": "A", "system_b": "B", "instance": "i", "worker": "w", "preferred": "A"}\n'),
    "ratings, Parquet": parquet(),
    **{f"judgments, {name}": judgments(*one) for name, one in by_reader().items()},
    "question": _text(read_question, QUESTION, EXTERNAL, FORM),
    "question form": _text(read_form, FORM),
    "answer key": _text(_key, *[key_mapped(kind) for kind in ("", PERCENT, SCALE, RANGE)]),
    "formatted content": _text(safe_html, '<p>Look <b>up</b> <a href="https://a.b">x</a></p>', '<img src="https://a.b/c.png" alt="d"/>'),
    # out of XML, which holds no halves of pairs
    "answer format": _one(lambda data: AnswerFormat(data.decode("utf-8", "replace")).fits("2026"), r"^[12][0-9]{3}-\d(?:a|b)*\u00e9$", refusals=(FormatError,)),
    "CreateHIT": _operation("CreateHIT", HIT),
    "SendTestEventNotification": _operation("SendTestEventNotification", {
        "Notification": {"Destination": "https://a.b/c", "Transport": "SNS", "Version": "2006-05-05", "EventTypes": ["HITReviewable"]},
        "TestEventType": "Ping",
    }),
    "batch": _text(_batch, 'text,lang\n"a, b",en\nc,de\n'),
    "reviews of a batch": _text(review.read_reviews, "AssignmentId,Approve,Reject\n3A,x,\n3B,,Empty\n"),
    "notice of Mechanical Turk": _one(lambda data: calls.hits_in(calls.open_envelope(data).message), NOTICE, '{"EventDocId": "8", "Events": [{"HITId": "3AB"}]}'),
    "notice of Prolific": _one(_prolific, '{"event_type": "study.status.change", "resource_id": "60"}'),
    "answers of Mechanical Turk": _text(read_answers, ANSWERS),
    "spans": _text(lambda text: checked_spans(text, "a text", Errors(missing=True)), '[{"start": 0, "end": 1, "severity": "minor"}, {"start": 2, "end": 4, "severity": "major"}]'),
    "signals": _text(check_answers._load_telemetry, '{"n_changes": 1, "n_focus_losses": 0, "n_copies": 0, "n_pastes": 2, "first_change_seconds": null}'),
    "Markdown": _text(to_html, "# Hi\n\n- [x](https://a.b) **b** `c`\n\n> 1. d\n\n| a |\n|---|\n| b |\n"),
    "backup": Reader(_backup, ({"database": b"a", "manifest.json": json.dumps({"format": 2, "files": {"database": SUMMED}}).encode()},)),
}  # fmt: skip
