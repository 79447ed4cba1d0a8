"""Judges of every design: asked as people are, their answers counted by the same arithmetic."""

import json

import pytest

from crowd.hit_templates.form import read_errors, span_score
from crowd.hits.services.check_answers import checked_spans
from genie.lib.errors import GenieError
from leaderboard.imports.readers.judgments import Judgments, Texts, frame
from leaderboard.imports.services.bring_in import bring_in
from leaderboard.judges.selectors.scores import scores_of
from leaderboard.judges.selectors.validation import validation_of
from leaderboard.judges.services import ask
from leaderboard.models import JudgeAnswer, JudgeCost, OutsideScores, Task
from leaderboard.tasks.services.configuration import errors_asked
from tests.factories import make_user
from tests.judge_server import texts_in
from tests.leaderboard.judges.conftest import (
    add_system,
    approved,
    make_judge,
    make_script,
    worked,
)

SEVERE = {"severity": "major", "category": "Accuracy/Addition", "reason": "why"}
COMMA = {"severity": "minor", "category": "Fluency/Punctuation", "reason": "odd"}


def asked_as(task, table="human", **changes):
    task.config.setdefault(table, {}).update(changes)
    task.hidden_references = False
    task.save()
    return task


@pytest.fixture
def mqm(judged):
    return asked_as(judged, design="mqm", scale="mqm", hit_template="mqm-translation")


@pytest.mark.every_engine
def test_errors_are_marked_by_the_taxonomy_of_people_and_counted_as_theirs(server, mqm):
    add_system(mqm, "Finch", lambda at: "a cat, a cat")
    marks = [{"quote": "cat", **SEVERE}, {"quote": "cat", **SEVERE}, {"quote": ",", **COMMA}, {"quote": "[missing]", **SEVERE}]  # fmt: skip
    server.rule = lambda body: json.dumps({"errors": marks if "cat" in str(texts_in(body)) else []})  # fmt: skip
    run = worked(approved(make_judge(), mqm, n_instances=1))
    user = server.requests[0]["messages"][1]["content"]
    assert '"Terminology/Wrong term"' in user
    assert '"minor", "major", "critical"' in user
    assert "Mark as few words as possible" in user  # the instructions of people
    assert '"answer"' not in user
    schema = server.requests[0]["response_format"]["json_schema"]["schema"]
    assert schema["required"] == ["errors"]
    kite, _, finch = mqm.submissions.order_by("pk")
    # three major ones, and what this template says of punctuation
    assert scores_of(run, "overall")[finch.pk] == {0: -15.1}
    assert scores_of(run, "overall")[kite.pk] == {0: 0.0}
    stored = run.calls.get(submission=finch).marks
    assert [mark.get("start") for mark in stored] == [2, 5, 9, None]
    assert stored[1] == {"start": 5, "end": 6, **COMMA, "weight": 0.1}
    assert "weight" not in stored[0]
    # the same marks from a person's page
    page = [{k: v for k, v in one.items() if k not in {"reason", "weight"}} for one in stored]  # fmt: skip
    errors = read_errors(errors_asked(mqm.configuration.human))
    people = checked_spans(json.dumps(page), "a cat, a cat", errors)
    assert span_score(people) == -15.1


@pytest.mark.parametrize(
    ("errors", "why"),
    [
        ([{"quote": "a dog", **SEVERE}], "not in the output"),
        ([{"quote": "aaa", **SEVERE}, {"quote": "aaaaaaaaaaa", **SEVERE}], "marked twice"),
        ([{"quote": "a", **SEVERE, "category": "Taste"}], "category"),
        ([{"quote": "a", **SEVERE, "severity": "fatal"}], "severity"),
        ([{"quote": "[missing]", **SEVERE}] * 2, "something is missing"),
        ("none", "not a list"),
    ],
)  # fmt: skip
def test_a_mark_that_people_could_not_make_is_asked_for_again(server, mqm, errors, why):
    wrong = {"errors": errors}
    server.next.append(json.dumps(wrong))
    server.rule = lambda body: '{"errors": []}'
    kite = mqm.submissions.get(system_name="Kite")
    wish = {"n_instances": 1, "submissions": [kite.pk]}
    run = worked(approved(make_judge(), mqm, **wish))
    call = run.calls.get()
    assert (call.state, call.n_attempts) == ("VALID", 2)
    server.rule = lambda body: json.dumps(wrong)
    again = worked(approved(make_judge(n_retries=0), mqm, occasion="again", **wish))
    assert why in again.calls.get().problem
    assert scores_of(again, "overall") == {}


