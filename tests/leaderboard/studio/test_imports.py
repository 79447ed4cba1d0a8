"""Judgments that people have already: by page and by program, to a board that says so."""

import gzip
import io
import json
import tomllib
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from genie.history import log
from genie.lib import jobs
from leaderboard.models import Import, Score, Submission, Task
from leaderboard.releases.make import make
from leaderboard.releases.rebuilding.rebuild import rebuild
from leaderboard.studio.import_forms import ChoicesForm
from leaderboard.studio.models import Draft
from leaderboard.studio.services import bring
from leaderboard.submissions.selectors import Staff
from tests.cast import allow
from tests.factories import make_task, make_user
from tests.kept import kept

MARKS = ("imported from", "imported ratings")


def table(n=8, workers=3):
    lines = ["system,instance,worker,criterion,value"]
    for system, base in (("ada", 78), ("bob", 40), ("cyd", 60)):
        for i in range(n):
            for w in range(workers):
                lines.append(f"{system},q{i},w{w},fluency,{base + 3 * i - 2 * w}")
    return "\n".join(lines).encode()


def file(data, name="ratings.csv"):
    return SimpleUploadedFile(name, data)


def work_off():
    while jobs.run_next():
        pass


@pytest.fixture
def sara(client):
    sara = make_user("sara", is_staff=True)
    allow(sara, Staff.IMPORT_TASKS)
    client.force_login(sara)
    return sara


def began(client, data=None, name="ratings.csv", **fields):
    sent = {"title": "Old ratings", "slug": "", "files": file(data or table(), name)}
    answer = client.post(reverse("leaderboard:studio-import-new"), {**sent, **fields})
    assert answer.status_code == 302, answer.content.decode()
    return answer["Location"]


@pytest.fixture
def imported(client, sara):
    def make():
        page = began(client)
        work_off()
        client.post(page, {"import": "1", "source": "https://ratings.example/old"})
        work_off()
        return Task.objects.get(slug="old-ratings")

    task = kept("ratings that Sara imported", make)
    client.force_login(sara)
    return task


def test_files_become_a_board_by_page(client, sara):
    page = began(client)
    assert "Reading the files" in client.get(page).content.decode()
    work_off()
    answer = client.get(page)
    form = answer.context["choices_form"]
    roles = {one["name"]: menu.value() for one, menu in form.table}
    assert roles == {
        "system": "system",
        "instance": "item",
        "worker": "rater",
        "criterion": "criterion",
        "value": "rating",
    }
    assert len(form.rows) == 10
    assert [field.label for field in form.main] == ["Scale of “fluency”"]
    shown = answer.content.decode()
    assert '<td class="right num">86.50</td>' in shown
    assert "This can be imported" in shown
    assert "This is a preview" in shown
    assert "72" in shown
    assert not Task.own.exists()
    # nothing without a source, and what was typed stays
    refused = client.post(page, {"import": "1", "licence": "CC BY 4.0"})
    assert refused.status_code == 400
    assert "CC BY 4.0" in refused.content.decode()
    said = {"source": "https://ratings.example/old", "known_pay": "12 euros an hour"}
    client.post(page, {"import": "1", **said})
    assert "Importing" in client.get(page).content.decode()
    work_off()
    row = Import.objects.get()
    assert (row.source, row.known) == (said["source"], {"pay": said["known_pay"]})
    assert row.task.imported
    assert not row.task.accepts_submissions
    assert reverse("leaderboard:board", args=["old-ratings"]) in (
        client.get(page).content.decode()
    )
    # what is imported is not imported again
    client.post(page, {"import": "1", **said})
    work_off()
    assert Import.objects.count() == 1


def test_what_cannot_be_read_is_said_and_can_be_mended(client, sara):
    page = began(client, b"nothing,of,use\n1,2,3\n")
    work_off()
    shown = client.get(page).content.decode()
    assert "cannot be imported yet" in shown
    client.post(page, {"import": "1", "source": "x"})
    work_off()
    assert not Import.objects.exists()
    # the same name takes the older file's place, and is read anew
    client.post(page, {"add": "1", "files": file(table())})
    work_off()
    assert "This can be imported" in client.get(page).content.decode()


@pytest.mark.parametrize("kind", ["gz", "zip"])
def test_packed_files_are_read(client, sara, kind):
    data, name = gzip.compress(table()), "ratings.csv.gz"
    if kind == "zip":
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("inside/ratings.csv", table())
        data, name = packed.getvalue(), "all.zip"
    page = began(client, data, name)
    work_off()
    assert "This can be imported" in client.get(page).content.decode()


