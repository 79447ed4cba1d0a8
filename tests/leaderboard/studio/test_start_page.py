"""The studio's last step when something else happens meanwhile."""

from leaderboard.models import Comparison, Draft, Submission, Task
from tests.each import each
from tests.factories import make_submission, make_team, make_user
from tests.leaderboard.studio.test_new import WIDE, csv_of
from tests.leaderboard.studio.test_pages import _loaded, asked, at, begin, text

APPROVE = {"approve": "", "agreed": "on"}


def test_a_strangers_system_of_the_same_name_takes_nobodys_place(mia):
    draft = _loaded(mia)
    nina = make_user("nina")
    theirs = make_submission(
        draft.task, system="ada", team=make_team("Kites", nina), owner=nina
    )
    own = set(Submission.own.exclude(pk=theirs.pk).values_list("pk", flat=True))
    page = text(mia.get(at(draft, "start")))
    assert f"/submissions/{theirs.pk}/" not in page
    mia.post(at(draft, "start"), {**APPROVE, "shown_cents": "0"})
    approved = Submission.own.filter(human_evaluation__state="APPROVED")
    assert set(approved.values_list("pk", flat=True)) == own


def test_how_a_loaded_task_asks_does_not_change_with_the_draft(mia):
    draft = _loaded(mia)
    mia.post(at(draft, "ask"), asked(question_1="Which is better?"))
    page = text(mia.get(at(draft, "start")))
    assert 'name="approve">Start' in page
    assert not Comparison.objects.exists()


def test_one_system_that_is_left_of_two_is_compared_with_nothing(mia):
    draft = _loaded(mia, question="Which is better?")
    comparison = Comparison.objects.get()
    Submission.objects.filter(pk=comparison.b_id).update(own_state="WITHDRAWN")
    assert "No ratings are requested." in text(mia.get(at(draft, "start")))


def test_a_task_is_loaded_with_all_of_its_systems_or_not_at_all(mia):
    begin(mia, {"a.csv": csv_of({**WIDE, "eve\u2028n": WIDE["ada"]})})
    draft = Draft.objects.get()
    mia.post(at(draft, "files"), {"on": ""})
    mia.post(at(draft, "ask"), asked())
    mia.post(at(draft, "people"), {"who": "link", "ratings": "1"})
    page = text(mia.post(at(draft, "start"), {"load": ""}, follow=True))
    assert "visible characters" in page
    assert not Task.own.exists()
    assert not Submission.own.exists()


@each(
    ("n_systems", "said", "people", "sentence"),
    [
        (1, {"question_1": "Which is better?"}, {}, "needs 2 to 12 systems, not 1"),
        (13, {"question_1": "Which is better?"}, {}, "needs 2 to 12 systems, not 13"),
        (2, {"design": "error-span-pairs"}, {"ratings": "10"}, "at most 9 ratings"),
        (
            2,
            {},
            {"who": "invited", "tests_percent": "10"},
            "the files have none. Set their share to 0",
        ),
    ],
)
def test_what_could_never_be_approved_is_said_before_it_is_loaded(
    mia, n_systems, said, people, sentence
):
    systems = {f"s{n}": WIDE["ada"] for n in range(n_systems)}
    begin(mia, {"a.csv": csv_of({"question": WIDE["question"], **systems})})
    draft = Draft.objects.get()
    mia.post(at(draft, "files"), {"on": ""})
    mia.post(at(draft, "ask"), asked(**said))
    data = {"who": "link", "ratings": "1", "on": "", **people}
    assert sentence in text(mia.post(at(draft, "people"), data))
    assert sentence in text(mia.post(at(draft, "start"), {"load": ""}, follow=True))
    assert not Task.own.exists()


def test_a_task_that_somebody_else_has_loaded_meanwhile_stays_as_it_is(mia):
    begin(mia)
    begin(mia)
    first, second = Draft.objects.order_by("pk")
    for draft, title in ((first, "The answer is right."), (second, "It is short.")):
        mia.post(at(draft, "ask"), asked(question_1=title))
        mia.post(at(draft, "people"), {"who": "link", "ratings": "1"})
        page = text(mia.post(at(draft, "start"), {"load": ""}, follow=True))
    assert "already a task with the address my-answers" in page
    assert "It is short." not in str(Task.own.get().config)
