"""People hand in the numbers of their own metrics; each sees what is meant for them."""

import gzip
import hashlib
import io

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from genie.lib import jobs
from genie.lib.bounded import Limits
from genie.lib.serving.one_at_a_time import one_at_a_time
from leaderboard.metric_board import services
from leaderboard.metric_board.readers import read_scores
from leaderboard.models import MetricBoard, OutsideMetric, OutsideScores, Submission
from tests.refusals import refusal

IDS = [f"i{n}" for n in range(40)]
NAMES = ["Heron", "Kestrel", "Wren", "Sparrow", "Swift", "Owl"]


def csv_of(values=None, names=NAMES):
    values = values or {name: float(k) for k, name in enumerate(names)}
    lines = ["system,instance,value"]
    lines += [
        f"{n},{i},{v + k / 100}" for n, v in values.items() for k, i in enumerate(IDS)
    ]
    return "\n".join(lines).encode()


def hand_in(world, owner, content=None, name="MyScore", **fields):
    return services.receive(
        task=world.task,
        owner=owner,
        name=name,
        file=io.BytesIO(csv_of() if content is None else content),
        file_name="scores.csv",
        **fields,
    )


def read(content, ids=("a", "b"), systems=None):
    systems = systems or {"Kite": [1], "Crow": [2], "Twin": [3, 4]}
    return read_scores(
        io.BytesIO(content), systems=systems, instance_ids=ids, max_bytes=10_000
    )


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"system,instance,value\nKite,a,1\nKite,b,3\nCrow,a,0\nCrow,b,1\n", "csv"),
        (
            b'value,"system",instance\r\n1,Kite,a\r\n3,Kite,b\r\n0,Crow,a\r\n1,Crow,b',
            "csv",
        ),
        (
            b"system\tseg_id\tscore\nKite\ta\t1\nKite\tb\t3\nCrow\ta\t0\nCrow\tb\t1",
            "tsv",
        ),
        (
            b'{"system":"Kite","instance":"a","value":1}\n\n'
            b'{"system":1,"instance":"b","value":"3"}\n'
            b'{"system":"Crow","instance":"a","score":0}\n'
            b'{"system":"Crow","instance":"b","value":1.0}\n',
            "jsonl",
        ),
        (b"Kite\t1\nKite\t3\nCrow\t0\nCrow\t1\n", "mtme-seg"),
        (b"Kite\t1\nCrow\t0\nKite\t3\nCrow\t1\n", "mtme-seg"),
    ],
)
def test_every_format_gives_the_same_numbers(content, kind):
    systems = {"Kite": [1], "1": [1], "Crow": [2]}
    for packed in (content, gzip.compress(content)):
        found = read(packed, systems=systems)
        assert found.problems == []
        assert (found.format, found.by_instance) == (kind, True)
        assert found.scores[1].per_instance == [1.0, 3.0]
        assert found.scores[1].value == 2.0
        assert found.scores[2].per_instance == [0.0, 1.0]


def test_whole_systems_and_overall_values():
    found = read(b"Kite\t0.25\nCrow\t-1e-3\n")
    assert (found.format, found.by_instance) == ("mtme-sys", False)
    assert found.scores[2].value == -0.001
    table = b"system,instance,value\nKite,,34.5\nKite,a,1\nKite,b,3\n"
    assert read(table).scores[1].value == 34.5


