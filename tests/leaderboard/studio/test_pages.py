"""The studio in the browser: from files to a link, one request at a time."""

import re
from datetime import timedelta

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from genie.lib import jobs
from leaderboard.jobs import forget_drafts
from leaderboard.models import Comparison, Draft, DraftFile, Submission, Task
from leaderboard.submissions.selectors import Staff
from tests.cast import allow
from tests.each import each
from tests.factories import make_user
from tests.leaderboard.studio.test_new import WIDE, csv_of

MAKES = "leaderboard.add_task"


def upload(name, content):
    data = content if isinstance(content, bytes) else content.encode()
    return SimpleUploadedFile(name, data)


def begin(client, files=None, **named):
    chosen = files or {"a.csv": csv_of(WIDE)}
    data = {"title": "My answers", "who": "link", **named}
    data["files"] = [upload(name, content) for name, content in chosen.items()]
    return client.post(reverse("leaderboard:studio-new"), data)


def at(draft, step):
    return reverse(f"leaderboard:studio-{step}", args=[draft.pk])


def text(answer):
    return answer.content.decode()


def asked(**changes):
    return {
        "name_1": "overall",
        "question_1": "The answer is correct.",
        **changes,
    }


def _loaded(mia, files=None, question="The answer is correct.", **people):
    begin(mia, files)
    draft = Draft.objects.get()
    answer = mia.post(at(draft, "files"), {"on": ""})
    assert answer["Location"] == at(draft, "ask")
    answer = mia.post(at(draft, "ask"), asked(question_1=question, on=""))
    assert answer["Location"] == at(draft, "people")
    data = {"who": "link", "ratings": "1", **people, "on": ""}
    assert mia.post(at(draft, "people"), data)["Location"] == at(draft, "start")
    assert not Task.own.exists()
    mia.post(at(draft, "start"), {"load": ""})
    draft.refresh_from_db()
    assert "checking and measuring" in text(mia.get(at(draft, "start")))
    jobs.drain()
    return draft


def test_the_price_said_before_loading_is_the_one_that_is_approved(mia):
    draft = _loaded(mia, who="invited", reward="0.08", tests_percent="0")
    page = text(mia.get(at(draft, "people")))
    shown = re.search(r"with fees and test questions</dt><dd>([^<]+)", page)[1]
    assert shown == "$1.60"
    page = text(mia.get(at(draft, "start")))
    assert f"I approve up to {shown}" in page


def test_pairs_are_requested_once_measured_and_then_priced(mia):
    draft = _loaded(mia, question="Which is better?", who="invited", reward="0.10")
    assert Comparison.objects.count() == 1
    # from a file, the same figures as from a board
    page = mia.get(reverse("leaderboard:ask-comparison", args=[draft.slug]))
    file = mia.get(at(draft, "people")).context["figures"]
    assert file == page.context["figures"]
    assert "$" in page.text[page.text.index('id="labels"') :]
    page = text(mia.get(at(draft, "start")))
    cents = re.search(r'name="shown_cents" value="(\d+)"', page)[1]
    assert int(cents) > 0
    less = {"approve": "", "shown_cents": "1", "agreed": "on"}
    page = text(mia.post(at(draft, "start"), less, follow=True))
    assert "was not approved" in page
    assert {one.state for one in Comparison.objects.all()} == {"REQUESTED"}


def test_who_may_not_approve_or_invite_is_told(client):
    user = make_user("max", is_staff=True)
    allow(user, MAKES)
    client.force_login(user)
    draft = _loaded(client)
    page = text(client.get(at(draft, "start")))
    assert "Staff with permission to approve" in page
    assert "Staff with permission to invite" in page
    assert 'name="approve"' not in page
    client.post(at(draft, "start"), {"approve": "", "shown_cents": "0", "agreed": "on"})
    assert {one.state for one in Submission.own} == {"MEASURED"}
    link = {"link": "", "places": "5", "days": "7"}
    assert client.post(at(draft, "start"), link).status_code == 403


def test_a_wrong_guess_is_corrected_file_by_file(mia):
    wide = {"note": [f"word {n}" for n in range(10)], **WIDE}
    begin(mia, {"a.csv": csv_of(wide)})
    draft = Draft.objects.get()
    page = text(mia.get(at(draft, "files")))
    assert "3 systems" in page
    data = {"role-0": "ignored", "name-2": "Ada 1", "role-3": "nonsense", "again": ""}
    page = text(mia.post(at(draft, "files"), data))
    assert "2 systems" in page
    assert "Ada 1" in page
    # what was said stays, there and back
    assert "2 systems" in text(mia.get(at(draft, "files")))
    page = text(mia.post(at(draft, "files"), {"role-2": "input", "role-3": "input"}))
    assert "no column looks like a system" in page
    assert "--system" not in page
    assert mia.get(at(draft, "ask"))["Location"] == at(draft, "files")
    assert mia.get(at(draft, "start"))["Location"] == at(draft, "files")


def test_bad_files_are_explained_and_can_be_replaced(mia):
    begin(mia, {"a.csv": "question,ada,bob\nWhy?,So.\n", "b.xlsx": b"PK\x03\x04no"})
    draft = Draft.objects.get()
    page = text(mia.get(at(draft, "files")))
    assert "a.csv, line 2: this row has 2 cells and the header 3" in page
    assert "b.xlsx" in page
    mended = {"files": [upload("a.csv", csv_of(WIDE))], "add": ""}
    mia.post(at(draft, "files"), mended)
    bad = DraftFile.objects.get(name="b.xlsx")
    mia.post(at(draft, "files"), {"drop": str(bad.pk)})
    assert "10 inputs, 2 systems" in text(mia.get(at(draft, "files")))


