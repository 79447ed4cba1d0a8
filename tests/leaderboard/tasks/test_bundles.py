"""A task goes out as a bundle and comes in again: same bytes, and nothing hostile."""

import io
import json
import stat
import tomllib
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command

from crowd import hit_templates
from crowd.hit_templates import ROOT
from crowd.hit_templates.template import FILES
from genie.lib.errors import GenieError
from leaderboard.checks import task_folders_are_usable
from leaderboard.models import Instance, Task
from leaderboard.tasks import shipped
from leaderboard.tasks.drafts import bundle as bundles
from leaderboard.tasks.drafts.bundle import open_bundle, toml_of, unpack_bundle
from leaderboard.tasks.services.bundles import export_bundle, import_bundle, look_at
from leaderboard.tasks.services.load import load_task

DOCUMENT = shipped.definition("demo-qa")
HOSTILE = 'a "b" \\ \n"""\n\\n \x7f\t\u2028 é 🙂 \\'


def renamed(bundle, slug="copy"):
    text = bundle.files["task.toml"].decode()
    text = text.replace(f'slug = "{bundle.slug}"', f'slug = "{slug}"')
    files = {**bundle.files, "task.toml": text.encode()}
    return bundles.Bundle(slug, tomllib.loads(text), files)


@pytest.mark.parametrize("slug", shipped.known_tasks())
def test_every_shipped_definition_is_written_and_read_again(slug):
    document = shipped.definition(slug)
    assert tomllib.loads(toml_of(document)) == document
    bundle = open_bundle(Path(shipped.folder(slug)))
    assert bundle.slug == slug
    # a task that comes with Genie is not replaced
    with pytest.raises(GenieError, match="different slug"):
        import_bundle(bundle)


def test_hostile_texts_are_written_and_read_again():
    document = {
        HOSTILE: HOSTILE,
        "list": [HOSTILE, 1, 0.5, True],
        "empty": {},
        "a": {"b": {HOSTILE: HOSTILE}, "c": {}},
    }
    assert tomllib.loads(toml_of(document)) == document


