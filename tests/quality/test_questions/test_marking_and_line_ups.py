"""Test questions beyond one output on one scale: what they show, which answer is right."""

import numpy as np
import pytest

from genie.lib.errors import GenieError
from quality.test_questions.services import (
    LineUp,
    Marked,
    Material,
    draw_items,
    draw_line_ups,
    draw_pairs,
    guesses,
    marks,
    shuffled_words,
)


def given(answers, expected, polarity="POSITIVE", threshold=0.5):
    marked = [Marked(*answer) for answer in answers]
    return marks(marked, polarity=polarity, expected=expected, threshold=threshold)


def right(*args, **fields):
    return list(given(*args, **fields).values()) == [True]


def line_up(i, outputs=("", ""), reference=None):
    return LineUp(
        content_key=f"content-{i}",
        data={"fields": []},
        outputs=dict(zip("ABCD", outputs, strict=False)),
        reference=reference or f"answer number {i}",
    )


def test_a_scales_own_threshold_or_the_placements():
    assert right([("overall", "", 0.6)], {})
    assert not right([("overall", "", 0.6)], {"threshold": 0.7})
    assert right([("overall", "", 0.6)], {"threshold": 0.7}, polarity="NEGATIVE")
    # on the threshold is not above it
    assert not right([("overall", "", 0.5)], {})


@pytest.mark.parametrize(
    ("slot", "value", "correct"),
    [
        ("A", 1.0, True),
        ("A", 0.0, False),
        ("B", 0.0, True),
        ("B", 1.0, False),
        ("A", 0.5, False),
        ("B", 0.5, False),
    ],
)
def test_the_right_side_must_be_preferred_not_a_tie(slot, value, correct):
    assert right([("overall", "", value)], {"slot": slot}) is correct


def test_each_criterion_is_marked_by_itself():
    answers = [("relevance", "", 0.0), ("fluency", "", 1.0), ("interest", "", 0.75)]
    assert given(answers, {}, polarity="NEGATIVE") == {
        "relevance": True,
        "fluency": False,
        "interest": False,
    }
    assert right(answers, {"criteria": ["relevance"]}, polarity="NEGATIVE")
    assert given([], {}) == given([], {}, polarity="NEGATIVE") == {}
    answers = [("fluency", "", 0.0), ("overall", "", 0.75)]
    assert given(answers, {"slot": "A", "criteria": ["overall"]}) == {"overall": True}
    assert given(answers, {"slot": "A"}) == {"fluency": False, "overall": True}


def test_the_wrong_one_must_not_be_best_not_even_together_with_others():
    def said(a, b, c):
        return [("quality", "A", a), ("quality", "B", b), ("quality", "C", c)]

    assert right(said(1.0, 0.2, 0.1), {"not_best": "B"})
    assert not right(said(0.1, 0.2, 0.1), {"not_best": "B"})
    assert not right(said(1.0, 1.0, 1.0), {"not_best": "B"})
    assert not right([], {"not_best": "B"})


def test_pairs_set_the_own_reference_against_anothers_on_both_sides():
    material = [line_up(i) for i in range(12)]
    hidden = draw_pairs(campaign_key="c", material=material, n=12, seed=1)
    assert {one.expected["slot"] for one in hidden} == {"A", "B"}
    for one in hidden:
        own = f"answer number {one.spec.content_key.removeprefix('content-')}"
        shown = {o["slot"]: o["text"] for o in one.spec.data["outputs"]}
        good = one.expected["slot"]
        assert shown[good] == own
        assert shown["B" if good == "A" else "A"] not in {own, ""}
    assert hidden == draw_pairs(campaign_key="c", material=material, n=12, seed=1)
    assert hidden != draw_pairs(campaign_key="c", material=material, n=12, seed=2)


def test_line_ups_replace_one_output_and_leave_the_others():
    material = [line_up(i, ("x", "y", "z")) for i in range(6)]
    for one in draw_line_ups(campaign_key="c", material=material, n=4, seed=3):
        shown = {o["slot"]: o["text"] for o in one.spec.data["outputs"]}
        wrong = one.expected["not_best"]
        assert shown.pop(wrong).startswith("answer number")
        assert set(shown.values()) < {"x", "y", "z"}
    material = [line_up(i, ("x", "y", "z")) for i in range(40)]
    hidden = draw_line_ups(campaign_key="c", material=material, n=39, seed=3)
    first = {one.spec.data["outputs"][0]["text"] for one in hidden}
    assert {"x", "y", "z"} < first


@pytest.mark.parametrize("n_material", [0, 1])
def test_too_little_material_is_said_in_words(n_material):
    material = [line_up(i) for i in range(n_material)]
    with pytest.raises(GenieError) as caught:
        draw_pairs(campaign_key="c", material=material, n=1, seed=1)
    assert caught.value.code == "too-few-references"
    assert draw_pairs(campaign_key="c", material=material, n=0, seed=1) == []


def test_equal_references_make_no_question():
    same = [line_up(i, reference="yes") for i in range(4)]
    with pytest.raises(GenieError):
        draw_pairs(campaign_key="c", material=same, n=1, seed=1)


@pytest.mark.parametrize(
    "text", ["one two", "a b a b", "word", "x x x", " spaced  out "]
)
def test_shuffled_words_are_another_text_of_the_same_letters(text):
    shuffled = shuffled_words(text, np.random.default_rng(1))
    assert sorted(shuffled.replace(" ", "")) == sorted(text.replace(" ", ""))
    if len(set(text.split())) > 1:
        assert shuffled.split() != text.split()


def test_where_nobody_sees_the_input_wrong_answers_are_no_sentences():
    material = [
        Material(f"c{i}", {"prediction": ""}, f"the number {i} comes here")
        for i in range(5)
    ]
    hidden = draw_items(
        campaign_key="c",
        material=material,
        n_positive=0,
        n_negative=3,
        seed=1,
        blind=True,
    )
    references = {one.reference for one in material}
    for one in hidden:
        text = one.spec.data["prediction"]
        assert text not in references
        assert any(sorted(text.split()) == sorted(r.split()) for r in references)


def test_chance_and_habits_follow_the_polarity():
    """On five points, two are above the middle; on a slider, half of it is."""
    assert guesses({}, "POSITIVE", "likert-5", [""]) == (0.4, 1.0, 0.0, 0.0, 0.0)
    assert guesses({}, "NEGATIVE", "likert-5", [""]) == (0.6, 0.0, 1.0, 1.0, 1.0)
    assert guesses({}, "POSITIVE", "slider-100", [""]) == (0.5, 1.0, 0.0, 1.0, 1.0)
    # the wrong one of two is best or as good by more than half
    of_two = guesses({"not_best": "A"}, "NEGATIVE", "slider-100", ["A", "B"])
    assert of_two == (0.495, 0.0, 1.0, 1.0, 0.0)