@each(
    ("files", "named", "said"),
    [
        ({}, {"title": ""}, "This field is required"),
        ({}, {"title": "…"}, "Enter an address"),
        ({}, {"slug": "taken"}, "already a task with the address taken"),
        ({"../x.csv": "a", "y/x.csv": "b"}, {}, "same name"),
    ],
)
def test_what_cannot_begin_is_said(mia, files, named, said):
    Task.objects.create(slug="taken", title="Taken", sample_seed=1)
    answer = mia.post(reverse("leaderboard:studio-new"), {"title": "Mine"})
    assert "Choose at least one file" in text(answer)
    answer = begin(mia, files, **named)
    assert answer.status_code == 400
    assert said in text(answer)
    assert not Draft.objects.exists()


def test_a_body_that_is_too_large_is_refused(mia, settings):
    settings.GENIE = {**settings.GENIE, "MAX_UPLOAD_BYTES": 1 << 10}
    answer = begin(mia, {"a.csv": "x" * (2 << 20)})
    assert answer.status_code == 413
    assert not Draft.objects.exists()


def test_questions_are_kept_shown_and_checked(mia):
    begin(mia)
    draft = Draft.objects.get()
    several = asked(
        name_2="Reads well",
        question_2="It reads <b>well</b>.",
        blind_2="on",
        checkboxes="added",
        instructions="Be **fair**.",
    )
    page = text(mia.post(at(draft, "ask"), several))
    assert "<strong>fair</strong>" in page
    assert "It reads &lt;b&gt;well" in page
    frame = mia.get(at(draft, "page"), {"n": "1"})
    assert "frame-ancestors 'self'" in frame["Content-Security-Policy"]
    assert frame["X-Frame-Options"] == "SAMEORIGIN"
    assert "The answer is correct." in text(frame)
    assert "What comes after beta" in text(frame)
    assert "A bad answer about beta" in text(frame)
    assert "/return/" not in text(frame)
    answer = mia.post(
        at(draft, "page"), {"x": "1"}, headers={"accept": "application/json"}
    )
    assert answer.status_code == 422
    answer = mia.post(at(draft, "ask"), asked(question_1=""))
    assert (answer.status_code, text(answer).count("Write the question")) == (400, 1)
    published = asked(question_1="", kind="summarization")
    mia.post(at(draft, "ask"), published)
    assert "The summary says accurately" in text(mia.get(at(draft, "ask")))
    mia.post(at(draft, "ask"), several)
    bad = asked(name_2="two", question_2="", name_3="overall", question_3="Again?")
    answer = mia.post(at(draft, "ask"), bad)
    assert answer.status_code == 400
    assert "Enter the question." in text(answer)
    assert "This name is already in use." in text(answer)
    # a refused form changed nothing, and the languages are guessed
    page = text(mia.get(at(draft, "ask")))
    assert page.count("English. Its code") == 2
    criteria = Draft.objects.get().state["asked"]["criteria"]
    assert [row[0] for row in criteria] == ["overall", "reads-well"]


def test_people_and_pay_are_reckoned(mia):
    begin(mia)
    draft = Draft.objects.get()
    assert "Write the question" in text(mia.get(at(draft, "people")))
    mia.post(at(draft, "ask"), asked())
    data = {"who": "invited", "ratings": "3", "n_items": "5", "reward": "0.07"}
    page = text(mia.post(at(draft, "people"), data))
    assert "$2.10" in page
    assert 'value="0.07"' in text(mia.get(at(draft, "people")))
    answer = mia.post(at(draft, "people"), {"who": "prolific", "ratings": "0"})
    assert answer.status_code == 400
    assert "prolific is not one of the available choices" in text(answer)
    # how precise it will be
    page = text(mia.post(at(draft, "people"), {"who": "invited", "ratings": "2"}))
    assert "Too few to say" in page
    # two systems are shown side by side
    mia.post(at(draft, "ask"), asked(question_1="Which is better?"))
    assert "Too few to say" not in text(mia.get(at(draft, "people")))
    page = text(mia.get(at(draft, "page")))
    assert "A good answer about alpha" in page
    assert "A bad answer about alpha" in page


def test_a_draft_is_its_owners_alone(mia):
    begin(mia)
    draft = Draft.objects.get()
    other = make_user("moe", is_staff=True)
    allow(other, *Staff)
    moe = Client()
    moe.force_login(other)
    for step in ("files", "ask", "page", "people", "start"):
        assert moe.get(at(draft, step)).status_code == 404, step
    assert moe.post(at(draft, "delete")).status_code == 404
    assert mia.get(at(draft, "delete"))["Location"] == at(draft, "files")
    plain = Client()
    plain.force_login(make_user("pat", is_staff=True))
    assert plain.get(reverse("leaderboard:studio-new")).status_code == 404


def test_drafts_are_deleted_and_forgotten(mia, django_capture_on_commit_callbacks):
    begin(mia)
    begin(mia, slug="other")
    draft, other = Draft.objects.order_by("pk")
    files = [row.file for row in DraftFile.objects.order_by("pk")]
    with django_capture_on_commit_callbacks(execute=True):
        mia.post(at(draft, "delete"))
    Draft.objects.update(changed_at=timezone.now() - timedelta(days=29))
    forget_drafts()
    assert list(Draft.objects.all()) == [other]
    Draft.objects.update(changed_at=timezone.now() - timedelta(days=31))
    with django_capture_on_commit_callbacks(execute=True):
        forget_drafts()
    assert not Draft.objects.exists()
    assert not any(file.storage.exists(file.name) for file in files)


def test_files_go_with_their_account(mia, maker, django_capture_on_commit_callbacks):
    begin(mia)
    file = DraftFile.objects.get().file
    with django_capture_on_commit_callbacks(execute=True):
        maker.delete()
    assert not file.storage.exists(file.name)