def test_a_score_beside_marks_is_the_number_given_and_marks_count_too(server, judged):
    asked_as(
        judged, design="error-spans", scale="sqm", hit_template="error-span-translation"
    )
    given = {"errors": [{"quote": "b", "severity": "minor", "reason": ""}], "overall": {"reason": "r", "answer": 66}}  # fmt: skip
    # true is no number, although Python reads it as 1
    server.next.append(json.dumps({**given, "overall": {"answer": True}}))
    server.rule = lambda body: json.dumps(given)
    wren = judged.submissions.get(system_name="Wren")
    run = worked(approved(make_judge(), judged, submissions=[wren.pk], n_instances=1))
    call = run.calls.get()
    assert (call.values, call.n_attempts) == ({"overall": 66.0, "spans": -1.0}, 2)
    assert call.reasons == {"overall": "r"}
    # the words that people read on the line
    assert "where 0 is \"None of the meaning is there" in server.requests[0]["messages"][1]["content"]  # fmt: skip


def test_a_reference_is_set_beside_in_both_orders_and_not_named(server, judged):
    asked_as(
        judged, design="preference", scale="preference-5",
        hit_template="preference-summarization",
    )  # fmt: skip
    # longer ones are preferred: the reference has 19 characters, Kite 12, 22 and 32
    better = ["Prefer A", "Prefer B"]
    server.answer = lambda body: better[_outputs(body)[0] < _outputs(body)[1]]
    run = worked(approved(make_judge(), judged))
    assert len(server.requests) == 12
    kite, wren = judged.submissions.order_by("pk")
    assert scores_of(run, "overall") == {
        kite.pk: {0: 0.25, 1: 0.75, 2: 0.75},
        wren.pk: dict.fromkeys(range(3), 0.75),
    }
    assert {tuple(call.beside) for call in run.calls.filter(submission=kite)} == {
        (kite.pk, 0),
        (0, kite.pk),
    }
    assert "Reference" not in texts_in(server.requests[0]).keys() - {"Source text"}
    judged.hidden_references = True
    judged.save()
    with pytest.raises(GenieError, match="Allow this judge"):
        ask.ask(make_judge(), judged, ask.Wish())
    judged.hidden_references = False
    judged.save()
    # who always takes the first gains nothing by it
    server.answer = lambda body: "Strongly prefer A"
    first = worked(approved(make_judge(version="2"), judged))
    assert set(scores_of(first, "overall")[kite.pk].values()) == {0.5}


def _outputs(body):
    return [len(text) for name, text in texts_in(body).items() if name[:6] == "Output"]


def test_magnitudes_are_ratios_to_the_standard(server, judged):
    asked_as(
        judged, design="plain-magnitude", scale="magnitude", standard_value=50,
        hit_template="magnitude-judgement",
    )  # fmt: skip
    server.answer = lambda body: 25 if server.requests[-1]["seed"] < 1000 else 100
    wren = judged.submissions.get(system_name="Wren")
    judge = make_judge(k=2, at_once=1)
    run = worked(approved(judge, judged, submissions=[wren.pk], n_instances=1))
    assert "Reference output, worth 50" in texts_in(server.requests[0])
    # half as good once and twice as good once: ratios average as logarithms do
    assert [call.values["overall"] for call in run.calls.order_by("sample")] == [0.5, 2]
    assert scores_of(run, "overall")[wren.pk] == {0: pytest.approx(1.0)}
    assert OutsideScores.objects.get().value == pytest.approx(1.0)


