import csv
import io

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from crowd.models import Requester, RequesterAssignment, RequesterBatch, RequesterHIT
from crowd.requester.batches.post import MAX_ROWS, read_table
from crowd.requester.questions.questions import read_question
from crowd.requester.questions.template import as_question
from crowd.requester.services import access_keys
from crowd.requester.services.overturn import overturn
from crowd.requester.services.settle import settle_all
from genie.lib.errors import GenieError
from tests.crowd.requester.making import a_batch, state_of
from tests.crowd.requester.on_site import OnSite, send
from tests.factories import make_user, signed_in

pytestmark = pytest.mark.django_db(transaction=True)
PAGE = "<p>${text}</p>\n<p><label>Mood <input name='mood'></label> $${kept}</p>"
TABLE = 'text,note\n"a, <b>b</b>",=1+1\nzwölf,"two\nlines"\n'


@pytest.fixture
def office(transactional_db):
    ada = make_user("ada", is_staff=True, is_superuser=True)
    client = signed_in(ada)
    client.ada = ada
    return client


@pytest.fixture
def rita(office):
    made = Requester.objects.create(name="Rita")
    access_keys.deposit(made, 1000, key="start", by=office.ada)
    return made


def at(name, requester, *args):
    return reverse(f"requester:{name}", args=[requester.customer_id, *args])


def check(office, requester, page=PAGE, table=TABLE, **fields):
    data = a_batch(**{"max_assignments": 2, **fields})
    for name, text in (("page", page), ("table", table)):
        content = text if isinstance(text, bytes) else text.encode()
        data[f"{name}_file"] = SimpleUploadedFile(f"{name}.txt", content)
    return office.post(at("batches", requester), data)


def confirm(office, requester, page=PAGE, table=TABLE, **fields):
    data = a_batch(**{"max_assignments": 2, "confirmed": "yes", **fields})
    data |= {"page": page, "table": table.replace("\n", "\r\n")}
    return office.post(at("batches", requester), data, follow=True)


def test_a_table_goes_out_as_hits_and_comes_back_as_a_table(office, rita):
    asked = check(office, rita).text
    assert "2 HITs with 4 assignments will cost at most $1.92" in asked
    assert (
        "do not see these columns, but the results include them: <bdi>note</bdi>"
        in asked
    )
    assert not RequesterHIT.own.exists()
    assert "Posted 2 HITs" in confirm(office, rita).text
    first, second = RequesterHIT.own.order_by("pk")
    shown = read_question(first.question).content
    assert "<p>a, &lt;b&gt;b&lt;/b&gt;</p>" in shown
    assert "${kept}" in shown
    assert second.inputs == ["zwölf", "two\nlines"]
    wanda, walt = OnSite(), OnSite("walt")
    for one, mood in ((wanda, "=cmd()"), (walt, "très bien")):
        turn = one.accept(first.entity_id)
        address, known = one.frame(one.get("turn", turn.entity_id))
        served = Client().get(address).text
        # the form that we made submits to where it was served from, without a script
        assert 'action="mturk/externalSubmit"' in served
        assert known["turkSubmitTo"].endswith(address.split("?")[0].rstrip("/"))
        assert send(known["turkSubmitTo"], mood=mood).status_code == 200
    done = RequesterAssignment.objects.get(worker__worker=walt.worker)
    batch = RequesterBatch.own.get()
    answer = office.get(at("results", rita, batch.pk))
    assert "attachment" in answer["Content-Disposition"]
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert len(rows) == 2
    by_mood = {row["Answer.mood"]: row for row in rows}
    assert set(by_mood) == {"'=cmd()", "très bien"}
    row = by_mood["très bien"]
    assert row["HITId"] == first.entity_id
    assert row["AssignmentId"] == done.entity_id
    assert row["WorkerId"] == done.worker.customer_id
    assert row["Input.text"] == "a, <b>b</b>"
    assert row["Input.note"] == "'=1+1"
    assert (row["Reward"], row["AssignmentStatus"]) == ("$0.40", "Submitted")
    assert row["LifetimeApprovalRate"] == "0% (0/0)"
    assert list(row)[-2:] == ["Approve", "Reject"]


def test_a_batch_is_posted_once_and_for_what_is_on_the_account(office, rita):
    confirm(office, rita)
    assert "There is already a batch called Moods" in confirm(office, rita).text
    assert RequesterHIT.own.count() == 2
    poor = confirm(office, rita, name="Dear", reward="5")
    assert "insufficient funds" in poor.text
    assert "not have enough money" in check(office, rita, reward="5").text
    assert RequesterBatch.own.count() == 1


def review(office, batch, text):
    address = at("batch", batch.requester, batch.pk)
    file = SimpleUploadedFile("results.csv", text.encode())
    return office.post(address, {"table_file": file}, follow=True).text


