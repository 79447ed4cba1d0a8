"""The submit form, from the file to the row, and its refusals."""

import json
import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from leaderboard.models import Submission, Team
from leaderboard.submissions.services import submit as service
from tests.each import each
from tests.factories import make_submission, make_team, set_state

ADDRESS = "/tasks/tidy-news/submit/"


def file(content=None, name="kite.json"):
    if content is None:
        content = json.dumps({"i0": "a", "i1": "b", "i2": "c"}).encode()
    return SimpleUploadedFile(name, content)


def form(**changes):
    return {
        "system_name": "Kite",
        "file": file(),
        "description": "It flies.",
        "links": "https://kite.example/paper\nhttps://kite.example/code",
        "visibility": "PUBLIC",
        **changes,
    }


@pytest.fixture
def nina(client_of):
    return client_of("submitter")


def test_what_is_sent_becomes_a_submission_that_waits_for_its_check(nina, task, cast):
    until = timezone.localdate() + timedelta(days=30)

    response = nina.post(ADDRESS, form(anonymous_until=until.isoformat()), follow=True)

    kite = Submission.own.get()
    assert response.redirect_chain == [(f"/submissions/{kite.pk}/", 302)]
    assert "Kite was received and is being checked." in response.content.decode()
    assert (kite.task, kite.team, kite.owner) == (task, cast.team, cast.submitter)
    assert kite.state == "RECEIVED"
    assert kite.description == "It flies."
    assert kite.links == ["https://kite.example/paper", "https://kite.example/code"]
    assert kite.anonymous_until == until
    assert kite.simulated is False
    with kite.file.open() as stored:
        assert stored.read() == file().read()


def test_a_person_without_a_team_gets_one_with_the_first_file(client_of, task, cast):
    client_of("worker").get(ADDRESS)
    assert not Team.objects.filter(members=cast.worker).exists()
    client_of("worker").post(ADDRESS, form())

    kite = Submission.own.get()
    assert list(kite.team.members.all()) == [cast.worker]


def spend(task, team, owner):
    for n in range(3):
        make_submission(task, team=team, owner=owner, system=f"S{n}")


def test_a_member_of_several_teams_chooses_and_each_says_what_it_has_left(
    nina, task, cast, read
):
    second = make_team("Team Egret", cast.submitter)
    spend(task, cast.team, cast.submitter)

    page = nina.get(ADDRESS)
    assert page.context["form"]["team"].value() is None
    select = page.text.split('name="team"')[1].split("</select>")[0]
    assert re.findall(r"<option([^>]*)>", select)[0] == ' value="" selected'
    assert "Team Egret (3 of 3 submissions left)" in select
    assert "Team Heron (no submissions left until 20" in select
    response = nina.post(ADDRESS, form())
    assert response.status_code == 400
    assert "This field is required." in read(response)
    foreign = nina.post(ADDRESS, form(team=cast.rival_team.pk))
    assert foreign.status_code == 400
    assert Submission.own.count() == 3
    nina.post(ADDRESS, form(team=second.pk))
    assert Submission.own.get(system_name="Kite").team == second


def test_what_is_said_of_a_system_can_be_changed(nina, client_of, task, cast, read):
    about = {
        "organization": "Heron Lab",
        "weights": "open",
        "parameters": "8x22B",
        "licence": "Apache-2.0",
    }
    nina.post(ADDRESS, form(**about))
    kite = Submission.own.get()
    assert {name: getattr(kite, name) for name in about} == about
    set_state(Submission.own.all(), "PUBLISHED")

    path = f"/submissions/{kite.pk}/"
    assert "Heron Lab" in read(Client().get(path))
    assert client_of("rival").get(f"{path}describe/").status_code == 404
    change = {**about, "licence": "MIT", "links": "", "description": "It glides."}
    refused = nina.post(f"{path}describe/", {**change, "parameters": "many"})
    assert refused.status_code == 400
    assert "Write the number of parameters like 7B" in read(refused)
    nina.post(f"{path}describe/", {**change, "baseline": "reference"})
    kite.refresh_from_db()
    assert (kite.licence, kite.links, kite.description) == ("MIT", [], "It glides.")
    assert kite.baseline == ""  # which is the staff's to say

    Submission.own.update(anonymous_until="2999-01-01")
    hidden = read(Client().get(path))
    assert not [said for said in ("Heron Lab", "MIT", "8x22B") if said in hidden]


