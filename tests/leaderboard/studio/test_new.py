"""From files of outputs to a board: each kind of task, walked through to its end."""

import io
import json
import re
from html import unescape

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from crowd import hit_templates
from crowd.campaigns.services.work import next_assignment, submit
from crowd.models import Campaign, Item, Worker
from crowd.workers.selectors.eligible import open_campaigns
from crowd.workers.services import invitations
from crowd.workers.services import invitations as consent
from genie.lib import jobs
from genie.lib.errors import GenieError
from leaderboard.evaluation import decide
from leaderboard.evaluation.run import advance
from leaderboard.evaluation.selectors.comparisons import standing_of
from leaderboard.evaluation.services.simulate import Crowd, Player
from leaderboard.models import Comparison, Score, Submission, Task
from leaderboard.templatetags.genie import percent
from tests.crowd.making import answers_for
from tests.factories import make_user

GREEK = "alpha beta gamma delta epsilon zeta eta theta iota kappa"
WORDS = GREEK.split()
QUESTIONS = [f"What comes after {word}, and why is that so?" for word in WORDS]


@pytest.fixture(autouse=True)
def boss(db):
    boss = make_user("boss", is_staff=True, is_superuser=True)
    return boss


@pytest.fixture
def new(tmp_path):
    def run(name, files, *options):
        paths = []
        for file, content in files.items():
            path = tmp_path / file
            data = content if isinstance(content, bytes) else content.encode()
            path.write_bytes(data)
            paths.append(str(path))
        if not {"--ask", "--criterion", "--kind"} & {*options}:
            options = ("--ask", "It is true.", *options)
        out = io.StringIO()
        call_command("new", name, "--outputs", *paths, *options, stdout=out)
        return out.getvalue()

    return run


def csv_of(columns):
    names = list(columns)
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(names)]
    lines += [",".join(f'"{cell}"' for cell in row) for row in rows]
    return "\n".join(lines)


def judged(task, *, of_text=None):
    """Let three people judge all there is: texts with “good” in them are good."""
    players = []
    for number in range(3):
        user = make_user(f"worker-{task.slug}-{number}")
        worker = invitations.register_worker(
            user=user, platform_worker_id=f"user-{user.pk}"
        )
        consent.give_consent(worker, task.slug)
        players.append(Player(worker, "diligent"))

    def good(text):
        return 0.9 if "good" in text else 0.2

    crowd = Crowd(
        players,
        quality=lambda item: good(item.data.get("prediction", "")),
        of_text=lambda _item, text: good(text),
        seed=1,
    )
    while crowd.work():
        advance()
        jobs.drain()
    return crowd


def the_board(client, slug):
    return client.get(reverse("leaderboard:board", args=[slug])).content.decode()


WIDE = {
    "question": QUESTIONS,
    "ada": [f"A good answer about {word}." for word in WORDS],
    "bob": [f"A bad answer about {word}." for word in WORDS],
}
# enough where people judge, and no more is asked than whether it ends
SHORT = {name: texts[:4] for name, texts in WIDE.items()}


def test_one_file_without_references_or_metrics_to_the_board(new, client):
    out = new("mine", {"a.csv": csv_of(WIDE)}, "--yes-up-to", "0")
    assert "bob: output of a system “bob”" in out
    task = Task.objects.get(slug="mine")
    assert (task.kind, list(task.configuration.metrics.use)) == ("free", [])
    link = re.search(r"(/work/\S*)\n", out)[1]
    assert client.get(link).status_code == 200
    judged(task)
    states = {row.system_name: row.state for row in Submission.own.all()}
    assert states == {"ada": "PUBLISHED", "bob": "PUBLISHED"}
    ada, bob = (
        Score.objects.get(submission__system_name=name, superseded_at=None)
        for name in ("ada", "bob")
    )
    assert ada.low > bob.high
    page = the_board(client, "mine")
    assert page.index("ada") < page.index("bob")
    about = client.get(reverse("leaderboard:submission", args=[ada.submission_id]))
    assert about.status_code == 200


