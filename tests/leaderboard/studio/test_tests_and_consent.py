"""What people must pass and agree to before they judge, as the studio asks for it."""

import pytest

from crowd.models import Campaign, ConsentVersion, QualificationTest, Requirement
from crowd.workers.selectors.eligible import consent_text
from crowd.workers.services import invitations
from genie.lib import jobs
from genie.lib.errors import GenieError
from leaderboard.evaluation.run import advance
from leaderboard.models import Draft, Submission, Task
from leaderboard.studio.forms import CONSENT
from leaderboard.studio.services import own_test
from tests.crowd.making import make_pools, make_worker
from tests.each import each
from tests.leaderboard.studio.test_before_loading import REFERENCED
from tests.leaderboard.studio.test_new import csv_of
from tests.leaderboard.studio.test_pages import _loaded, asked, at, begin, text

OWN = "Is salt\nwhite <i>?\n* Yes\n- No\n\nIs it sweet?\n- Yes\n- Often\n* No\n"
WRITTEN = {
    "who": "invited",
    "reward": "0",
    "qualification": "written",
    "test_questions": OWN,
    "pass_percent": "60",
}


def approve(mia, draft):
    data = {"approve": "", "shown_cents": "0", "agreed": "on"}
    page = text(mia.post(at(draft, "start"), data, follow=True))
    advance()
    jobs.drain()
    return page


def test_a_test_that_is_written_here_is_passed_first(mia):
    german = "[de]\r\nSalz weiß?\r\n- Ja\r\n- Nein\r\n\r\nSüß?\n- Ja\n- Oft\n- Nein"
    both = {**WRITTEN, "test_questions": f"{OWN}\n{german}"}
    draft = _loaded(mia, **both)
    test = QualificationTest.own.get()
    assert (test.name, test.state, test.pass_percent) == (
        draft.task.slug,
        "PUBLISHED",
        60,
    )
    assert [(q.answers, q.expected) for q in test.questions.all()] == [
        (["Yes", "No"], {"choice": 0}),
        (["Yes", "Often", "No"], {"choice": 2}),
    ]
    words = test.questions.first().translations
    assert words == {"de": {"text": "Salz weiß?", "choices": "Ja\nNein"}}
    assert "de" in test.translations
    page = text(mia.get(at(draft, "people")))
    assert "white &lt;i&gt;?" in page
    approve(mia, draft)
    required = Requirement.objects.get(campaign=Campaign.own.first())
    assert required.test_name == draft.task.slug


def test_one_of_the_sites_tests_is_chosen_and_must_be_in_use(mia):
    other = Task(slug="english", title="English")
    make_pools("english")
    own_test.publish(other, own_test.read(OWN), 50, by=None)
    named = {"qualification": "named", "test_name": "english"}
    draft = _loaded(mia, who="invited", reward="0", **named)
    QualificationTest.own.update(state="RETIRED")
    assert "no qualification test" in approve(mia, draft)
    assert not Submission.own.filter(human_evaluation__state="APPROVED").exists()
    QualificationTest.own.update(state="PUBLISHED")
    approve(mia, draft)
    assert Requirement.own.first().test_name == "english"
    assert QualificationTest.own.count() == 1


def test_a_drawn_test_needs_inputs_that_nobody_judges(mia):
    begin(mia, {"a.csv": csv_of(REFERENCED)})
    draft = Draft.objects.get()
    mia.post(at(draft, "ask"), asked())
    drawn = {"who": "invited", "ratings": "1", "qualification": "drawn", "test_n": "4"}
    page = text(mia.post(at(draft, "people"), drawn))
    assert "Have at most 6 rated" in page
    page = text(mia.post(at(draft, "people"), {**drawn, "n_items": "6"}))
    assert "rated, or" not in page
    mia.post(at(draft, "start"), {"load": ""})
    config = Task.own.get().human.qualification_test
    assert (config.n, config.pass_percent) == (4, 80)


@each(
    ("written", "sentence"),
    [
        ("", "needs 1 to 50 questions"),
        ("* Yes\n- No", "question 1 has no text"),
        ("Why?\n* So", "question 1 needs two answers"),
        ("A?\n* a\n- b\n\nB?\n* a\n- a", "question 2 has the same answer twice"),
        ("A?\n- a\n- b", "question 1 needs one right answer"),
        ("A?\n* a\n* b", "question 1 needs one right answer"),
        ("A?\n* a\n- b\n[de]\nA?\n- a\n- b\n- c", r"\[de\] needs the same questions"),
        ("A?\n* a\n- b\n[xx]\nA?\n- a\n- b", r"\[xx\] is not a language of this site"),
    ],
)
def test_what_is_wrong_with_a_written_test_is_said(written, sentence):
    with pytest.raises(GenieError, match=sentence):
        own_test.read(written)


def test_errors_of_the_test_are_shown_in_the_open(mia):
    begin(mia)
    draft = Draft.objects.get()
    data = {"who": "invited", "ratings": "1", "qualification": "written"}
    answer = mia.post(at(draft, "people"), data)
    assert answer.status_code == 400
    assert "needs 1 to 50 questions" in text(answer)
    assert '<details class="more" open>' in text(answer)


def test_consent_is_edited_shown_and_kept_as_people_read_it(mia):
    begin(mia)
    draft = Draft.objects.get()
    assert "Taking part is voluntary" in text(mia.get(at(draft, "ask")))
    own = asked(consent="You **agree**\r\n\r\nto <script>this</script>.")
    page = text(mia.post(at(draft, "ask"), own))
    assert "You <strong>agree</strong>" in page
    assert "<script>this" not in page
    mia.post(at(draft, "people"), {"who": "link", "ratings": "1"})
    mia.post(at(draft, "start"), {"load": ""})
    jobs.drain()
    draft.refresh_from_db()
    approve(mia, draft)
    pool = draft.task.slug
    invitations.give_consent(make_worker(), pool)
    kept = ConsentVersion.objects.get(sha256=consent_text(pool).sha256)
    assert "You <strong>agree</strong>" in kept.html


def test_the_sites_own_consent_is_no_text_of_the_task(mia):
    begin(mia, who="invited")
    draft = Draft.objects.get()
    mia.post(at(draft, "ask"), asked(consent=CONSENT.replace("\n", "\r\n")))
    draft.refresh_from_db()
    assert draft.state["asked"]["consent"] == ""
