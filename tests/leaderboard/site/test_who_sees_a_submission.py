"""The permission matrix of the site: the whole cast at every address."""

from datetime import timedelta

import pytest
from django.core.files.base import ContentFile
from django.utils import timezone

from genie.accounts.models import PrivateRead
from leaderboard.models import Submission
from leaderboard.submissions.selectors.visibility import Staff
from tests.cast import CAST, INSIDERS, allow
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
TEAM = {"submitter", "team_mate"}
EVERYBODY = set(CAST)


def seen_by(client_of, address):
    """Tell who of the cast gets the page; the others must be told it does not exist."""
    statuses = {name: client_of(name).get(address).status_code for name in CAST}
    assert set(statuses.values()) <= {200, 404}
    return {name for name, status in statuses.items() if status == 200}


@pytest.mark.parametrize(
    "state",
    [
        State.MEASURED,
        State.APPROVED,
        State.ANNOTATING,
        State.ANNOTATED,
        State.SCORED,
        State.PUBLISHED,
    ],
)
def test_everybody_sees_a_public_submission_on_the_board(client_of, task, who, state):
    kite = make_submission(task, state=state, **who)

    assert seen_by(client_of, f"/submissions/{kite.pk}/") == EVERYBODY


@pytest.mark.parametrize(
    "state",
    [State.RECEIVED, State.VALID, State.INVALID, State.DECLINED, State.WITHDRAWN],
)
def test_what_is_on_no_board_concerns_team_and_staff(client_of, task, who, state):
    kite = make_submission(task, state=state, **who)

    assert seen_by(client_of, f"/submissions/{kite.pk}/") == INSIDERS


@pytest.mark.parametrize("state", State.values)
def test_a_private_submission_does_not_exist_for_others(client_of, task, who, state):
    kite = make_submission(
        task, state=state, visibility="PRIVATE", published_at=timezone.now(), **who
    )

    assert seen_by(client_of, f"/submissions/{kite.pk}/") == INSIDERS


def test_others_hear_of_a_withdrawal_but_see_nothing_of_it(client_of, task, who, read):
    kite = make_ranked(task, 71.5, **who)
    make_predictions(kite)
    Submission.objects.filter(pk=kite.pk).update(state=State.WITHDRAWN)

    words = read(client_of("rival").get(f"/submissions/{kite.pk}/"))

    assert "Withdrawn." in words
    assert "71.5" not in words
    assert "Prediction for" not in words
    assert "71.5" in read(client_of("submitter").get(f"/submissions/{kite.pk}/"))


@pytest.mark.parametrize("name", CAST)
def test_an_anonymous_submission_hides_who_made_it(client_of, task, cast, name):
    kite = make_ranked(
        task,
        70,
        team=cast.team,
        owner=cast.submitter,
        description="We at the heronry trained it.",
        links=["https://heron.example/paper"],
        anonymous_until=timezone.localdate() + timedelta(days=9),
    )

    html = client_of(name).get(f"/submissions/{kite.pk}/").content.decode()

    telling = ["Team Heron", "heronry", "heron.example", "kite.json"]
    seen = [word for word in telling if word in html]
    assert seen == (telling if name in INSIDERS else [])


