import json

import pytest
from django.urls import reverse

from crowd import hit_templates
from crowd.campaigns.services.work import give_back, next_assignment, submit
from crowd.hits.selectors import questions_about
from crowd.models import Rating
from crowd.scales.base import all_scales
from crowd.workers.hit_form import shown_items, stored_answers
from genie.lib.errors import GenieError
from tests.crowd.designs import campaign_of, claimed
from tests.crowd.making import make_worker
from tests.factories import make_user


def send(assignment, given):
    key = assignment.hit.items.get().key
    return submit(assignment, {key: given})


def refused(assignment, given):
    with pytest.raises(GenieError) as caught:
        send(assignment, given)
    assert not Rating.own.exists()
    return caught.value.code


def stored():
    rows = Rating.own.values_list("criterion", "slot", "value", "raw")
    return {(c, s): (value, raw) for c, s, value, raw in rows}


def opened(client, slug, **how):
    user = make_user("wim")
    campaign_of(slug, **how)
    assignment = next_assignment(make_worker(user=user))
    client.force_login(user)
    return assignment, reverse("work:hit", args=[assignment.pk])


def an_answer(scale):
    return scale.options[0].raw if scale.options else "60"


@pytest.mark.parametrize("slug", hit_templates.all_templates())
def test_the_example_of_every_template_is_shown_answered_and_parsed(client, slug):
    assignment, address = opened(client, slug)
    assert client.post(address, {"remark": "odd"}).status_code == 422
    assert not Rating.own.exists()
    page = client.get(address).text
    (shown,) = shown_items([assignment], {})
    assert all(f'name="{question.name}"' in page for question in shown.questions)
    post = {question.name: an_answer(question.scale) for question in shown.questions}
    post |= {marks.name: "[]" for marks in shown.marks}
    assert client.post(address, post).status_code == 302
    item = assignment.hit.items.get()
    questions = questions_about(assignment.hit.campaign.hit_type, item.data)
    assert set(stored()) == {(q.criterion, q.slot) for q in questions}
    for question in questions:
        value, raw = stored()[question.criterion, question.slot]
        given = "0" if question.scale.counted else an_answer(question.scale)
        assert (value, raw) == (question.scale.parse(raw), given)


def test_two_choice_stores_the_slot_and_the_side_of_the_first():
    assignment = claimed("two-choice-outputs")
    send(assignment, {"overall": "B"})
    assert stored() == {("overall", ""): (0.0, "B")}


def test_a_tie_is_taken_only_where_it_is_allowed():
    assignment = claimed("two-choice-outputs")
    assert refused(assignment, {"overall": "tie"}) == "not-on-the-scale"
    give_back(assignment)
    campaign_of("two-choice-outputs", form={"allow_tie": True}, pool="ties")
    tied = next_assignment(make_worker("ties"), "ties")
    send(tied, {"overall": "tie"})
    assert stored() == {("overall", ""): (0.5, "tie")}


def test_each_output_of_a_rankme_page_has_its_own_magnitude():
    assignment = claimed("rankme-outputs")
    send(assignment, {"quality@A": "150", "quality@B": "80", "quality@C": "12.5"})
    assert stored() == {
        ("quality", "A"): (1.5, "150"),
        ("quality", "B"): (0.8, "80"),
        ("quality", "C"): (0.125, "12.5"),
    }


def test_a_rankme_page_sends_each_output_once_and_no_other():
    assignment = claimed("rankme-outputs")
    for given, code in (
        ({"quality@A": "150", "quality@B": "80"}, "answer-missing"),
        ({"quality": "150"}, "unknown-question"),
        ({"quality@A": "1", "quality@B": "1", "quality@C": "1", "quality@D": "1"}, "unknown-question"),
        ({"quality@A": "0", "quality@B": "1", "quality@C": "1"}, "not-on-the-scale"),
        ({"quality@A": "-5", "quality@B": "1", "quality@C": "1"}, "not-on-the-scale"),
    ):  # fmt: skip
        assert refused(assignment, given) == code, given


def test_a_reference_output_may_be_worth_something_else_than_100():
    assignment = claimed("magnitude-judgement", data={"standard_value": 50})
    send(assignment, {"quality": "75"})
    assert stored() == {("quality", ""): (1.5, "75")}


def test_a_slider_takes_any_number_from_0_to_100_and_none_by_itself():
    assignment = claimed("slider-translation")
    assert refused(assignment, {}) == "answer-missing"
    assert refused(assignment, {"overall": "100.5"}) == "not-on-the-scale"
    send(assignment, {"overall": "0"})
    assert stored() == {("overall", ""): (0.0, "0")}