def test_numbers_are_left_out_with_the_way_to_keep_them_and_nothing_asks_for_no_money(
    new, monkeypatch
):
    monkeypatch.setattr("builtins.input", lambda: pytest.fail("asked"))
    columns = {**WIDE, "sum": range(len(QUESTIONS))}
    out = new("mine", {"a.csv": csv_of(columns)}, "--approve")
    assert "sum: left out, because it has only numbers (--system COLUMN takes it" in out
    assert "Approved and started: 2." in out
    found = json.loads(new("mine", {"a.csv": csv_of(columns)}, "--approve", "--json"))
    assert (found["started"], found["at_most_cents"]) == (True, 0)
    with pytest.raises(CommandError, match=r"invalid choice: 'bogus'.*'link', 'inv"):
        new("mine", {"a.csv": csv_of(WIDE)}, "--workers", "bogus")


def test_the_same_command_again_changes_nothing_and_goes_on(new):
    new("mine", {"a.csv": csv_of(WIDE)})
    with pytest.raises(CommandError, match=r"more than \$0.10"):
        new("mine", {"a.csv": csv_of(WIDE)}, "--reward", "5", "--yes-up-to", "0.10")
    with pytest.raises(CommandError, match="invalid dollars value"):
        new("mine", {"a.csv": csv_of(WIDE)}, "--yes-up-to", "nan")
    assert {s.state for s in Submission.own} == {"MEASURED"}
    out = new("mine", {"a.csv": csv_of(WIDE)}, "--yes-up-to", "0")
    assert "Approved and started: 2." in out
    assert Submission.own.count() == 2
    out = new("mine", {"a.csv": csv_of(WIDE)}, "--yes-up-to", "0")
    assert "Approved" not in out


def test_a_task_that_was_edited_to_another_design_is_not_undone(new):
    new("mine", {"a.csv": csv_of(WIDE)})
    task = Task.objects.get(slug="mine")
    task.config["human"] |= {"design": "number", "scale": "number_1_7"}
    task.save()
    with pytest.raises(CommandError, match="design number, which would be lost"):
        new("mine", {"a.csv": csv_of(WIDE)}, "--yes-up-to", "0")
    assert Task.objects.get(slug="mine").human.design == "number"


def test_template_and_metrics_may_be_ones_own(new):
    files = {"qa.csv": "question,ada,bob\nWhy is it?,It is.,No.\nWho is it?,It is I,It is not.\n"}  # fmt: skip
    more = ("--template", "question-answering", "--metric", "length", "--dry-run")
    new("mine", files, *more)
    with pytest.raises(CommandError, match=r"human\.hit_template: is 'nowhere'"):
        new("mine", files, "--template", "nowhere")
    with pytest.raises(CommandError, match=r"2 of the instances .* design preference"):
        new("mine", files, "--design", "preference")
    with pytest.raises(CommandError, match="There is no metric 'nothing'; there are"):
        new("mine", files, "--metric", "nothing")
    with pytest.raises(CommandError, match="line 2: this row has 2 cells and the head"):
        new("mine", {"a.csv": "question,ada,bob\nWhy?,So.\n"})
    assert not Task.own.exists()


RANKME = ["How good is it?", "--criterion", "flow=How fluent?", "--design", "rankme", "--ratings", "3"]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "said", "states"),
    [
        (["Which is more fluent?", "--ties"], "4 pages to rate in 1 comparison.", {"UNDECIDED"}),
        (RANKME, "24 pages to rate in 1 joint evaluation.", {"SCORED"}),
        ([*RANKME, "--together"], "12 pages to rate in 1 joint evaluation.", {"SCORED"}),
    ],
)  # fmt: skip
def test_several_systems_side_by_side_get_to_their_results(
    new, client, options, said, states
):
    files = {"a.csv": csv_of({"reference": SHORT["ada"], **SHORT})}
    out = new("pairs", files, "--yes-up-to", "0", "--ask", *options)
    assert said in out
    assert "from en to en" in out
    task = Task.objects.get(slug="pairs")
    assert task.asked.allow_tie is ("--ties" in options)
    assert task.asked.setup == (2 if options == RANKME else 1)
    judged(task)
    asked = task.human_evaluations.exclude(campaigns=None).distinct()
    assert {one.state for one in asked} == states
    assert {one.state for one in Submission.own} == {"MEASURED"}
    # a few colleagues can decide only by labels, about these raters
    rules = [(one.rule, one.n_labels > 0) for one in Comparison.objects.all()]
    assert rules == [("beta-mixture", True)][: len(rules)]
    for result in (
        asked.get().specific.results["criteria"].values() if not rules else ()
    ):
        agreement = result["agreement"]
        assert agreement["low"] < agreement["value"] <= agreement["high"]
        assert result["n_judgements"] == 12
    page = the_board(client, "pairs")
    n = 0 if rules else 2
    assert page.count(">TrueSkill rank<") == page.count("ICC(1,k)") == n


