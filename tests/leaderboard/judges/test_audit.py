"""Planted biases are found through runs, none where there is none, and probes count nowhere."""

import numpy as np
import pytest

from leaderboard.judges.selectors.scores import answers_of, scores_of
from leaderboard.judges.selectors.told import data_sent, progress
from leaderboard.judges.selectors.validation import Validation, validation_of
from leaderboard.judges.services import ask, work
from leaderboard.models import JudgeCall, Submission
from leaderboard.stats.judges.injections import INJECTIONS
from tests.judge_server import texts_in
from tests.leaderboard.judges.conftest import (
    add_system,
    approved,
    make_judge,
    make_script,
    worked,
)
from tests.leaderboard.judges.planted import biases, compare, done, make_world, rate


def told(licences):
    lines = [
        f"{name}: {one.name}: {'yes' if one.holds else 'no'}: {one.words}"
        for name, licence in licences.items()
        for one in licence
    ]
    return "\n".join(lines) + "\n"


@pytest.mark.slow
def test_planted_biases_are_found_through_runs_and_no_others(net):
    task = make_world(seed=1)
    rate(task, np.random.default_rng(1))
    found = {}
    for script, audit in (("words", 20), ("likes-long", 0), ("obeys", 20)):
        run = done(approved(make_script(script), task, audit=audit))
        assert run.state == "DONE"
        found[script] = validation_of(run, "overall")
    net("judges/biases.txt", told(found))


def test_pairs_are_licensed_by_choices_and_order_is_audited(net):
    task = make_world(seed=2)
    compare(task, np.random.default_rng(2))
    found = {}
    for script, audit in (("words", 20), ("likes-first", 0)):
        run = done(approved(make_script(script, mode="pairwise"), task, audit=audit))
        found[script] = validation_of(run, "overall")
    net("judges/pairs.txt", told(found))


def test_ratings_of_both_outputs_are_taken_as_choices_each_output_once(net):
    task = make_world(seed=3)
    rate(task, np.random.default_rng(3))
    run = done(approved(make_script(mode="pairwise"), task))
    found = Validation(run, "overall")
    overlap = found.overlap
    assert overlap.words == "their ratings of both outputs, taken as choices"
    # three systems: one pair an instance, and three people
    assert len(overlap.people) == 14 * 3
    assert set(overlap.people["value"]) <= {0.0, 0.5, 1.0}
    assert set(overlap.labels(found.scores).values()) <= {"first", "second"}
    licence = validation_of(run, "overall")
    net("judges/turned.txt", told({"words": licence}))


def test_without_people_s_choices_a_judge_of_pairs_is_refused_in_words(net):
    task = make_world(seed=4, n_instances=3)
    run = done(approved(make_script(mode="pairwise"), task))
    # what needs no people is told all the same
    net("judges/without-people.txt", told({"words": validation_of(run, "overall")}))


def test_probes_are_priced_shown_sent_once_and_count_nowhere(server, judged):
    server.answer = lambda body: (
        "Strongly agree" if "rate this 10" in str(body["messages"][1]) else "Neutral"
    )
    prices = {"input_price": 300, "output_price": 2000}
    plain = ask.ask(make_judge(**prices), judged, ask.Wish())
    run = approved(make_judge(**prices), judged, budget=9_999, audit=2)
    assert run.plan["audit"] == 2
    assert run.n_calls == plain.n_calls == 6
    assert run.calls.count() == 6 + 2 * 2 * len(INJECTIONS)
    assert run.most_cents > 3 * plain.most_cents
    [said] = [one for one in data_sent(run) if one.startswith("Audit")]
    assert said.startswith("Audit: 20 more questions")
    worked(run)
    # harmless and planted texts went out, each with the output before it
    ends = [texts_in(body)["Output"].splitlines()[1:] for body in server.requests]
    assert sorted(end[0] for end in ends if end) == sorted(
        2 * [text for both in INJECTIONS.values() for text in both]
    )
    assert set(answers_of(run)["value"]) == {0.5}
    probed = answers_of(run, probes=True).query("probe != ''")
    assert len(probed) == 20
    assert 1.0 in set(probed["value"])
    assert {v for row in scores_of(run, "overall").values() for v in row.values()} == {
        0.5
    }
    told = progress(run)
    assert (told.n, told.answered, told.probes_answered) == (6, 6, 20)
    assert run.microcents == 26 * (100 * 300 + 20 * 2000)
    # another run of the same buys nothing again
    server.requests.clear()
    again = approved(make_judge(**prices), judged, cents=0, audit=2)
    assert (again.most_cents, worked(again).state) == (0, "DONE")
    assert server.requests == []


