import time

import pytest
from botocore.exceptions import ClientError
from django.urls import reverse

from crowd.models import RequesterHIT
from crowd.requester.questions.answer_format import AnswerFormat, FormatError
from crowd.requester.questions.question_form import LONGEST_TEXT, read_form
from crowd.requester.questions.questions import read_answers
from tests.crowd.requester.making import SCHEMAS, post, qualification
from tests.crowd.requester.on_site import OnSite


def form(*constraints, required="false"):
    asked = "".join(
        f"<Question><QuestionIdentifier>a{number}</QuestionIdentifier>"
        f"<IsRequired>{required}</IsRequired><QuestionContent><Text>Say.</Text>"
        "</QuestionContent><AnswerSpecification><FreeTextAnswer>"
        f"<Constraints>{one}</Constraints></FreeTextAnswer></AnswerSpecification>"
        "</Question>"
        for number, one in enumerate(constraints)
    )
    return f'<QuestionForm xmlns="{SCHEMAS}2017-11-06/QuestionForm.xsd">{asked}</QuestionForm>'


def regex(pattern, more=""):
    escaped = pattern.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    return f'<AnswerFormatRegex regex="{escaped}" {more}/>'


def errors(constraints, answer, **how):
    asked = read_form(form(constraints, **how))
    return list(read_answers(asked, lambda _: [answer]).errors.values())


# The published examples of Mechanical Turk's documentation, and what JavaScript says.
@pytest.mark.parametrize(
    ("pattern", "any_case", "fitting", "others"),
    [
        (r"\S", False, ["a", " a "], ["", " \t", "\xa0\u2003\ufeff"]),
        (r"(^$|\S{2,})", False, ["", "ab", "é é éé"], [" ", "a"]),
        (
            r"^(1[- ]?)?(\([2-9]\d{2}\)\s*|[2-9]\d{2}-?)[2-9]\d{2}-?\d{4}$",
            False,
            ["1-555-555-1234", "(555)\u2009555-1234", "5555551234"],
            ["155-555-1234", "555-555-123", "555-555-1234 "],
        ),
        (
            r"^[12][0-9]{3}-[01]?\d-[0-3]?\d$",
            False,
            ["2026-11-22"],
            ["22.11.2026", "x2026-11-22", "2026-11-22\n", "٢026-11-22"],
        ),
        (r"regex", True, ["two REGexes"], ["reg ex"]),
        (r"regex", False, ["two regexes"], ["REGEX"]),
        (r"^[\s\S]{3}$", False, ["a\nb", "\xa0é\u2028"], ["ab"]),
        (r"^[^\s]+$", False, ["a-b"], ["a\xa0b"]),
        (r"^[^]$", False, ["\n"], [""]),
        (r"^\u00e9[\u0041-\u0043]\/\ud83d\ude00\é$", False, ["éB/😀é"], ["éD/😀é"]),
        (r"^\cJ[\b]$", False, ["\n\x08"], ["\nb"]),
        (r"^(?<year>\d+)(?:a|b)?]{$", False, ["12a]{", "12]{"], ["12c]{"]),
        (r"^[\w.-]+@[\w-]+\.[a-z]{2,}$", True, ["A.b@c-d.ORG"], ["a@b", "ä@b.org"]),
        (r"^.{1,1000}$", False, ["a" * 1000], ["a" * 1001, "a\nb"]),
    ],
)
def test_patterns_mean_what_javascript_says(pattern, any_case, fitting, others):
    wanted = AnswerFormat(pattern, any_case)
    assert [text for text in fitting if not wanted.fits(text)] == []
    assert [text for text in others if wanted.fits(text)] == []


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        (r"(a)\1", "backreference"),
        (r"(?<x>a)\k<x>", "backreference"),
        (r"a(?=b)", "lookahead or lookbehind"),
        (r"(?!b)a", "lookahead or lookbehind"),
        (r"(?<=b)a", "lookahead or lookbehind"),
        (r"(?<!b)a", "lookahead or lookbehind"),
        (r"\i\c*", r"does not have \i"),
        (r"[a-z-[aeiou]]", "character class"),
        (r"[a-z&&[^aeiou]]", "character class"),
        (r"[[:alpha:]]+", "character class"),
        (r"\Aa\z", r"does not have \A"),
        (r"\Qa.b\E", r"does not have \Q"),
        (r"(?i)a", "the group (?i"),
        (r"(?>a+)b", "the group (?>"),
        (r"(?P<x>a)", "the group (?P"),
        (r"a++", "repetition operator: ++"),
        (r"a{1001}", "repetition size: {1001}"),
        (r"((a{100}){100}){100}", "repetition size"),
        ("[^é]{1000}" * 5, "too large"),
        (r"\ud83d", "half a character"),
        (r"[]", "empty"),
        (r"(a", "missing )"),
        (r"a\\"[:-1], "trailing"),
        ("a" * 2001, "longer than 2,000"),
    ],
)
def test_what_is_not_linear_or_of_another_dialect_is_refused(pattern, why):
    with pytest.raises(FormatError) as caught:
        AnswerFormat(pattern).fits("")
    assert why in str(caught.value)


