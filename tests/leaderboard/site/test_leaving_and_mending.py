"""Withdrawing a submission, and fetching the proposal for shuffled ids."""

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from leaderboard.models import Submission
from tests.cast import CAST, INSIDERS
from tests.each import each
from tests.factories import make_predictions, make_ranked, make_submission

State = Submission.State
SHUFFLED = [{"code": "misaligned-ids", "sentence": "They are shuffled.", "figures": {}}]


def test_a_team_mate_withdraws_with_a_reason(client_of, task, who, read):
    kite = make_ranked(task, 70, **who)
    tom = client_of("team_mate")

    assert "Withdraw Kite?" in read(tom.get(f"/submissions/{kite.pk}/withdraw/"))
    kite.refresh_from_db()
    assert kite.state == State.PUBLISHED  # reading alone withdraws nothing
    response = tom.post(
        f"/submissions/{kite.pk}/withdraw/", {"reason": "A bug."}, follow=True
    )

    kite.refresh_from_db()
    assert kite.state == State.WITHDRAWN
    assert "Kite has been withdrawn." in read(response)
    assert "Withdrawn: A bug." in read(response)
    assert "Kite" not in client_of("visitor").get("/tasks/tidy-news/").content.decode()


def test_a_team_changes_its_mind_within_a_day(client_of, task, who, read):
    kite = make_ranked(task, 70, **who)
    path, tom = f"/submissions/{kite.pk}/withdraw/", client_of("team_mate")
    tom.post(path, {"reason": "A bug."})
    assert path in tom.get(f"/submissions/{kite.pk}/").content.decode()
    assert client_of("rival").post(path).status_code == 404
    assert "Restore Kite?" in read(tom.get(path))
    # what a second click on Withdraw sends is no wish to have it back
    tom.post(path, {"reason": "A bug."})
    kite.refresh_from_db()
    assert kite.state == State.WITHDRAWN
    back = tom.post(path, {"restore": "1"}, follow=True)
    assert "Kite has been restored." in read(back)
    kite.refresh_from_db()
    assert kite.state == State.PUBLISHED
    assert "Kite" in client_of("visitor").get("/tasks/tidy-news/").content.decode()


@each("name", ["visitor", "rival", "worker", "staff", "superuser"])
def test_nobody_else_withdraws_it(client_of, task, who, name):
    kite = make_ranked(task, 70, **who)

    client_of(name).post(f"/submissions/{kite.pk}/withdraw/", {"reason": "Mine."})

    kite.refresh_from_db()
    assert kite.state == State.PUBLISHED


@pytest.mark.parametrize("state", [State.INVALID, State.WITHDRAWN])
def test_what_has_ended_is_not_withdrawn(client_of, task, who, state):
    kite = make_submission(task, state=state, **who)
    nina = client_of("submitter")

    assert "/withdraw/" not in nina.get(f"/submissions/{kite.pk}/").content.decode()
    assert nina.get(f"/submissions/{kite.pk}/withdraw/").status_code == 404


def test_a_proposal_reads_only_submissions_that_have_all_texts(client_of, task, who):
    whole, partial, _ = [
        make_submission(task, system=name, state=state, **who)
        for name, state in (
            ("Wren", State.MEASURED),
            ("Rook", State.STOPPED),
            ("Dove", State.STOPPED),
        )
    ]
    kite = make_submission(task, warnings=SHUFFLED, **who)
    make_predictions(whole, "{0} is about {0}.")
    make_predictions(partial)
    partial.predictions.last().delete()
    rows = make_predictions(kite)
    for row, other in zip(rows, rows[1:] + rows[:1], strict=True):
        row.text = f"{other.instance.instance_id} is about {other.instance.instance_id}"
        row.save()

    response = client_of("submitter").get(f"/submissions/{kite.pk}/realigned.json")

    assert response.status_code == 200
    assert response.json() == {f"i{n}": f"i{n} is about i{n}" for n in range(3)}


def test_there_is_no_proposal_where_nothing_is_shuffled(client_of, task, who):
    kite = make_submission(task, **who)

    response = client_of("submitter").get(f"/submissions/{kite.pk}/realigned.json")

    assert response.status_code == 404


def test_the_team_and_staff_fetch_the_file_that_was_handed_in(client_of, task, who):
    kite = make_submission(task, state=State.PUBLISHED, **who)
    default_storage.save(kite.file.name, ContentFile(b"their very bytes"))

    found = {
        name: client_of(name).get(f"/submissions/{kite.pk}/file/") for name in CAST
    }

    assert {name: response.status_code for name, response in found.items()} == {
        name: 200 if name in INSIDERS else 404 for name in CAST
    }
    # Reading to the end closes the file, too, and leaves the test's database open.
    assert {found[name].getvalue() for name in INSIDERS} == {b"their very bytes"}
    page = client_of("team_mate").get(f"/submissions/{kite.pk}/")
    assert f"/submissions/{kite.pk}/file/" in page.content.decode()