def test_without_a_question_or_a_language_nothing_is_made(new):
    with pytest.raises(CommandError, match=r"Write the question .* Use --ask TEXT"):
        new("mine", {"a.csv": csv_of(SHORT)}, "--ask", "")
    with pytest.raises(
        CommandError, match=r"language of the inputs.*--source-language"
    ):
        new("mine", {"a.csv": csv_of({**SHORT, "question": WORDS[:4]})})
    out = new("mine", {"a.csv": csv_of(SHORT)}, "--kind", "summarization", "--dry-run")
    assert "overall: The summary says accurately what the article is about." in out


TALK = [
    [{"role": "user", "content": question}, {"role": "assistant", "content": "Hm."}]
    for question in QUESTIONS[:4]
]


def test_conversations_on_both_sides(new):
    rows = [
        {
            "id": str(n),
            "messages": talk,
            "ada": [*talk, {"role": "assistant", "content": "A good end."}],
            "bob": [*talk, {"role": "assistant", "content": "<b>bad</b>"}],
        }
        for n, talk in enumerate(TALK)
    ]
    new("talk", {"a.json": json.dumps(rows)}, "--yes-up-to", "0")
    task = Task.objects.get(slug="talk")
    assert task.configuration.output_format == "conversation"
    judged(task)
    assert Submission.own.exclude(published_at=None).count() == 2
    # what people were shown
    item = Item.own.order_by("pk").first()
    html = hit_templates.get("general-judgement").render(item.data)
    assert html.count('class="turn"') == 5
    assert "<b>bad" not in html


@pytest.mark.parametrize(
    ("files", "options", "expected"),
    [
        (
            {"a.csv": csv_of({"context": WORDS[:4], **SHORT})},
            [
                *("--input", "context", "--input", "question=Question asked"),
                *("--show", "output=code", "--show", "question=markdown"),
            ],
            {
                "fields": {"context": "Context", "question": "Question asked"},
                "output_format": "code",
                "formats": {"question": "markdown"},
            },
        ),
        (
            {"a.csv": csv_of({"reference": WORDS[:4], **SHORT})},
            ["--kind", "question-answering"],
            {"kind": "question-answering"},
        ),
        (
            {"a.csv": csv_of(SHORT)},
            [
                *("--criterion", "truth=It is true."),
                *("--criterion", "flow=It reads well."),
                *("--blind", "flow", "--checkbox", "added"),
            ],
            {},
        ),
    ],
    ids=["inputs and formats", "kind", "criteria"],
)
def test_other_kinds_get_to_their_scores(new, files, options, expected):
    new("mine", files, "--yes-up-to", "0", *options)
    task = Task.objects.get(slug="mine")
    assert {name: task.config[name] for name in expected} == expected
    judged(task)
    rows = Submission.own
    assert {row.state for row in rows} == {"PUBLISHED"}, [
        row.work.failure for row in rows
    ]


@pytest.mark.parametrize("workers", ["link", "invited"])
def test_work_by_link_is_closed_to_other_workers_before_there_is_a_link(new, workers):
    reward = ["--reward", "5"] if workers == "invited" else []
    new("mine", {"a.csv": csv_of(WIDE)}, "--workers", workers, *reward)
    # approved on another page, where no link is made
    for row in Submission.own:
        decide.approve(row.evaluation, by=row.owner, start_now=True, despite="a test")
    jobs.drain()
    assert Campaign.objects.filter(pool="mine", state="RUNNING").exists()
    seen_by_others = open_campaigns(Worker.objects.create(platform_worker_id="wim"))
    assert bool(seen_by_others) is (workers == "invited")