def test_ticks_are_yes_or_no_and_no_by_themselves():
    form = {"checkboxes": ["added", "missed"]}
    assignment = claimed("question-answering", form=form)
    assert refused(assignment, {"overall": "1", "added": "2"}) == "not-on-the-scale"
    send(assignment, {"overall": "1", "missed": "1"})
    assert {name: value for (name, _), (value, _) in stored().items()} == {
        "overall": 1.0,
        "added": 0.0,
        "missed": 1.0,
    }


def test_ticks_and_marks_that_nobody_asked_for_are_refused():
    given = {"overall": "1", "added": "1"}
    assert refused(claimed("question-answering"), given) == "unknown-question"
    given = {"overall": "1", "spans": "[]"}
    assert refused(claimed("question-answering"), given) == "unknown-question"


TEXT = "Zwölf 🦆 ducks swam."


def spans(*marks):
    names = ("start", "end", "severity")
    return json.dumps([dict(zip(names, mark, strict=True)) for mark in marks])


def marked():
    return claimed("error-span-translation", data={"prediction": TEXT})


def test_marks_are_stored_in_order_beside_the_score():
    assignment = marked()
    given = {"overall": "70", "spans": spans((8, 13, "major"), (0, 5, "minor"))}
    send(assignment, given)
    answer = Rating.own.get()
    assert (answer.criterion, answer.value) == ("overall", 70.0)
    assert answer.detail == {
        "spans": [
            {"start": 0, "end": 5, "severity": "minor"},
            {"start": 8, "end": 13, "severity": "major"},
        ]
    }
    assert TEXT[8:13] == "ducks"
    assert (
        send(assignment, given).state == "SUBMITTED"
    )  # the same again changes nothing
    with pytest.raises(GenieError):
        send(assignment, {"overall": "70"})


def test_marks_that_the_page_cannot_make_are_refused():
    assignment = marked()
    for raw in (
        spans((0, len(TEXT) + 1, "minor")),
        spans((-1, 3, "minor")),
        spans((3, 3, "minor")),
        spans((5, 3, "minor")),
        spans((0, 5, "minor"), (4, 6, "major")),
        spans((0, 5, "fatal")),
        spans((0.0, 5, "minor")),
        spans((False, True, "minor")),
        spans(("0", "5", "minor")),
        spans((0, 5, ["minor"])),
        json.dumps([{"start": 0, "end": 5, "severity": "minor", "by": "me"}]),
        json.dumps([{"start": 0, "end": 5}]),
        json.dumps({"start": 0}),
        spans(*[(0, 1, "minor")] * 201),
        "[" * 15_000,
        "[" * 30_000,
        "no json",
        "null",
        "NaN",
    ):
        given = {"overall": "70", "spans": raw}
        assert refused(assignment, given) == "unusable-spans", raw[:99]


@pytest.mark.parametrize(
    "marks", [[], [{"start": 0, "end": len(TEXT), "severity": "major"}]]
)
def test_no_marks_are_no_errors_and_the_last_character_can_be_marked(marks):
    sent = {"spans": json.dumps(marks)} if marks else {}
    send(marked(), {"overall": "70", **sent})
    assert Rating.own.get().detail == {"spans": marks}


def test_what_is_missing_can_be_said_without_a_script(client):
    _, address = opened(client, "mqm-translation")
    assert 'name="spans-0-missing"' in client.get(address).text
    post = {"spans-0": "", "spans-0-missing": "major"}
    assert client.post(address, post).status_code == 422  # no category
    post["spans-0-missing-category"] = "Accuracy/Omission"
    assert client.post(address, post).status_code == 302
    answer = Rating.own.get()
    assert (answer.value, answer.raw) == (-5.0, "-5")
    assert answer.detail["spans"][0]["missing"] is True


def test_what_is_missing_is_marked_once_and_has_no_place():
    gone = {"missing": True, "severity": "major"}
    twice = {"overall": "70", "spans": json.dumps([gone, gone])}
    assignment = marked()
    assert refused(assignment, twice) == "unusable-spans"
    placed = {"overall": "70", "spans": json.dumps([{**gone, "start": 0, "end": 1}])}
    assert refused(assignment, placed) == "unusable-spans"
    word = {"start": 0, "end": 5, "severity": "minor"}
    send(assignment, {"overall": "70", "spans": json.dumps([gone, word])})
    assert Rating.own.get().detail == {"spans": [word, gone]}


def test_a_template_without_omissions_takes_none():
    form = {"errors": {"severities": ["minor"]}}
    assignment = claimed("error-span-translation", form=form)
    gone = json.dumps([{"missing": True, "severity": "minor"}])
    assert refused(assignment, {"overall": "7", "spans": gone}) == "unusable-spans"
    worse = spans((0, 3, "major"))
    assert refused(assignment, {"overall": "7", "spans": worse}) == "unusable-spans"