@each(
    ("changes", "sentence"),
    [
        ({"parameters": "a lot"}, "Write the number of parameters like 7B"),
        ({"organization": "x\u2028y"}, "one line of at most 100 characters"),
        ({"weights": "ajar"}, "not one of the available choices"),
    ],
)
def test_impossible_details_are_refused_in_place(nina, task, read, changes, sentence):
    response = nina.post(ADDRESS, form(**changes))
    assert sentence in read(response)
    assert '<details class="about-system" open>' in response.text
    assert not Submission.own.exists()


def permission(codename):
    return Permission.objects.get(codename=codename)


@each(
    ("changes", "status", "sentence"),
    [
        ({"system_name": ""}, 400, "This field is required."),
        ({"system_name": "two\u2028lines"}, 400, "visible characters on one line"),
        ({"system_name": "x" * 101}, 400, "at most 100 characters"),
        ({"links": "javascript:alert(1)"}, 400, "must be a web address"),
        ({"links": "https://a.example\n" * 11}, 400, "Give at most 10 links."),
        ({"visibility": "EVERYBODY"}, 400, "not one of the available choices"),
        ({"anonymous_until": "2001-01-01"}, 400, "Choose a day after today"),
        ({"anonymous_until": "soon"}, 400, "Enter a valid date."),
        ({"file": ""}, 400, "This field is required."),
        ({"file": file(b"")}, 400, "The file is empty"),
    ],
)
def test_a_refusal_says_what_to_mend_and_keeps_what_was_typed(
    nina, task, read, changes, status, sentence
):
    response = nina.post(ADDRESS, form(**changes))

    assert response.status_code == status
    assert sentence in read(response)
    assert "It flies." in response.content.decode()
    assert not Submission.own.exists()


def test_files_and_bodies_over_the_limit_are_refused_in_words(
    nina, task, read, settings, monkeypatch
):
    settings.GENIE = {**settings.GENIE, "MAX_UPLOAD_BYTES": 1 << 20}
    response = nina.post(ADDRESS, form(file=file(b"x" * ((1 << 20) + 1))))
    assert response.status_code == 413
    assert "larger than 1 MB" in read(response)
    assert not Submission.own.exists()
    # a larger body is not even read
    parsed = []
    monkeypatch.setattr(
        "django.http.request.HttpRequest.parse_file_upload",
        lambda *args: parsed.append(args),
    )

    response = nina.post(ADDRESS, form(file=file(b"x" * (3 << 20))))

    assert response.status_code == 413
    assert "The file is too large" in read(response)
    assert parsed == []


def test_the_quota_is_shown_and_kept(nina, task, read, who):
    spend(task, **who)
    shown = read(nina.get(ADDRESS))
    assert "Team Heron: 3 of 3 submissions used in the last 7 days." in shown
    response = nina.post(ADDRESS, form())

    assert response.status_code == 429
    assert "the next is possible on" in read(response)
    assert Submission.own.count() == 3


def test_a_task_that_takes_nothing_says_so(nina, task, read):
    task.accepts_submissions = False
    task.save()

    assert "is not accepting submissions" in read(nina.get(ADDRESS))
    response = nina.post(ADDRESS, form())

    assert response.status_code == 403
    assert not Submission.own.exists()
    assert ADDRESS not in nina.get("/tasks/tidy-news/").content.decode()


def test_a_form_from_elsewhere_is_refused(task, cast):
    client = Client(enforce_csrf_checks=True)
    client.force_login(cast.submitter)

    response = client.post(ADDRESS, form())

    assert response.status_code == 403
    assert "Nothing was changed." in response.content.decode()
    assert not Submission.own.exists()


def test_the_services_other_refusals_reach_the_form(nina, task, read, monkeypatch):
    from genie.lib.errors import GenieError

    def refuse(**kwargs):
        raise GenieError("Not on a Sunday.", code="sunday")

    monkeypatch.setattr(service, "receive", refuse)
    response = nina.post(ADDRESS, form())

    assert response.status_code == 400
    assert "Not on a Sunday." in read(response)