def test_a_task_with_judgments_of_its_own_takes_none_of_others(client, sara):
    make_task("tidy-news")
    for sent, words in (
        ({"slug": "tidy-news", "files": file(table())}, "cannot be mixed"),
        ({"slug": ""}, "Choose at least one file."),
    ):
        page = reverse("leaderboard:studio-import-new")
        answer = client.post(page, {"title": "x", **sent})
        assert answer.status_code == 400
        assert words in answer.content.decode()
    assert not Draft.objects.exists()


def test_a_late_reading_writes_nothing_over_a_newer_one(client, sara):
    page = began(client, b"nothing,of,use\n1,2,3\n")
    draft = Draft.objects.get()
    late = bring.state_of(draft)["asked"]
    client.post(page, {"add": "1", "files": file(table())})
    assert bring.state_of(Draft.objects.get())["asked"] == late + 1
    work_off()
    assert bring.state_of(Draft.objects.get())["error"] == ""


def test_by_program_a_dry_run_stores_nothing_and_an_import_follows(client, sara):
    about = {"file": file(table()), "task": "old", "source": "a paper"}
    answer = client.post("/api/v1/imports/", {**about, "dry_run": "true"})
    assert (answer.status_code, answer.json()["state"]) == (202, "reading")
    work_off()
    found = client.get(answer.json()["url"]).json()
    assert (found["state"], found["error"], found["html_url"]) == ("read", "", None)
    assert found["seen"]["n_judgments"] == 72
    assert not Task.own.exists()
    about["file"] = file(table())
    answer = client.post("/api/v1/imports/", {**about, "known": '{"pay": "nothing"}'})
    url = answer.json()["url"]
    work_off()
    found = client.get(url).json()
    assert found["state"] == "imported"
    assert found["html_url"] == "http://testserver/tasks/old/"
    assert Import.objects.get().known == {"pay": "nothing"}
    refused = client.post("/api/v1/imports/", {**about, "known": "[]"})
    assert refused.status_code == 400
    # others have drafts of their own
    client.force_login(make_user("eve", is_staff=True, is_superuser=True))
    assert client.get(url).status_code == 404


def test_no_page_or_file_takes_them_for_ours(without_decoys, client, imported):
    client.logout()
    log.number()
    system = Submission.objects.get(system_name="ada")
    task, pk = "old-ratings", system.pk
    pages = [
        *("board", "pairs", "outputs", "methods", "metric-board"),
        *("board-svg", "board-feed"),
    ]
    named = [("public-log",), *((name, task) for name in pages)]
    named += [("submission", pk), ("card", pk)]
    named += [("card-file", pk, form) for form in ("json", "md", "tex")]
    named += [("board-export", task, form) for form in ("json", "md", "tex", "bib")]
    addresses = [reverse(f"leaderboard:{name}", args=args) for name, *args in named]
    for address in ["/", "/tasks/", *addresses]:
        answer = client.get(address)
        text = answer.content.decode()
        assert answer.status_code == 200, address
        assert any(mark in text.lower() for mark in MARKS), address
        # of money, tests and pages of ours there is nothing to say
        for wrong in ("$0.00", "0 of 0", "Raters were asked", "per assignment at"):
            assert wrong not in text, (address, wrong)
    home = client.get("/").content.decode()
    assert "Judgments of others" in home
    assert "human rating" not in home


def test_nothing_more_can_be_asked_of_an_imported_task(client, sara, imported):
    for name in ("ask-comparison", "ask-joint"):
        answer = client.get(
            reverse(f"leaderboard:{name}", args=["old-ratings"]), follow=True
        )
        assert "you cannot add systems here" in answer.content.decode()
    shown = client.get(reverse("leaderboard:submit", args=["old-ratings"]))
    text = shown.content.decode()
    assert "you cannot add systems here" in " ".join(text.split())
    assert 'type="file"' not in text


def test_staff_take_an_import_back(client, imported):
    client.force_login(make_user("root", is_staff=True, is_superuser=True))
    changelist = reverse("admin:leaderboard_import_changelist")
    assert "ratings.example" in client.get(changelist).content.decode()
    client.post(
        changelist,
        {
            "action": "take_back_selected",
            "_selected_action": [Import.objects.get().pk],
            "reason": "The wrong files.",
            "confirmed": "1",
        },
    )
    assert not Task.own.exists()


def test_what_breaks_is_said_and_can_be_tried_again(client, sara, monkeypatch):
    page = began(client)
    work_off()

    def broken(*args, **kwargs):
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr(bring, "bring_in", broken)
        client.post(page, {"import": "1", "source": "a paper"})
        with pytest.raises(ZeroDivisionError):
            bring.bring_in_now(Draft.objects.get().pk)
    assert "went wrong on our side" in client.get(page).content.decode()
    client.post(page, {"again": "1", "layout": ""})
    work_off()
    client.post(page, {"import": "1", "source": "a paper"})
    bring.bring_in_now(Draft.objects.get().pk)
    # a job that died before it could say so finds that it is done
    draft = Draft.objects.get()
    bring._put(draft, phase=bring.IMPORTING)
    bring.bring_in_now(draft.pk)
    assert bring.state_of(Draft.objects.get())["phase"] == bring.IMPORTED
    assert Import.objects.count() == 1


