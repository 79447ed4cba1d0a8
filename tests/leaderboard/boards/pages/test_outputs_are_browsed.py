"""Outputs are searched, sorted and put beside another system's; nobody is named."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from leaderboard.charts import difference
from leaderboard.models import Instance, MetricResult, Prediction, Submission
from tests.factories import (
    make_predictions,
    make_ranked,
    make_task,
    make_worker,
    set_state,
)
from tests.leaderboard.boards.pages.judged import judge, rate


@pytest.fixture
def task(db):
    return make_task(n_instances=4, sample_size=3)


@pytest.fixture
def kite(task, who):
    """Rated 100, 50 and 0 on the first three instances; the fourth was not judged."""
    made = make_ranked(task, 50, system="Kite", **who)
    make_predictions(made, text="The {0} sat & slept.")
    worker = make_worker(name="wim-the-worker")
    for instance, value in zip(
        task.instances.order_by("position"), (1.0, 0.5, 0.0), strict=False
    ):
        boxes = {"added": 1.0} if value == 1 else {}
        rate(made.human_evaluation, instance, worker, {"overall": value, **boxes})
    MetricResult.objects.filter(submission=made, metric="sacrebleu").update(
        per_instance=[10, 90, 50, 30]
    )
    MetricResult.objects.filter(submission=made, metric="chrf").update(
        per_instance=[90, 10, 50, 30]
    )
    return made


@pytest.fixture
def wren(task, rival_team, rival):
    made = make_ranked(task, 40, system="Wren", team=rival_team, owner=rival)
    make_predictions(made, text="The {0} sat and <b>snored</b>.")
    return made


def ids(client, submission, query=""):
    html = client.get(f"/submissions/{submission.pk}/{query}").content.decode()
    return re.findall(r'class="instance mono"><bdi>(\w+)<', html)


def test_outputs_come_in_the_order_that_was_asked_for(client, kite):
    for query, expected in (
        ("", ["i2", "i1", "i0", "i3"]),  # the worst first
        ("?by=order", ["i0", "i1", "i2", "i3"]),
        ("?by=order&dir=desc", ["i3", "i2", "i1", "i0"]),
        ("?by=rating&dir=desc", ["i0", "i1", "i2", "i3"]),
        ("?by=sacrebleu", ["i0", "i3", "i2", "i1"]),
        ("?by=sacrebleu&dir=desc", ["i1", "i2", "i3", "i0"]),
        # people's ranks are 3, 2, 1; the metric's are 1, 3, 2
        ("?by=disagreement-sacrebleu", ["i0", "i1", "i2", "i3"]),
        # the metric's ranks are 3, 1, 2: i0 agrees, the others are one rank away
        ("?by=disagreement-chrf", ["i1", "i2", "i0", "i3"]),
        ("?by=disagreement", ["i0", "i1", "i2", "i3"]),  # of older addresses
        ("?by=disagreement-password", ["i2", "i1", "i0", "i3"]),
        ("?by=password", ["i2", "i1", "i0", "i3"]),
        ("?q=i3", ["i3"]),
        ("?q=THE+I1", ["i1"]),
        ("?q=Source", []),
        ("?q=%25", []),
    ):
        assert ids(client, kite, query) == expected, query


def test_each_output_says_its_rating_and_the_metric(client, kite, read):
    said = read(client.get(f"/submissions/{kite.pk}/?by=sacrebleu"))
    assert "i1 50.0 90.00 The i1 sat" in said
    assert "Ratings Overall: Neutral" in said
    assert "i3 – 30.00 The i3 sat" in said
    assert "Flagged: It adds information that is not in the input" in said


def test_outputs_are_nobodys_before_publication_but_the_teams(
    client, client_of, kite, read
):
    set_state(Submission.objects.filter(pk=kite.pk), "SCORED")
    page = f"/submissions/{kite.pk}/"
    # test questions are made of them
    assert ids(client, kite, "?by=rating") == []
    assert "i1 50.0" in read(client_of("submitter").get(page))


def test_another_systems_words_are_marked_and_escaped(client, kite, wren):
    html = client.get(f"/submissions/{kite.pk}/?against={wren.pk}").content.decode()
    assert "sat <ins>&amp;</ins> <ins>slept</ins>." in html
    assert "<b>snored</b>" not in html
    assert "&lt;" in html


def test_only_outputs_that_may_be_read_are_put_beside(client, client_of, kite, wren):
    other = make_ranked(
        make_task("other"), 50, system="Elsewhere", team=wren.team, owner=wren.owner
    )
    make_predictions(other, text="elsewhere")
    Submission.objects.filter(pk=wren.pk).update(visibility="PRIVATE")
    for stranger in (client, client_of("submitter")):
        for pk in (wren.pk, other.pk, kite.pk, "x", 10**30):
            html = stranger.get(f"/submissions/{kite.pk}/?against={pk}").content
            assert b"snored" not in html
            assert b"elsewhere" not in html
    own = client_of("rival").get(f"/submissions/{kite.pk}/?against={wren.pk}").content
    assert b"snored" in own
    Submission.objects.filter(pk=wren.pk).update(
        visibility="PUBLIC", own_state="WITHDRAWN"
    )
    html = client.get(f"/submissions/{kite.pk}/?against={wren.pk}").content
    assert b"snored" not in html


def test_hidden_references_stay_hidden_in_every_order(client, task, kite, wren):
    task.hidden_references = True
    task.save()
    Instance.objects.filter(task=task).update(references=["SECRET REFERENCE"])
    for query in (
        *("", "?by=order", f"?against={wren.pk}", "?q=SECRET"),
        *("?against=reference", "?against=reference&open=1"),
    ):
        html = client.get(f"/submissions/{kite.pk}/{query}").content.decode()
        assert "SECRET REFERENCE" not in html
    assert ids(client, kite, "?q=SECRET") == []


def test_the_differences_from_the_reference_are_marked(client, task, kite):
    Instance.objects.filter(task=task).update(references=["The i1 sat & dozed."])
    path = f"/submissions/{kite.pk}/?against=reference&q=i1&open=1"
    html = client.get(path).content.decode()
    assert "The i1 sat &amp; <ins>slept</ins>." in html
    assert "The i1 sat &amp; <ins>dozed</ins>." in html
    assert html.count("<details open>") == 1


def test_the_links_to_other_pages_keep_what_was_chosen(client, who):
    task = make_task("long", n_instances=60)
    made = make_ranked(task, 50, **who)
    make_predictions(made)
    path = f"/submissions/{made.pk}/?q=pred&by=chrf&against=reference&open=1"
    html = client.get(path).content.decode()
    kept = "?q=pred&amp;by=chrf&amp;against=reference&amp;open=1&amp;page=2#outputs"
    assert kept in html
    assert "1–25" in html
    assert ids(client, made, "?page=3")[-1] == "i59"
    assert client.get(f"/submissions/{made.pk}/?page=4").status_code == 404


def test_who_judged_is_told_in_figures_and_not_in_names(client, task, read, who):
    workers = [make_worker(name=f"worker-{n}") for n in range(3)]
    made = judge(task, 0.6, workers=workers, **who)
    response = client.get(f"/submissions/{made.pk}/")
    said = read(response)
    assert "Raters 3" in said
    assert (
        "$0.09 per assignment, $16.20 an hour at the median of 20.0 active seconds"
        in said
    )
    for worker in workers:
        assert worker.platform_worker_id not in response.content.decode()
        assert worker.pseudonym not in response.content.decode()


def test_as_many_queries_with_4_outputs_as_with_60(client, team, submitter, kite, wren):
    def asked(submission, other):
        with CaptureQueriesContext(connection) as captured:
            client.get(f"/submissions/{submission.pk}/?by=rating&against={other.pk}")
        return len(captured)

    few = asked(kite, wren)
    task = make_task("long", n_instances=60, sample_size=60)
    workers = [make_worker() for _ in range(9)]
    both = {"workers": workers, "owner": submitter, "team": team}
    many = asked(judge(task, 0.7, **both), judge(task, 0.4, seed=2, **both))
    assert abs(many - few) <= 1


@pytest.mark.parametrize(
    ("text", "other", "marked"),
    [
        ("a b c", "a c", "a <ins>b </ins>c"),
        ("same", "same", "same"),
        ("", "x", ""),
        ("<i>", "", "<ins>&lt;i&gt;</ins>"),
        ("日本 語", "日本 人", "日本 <ins>語</ins>"),
    ],
)
def test_words_that_the_other_has_not_are_marked(text, other, marked):
    assert difference(text, other) == marked


def test_very_long_texts_are_not_compared():
    assert difference("word " * 2_000, "word") is None


def test_texts_are_laid_out_as_workers_saw_them_and_stay_escaped(client, kite, task):
    field = next(iter(task.field_labels))
    task.config |= {"output_format": "markdown", "formats": {field: "conversation"}}
    task.save()
    said = "User: <i>Hi</i>\n\nAssistant: **no**"
    Instance.objects.filter(task=task).update(fields={field: said})
    long = "**Yes** <script>x</script> " + "x" * 800
    Prediction.objects.filter(submission=kite).update(text=long)
    html = client.get(f"/submissions/{kite.pk}/").content.decode()
    assert html.count("<strong>Yes</strong> &lt;script&gt;") == 4
    assert html.count('<div class="turn">') == 8
    assert '<div class="speech">&lt;i&gt;Hi&lt;/i&gt;</div>' in html
    assert "**no**" in html  # a conversation is no Markdown
    assert "<script>x" not in html