def test_refusals_come_when_a_hit_or_a_test_is_made(desk):
    for pattern, more in ((r"^(?=.*\d)", ""), (r"a", 'flags="g"')):
        with pytest.raises(ClientError) as caught:
            post(desk, Question=form(regex(pattern, more)))
        said = caught.value.response
        assert said["TurkErrorCode"] == "AWS.MechanicalTurk.XMLParseError"
    assert "XML of Question" in said["Message"]
    assert "only flag" in said["Message"]
    with pytest.raises(ClientError) as caught:
        qualification(desk, Test=form(regex(r"(a)\1")), TestDurationInSeconds=60)
    said = caught.value.response
    assert said["TurkErrorCode"] == "AWS.MechanicalTurk.XMLParseError"
    assert (
        r'the AnswerFormatRegex "(a)\1" of a0 is not supported, because it has a '
        "backreference." in said["Message"]
    )
    assert not RequesterHIT.own.exists()


def test_a_form_whose_patterns_would_cost_too_much_together_is_refused():
    dear = regex("^[^x]{1,500}$")
    read_form(form(dear))
    with pytest.raises(Exception, match="too large in total"):
        read_form(form(*[dear] * 12))


def test_every_pattern_must_fit_and_says_so_in_the_requesters_words():
    both = regex(r"\S", 'errorText="Not blank."') + regex(r"^\d+$")
    assert errors(both, "  ") == ["Not blank."]
    assert errors(both, "x") == ["Invalid input supplied."]
    assert errors(both, "12") == []
    assert errors(regex(r"(^$|\S{2,})", 'errorText="Two."'), "") == []
    assert errors(regex(r"(^$|\S{2,})", 'errorText="Two."'), "a") == ["Two."]
    assert errors(regex("regex", 'flags="i"'), "RegExes") == []
    # Numbers and lengths are looked at first, in our words.
    assert errors('<Length minLength="2"/>' + regex("b"), "a") == [
        "Please write at least 2 characters."
    ]
    assert errors('<Length minLength="2"/>', "") == ["Please answer this question."]
    length = '<Length minLength="2" maxLength="3"/>'
    assert [len(errors(length, "x" * n)) for n in (0, 1, 2, 3, 4)] == [1, 1, 0, 0, 1]


def test_patterns_that_ruin_other_engines_take_no_time_here():
    began = time.monotonic()
    for pattern in ("^(a+)+$", "^(a|aa)*$", "(x+x+)+y", "([a-z]+)*!$"):
        assert not AnswerFormat(pattern).fits("a" * (LONGEST_TEXT - 1) + "\n")
    assert time.monotonic() - began < 20  # elsewhere longer than anybody lives


@pytest.mark.django_db(transaction=True)
def test_the_page_refuses_in_the_requesters_words_and_keeps_what_was_written(desk):
    wanda = OnSite()
    words = 'errorText="A date, such as &lt;2026-11-22&gt;."'
    hit = post(desk, Question=form(regex(r"^\d{4}-\d\d-\d\d$", words)))
    turn = wanda.accept(hit)
    address = reverse("work:turn", args=[turn.entity_id])
    refused = wanda.client.post(address, {"q0": "22.11.2026"})
    assert refused.status_code == 422
    page = refused.text
    assert 'id="q0-error">A date, such as &lt;2026-11-22&gt;.</p>' in page
    assert 'value="22.11.2026"' in page
    assert desk.client.list_assignments_for_hit(HITId=hit)["NumResults"] == 0
    wanda.client.post(address, {"q0": "2026-11-22"})
    (got,) = desk.client.list_assignments_for_hit(HITId=hit)["Assignments"]
    assert "<FreeText>2026-11-22</FreeText>" in got["Answer"]