def test_a_release_with_a_scale_for_each_criterion_is_rebuilt(client, sara, tmp_path):
    errors = [
        line.replace("fluency", "errors").rpartition(",")[0] + f",{-(n % 7)}"
        for n, line in enumerate(table().decode().splitlines()[1:])
    ]
    page = began(client, table() + b"\n" + "\n".join(errors).encode())
    work_off()
    client.post(page, {"again": "1", "layout": "", "choice_0": "fluency"})
    work_off()
    client.post(page, {"import": "1", "source": "a paper"})
    work_off()
    make(Task.own.get(), tmp_path / "release")
    manifest = json.loads((tmp_path / "release" / "manifest.json").read_text())
    assert "a paper" in manifest["imported"]
    assert rebuild(tmp_path / "release").n_same["scores"]


def few():
    lines = ["system,instance,worker,criterion,value"]
    lines += [
        f"{('ada', 'bob')[n % 2]},q{n // 2},w{n % 3},{criterion},{n % 3 + 2}"
        for n in range(12)
        for criterion in ("fluency", "truth")
    ]
    return "\n".join(lines).encode()


def test_a_guess_that_lower_is_better_is_a_ticked_box():
    asked = {"name": "lower_is_better", "options": ["a", "error"], "found": "error"}
    seen = {"columns": [{"name": "error", "role": "rating"}], "choices": [asked]}
    seen["criteria"] = asked["options"]
    form = ChoicesForm(None, seen, {})
    assert form["lower_is_better"].initial == ("error",)
    assert "lower_is_better" in [field.name for field in form.main]
    form = ChoicesForm({}, seen, {})
    assert form.is_valid()
    assert form.said["choices"]["lower_is_better"] == []


def test_a_scale_that_values_do_not_show_is_a_field_to_fill_in(client, sara):
    page = began(client, few())
    work_off()
    shown = client.get(page).content.decode()
    assert "Confirm the scale of fluency, truth" in shown
    assert "Scale of “truth”" in shown
    client.post(page, {"import": "1", "source": "a paper"})
    work_off()
    assert not Import.objects.exists()
    form = client.get(page).context["choices_form"]
    assert [form[f"scale_{n}"].initial for n in range(2)] == ["1 to 5"] * 2
    scales = {"scale_0": "1 to 5", "scale_1": "0 to 4"}
    client.post(page, {"again": "1", "layout": "", "choice_0": "fluency", **scales})
    work_off()
    answer = client.get(page)
    assert "1 to 5 (as entered)" in answer.content.decode()
    form = answer.context["choices_form"]
    assert [form[f"scale_{n}"].initial for n in range(2)] == ["1 to 5", "0 to 4"]
    client.post(page, {"import": "1", "source": "a paper", "title": "Old Ratings, 2"})
    work_off()
    row = Import.objects.get()
    assert row.said["scales"] == {"fluency": "number_1_5", "truth": "number_0_4"}
    assert row.task.title == "Old Ratings, 2"
    assert "number_1_5" in {s.evaluation.campaign.hit_type.scale for s in Score.own}


def test_names_that_are_nearly_the_same_are_a_question_of_the_page(client, sara):
    page = began(client, table().replace(b"cyd", b"Ada"))
    work_off()
    shown = client.get(page).content.decode()
    assert "differ only in case, spaces or quotation marks" in shown
    form = client.get(page).context["choices_form"]
    (field,) = (name for name, of in form.of_choices.items() if of == "same_systems")
    client.post(page, {"again": "1", "layout": "", field: "no"})
    work_off()
    assert "This can be imported" in client.get(page).content.decode()
    client.post(page, {"import": "1", "source": "a paper"})
    work_off()
    names = Import.objects.get().task.submissions.values_list("system_name", flat=True)
    assert set(names) == {"ada", "Ada", "bob"}


ODD = ["wer,was,sigma,rang,mail"] + [
    f"Ada Byron {n % 3},i{n // 2},{('<b>rot', 'blau')[n % 2]},"
    f"{('gut', 'schlecht')[n % 3 > 1]},eva{n}@example.org"
    for n in range(18)
]