def test_the_table_of_results_comes_back_with_decisions(office, rita):
    confirm(office, rita)
    batch = RequesterBatch.own.get()
    confirm(office, rita, name="Decoy")
    hits = batch.hits.order_by("pk")
    done = [
        one.do(hit.entity_id, mood="x")
        for one in (OnSite(), OnSite("walt"))
        for hit in hits
    ]
    answer = office.get(at("results", rita, batch.pk))
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    rows.sort(key=lambda row: done.index(row["AssignmentId"]))
    rows[0]["Approve"] = "x"
    rows[1]["Reject"] = "Empty, sorry"
    rows[2]["Reject"] = rows[2]["Approve"] = "x"

    def written():
        out = io.StringIO()
        writer = csv.DictWriter(out, rows[0])
        writer.writeheader()
        writer.writerows(rows)
        return out.getvalue()

    assert "it is both approved and rejected" in review(office, batch, written())
    rows[2]["Reject"] = rows[2]["Approve"] = ""
    for sentence, text in {
        "line 1: there must be one column AssignmentId": "Approve,Reject\nx,\n",
        "it contains no decisions": "AssignmentId,Approve,Reject\n3A,,\n",
        "line 2: 3NONE is not an assignment of this batch": (
            "AssignmentId,Approve,Reject\n3NONE,x,\n"
        ),
        "line 3: 3A appears twice": "AssignmentId,Approve,Reject\n3A,x,\n3A,x,\n",
    }.items():
        assert sentence in review(office, batch, text)
    assert not RequesterAssignment.own.exclude(state="Submitted").exists()
    said = "Approved 1, rejected 1; 0 already had the same decision."
    assert said in review(office, batch, written())
    assert "Approved 0, rejected 0; 2 already" in review(office, batch, written())
    states = [RequesterAssignment.objects.get(entity_id=one).state for one in done]
    assert states == ["Approved", "Rejected", "Submitted", "Submitted"]
    rejected = RequesterAssignment.objects.get(entity_id=done[1])
    assert rejected.feedback == "Empty, sorry"
    # what is decided the other way round is refused, and all of its table with it
    rows[0]["Approve"], rows[0]["Reject"] = "", "No"
    rows[3]["Approve"] = "x"
    assert "currently in the state" in review(office, batch, written())
    assert RequesterAssignment.objects.get(entity_id=done[3]).state == "Submitted"


def test_a_batch_can_be_stopped(office, rita):
    confirm(office, rita)
    page = office.post(at("stop-batch", rita, RequesterBatch.own.get().pk), follow=True)
    assert "Workers cannot accept more of these HITs" in page.text
    assert OnSite().accept(RequesterHIT.own.first().entity_id) is None


def test_work_that_is_due_is_approved_before_each_use_of_the_account(
    office, rita, hands
):
    confirm(office, rita, max_assignments=9, days=30, reward="0.01")
    batch = RequesterBatch.own.get()
    first, second = batch.hits.order_by("pk")
    rejected = OnSite("rob").do(first.entity_id, mood="x")
    decision = f"AssignmentId,Approve,Reject\n{rejected},,Empty\n"
    review(office, batch, decision)
    work = RequesterAssignment.objects.get(entity_id=rejected)
    for n, use in enumerate([
        lambda: check(office, rita),
        lambda: confirm(office, rita, name="Another", reward="0.01"),
        lambda: review(office, batch, decision),
        lambda: office.get(at("desk", rita)),
        lambda: OnSite("zoe").accept(second.entity_id),
        lambda: overturn(work.pk, by=office.ada, sentence="Right."),
        settle_all,
    ]):  # fmt: skip
        done = OnSite(f"w{n}").do(first.entity_id, mood="x")
        hands.forward(days=1)
        use()
        assert state_of(done) == "Approved"


def test_what_is_wrong_is_said_with_its_line(office, rita):
    for page, table, sentence in [
        (PAGE, "text,note\na\n", "line 2: 1 values for 2 columns"),
        (PAGE, 'text,note\n"a\nb",c\nd\n', "line 4: 1 values"),
        (PAGE, "text,text\na,b\n", "line 1: the column text appears twice"),
        (PAGE, "text,\na,b\n", "line 1: each column needs a name"),
        (PAGE, "text,note\n", "no rows"),
        (PAGE, "text,note\na\x07,b\n", "line 2: the character"),
        (PAGE, 'text,note\n"a,b\n', "line 2: "),
        (PAGE, "text,note\n" + "x" * 66_000 + ",b\n", "Line 2: The page has"),
        ("<p>\n${texts}</p>", TABLE, "line 2: ${texts} is not a column"),
        (PAGE, b"text,note\na,b\n\xff,c\n", "Line 3 is not UTF-8."),
        (PAGE, "", "The submitted file is empty."),
    ]:
        asked = check(office, rita, page, table)
        assert sentence in asked.text
        assert "Post HITs" not in asked.text
        assert not RequesterHIT.own.exists()


def test_html_in_the_table_is_shown_as_such_where_it_was_said_to_be_some(office, rita):
    confirm(office, rita, markup="on")
    assert "<p>a, <b>b</b></p>" in RequesterHIT.own.first().question


def test_pages_with_a_form_or_whole_ones_stay_as_they_are():
    own = "<form action='x'></form>"
    assert read_question(as_question(own)).content.count("<form") == 1
    whole = f"<!doctype html><html><body>{own} ]]> </body></html>"
    assert read_question(as_question(whole)).content == whole
    with pytest.raises(GenieError, match=str(MAX_ROWS)):
        read_table("a\n" + "x\n" * (MAX_ROWS + 1))