@pytest.fixture
def joint(judged):
    for name, n in (("Owl", 15), ("Rook", 20), ("Tern", 30)):
        add_system(judged, name, lambda at, n=n: "c" * (n + at))
    return asked_as(judged, table="joint", criteria=judged.config["human"]["criteria"])


def by_length_each(body):
    return json.dumps(
        {
            name[-1]: {"overall": {"reason": "long", "answer": len(text)}}
            for name, text in texts_in(body).items()
            if name.startswith("Output")
        }
    )


def test_several_outputs_are_rated_at_once_in_an_order_and_its_opposite(server, joint):
    server.rule = by_length_each
    run = worked(approved(make_judge(mode="joint"), joint))
    # five systems, three instances, two orders: one request for all of a page
    assert (run.calls.count(), len(server.requests)) == (30, 6)
    assert run.plan["n_requests"] == 6
    for one in joint.instances.all():
        asked = {tuple(call.beside) for call in run.calls.filter(instance=one)}
        assert len(asked) == 2
        assert {order[::-1] for order in asked} == asked
    told = scores_of(run, "overall")
    lengths = {
        p.submission_id: len(p.text) / 100
        for p in joint.instances.get(position=1).predictions.all()
    }
    assert {pk: row[1] for pk, row in told.items()} == pytest.approx(lengths)
    texts = texts_in(server.requests[0])
    assert [*texts][1:] == ["Reference output, worth 100", *(f"Output {c}" for c in "ABCDE")]  # fmt: skip
    # an answer that leaves one out is none about any
    server.next.append('{"A": {"overall": {"answer": 10}}}')
    again = make_judge(version="2", mode="joint", n_retries=0, at_once=1)
    run = worked(approved(again, joint, n_instances=1))
    assert run.calls.filter(state="INVALID").count() == 5
    assert {call.problem for call in run.calls.filter(state="INVALID")} == {
        "an output is left out"
    }


def test_blocks_are_those_of_joint_evaluations_and_go_on_where_they_stopped(
    server, joint, monkeypatch
):
    server.rule = by_length_each
    judge = make_judge(mode="joint", at_once=1)
    with pytest.raises(GenieError, match="shows 2 to 5 of them, not 6"):
        ask.ask(judge, joint, ask.Wish(per_page=6))
    monkeypatch.setattr("leaderboard.judges.services.work.PIECE_SECONDS", 0.0)
    run = approved(judge, joint, per_page=2)
    assert run.calls.count() == 3 * 2 * 2
    shown = [pk for call in run.calls.all() for pk in call.beside]
    times = {shown.count(pk) for pk in set(shown)}
    assert len(set(shown)) == 5
    assert times == {4, 8}  # one page or two, each in both orders, told of two outputs
    worked(run)
    assert run.state == "RUNNING"
    monkeypatch.setattr("leaderboard.judges.services.work.PIECE_SECONDS", 20.0)
    assert worked(run).state == "DONE"
    assert len(server.requests) == 6
    assert set(server.n_by_key.values()) == {1}


def test_two_outputs_are_marked_and_rated_each(server, joint):
    asked_as(
        joint, table="joint", design="error-span-pairs", scale="slider-100",
        hit_template="error-span-pairs",
    )  # fmt: skip
    found = {"quote": "c", "severity": "major", "reason": "c"}
    server.rule = lambda body: json.dumps(
        {
            name[-1]: {
                "errors": [found] if "c" in text else [],
                "overall": {"reason": "r", "answer": 40 if "c" in text else 90},
            }
            for name, text in texts_in(body).items()
            if name.startswith("Output")
        }
    )
    run = worked(approved(make_judge(mode="joint"), joint))
    owl, wren = (joint.submissions.get(system_name=name) for name in ("Owl", "Wren"))
    told = scores_of(run, "overall")
    assert set(told[owl.pk].values()) == {40.0}
    assert set(told[wren.pk].values()) == {90.0}
    assert {len(call.marks) for call in run.calls.filter(submission=owl)} == {1}
    assert {len(call.marks) for call in run.calls.filter(submission=wren)} == {0}
    [refused] = validation_of(run, "overall")
    assert not refused.holds
    assert "saw several outputs at once" in refused.words