def menus_of(answer, **roles):
    """Return the fields of the page's form as a browser sends them, with new roles."""
    form = answer.context["choices_form"]
    sent = {name: form[name].value() for name in form.fields if form[name].value()}
    return {"layout": "", **sent} | {
        menu.name: roles.get(one["name"], one["role"]) for one, menu in form.table
    }


def test_columns_that_nothing_recognizes_get_roles_on_the_page(client, sara):
    page = began(client, "\n".join(ODD).encode())
    work_off()
    answer = client.get(page)
    shown = answer.content.decode()
    assert "Which column names the systems" in shown
    assert "&lt;b&gt;rot" in shown
    # no addresses and no names of people are stored in a draft
    assert "example.org" not in str(Draft.objects.get().state)
    roles = {"was": "item", "wer": "rater", "sigma": "system", "rang": "rating"}
    client.post(page, {"again": "1", **menus_of(answer, **roles)})
    work_off()
    assert "Ada" not in str(bring.state_of(Draft.objects.get())["seen"])
    answer = client.get(page)
    words = {field.label: field.name for field in answer.context["choices_form"].words}
    assert list(words) == ["“gut”", "“schlecht”"]
    assert "12 answers of rang" in answer.content.decode()
    bad = menus_of(answer) | {words["“gut”"]: "viel"}
    assert client.post(page, {"again": "1", **bad}).status_code == 400
    worth = {words["“gut”"]: "2", words["“schlecht”"]: "1,5"}
    client.post(page, {"again": "1", **menus_of(answer), **worth})
    work_off()
    answer = client.get(page)
    scale = menus_of(answer) | {"scale_0": "1 to 2", "source": "a paper"}
    # changed choices are read before they are imported, and the source stays
    client.post(page, {"import": "1", **scale})
    work_off()
    assert not Import.objects.exists()
    answer = client.get(page)
    assert answer.context["about_form"]["source"].value() == "a paper"
    client.post(page, {"import": "1", **menus_of(answer), "source": "a paper"})
    work_off()
    row = Import.objects.get()
    expected = {role: [column] for column, role in roles.items()}
    expected["words"] = {"gut": 2, "schlecht": 1.5}
    assert row.choices == expected
    assert (row.n_workers, row.task.submissions.count()) == (3, 2)


def test_a_mapping_is_downloaded_and_used_for_another_file(client, sara):
    page = began(client, "\n".join(ODD).encode())
    work_off()
    mapping = (
        b'rating = ["rang"]\nsystem = ":all"\n[words]\ngut = 2\nschlecht = "none"\n'
    )
    client.post(page, {"use": "1", "mapping": file(mapping, "m.toml")})
    work_off()
    answer = client.get(page)
    assert answer.context["seen"]["board"] == [["all", [[12, 2.0]]]]
    assert answer.context["choices_form"]["one_system"].value() == "all"
    sent = client.get(f"{page}?mapping")
    assert sent["Content-Disposition"] == 'attachment; filename="old-ratings.toml"'
    assert tomllib.loads(sent.content.decode()) == tomllib.loads(mapping.decode())
    for wrong, words in ((b"a = 1 2", "is no mapping"), (b"text = 1", "cannot be 1")):
        client.post(page, {"use": "1", "mapping": file(wrong, "m.toml")})
        work_off()
        assert words in client.get(page).content.decode()
    # a wrong mapping still leaves a page with the columns
    assert len(client.get(page).context["choices_form"].columns) == 5


def test_programs_choose_roles_and_see_columns_and_questions(client, sara):
    sent = {"file": file("\n".join(ODD).encode()), "task": "odd", "dry_run": "true"}
    url = client.post("/api/v1/imports/", sent).json()["url"]
    work_off()
    found = client.get(url).json()
    assert [one["name"] for one in found["questions"]] == ["system"]
    columns = {one["name"]: one for one in found["columns"]}
    assert columns["rang"]["examples"] == ["gut", "schlecht"]
    hidden = (columns["mail"]["reason"], columns["mail"]["cells"])
    assert hidden == ("it identifies people", [])
    words = {"gut": 2, "schlecht": 1}
    choices = {"rating": ["rang"], "system": "sigma", "words": words}
    sent["choices"] = json.dumps(choices)
    for scales, state in (("{}", "read"), ('{"*": "1 to 5"}', "imported")):
        again = {
            "file": file("\n".join(ODD).encode()),
            "scales": scales,
            "dry_run": "0",
        }
        url = client.post("/api/v1/imports/", sent | again).json()["url"]
        work_off()
        found = client.get(url).json()
        assert found["state"] == state
        assert ("Confirm the scale" in found["error"]) == (state == "read")
        assert found["mapping"]["system"] == ["sigma"]
        assert found["seen"]["board"][1][0] == "blau"
    assert Import.objects.get().said["scales"] == {"rang": "number_1_5"}