@pytest.mark.parametrize(
    ("content", "code", "said"),
    [
        (b"hello there you\n", "unknown-format", "first line"),
        (b"Kite\tNone\nKite\t1\n", "not-a-number", "line 1 (None)"),
        (b"system,instance,value\nKite,a,nan\n", "not-a-number", "line 2 (nan)"),
        (b"system,instance,value\nKite,a,1_0\n", "not-a-number", "1_0"),
        (b'{"system":"Kite"}\n[]\n', "not-json", "line 2"),
        (b'{"system":"","value":1}\n', "bad-line", "entry 1"),
        (b'{"system":"Kite","instance":"a","value":true}', "not-a-number", "(True)"),
        (b'{"system":"Kite","instance":"a","value":1e999}', "not-a-number", "1e999"),
        (b"system,instance,value\nGhost,a,1\nGhost,b,1\n", "unknown-system", "line 2"),
        (b"system,instance,value\nTwin,a,1\n", "ambiguous-system", "Twin"),
        (b"system,instance,value\nKite,z,1\n", "unknown-instance", "z (line 2)"),
        (b"system,instance,value\nKite,a,1\nKite,a,1\n", "twice", "line 3"),
        (b"system,instance,value\nKite,,1\nKite,,1\n", "twice", "Kite (line 3)"),
        (b"system,instance,value\nKite,a,1\n", "missing-instance", "1 of 2, first b"),
        (b"Kite\t1\nKite\t1\nKite\t1\n", "wrong-count", "3 instead of 2"),
        (b"system,instance,value\nKite,a,1\nKite,b,1\nCrow,,1\n", "mixed", "Crow"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(content, code, said):
    found = read(content)
    assert [problem.code for problem in found.problems][:1] == [code]
    assert said in " ".join(problem.message for problem in found.problems)


def test_a_hostile_file_is_shown_harmlessly():
    found = read("system,instance,value\nA\u202eB<b>,a,1\n".encode())
    assert "\u202e" not in found.problems[0].message


def test_scores_become_a_metric_that_only_its_owner_sees(world, cast, client_of, board):
    metric = hand_in(world, cast.rival)
    assert metric.scores.count() == 6
    pk = metric.scores.earliest("pk").submission_id
    assert services.systems_of(world.task)[str(pk)] == [pk]
    assert metric.scores.order_by("pk").first().per_instance[1] == 0.01
    address = f"/metrics/{metric.pk}/"
    for who in ("visitor", "submitter", "staff"):
        assert client_of(who).get(address).status_code == 404
    said = client_of("rival").get(address).text
    assert "Only you can see this" in said
    assert services.refresh(world.task) == 0
    assert "MyScore" not in client_of("visitor").get("/tasks/tidy-news/metrics/").text


@pytest.mark.every_engine
def test_published_it_is_on_the_metric_board_alone(world, cast, client_of, board):
    metric = hand_in(world, cast.rival)
    address = f"/metrics/{metric.pk}/"
    client_of("submitter").post(address, {"publish": ""})
    metric.refresh_from_db()
    assert metric.published_at is None
    client_of("rival").post(address, {"publish": ""})
    jobs.drain()
    new = MetricBoard.objects.first()
    label = new.payload["labels"][metric.slug]
    assert (label["label"], label["owner"]) == ("MyScore", "rita")
    assert new.payload["rankings"]["kendall"]["order"][0] in {"chrf", metric.slug}
    visitor = client_of("visitor")
    said = visitor.get("/tasks/tidy-news/metrics/?by=kendall").text
    assert "MyScore" in said
    assert "by <bdi>rita</bdi>" in said
    assert "MyScore" not in visitor.get("/tasks/tidy-news/").text
    assert visitor.get(address).status_code == 200
    # and back: it is gone at once, before anything is computed
    client_of("rival").post(address, {"withdraw": ""})
    said = visitor.get("/tasks/tidy-news/metrics/").text
    assert "MyScore" not in said
    assert visitor.get(address).status_code == 404
    jobs.drain()
    assert metric.slug not in MetricBoard.objects.first().payload["labels"]


def test_an_error_rate_and_whole_systems_are_taken(world, cast, board):
    values = "".join(f"{name}\t{10 - k}\n" for k, name in enumerate(NAMES))
    metric = hand_in(world, cast.rival, values.encode(), higher_is_better=False)
    assert not metric.by_instance
    services.publish(metric)
    jobs.drain()
    payload = MetricBoard.objects.first().payload
    line = next(x for x in payload["metrics"] if x["slug"] == metric.slug)
    assert line["system"]["spearman"]["value"] == pytest.approx(1)
    assert line["instance"] == {}
    assert metric.slug in payload["rankings"]["pearson"]["order"]
    assert metric.slug not in payload["rankings"]["calibrated"]["order"]


def test_private_systems_cannot_be_named_nor_guessed(world, cast):
    hidden = world.systems[0]
    Submission.objects.filter(pk=hidden.pk).update(visibility="PRIVATE")
    said = set()
    for name in ("Heron", str(hidden.pk), "Nothing"):
        with refusal("bad-scores") as caught:
            hand_in(world, cast.submitter, csv_of(names=[name]))
        said.add(caught.value.message.replace(name, "…"))
    assert len(said) == 1


@pytest.mark.every_engine
def test_a_system_that_turns_private_leaves_its_line(world, cast, client_of):
    metric = hand_in(world, cast.rival)
    Submission.objects.filter(system_name="Heron").update(visibility="PRIVATE")
    said = client_of("rival").get(f"/metrics/{metric.pk}/").text
    assert "Kestrel" in said
    assert "Heron" not in said


def test_names_are_checked_and_not_taken_twice(world, cast):
    hand_in(world, cast.rival)
    hand_in(world, cast.submitter)  # another owner's
    for name, code in (
        ("MyScore", "name-taken"),
        (" ", "bad-name"),
        ("a\nb", "bad-name"),
        ("x" * 61, "bad-name"),
    ):
        with refusal(code):
            hand_in(world, cast.rival, name=name)
    for said in ("\x00", "x" * 2001):
        with refusal("bad-description"):
            hand_in(world, cast.rival, name="Other", description=said)
    assert hand_in(world, cast.rival, name="x" * 60, description="x" * 2000)


def test_there_is_a_quota(world, cast, monkeypatch):
    monkeypatch.setattr(services, "QUOTA", 2)
    services.withdraw(hand_in(world, cast.rival))
    hand_in(world, cast.rival)
    cast.rival.is_staff = True  # without the permission to add any number
    with refusal("quota-reached", match="2 of the 2 score files"):
        hand_in(world, cast.rival, name="Third")
    hand_in(world, cast.submitter)
    assert OutsideMetric.objects.count() == 3


def test_the_form_takes_a_file_and_says_what_is_wrong(world, cast, client_of):
    address = "/tasks/tidy-news/metrics/hand-in/"
    assert client_of("visitor").get(address).status_code == 302
    client = client_of("rival")
    assert "system,instance,value" in client.get(address).text

    def post(content, **fields):
        file = SimpleUploadedFile("s.csv", content)
        return client.post(address, {"name": "MyScore", "file": file, **fields})

    wrong = post(b"system,instance,value\nHeron,i1,much\n")
    assert wrong.status_code == 400
    assert "line 2 (much)" in wrong.text
    assert post(csv_of(), name="").status_code == 400
    assert post(csv_of(), lower="on", description="Mine.").status_code == 302
    found = OutsideMetric.objects.get()
    assert not found.higher_is_better
    assert found.file_sha256 == hashlib.sha256(csv_of()).hexdigest()
    again = post(csv_of())
    assert "Withdraw it first" in again.text
    assert OutsideScores.objects.count() == 6
    assert "only visible to you" in client.get(address).text


@pytest.mark.every_engine
def test_staff_take_a_metric_off_its_board(world, cast, client_of):
    metric = hand_in(world, cast.rival)
    answer = client_of("superuser").post(
        "/admin/leaderboard/outsidemetric/",
        {
            "action": "withdraw_selected",
            "_selected_action": [metric.pk],
            "confirmed": "yes",
            "reason": "Its owner asked for it.",
        },
    )
    assert answer.status_code == 302
    metric.refresh_from_db()
    assert metric.withdrawn_at


@pytest.mark.bounded
def test_a_costly_file_of_scores_is_given_up(world, cast, monkeypatch):
    limits = Limits(cpu_seconds=0.3, memory_bytes=100 << 20)
    monkeypatch.setattr("leaderboard.metric_board.services.LIMITS", limits)
    with refusal("bad-scores", match="too much time or memory"):
        hand_in(world, cast.rival, b"Kite\t1\n" * 1_000_000)
    assert not OutsideMetric.objects.exists()


@pytest.mark.every_engine
def test_one_file_of_scores_is_read_at_a_time(world, cast, client_of):
    file = SimpleUploadedFile("scores.csv", csv_of())
    with one_at_a_time("metric-scores"):
        answer = client_of("rival").post(
            f"/tasks/{world.task.slug}/metrics/hand-in/", {"name": "M", "file": file}
        )
    assert answer.status_code == 429
    assert "A different file of scores is being read" in answer.text