@pytest.mark.parametrize(
    ("table", "mode", "changes"),
    [
        ("human", "pointwise", ("mqm", "mqm", "mqm-translation")),
        ("human", "pointwise", ("error-spans", "sqm", "error-span-translation")),
        ("human", "pointwise", ("preference", "preference-5", "preference-summarization")),
        ("human", "pointwise", ("plain-magnitude", "magnitude", "magnitude-judgement")),
        ("joint", "joint", ("rankme", "magnitude", "rankme-outputs")),
        ("joint", "joint", ("error-span-pairs", "slider-100", "error-span-pairs")),
    ],
)  # fmt: skip
def test_scripts_answer_every_design(joint, table, mode, changes):
    names = ("design", "scale", "hit_template")
    asked_as(joint, table=table, **dict(zip(names, changes, strict=True)))
    run = worked(approved(make_script(mode=mode), joint))
    assert run.state == "DONE"
    assert set(run.calls.values_list("state", flat=True)) == {"VALID"}
    assert JudgeAnswer.objects.count() == run.plan["n_requests"]


def test_the_script_that_likes_the_first_does_so_among_several(joint):
    told = {}
    for script in ("words", "likes-first"):
        run = worked(approved(make_script(script, mode="joint"), joint))
        told[script] = {
            (call.instance_id, tuple(call.beside), call.submission_id): call
            for call in run.calls.all()
        }
    ahead = {
        key[1].index(key[2]) == 0
        for key, call in told["likes-first"].items()
        if call.values["overall"] > told["words"][key].values["overall"]
    }
    assert ahead == {True}


def test_earlier_answers_say_how_many_bytes_a_token_is(server, judged):
    judge = make_judge(k=4)
    first = worked(approved(judge, judged))
    assert JudgeCost.objects.filter(n_bytes__gt=0).count() == 24
    assert "n_measured" not in first.plan
    next_one = ask.ask(make_judge(version="2"), judged, ask.Wish())
    sizes = [len(json.dumps(body, ensure_ascii=False)) for body in server.requests]
    assert next_one.plan["n_measured"] == 24
    assert next_one.plan["bytes_a_token"] == pytest.approx(sum(sizes) / 2400, rel=0.02)


def test_a_task_whose_ratings_were_made_elsewhere_is_judged_on_their_scale(server):
    rows = [
        {"worker": f"w{w}", "instance": f"s{i}", "system": system, "value": 1 + (i + w) % 5}
        for i in range(4)
        for w in range(3)
        for system in ("red", "blue")
    ]  # fmt: skip
    asked = {"criterion": "overall"}
    told = [{**row, **asked, "row": at} for at, row in enumerate(rows, 2)]
    texts = Texts({f"s{i}": {"input": "i"} for i in range(4)})
    texts.outputs.update({(r["system"], r["instance"]): "o" for r in rows})
    columns = {name: [row[name] for row in told] for name in told[0]}
    bring_in(
        Judgments("plain", frame(columns), texts=texts),
        slug="elsewhere",
        by=make_user("importer"),
    )
    task = Task.objects.get(slug="elsewhere")
    server.answer = lambda body: 4
    run = worked(approved(make_judge(), task))
    assert "a number from 1 to 5" in server.everything()
    assert {call.values["overall"] for call in run.calls.all()} == {4.0}
    for scale in ("sum_-25_0", "preferred"):
        task.config["human"]["scale"] = scale
        with pytest.raises(GenieError, match="cannot answer the questions"):
            ask.ask(make_judge(), task, ask.Wish())