@pytest.mark.parametrize("slug", ["demo-qa", "demo-abductive"])
def test_out_and_in_and_out_gives_the_same_bytes(slug, tmp_path):
    bundle = export_bundle(load_task(slug).task, with_references=True)
    assert (
        bundle.to_zip()
        == export_bundle(Task.objects.get(slug=slug), with_references=True).to_zip()
    )
    copy = renamed(bundle)
    report = import_bundle(unpack_bundle(copy.to_zip()))
    assert report.created
    again = export_bundle(report.task, with_references=True)
    assert again.to_zip() == copy.to_zip()
    # as a folder too, and a second time nothing changes
    assert not import_bundle(open_bundle(again.write(tmp_path))).created
    rows = Instance.own.order_by("task", "position")
    values = list(rows.values_list("instance_id", "fields", "references"))
    assert values[: len(values) // 2] == values[len(values) // 2 :]


def test_hidden_references_are_for_whom_may_see_them(tmp_path, monkeypatch):
    task = load_task("demo-qa", hide_references=True).task
    withheld = export_bundle(task, with_references=False)
    assert b'"references": ["' not in withheld.files["test.jsonl"]
    assert withheld.document["release"]["hidden_references"] is True
    told = export_bundle(task, with_references=True)
    assert b'"references": ["' in told.files["test.jsonl"]
    out = io.StringIO()
    path = tmp_path / "qa.zip"
    call_command("export_task", "demo-qa", "--out", str(path), stdout=out)
    assert "does not include the hidden references" in out.getvalue()
    assert unpack_bundle(path.read_bytes()).files == withheld.files
    stream = SimpleNamespace(buffer=io.BytesIO(), flush=bool)
    monkeypatch.setattr("sys.stdout", stream)
    call_command("export_task", "demo-qa", "--out", "-", stdout=out)
    monkeypatch.setattr("leaderboard.files._standard_input", stream.buffer.getvalue)
    assert open_bundle(Path("-")).files == withheld.files


def test_all_that_is_wrong_with_a_bundle_is_said_at_once():
    document = {**DOCUMENT, "slug": "copy", "titel": "x"}
    document["human"] = {**DOCUMENT["human"], "design": "none", "reward_cents": -1}
    bundle = bundles.bundle_of(document, [("1", {"question": "Why?"}, [])])
    problems = " ".join(look_at(bundle).problems)
    for key in ("titel", "human.design", "human.reward_cents"):
        assert key in problems
    with pytest.raises(GenieError):
        import_bundle(bundle)
    assert not Task.own.exists()


def zipped(files, **attributes):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            for attribute, value in attributes.items():
                setattr(info, attribute, value)
            archive.writestr(info, data)
    return out.getvalue()


TOML = b'slug = "copy"\n'
BAD = {
    "no zip": (b"task.toml", "no zip file"),
    "a path outside": (zipped([("../task.toml", TOML)]), "leads outside"),
    "an absolute path": (zipped([("/etc/task.toml", TOML)]), "leads outside"),
    "a path of Windows": (zipped([("..\\task.toml", TOML)]), "leads outside"),
    "a drive": (zipped([("c:/task.toml", TOML)]), "leads outside"),
    "a link": (
        zipped([("task.toml", b"/etc/passwd")], external_attr=(stat.S_IFLNK | 0o777) << 16),
        "is a link",
    ),
    "one name twice": (zipped([("a/task.toml", TOML), ("a/./task.toml", TOML)]), "two files"),
    "a bomb": (zipped([("task.toml", b" " * 9_000_000)]), "unpacks to more than"),
    "too many files": (
        zipped([(f"{n}.txt", b"") for n in range(bundles.MOST_FILES + 1)]),
        "more than 200 files",
    ),
    "no definition": (zipped([("test.jsonl", b"{}")]), "no task.toml"),
    "two definitions": (
        zipped([("a/task.toml", TOML), ("b/task.toml", TOML)]), "more than one"
    ),
    "broken TOML": (zipped([("task.toml", b"slug = ")]), "cannot be read"),
    "a slug that is a path": (zipped([("task.toml", b'slug = "../x"')]), "lower-case"),
    "a cut file": (zipped([("task.toml", TOML)])[:40], "no zip file"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
def test_hostile_bundles_are_refused_in_words(kind):
    data, words = BAD[kind]
    with pytest.raises(GenieError, match=words) as refused:
        unpack_bundle(data)
    assert refused.value.code == "bad-bundle"


@pytest.mark.parametrize(
    ("release", "files"),
    [
        ({"reader": "wmt-text", "options": dict.fromkeys(("source", "ids", "references"), "SECRET")}, {}),
        ({"reader": "wmt-text", "options": dict.fromkeys(("source", "ids", "references"), "../x.txt")}, {}),
        ({"reader": "wmt-xml", "options": {"file": "../*"}}, {}),
        ({"reader": "wmt-xml", "options": {"file": "/etc/*"}}, {}),
        ({"reader": "wmt-xml", "options": {"file": ""}}, {}),
        ({"reader": "wmt-sgml", "options": {"source": 3}}, {}),
        ({"reader": "demo-jsonl", "options": {"source": ["q"]}}, {}),
        ({"reader": "demo-jsonl", "options": "x"}, {}),
        ({}, {"x": b"", "x/y": b""}),
        ({}, {"x" * 290: b""}),
    ],
)  # fmt: skip
def test_whatever_a_bundle_names_nothing_outside_is_read(tmp_path, release, files):
    secret = tmp_path / "secret"
    secret.write_text("SECRET_KEY=1\n")
    options = release.get("options")
    if isinstance(options, dict):
        options = {k: str(secret) if v == "SECRET" else v for k, v in options.items()}
    row = b'{"id": "1", "fields": {"q": "Why?"}, "references": ["So."]}\n'
    bundle = bundles.Bundle(
        "mine",
        {"slug": "mine", "release": {**release, "options": options}},
        {"test.jsonl": row, **files},
    )
    looked = look_at(bundle)
    assert looked.problems
    assert (looked.n_instances == 0) == (options != "x")
    # links in a folder are not followed either
    (tmp_path / "task.toml").write_bytes(TOML)
    link = tmp_path / "test.jsonl"
    for target in ("/etc/passwd", secret):
        link.unlink(missing_ok=True)
        link.symlink_to(target)
        with pytest.raises(GenieError, match="is a link"):
            open_bundle(tmp_path)


@pytest.fixture
def outside(tmp_path, settings):
    settings.GENIE = {**settings.GENIE, "TASKS": [str(tmp_path / "tasks")]}
    folder = tmp_path / "tasks"
    text = (shipped.folder("demo-qa") / "test.jsonl").read_text("utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    data = [(row["id"], row["fields"], row["references"]) for row in rows]
    bundles.bundle_of({**DOCUMENT, "slug": "mine"}, data).write(folder)
    return folder


def test_tasks_outside_the_tree_are_found_and_loaded(outside):
    assert "mine" in shipped.known_tasks()
    assert shipped.outside() == ["mine"]
    out = io.StringIO()
    call_command("load_task", "mine", stdout=out)
    assert "Loaded mine: 40 instances" in out.getvalue()
    call_command("load_task", "mine", "--json", stdout=(out := io.StringIO()))
    assert json.loads(out.getvalue())["created"] is False
    assert task_folders_are_usable() == []


def test_a_broken_one_is_named_with_all_problems_and_stops_nothing(outside):
    document = {**DOCUMENT, "slug": "bad", "titel": "x", "quota": {"days": 0}}
    (outside / "bad").mkdir()
    (outside / "bad/task.toml").write_text(toml_of(document), "utf-8")
    (outside / "worse").mkdir()
    (outside / "worse/task.toml").write_text("= ", "utf-8")
    found = task_folders_are_usable()
    assert {one.id for one in found} == {"genie.W002"}
    said = " ".join(one.msg for one in found)
    for words in ("bad/task.toml: titel", "quota.days", "worse/task.toml"):
        assert words in said
    with pytest.raises(CommandError):
        call_command("load_task", "bad")
    call_command("load_task", "mine", stdout=io.StringIO())


def test_a_folder_that_is_not_there_is_named(settings, tmp_path):
    settings.GENIE = {**settings.GENIE, "TASKS": [str(tmp_path / "gone")]}
    [found] = task_folders_are_usable()
    assert found.id == "genie.W003"
    assert str(tmp_path / "gone") in found.msg


def test_a_task_whose_name_is_taken_is_named(outside):
    (outside / "demo-qa").mkdir()
    (outside / "demo-qa/task.toml").write_text("= ", "utf-8")
    [found] = task_folders_are_usable()
    assert found.id == "genie.W004"
    assert str(outside / "demo-qa") in found.msg
    assert shipped.outside() == ["mine"]
    assert shipped.definition("demo-qa")["title"] == "School Science (demo)"


def test_the_command_looks_before_it_loads(tmp_path):
    rows = [("1", {"question": "Why?"}, []), ("2", {"question": "Who?"}, ["I"])]
    home = bundles.bundle_of({**DOCUMENT, "slug": "mine"}, rows).write(tmp_path)
    out = io.StringIO()
    call_command("import_task", str(home), "--dry-run", stdout=out)
    assert "mine could be loaded: 2 instances, 1 with references." in out.getvalue()
    out = io.StringIO()
    call_command("import_task", str(home), "--dry-run", "--json", stdout=out)
    assert json.loads(out.getvalue())["n_references"] == 1
    assert not Task.own.exists()
    (home / "test.jsonl").write_text('{"id": "1"}\n', "utf-8")
    (home / "task.toml").write_text(
        toml_of({**DOCUMENT, "slug": "mine", "x": 1}), "utf-8"
    )
    with pytest.raises(CommandError) as refused:
        call_command("import_task", str(home))
    assert "x: there is no such key" in str(refused.value)
    assert "test.jsonl, line 1: the field fields must be" in str(refused.value)
    for wrong in (tmp_path / "gone", tmp_path / "mine/test.jsonl"):
        with pytest.raises(CommandError):
            call_command("import_task", str(wrong))


TEMPLATE = {
    f"templates/my-page/{name}": (ROOT / "question-answering" / name).read_bytes()
    for name in FILES
}
QUESTIONS = [(str(n), {"question": f"Why {n}?"}, [f"So {n}."]) for n in range(40)]


def with_template(slug="mine", files=(), **changes):
    human = {**DOCUMENT["human"], "hit_template": "my-page"}
    document = {**DOCUMENT, "slug": slug, "human": human, **changes}
    bundle = bundles.bundle_of(document, QUESTIONS)
    toml = b"# who asks, and why\n" + bundle.files["task.toml"]
    more = {
        **TEMPLATE,
        "task.toml": toml,
        "notes/why.bin": b"\x00\xff\r\n",
        **dict(files),
    }
    return bundles.Bundle(slug, document, {**bundle.files, **more})


def test_a_bundle_brings_template_and_files_and_gives_the_same_bytes(tmp_path):
    bundle = with_template()
    assert look_at(bundle).problems == []
    # nothing of it is there before it is loaded
    with pytest.raises(GenieError, match="no HIT template"):
        hit_templates.get("my-page")
    task = import_bundle(unpack_bundle(bundle.to_zip())).task
    assert task.human.criteria
    page = hit_templates.get("my-page")
    assert "Why" in page.render({**page.example, "prediction": "Why"})
    out = export_bundle(task, with_references=True)
    assert out.to_zip() == bundle.to_zip()
    assert not import_bundle(open_bundle(out.write(tmp_path))).created
    # another task may ask by it, and takes it along
    other = with_template("other")
    files = {k: v for k, v in other.files.items() if k not in TEMPLATE}
    second = import_bundle(bundles.Bundle("other", other.document, files)).task
    assert TEMPLATE.items() <= export_bundle(second, with_references=True).files.items()
    # what has changed is given back, what is gone is gone
    changed = with_template(files={"notes/why.bin": b"2", "more.txt": b"x"})
    assert not import_bundle(changed).created
    assert export_bundle(task, with_references=True).to_zip() == changed.to_zip()
    import_bundle(with_template())
    assert export_bundle(task, with_references=True).to_zip() == bundle.to_zip()


def test_files_beside_hidden_references_are_for_whom_may_see_those():
    hidden = {**DOCUMENT["release"], "hidden_references": True}
    beside = {"templates/answers.txt": b"The answer is 42."}
    task = import_bundle(with_template(files=beside, release=hidden)).task
    withheld = export_bundle(task, with_references=False).files
    assert {*withheld} == {"task.toml", "test.jsonl", *TEMPLATE}
    assert "notes/why.bin" in export_bundle(task, with_references=True).files


def test_a_hostile_template_is_refused_and_nothing_is_kept():
    page = "templates/my-page/template.html"
    hostile = with_template(files={page: TEMPLATE[page] + b"<script>x</script>"})
    [problem] = look_at(hostile).problems
    assert "<script>" in problem
    with pytest.raises(GenieError, match="not among the plain tags"):
        import_bundle(hostile)
    assert not Task.own.exists()
    assert hit_templates.files_of("my-page") is None


def test_a_template_that_people_may_have_judged_by_never_changes():
    import_bundle(with_template())
    page = "templates/my-page/template.html"
    other = with_template("other", {page: b"<div></div>" + TEMPLATE[page]})
    assert "different HIT template named my-page" in " ".join(look_at(other).problems)
    with pytest.raises(GenieError, match="may be in use"):
        import_bundle(other)
    ours = {k.replace("my-page", "translation"): v for k, v in TEMPLATE.items()}
    assert (
        "different HIT template named translation"
        in look_at(with_template("third", ours)).problems[0]
    )


def test_more_than_a_database_should_hold_is_refused():
    large = with_template(files={"big.bin": b" " * (16 << 20)})
    assert "16 MB together" in " ".join(look_at(large).problems)
    with pytest.raises(GenieError, match="16 MB together"):
        import_bundle(large)
    assert not Task.own.exists()


def test_a_folder_of_tasks_may_bring_templates_too(outside):
    with_template("paged").write(outside)
    assert task_folders_are_usable() == []
    call_command("load_task", "paged", stdout=io.StringIO())
    assert "my-page" in hit_templates.stored_templates()


def test_what_tools_leave_beside_files_is_left_out(tmp_path):
    bundle = with_template(
        files={".git/HEAD": b"x", ".DS_Store": b"x", "__MACOSX/a": b"x"}
    )
    for one in (open_bundle(bundle.write(tmp_path)), unpack_bundle(bundle.to_zip())):
        assert one.files == with_template().files