@pytest.mark.parametrize(
    ("options", "seen", "n_texts"),
    [
        (["--ask", "It is true."], ["It is true.", "Strongly agree"], 1),
        (["--ask", "Which is better?"], ["Which is better?"], 2),
    ],
    ids=["one", "two"],
)
def test_the_first_page_is_shown_before_loading(new, tmp_path, options, seen, n_texts):
    guide = tmp_path / "guide.md"
    guide.write_text("# Our **own** guide", "utf-8")
    page = tmp_path / "page.html"
    told = ["--dry-run", "--preview", str(page), "--instructions", str(guide)]
    told += ["--save", str(tmp_path / "b")]
    out = new("mine", {"a.csv": csv_of(WIDE)}, *told, *options)
    assert "The task was not loaded" in out
    assert (tmp_path / "b/mine/task.toml").is_file()
    html = page.read_text("utf-8")
    for words in (*seen, QUESTIONS[0], "<h1>Our <strong>own</strong> guide</h1>"):
        assert words in html
    assert html.count('<section class="judged">') == n_texts
    assert not Task.own.exists()


QUESTION = "Which review is better?"


@pytest.fixture
def pairs(new):
    new("pairs", {"a.csv": csv_of(SHORT)}, "--ask", QUESTION, "--yes-up-to", "0")
    new("single", {"b.csv": csv_of(SHORT)}, "--ask", "It is a good review.")
    return Task.objects.get(slug="pairs")


def text_of(response):
    return unescape(re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", response.text)))


def pages_of(client, task):
    names = dict.fromkeys(("board", "methods", "pairs"), task.slug)
    names["submission"] = task.submissions.order_by("pk")[0].pk
    return {
        name: text_of(client.get(reverse(f"leaderboard:{name}", args=[key])))
        for name, key in names.items()
    }


def test_the_board_of_pairs_shows_its_question_and_its_comparison(client, pairs):
    comparison = Comparison.objects.get()
    before = pages_of(client, pairs)["board"]
    assert f"two outputs at a time: “{QUESTION}”" in before
    assert "0 of 4 so far" in before
    people = [Worker.objects.create(platform_worker_id=name) for name in ("ann", "bob")]
    for worker in people:
        consent.give_consent(worker, "pairs")
    one = next_assignment(people[0])
    submit(one, answers_for(one, "A"))
    jobs.drain()
    during = pages_of(client, pairs)["board"]
    assert "1 of 4 so far" in during
    assert "Not decided yet; 1 label" in during
    for number in range(3):
        one = next_assignment(people[number % 2])
        submit(one, answers_for(one, "A"))
    for _ in range(3):
        advance()
        jobs.drain()
    standing = standing_of(Comparison.objects.get(pk=comparison.pk))
    pages = pages_of(client, pairs)
    answers = standing.answers
    assert "4 of 4" in pages["board"]
    assert f"{percent(answers.estimate)}%" in pages["board"]
    assert f"[{percent(answers.low)}, {percent(answers.high)}] 2 " in pages["board"]
    for page in pages.values():
        assert "This is a good text for what was asked." not in page
        assert "human: 0 of" not in page
        assert "Waits for staff to approve" not in page
    human = client.get("/api/v1/tasks/pairs/").json()["human"]
    assert (human["design"], human["criteria"]) == ("two-choice", {"overall": QUESTION})


def test_staff_are_not_invited_to_ask_what_nobody_wrote(client, boss, pairs):
    client.force_login(boss)
    index = text_of(client.get(reverse("admin:index")))
    assert re.search(r"Submissions to approve\W+4\b", index)  # two are decoys
    for slug, may in (("pairs", False), ("single", True)):
        system = Submission.objects.filter(task__slug=slug).order_by("pk")[0]
        if may:
            decide.approve(system.evaluation, by=boss, start_now=True, despite="a test")
            continue
        with pytest.raises(GenieError) as caught:
            decide.approve(system.evaluation, by=boss, start_now=True, despite="a test")
        assert caught.value.code == "no-question"
