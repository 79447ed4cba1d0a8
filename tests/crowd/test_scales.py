import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowd.scales.base import all_scales
from leaderboard.contracts.outside_pieces import ScaleContract, refuses

# What is counted from marks is asked of nobody.
NUMBERS = [
    scale for scale in all_scales().values() if not scale.options and not scale.counted
]


def by_slug(scale):
    return scale.slug


def test_likert_5_runs_from_strongly_agree_to_strongly_disagree():
    options = all_scales()["likert-5"].options
    assert [(option.key, option.label, option.value) for option in options] == [
        ("5", "Strongly agree", 1.0),
        ("4", "Agree", 0.75),
        ("3", "Neutral", 0.5),
        ("2", "Disagree", 0.25),
        ("1", "Strongly disagree", 0.0),
    ]


@pytest.mark.parametrize("scale", all_scales().values(), ids=by_slug)
class TestOurs(ScaleContract):
    pass


@given(st.text(max_size=30))
def test_any_text_is_either_an_option_or_refused(raw):
    scale = all_scales()["likert-5"]
    values = {option.raw: option.value for option in scale.options}
    if raw.strip() in values:
        assert scale.parse(raw) == values[raw.strip()]
    elif raw.strip().strip("-0.") not in {"", "1", "5", "25", "75"}:
        assert refuses(scale, raw)


@given(st.decimals(-5, 5, places=3))
def test_likert_5_takes_its_five_values_only(number):
    scale = all_scales()["likert-5"]
    if float(number) in {0, 0.25, 0.5, 0.75, 1}:
        assert scale.parse(f"{number:f}") == float(number)
    else:
        assert refuses(scale, f"{number:f}")


@pytest.mark.parametrize("scale", NUMBERS, ids=by_slug)
def test_numbers_outside_the_range_are_refused(scale):
    assert refuses(scale, f"{scale.maximum + 1:.0f}")
    assert refuses(scale, "-1")
    assert scale.parse(f"{scale.maximum:.0f}") == scale.rating(scale.maximum)


def test_a_magnitude_is_the_ratio_to_the_reference_and_minus_zero_is_zero():
    magnitude = all_scales()["magnitude"]
    assert magnitude.parse("100") == 1
    assert magnitude.parse("300") == 3
    assert refuses(magnitude, "0")
    assert str(all_scales()["slider-100"].parse("-0")) == "0.0"


def test_a_choice_between_two_is_sent_as_the_slot():
    two, tie = all_scales()["two-choice"], all_scales()["two-choice-tie"]
    assert [two.parse(slot) for slot in "AB"] == [1.0, 0.0]
    assert refuses(two, "tie")
    assert tie.parse("tie") == 0.5
    for raw in ("a", "C", "AB", "1", "0", "0.5", "A@B"):
        assert refuses(two, raw)
        assert refuses(tie, raw)


def test_what_compares_two_outputs_says_so():
    comparing = {slug for slug, scale in all_scales().items() if scale.compares}
    assert comparing == {"preference-5", "two-choice", "two-choice-tie"}