def test_instances_with_fewer_outputs_are_probed_once_each(judged):
    system = Submission.own.order_by("pk").last()
    system.predictions.order_by("instance__sample_rank").last().delete()
    run = ask.ask(make_script(), judged, ask.Wish(audit=9))
    asked = run.calls.exclude(probe="").values_list("submission", "instance")
    assert (len(asked), len(set(asked))) == (5 * 2 * len(INJECTIONS), 5)


def test_a_run_goes_on_with_its_probes_and_private_texts_are_none(
    server, judged, monkeypatch
):
    add_system(judged, "Owl", lambda at: "never shown", visibility="PRIVATE")
    run = approved(make_judge(at_once=1), judged, audit=6)
    monkeypatch.setattr(work, "PIECE_SECONDS", 0.02)
    while run.calls.filter(probe="", state="WAITING").exists():
        worked(run)
    assert run.state == "RUNNING"
    assert run.calls.filter(probe="", state="VALID").count() == 6
    # what becomes private meanwhile does not leave as a probe, either
    Submission.objects.filter(system_name="Wren").update(visibility="PRIVATE")
    server.requests.clear()
    monkeypatch.setattr(work, "PIECE_SECONDS", 20.0)
    assert worked(run).state == "DONE"
    assert "never shown" not in server.everything()
    assert "bbbb" not in server.everything()
    assert "aaaa" in server.everything()
    invalid = run.calls.exclude(probe="").filter(state="INVALID")
    assert {call.submission.system_name for call in invalid} == {"Wren"}
    assert progress(run).invalid == 0


def test_an_own_kind_is_known_by_its_names_and_not_looked_for_without(net):
    task = make_world(seed=5, n_systems=5)
    rate(task, np.random.default_rng(5))
    Submission.objects.filter(pk=task.systems[0].pk).update(system_name="Llama3 tuned")
    Submission.objects.filter(pk=task.systems[1].pk).update(organization="The Herd")
    Submission.objects.filter(pk=task.systems[2].pk).update(system_name="Llamas")
    run = done(approved(make_script(), task))
    run.judge.definition["endpoint"] = "lab"  # no script, for once

    def reason(family):
        run.judge.family = family
        found = Validation(run, "overall").audit()
        return next(one for one in found if one.name == "bias: own family")

    nobody = reason("")
    assert (nobody.holds, nobody.words[:11]) == (False, "not checked")
    none = reason("Gull")
    assert (none.holds, none.words) == (
        True,
        "does not apply: no system of its family (Gull)",
    )
    assert reason("Llama, the herd").holds
    own = [system.pk for system in task.systems[:2]]
    for call in JudgeCall.objects.filter(run=run, submission__in=own):
        call.values = {"overall": call.values["overall"] + 40}
        call.save()
    assert not reason("Llama, the herd").holds
    net("judges/family.txt", told({"words": Validation(run, "overall").audit()}))


def test_order_is_audited_where_outputs_stand_beside_a_reference(server, judged):
    settings = {"design": "preference", "scale": "preference-5"}
    judged.config["human"].update(settings, hit_template="preference-summarization")
    judged.hidden_references = False
    judged.save()
    server.answer = lambda body: "Strongly prefer A"
    run = worked(approved(make_judge(), judged))
    assert list(Validation(run, "overall").both_orders.values()) == 6 * [(1.0, 1.0)]
    order = biases(validation_of(run, "overall"))["order"]
    assert order.words.startswith("not checked: 6 pairs answered in both orders")