@pytest.mark.parametrize("name", CAST)
def test_cost_trouble_and_story_are_for_team_and_staff(client_of, task, who, name):
    kite = make_submission(
        task,
        state=State.ANNOTATING,
        approved_cents=7_700,
        failed_step="collect",
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
    assignment = answer(evaluation.judged_items.first().item, make_worker())
    pay(assignment, cents=1_234)

    html = client_of(name).get(f"/submissions/{kite.pk}/").content.decode()

    inner = [
        "$77.00",
        "$12.34",
        "The disk is full.",
        "Rook-9",
        "The step called measured is behind it.",
        kite.file_sha256,
        "nina",
    ]
    seen = [word for word in inner if word in html]
    if name == "submitter" or name in INSIDERS:
        assert seen == inner
    else:
        assert seen == []
    assert "Three are empty." in html


def test_what_was_spent_takes_the_permission_to_see_campaigns(client_of, task, cast):
    kite = make_submission(
        task, team=cast.team, owner=cast.submitter, approved_cents=7_700
    )
    allow(cast.new_staff, Staff.SEE_SUBMISSIONS)
    page = f"/submissions/{kite.pk}/"
    assert kite.file_sha256 in client_of("new_staff").get(page).text
    assert "$77.00" not in client_of("new_staff").get(page).text
    allow(cast.new_staff, Staff.SEE_CAMPAIGNS)
    assert "$77.00" in client_of("new_staff").get(page).text


@pytest.mark.parametrize("name", CAST)
def test_no_page_names_a_worker_or_marks_a_test_question(client_of, task, who, name):
    kite = make_ranked(task, 70, **who)
    make_predictions(kite)
    evaluation = kite.human_evaluation
    wim = make_worker(name="platform-id-of-wim")

    for address in ("/", "/tasks/", "/tasks/tidy-news/", f"/submissions/{kite.pk}/"):
        html = client_of(name).get(address).content.decode()
        assert wim.pseudonym not in html
        assert "platform-id-of-wim" not in html
        assert evaluation.campaign.key not in html


def test_only_the_team_withdraws(client_of, task, who):
    kite = make_ranked(task, 70, **who)

    assert seen_by_redirecting(client_of, f"/submissions/{kite.pk}/withdraw/") == TEAM


def seen_by_redirecting(client_of, address):
    """Like `seen_by`, where a visitor is sent to the sign-in page."""
    statuses = {name: client_of(name).get(address).status_code for name in CAST}
    assert statuses.pop("visitor") == 302
    return {name for name, status in statuses.items() if status == 200}


def test_only_signed_in_people_submit_and_list_their_own(client_of, task):
    for address in ("/submissions/", "/tasks/tidy-news/submit/"):
        assert client_of("visitor").get(address).status_code == 302
        assert client_of("visitor").get(address)["Location"].startswith("/login/?next=")
        for name in CAST[1:]:
            assert client_of(name).get(address).status_code == 200


def test_my_submissions_are_those_of_my_teams(client_of, task, who):
    make_submission(task, system="Kite", state=State.INVALID, **who)

    listing = {
        name: "Kite" in client_of(name).get("/submissions/").content.decode()
        for name in CAST[1:]
    }

    assert {name for name, listed in listing.items() if listed} == TEAM


@pytest.mark.parametrize("address", ["/", "/tasks/", "/how-it-works/", "/login/"])
def test_open_pages_are_open(client_of, task, address):
    for name in CAST:
        assert client_of(name).get(address).status_code == 200


READ = ["/submissions/{}/", "/submissions/{}/file/", "/api/v1/submissions/{}/"]


def test_staff_who_read_what_is_private_are_written_down(client_of, task, who, cast):
    kite = make_submission(task, visibility="PRIVATE", **who)
    kite.file.save("kite.json", ContentFile(b"{}"))
    for name in ("submitter", "team_mate", "rival", "visitor", "staff", "staff"):
        for address in READ:
            answer = client_of(name).get(address.format(kite.pk))
            b"".join(answer.streaming_content if answer.streaming else [])
    rows = PrivateRead.objects.order_by("pk").values_list("by", "way", "what", "pool")
    what = f"leaderboard.submission {kite.pk}"
    assert list(rows) == [
        (cast.staff.pk, way, what, task.slug) for way in ("page", "file", "api")
    ]


def test_what_everybody_may_read_leaves_no_record(client_of, task, who):
    kite = make_ranked(task, 71.5, **who)
    assert client_of("staff").get(f"/submissions/{kite.pk}/").status_code == 200
    assert not PrivateRead.objects.exists()


def test_pages_of_the_admin_with_outputs_leave_a_record(client_of, task, who):
    kite = make_submission(task, state=State.MEASURED, **who)
    make_predictions(kite)
    for verb in ("change", "approve"):
        page = client_of("superuser").get(
            f"/admin/leaderboard/submission/{kite.pk}/{verb}/"
        )
        assert page.status_code == 200
    row = PrivateRead.objects.get()
    assert (row.by.username, row.way, row.pool) == ("ada", "admin", task.slug)
    listed = client_of("superuser").get("/admin/genie/privateread/")
    assert "Kite" in listed.text
    page = client_of("superuser").get(f"/admin/genie/privateread/{row.pk}/change/")
    assert 'type="submit"' not in page.text.split('id="content"')[1]