def mqm(start, end, severity, category):
    span = {"start": start, "end": end, "severity": severity, "category": category}
    return {name: said for name, said in span.items() if said != ""}


def test_an_mqm_score_is_counted_from_what_the_taxonomy_says_errors_weigh():
    assignment = claimed("mqm-translation", data={"prediction": TEXT})
    marks = [
        mqm(0, 5, "minor", "Fluency/Punctuation"),
        mqm(8, 13, "major", "Fluency/Punctuation"),
        mqm(14, 18, "minor", "Non-translation"),
    ]
    for wrong, code in (
        ([mqm(0, 5, "minor", "")], "answer-missing"),
        ([mqm(0, 5, "minor", "Fluency")], "unusable-spans"),
        ([mqm(0, 5, "minor", "Fluency/Odd")], "unusable-spans"),
    ):
        assert refused(assignment, {"spans": json.dumps(wrong)}) == code
    assert refused(assignment, {}) == "answer-missing"
    assert refused(assignment, {"overall": "5", "spans": "[]"}) == "unknown-question"
    send(assignment, {"spans": json.dumps(marks)})
    answer = Rating.own.get()
    assert (answer.value, answer.raw) == (-30.1, "-30.1")
    weights = [span.get("weight") for span in answer.detail["spans"]]
    assert weights == [0.1, None, 25.0]


def test_errors_that_no_page_can_ask_are_refused():
    for errors in [
        {"colour": "red"},
        {"severities": []},
        {"severities": ["minor", "minor"]},
        {"severities": ["fatal"]},
        {"severities": "minor"},
        {"categories": {"a/b": []}},
        {"categories": {"a": "b"}},
        {"weights": {"odd": 1}},
        {"weights": {"minor": -1}},
        {"weights": {"minor": True}},
        {"missing": "yes"},
    ]:
        with pytest.raises(GenieError) as caught:
            campaign_of("error-span-translation", form={"errors": errors})
        assert caught.value.code == "unusable-errors"


def test_each_mark_of_a_text_that_came_with_marks_says_what_became_of_it():
    before = [
        {"start": 0, "end": 5, "severity": "minor"},
        {"start": 8, "end": 13, "severity": "minor"},
        {"missing": True, "severity": "minor"},
    ]
    data = {"prediction": TEXT, "spans": before, "spans_by": "xcomet"}
    assignment = claimed("error-span-translation", data=data)
    (shown,) = shown_items([assignment], {})
    assert json.loads(shown.marks[0].raw_answer) == before
    given = spans((0, 5, "minor"), (8, 12, "major"), (14, 18, "major"))
    send(assignment, {"overall": "70", "spans": given})
    detail = Rating.own.get().detail
    assert [(s["was"], s.get("by")) for s in detail["spans"]] == [
        ("kept", "xcomet"),
        ("changed", "xcomet"),
        ("added", None),
    ]
    assert (detail["removed"], detail["prefilled_by"]) == (before[2:], "xcomet")
    (again,) = shown_items([assignment], stored_answers([assignment]))
    assert json.loads(again.marks[0].raw_answer) == json.loads(given)


def test_two_outputs_are_marked_and_rated_each_by_itself():
    assignment = claimed("error-span-pairs")
    (shown,) = shown_items([assignment], {})
    assert [block.slot for block in shown.pair] == ["A", "B"]
    given = {"overall@A": "40", "overall@B": "90", "spans@A": spans((0, 3, "major"))}
    assert refused(assignment, given | {"spans": "[]"}) == "unknown-question"
    send(assignment, given)
    details = dict(Rating.own.values_list("slot", "detail"))
    assert [len(details[slot]["spans"]) for slot in "AB"] == [1, 0]


def blocks(slug, **how):
    (shown,) = shown_items([claimed(slug, **how)], {})
    return shown.blocks


def test_a_question_about_the_text_alone_comes_before_the_article():
    first, later = blocks("preference-summarization")
    article = "ferry between Sandhaven"
    assert [q.asked.criterion for q in first.questions] == ["fluency", "redundancy"]
    assert article not in first.html
    assert "A rope in the screw" in first.html
    assert later.later
    assert article in later.html
    assert "A rope in the screw" not in later.html
    assert len(later.questions) == 3
    # The browser would insist on what nobody can see yet.
    assert [q.required for q in (*first.questions, *later.questions)] == [True, True, False, False, False]  # fmt: skip


