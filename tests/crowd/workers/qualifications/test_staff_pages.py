"""Staff write tests, publish them, require them, and take qualifications back."""

import pytest
from django.contrib.admin.models import LogEntry

from crowd.messages import services
from crowd.models import QualificationGrant, QualificationTest, Requirement
from tests.crowd.making import POOL, make_campaign, make_worker, text_of
from tests.crowd.workers.qualifications.making import NAME, drawn_test, take

TESTS = "/admin/crowd/qualificationtest/"
GRANTS = "/admin/crowd/qualificationgrant/"


def form(*questions, **fields):
    """Fill in the page of a test; each question: text, answers, right line."""
    sent = {
        "title": "Reading",
        "name": NAME,
        "pool": POOL,
        "introduction": "",
        "n_asked": 0,
        "pass_percent": 80,
        "n_tries": 2,
        "wait_hours": 24,
        "valid_days": "",
        "questions-TOTAL_FORMS": len(questions),
        "questions-INITIAL_FORMS": 0,
        **fields,
    }
    for i, (text, choices, right) in enumerate(questions):
        sent |= {
            f"questions-{i}-position": i,
            f"questions-{i}-text": text,
            f"questions-{i}-choices": choices,
            f"questions-{i}-right": right,
        }
    return sent


def act(client, page, action, *pks, **fields):
    sent = {"action": action, "_selected_action": pks, **fields}
    return client.post(page, sent, follow=True)


def do(client, page, action, *pks):
    return act(client, page, action, *pks, confirmed="yes", reason="As agreed.")


def test_a_test_is_written_by_hand_published_and_taken(office):
    response = office.post(
        f"{TESTS}add/",
        form(("Two and two?", "three\nfour", 2), ("Is it so?", "yes\nno", 1)),
    )
    assert response.status_code == 302, text_of(response)
    test = QualificationTest.own.get()
    assert [q.expected for q in test.questions.all()] == [{"choice": 1}, {"choice": 0}]
    assert test.seed > 0
    assert office.get(f"{TESTS}{test.pk}/change/").text.count('value="Save"') == 1
    assert "Hours between attempts" in office.get(f"{TESTS}{test.pk}/change/").text
    do(office, TESTS, "publish_selected", test.pk)
    test.refresh_from_db()
    assert test.state == "PUBLISHED"
    assert take(make_worker()).passed
    page = office.get(f"{TESTS}{test.pk}/change/")
    assert 'value="Save"' not in page.text
    assert "four" in text_of(page)
    shown = text_of(office.get(TESTS))
    assert "Reading, version 1" in shown
    tries = office.get("/admin/crowd/testattempt/")
    assert "Reading, version 1" in text_of(tries)


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        (("Two and two?", "three\nfour", 3), "does not say which of its answers"),
        (("Two and two?", "three\nfour", ""), "does not say which of its answers"),
        (("Two and two?", "four", 1), "at least two answers"),
        (("", "three\nfour", 1), "has no text"),
    ],
)
def test_a_question_that_makes_no_sense_comes_back(office, question, sentence):
    response = office.post(f"{TESTS}add/", form(question))
    assert response.status_code == 200
    assert sentence in text_of(response)
    assert not QualificationTest.own.exists()


def test_a_drawn_test_is_looked_at_and_copied_but_not_changed(office):
    test = drawn_test(2)
    page = text_of(office.get(f"{TESTS}{test.pk}/change/"))
    assert "Question 0?" in page
    assert "right answer good" in page
    assert office.post(f"{TESTS}{test.pk}/change/", form()).status_code == 403
    do(office, TESTS, "copy_selected", test.pk)
    copy = QualificationTest.objects.get(version=2)
    assert copy.questions.count() == 2
    page = office.get(f"{TESTS}{copy.pk}/change/")
    assert page.status_code == 200
    assert "Question 1?" in text_of(page)
    said = do(office, TESTS, "publish_selected", copy.pk, test.pk)
    assert "Not a draft" in text_of(said)
    do(office, TESTS, "retire_selected", copy.pk)
    assert not QualificationTest.own.filter(state="PUBLISHED").exists()
    test = QualificationTest.objects.create(name="x", pool_id=POOL, title="x", seed=1)
    said = text_of(do(office, TESTS, "publish_selected", test.pk))
    assert "it has no questions" in said


def test_staff_take_a_qualification_back(office):
    drawn_test(2)
    worker = make_worker()
    take(worker)
    grant = QualificationGrant.own.get()
    asked = act(office, GRANTS, "revoke_selected", grant.pk)
    assert "Revoke qualifications" in asked.text
    assert not grant.ended_at
    act(office, GRANTS, "revoke_selected", grant.pk, confirmed="yes", reason="Shared.")
    grant.refresh_from_db()
    assert grant.revoked_reason == "Shared."
    assert LogEntry.objects.get().get_change_message() == "Revoked: Shared."


def test_staff_require_a_test_of_a_pool_and_are_told_of_nonsense(office):
    page = "/admin/crowd/requirement/add/"
    sent = {"pool": POOL, "campaign": "", "kind": "TEST", "test_name": NAME, "at_least": "", "countries": ""}  # fmt: skip
    assert office.post(page, sent).status_code == 302
    assert str(Requirement.own.get()) == f"qualification {NAME}"
    campaign = make_campaign(1)
    both = office.post(page, {**sent, "campaign": campaign.pk})
    assert "either a pool or a campaign" in text_of(both)
    again = office.post(page, sent)
    assert again.status_code == 200
    assert Requirement.own.count() == 1
    assert NAME in office.get("/admin/crowd/requirement/").text


def test_messages_can_be_read_and_not_changed(office):
    worker = make_worker()
    sent = services.send(worker, "BONUS", "A bonus", "Five cents.")
    assert "A bonus" in office.get("/admin/crowd/message/").text
    page = office.get(f"/admin/crowd/message/{sent.pk}/change/")
    assert "Five cents." in page.text
    assert 'value="Save"' not in page.text
