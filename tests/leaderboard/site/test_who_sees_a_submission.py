"""The permission matrix of the site: the whole cast at every address."""

from datetime import timedelta

import pytest
from django.core.files.base import ContentFile
from django.template.base import Template
from django.utils import timezone

from genie.accounts.models import PrivateRead
from leaderboard.models import Submission
from leaderboard.submissions.selectors import Staff
from tests.cast import CAST, INSIDERS, allow
from tests.each import each
from tests.factories import (
    answer,
    make_evaluation,
    make_predictions,
    make_ranked,
    make_submission,
    make_worker,
    pay,
)

State = Submission.State
EVERYBODY = set(CAST)


def seen_by(client_of, address):
    statuses = {name: client_of(name).get(address).status_code for name in CAST}
    assert set(statuses.values()) <= {200, 404}
    return {name for name, status in statuses.items() if status == 200}


@pytest.fixture
def pages_of_all(client_of):
    return lambda address: {name: client_of(name).get(address).text for name in CAST}


PUBLIC = {
    State.MEASURED,
    State.APPROVED,
    State.ANNOTATING,
    State.ANNOTATED,
    State.SCORED,
    State.PUBLISHED,
}


@each("state", State.values)
def test_who_sees_a_submission_in_a_state(client_of, task, who, state, monkeypatch):
    # only statuses are looked at
    monkeypatch.setattr(Template, "render", lambda *_: "")
    clients = {name: client_of(name) for name in CAST}
    kite = make_submission(task, state=state, **who)

    expected = EVERYBODY if state in PUBLIC else INSIDERS
    assert seen_by(clients.get, f"/submissions/{kite.pk}/") == expected
    # a private one does not exist for others
    Submission.own.update(visibility="PRIVATE", published_at=timezone.now())
    assert seen_by(clients.get, f"/submissions/{kite.pk}/") == INSIDERS


def test_others_hear_of_a_withdrawal_but_see_nothing_of_it(client_of, task, who, read):
    kite = make_ranked(task, 71.5, **who)
    make_predictions(kite)
    Submission.objects.filter(pk=kite.pk).update(own_state=State.WITHDRAWN)

    words = read(client_of("rival").get(f"/submissions/{kite.pk}/"))

    assert "Withdrawn." in words
    assert "71.5" not in words
    assert "Prediction for" not in words
    assert "71.5" in read(client_of("submitter").get(f"/submissions/{kite.pk}/"))


def test_an_anonymous_submission_hides_who_made_it(pages_of_all, task, who):
    kite = make_ranked(
        task,
        70,
        description="We at the heronry trained it.",
        links=["https://heron.example/paper"],
        anonymous_until=timezone.localdate() + timedelta(days=9),
        **who,
    )
    telling = ["Team Heron", "heronry", "heron.example", "kite.json"]
    for name, html in pages_of_all(f"/submissions/{kite.pk}/").items():
        seen = [word for word in telling if word in html]
        assert seen == (telling if name in INSIDERS else [])


def test_cost_trouble_and_story_are_for_team_and_staff(pages_of_all, task, who):
    kite = make_submission(
        task,
        state=State.ANNOTATING,
        approved_cents=7_700,
        failure="The disk is full.",
        warnings=[
            {"code": "near-duplicate", "sentence": "Very like Rook-9.", "figures": {}},
            {
                "code": "empty-predictions",
                "sentence": "Three are empty.",
                "figures": {},
            },
        ],
        **who,
    )
    evaluation = make_evaluation(kite)
    assignment = answer(evaluation.subjects.first().item, make_worker())
    pay(assignment, cents=1_234)
    inner = [
        "$77.00",
        "$12.34",
        "The disk is full.",
        "Rook-9",
        "The step called measured is behind it.",
        kite.file_sha256,
        "nina",
    ]
    for name, html in pages_of_all(f"/submissions/{kite.pk}/").items():
        seen = [word for word in inner if word in html]
        assert seen == (inner if name in INSIDERS else [])
        assert "Three are empty." in html


def test_what_was_spent_takes_the_permission_to_see_campaigns(
    client_of, task, cast, who
):
    kite = make_submission(task, **who, approved_cents=7_700)
    allow(cast.new_staff, Staff.SEE_SUBMISSIONS)
    page = f"/submissions/{kite.pk}/"
    assert kite.file_sha256 in client_of("new_staff").get(page).text
    assert "$77.00" not in client_of("new_staff").get(page).text
    allow(cast.new_staff, Staff.SEE_CAMPAIGNS)
    assert "$77.00" in client_of("new_staff").get(page).text


def test_no_page_names_a_worker_or_marks_a_test_question(pages_of_all, task, who):
    kite = make_ranked(task, 70, **who)
    make_predictions(kite)
    evaluation = kite.human_evaluation
    wim = make_worker(name="platform-id-of-wim")

    for address in ("/", "/tasks/", "/tasks/tidy-news/", f"/submissions/{kite.pk}/"):
        for html in pages_of_all(address).values():
            assert wim.pseudonym not in html
            assert "platform-id-of-wim" not in html
            assert evaluation.campaign.key not in html


def test_my_submissions_are_those_of_my_teams(client_of, task, who):
    make_submission(task, system="Kite", state=State.INVALID, **who)

    listing = {
        name: "Kite" in client_of(name).get("/submissions/").content.decode()
        for name in CAST[1:]
    }

    listed = {name for name, listed in listing.items() if listed}
    assert listed == {"submitter", "team_mate"}


READ = ["/submissions/{}/", "/submissions/{}/file/", "/api/v1/submissions/{}/"]


def test_staff_who_read_what_is_private_are_written_down(client_of, task, who, cast):
    kite = make_submission(task, visibility="PRIVATE", **who)
    kite.file.save("kite.json", ContentFile(b"{}"))
    for name in ("submitter", "team_mate", "rival", "visitor", "staff", "staff"):
        for address in READ:
            answer = client_of(name).get(address.format(kite.pk))
            b"".join(answer.streaming_content if answer.streaming else [])
    rows = PrivateRead.own.order_by("pk").values_list("by", "way", "what", "pool")
    what = f"leaderboard.submission {kite.pk}"
    assert list(rows) == [
        (cast.staff.pk, way, what, task.slug) for way in ("page", "file", "api")
    ]


def test_what_everybody_may_read_leaves_no_record(client_of, task, who):
    kite = make_ranked(task, 71.5, **who)
    assert client_of("staff").get(f"/submissions/{kite.pk}/").status_code == 200
    assert not PrivateRead.own.exists()


def test_pages_of_the_admin_with_outputs_leave_a_record(client_of, task, who):
    kite = make_submission(task, state=State.MEASURED, **who)
    make_predictions(kite)
    for verb in ("change", "approve"):
        page = client_of("superuser").get(
            f"/admin/leaderboard/submission/{kite.pk}/{verb}/"
        )
        assert page.status_code == 200
    row = PrivateRead.own.get()
    assert (row.by.username, row.way, row.pool) == ("ada", "admin", task.slug)
    listed = client_of("superuser").get("/admin/genie/privateread/")
    assert "Kite" in listed.text
    page = client_of("superuser").get(f"/admin/genie/privateread/{row.pk}/change/")
    assert 'type="submit"' not in page.text.split('id="content"')[1]