def test_a_criterion_without_the_input_hides_it_for_good():
    (only,) = blocks(
        "likert-6-judgement",
        criteria={"naturalness": "Natural?"},
        form={"setup": 2, "show_input": {"naturalness": False}},
    )
    assert "Georgian" in only.html  # in the text itself
    assert "What the text should say" not in only.html


def test_criteria_with_and_without_the_input_come_one_after_the_other():
    form = {"show_input": {"naturalness": False}}
    first, later = blocks("likert-6-judgement", form=form)
    assert [q.asked.criterion for q in first.questions] == ["naturalness"]
    assert "What the text should say" not in first.html
    assert "What the text should say" in later.html


def test_a_rankme_page_asks_below_each_output_and_hides_the_input_where_told():
    top, *outputs = blocks("rankme-outputs", form={"show_input": {"quality": False}})
    assert "riverside\nchildren" not in top.html
    assert "worth 100" in top.html
    assert [q.asked.slot for block in outputs for q in block.questions] == list("ABC")
    assert all("worth" not in block.html for block in outputs)


def test_a_campaign_that_no_page_can_show_is_not_built():
    for slug, how, code in [
        ("question-answering", {"scale": "two-choice"}, "unusable-scale"),
        ("question-answering", {"form": {"colour": "red"}}, "unusable-form"),
        ("question-answering", {"form": {"setup": 3}}, "unusable-form"),
        ("question-answering", {"form": {"before_text": ["other"]}}, "unusable-form"),
        ("question-answering", {"form": {"before_text": "overall"}}, "unusable-form"),
        ("question-answering", {"form": {"show_input": {"overall": 1}}}, "unusable-form"),
        ("question-answering", {"form": {"show_input": ["overall"]}}, "unusable-form"),
        ("question-answering", {"form": {"checkboxes": ["odd"]}}, "unusable-form"),
        ("question-answering", {"form": {"allow_tie": "yes"}}, "unusable-form"),
        ("question-answering", {"form": {"show_input": {"overall": False}, "checkboxes": ["added"]}}, "unusable-form"),
        ("two-choice-outputs", {"form": {"checkboxes": ["added"]}}, "unusable-form"),
        ("rankme-outputs", {"criteria": {"a": "A?", "b": "B?"}, "form": {"before_text": ["a"]}}, "unusable-form"),
        ("question-answering", {"criteria": {"a@b": "A?"}}, "unusable-criterion"),
        ("question-answering", {"criteria": {"spans": "A?"}}, "unusable-criterion"),
        ("two-choice-outputs", {"data": {"outputs": [{"slot": "A", "text": ""}, {"slot": "C", "text": ""}]}}, "unusable-item"),
        ("two-choice-outputs", {"data": {"outputs": [{"slot": "A", "text": ""}]}}, "unusable-item"),
        ("rankme-outputs", {"data": {"outputs": [{"slot": "A", "text": ""}] * 2}}, "unusable-item"),
        ("rankme-outputs", {"data": {"outputs": [{"slot": "a@", "text": ""}, {"slot": "B", "text": ""}]}}, "unusable-item"),
        ("rankme-outputs", {"data": {"standard_value": 0}}, "unusable-item"),
        ("rankme-outputs", {"data": {"standard_value": True}}, "unusable-item"),
        ("rankme-outputs", {"data": {"standard_value": float("nan")}}, "unusable-item"),
        ("question-answering", {"data": {"outputs": [{"slot": "A", "text": ""}]}}, "unusable-item"),
    ]:  # fmt: skip
        with pytest.raises(GenieError) as caught:
            campaign_of(slug, **how)
        assert caught.value.code == code


def test_the_same_hit_type_with_another_form_is_another_one():
    plain = campaign_of("two-choice-outputs").hit_type
    again = campaign_of("two-choice-outputs").hit_type
    tied = campaign_of("two-choice-outputs", form={"allow_tie": True}).hit_type
    assert plain == again != tied
    assert all_scales()["two-choice"].parse("A") == 1.0


def test_no_page_tells_which_system_an_output_is_from(client):
    data = {"system": "Watermelon", "submission": 17}
    page = client.get(opened(client, "rankme-outputs", data=data)[1]).text
    assert "Watermelon" not in page
    assert "submission" not in page


def test_staff_see_what_was_shown_and_what_each_answer_was_about(client):
    client.force_login(make_user("boss", is_staff=True, is_superuser=True))
    assignment = claimed("rankme-outputs")
    send(assignment, {"quality@A": "150", "quality@B": "80", "quality@C": "25"})
    address = reverse("admin:crowd_assignment_change", args=[assignment.pk])
    page = client.get(address).text
    for output in assignment.hit.items.get().data["outputs"]:
        assert f"output {output['slot']}" in page
        assert output["text"] in page
