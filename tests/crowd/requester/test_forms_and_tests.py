import pytest
from django.urls import reverse

from crowd.models import QualificationRequest, RequesterAssignment
from crowd.requester.protocol.errors import TurkError
from crowd.requester.questions.answers import FormAnswer, grade, read_key
from crowd.requester.questions.question_form import read_form, safe_html
from crowd.requester.services.qualification_requests import send_test
from genie.lib.errors import GenieError
from tests.crowd.making import make_worker
from tests.crowd.requester.making import SCHEMAS, group_of, post, qualification

OPEN = f'<QuestionForm xmlns="{SCHEMAS}2017-11-06/QuestionForm.xsd">'


def asked(name, answer, *, required=True, text="What is it?"):
    return (
        f"<Question><QuestionIdentifier>{name}</QuestionIdentifier>"
        f"<IsRequired>{str(required).lower()}</IsRequired>"
        f"<QuestionContent><Text>{text}</Text></QuestionContent>"
        f"<AnswerSpecification>{answer}</AnswerSpecification></Question>"
    )


def choice(*ids, limits="", other="", style=""):
    rows = "".join(
        f"<Selection><SelectionIdentifier>{one}</SelectionIdentifier>"
        f"<Text>The {one} one</Text></Selection>"
        for one in ids
    )
    return (
        f"<SelectionAnswer>{limits}{style}<Selections>{rows}{other}</Selections>"
        "</SelectionAnswer>"
    )


FORM = (
    OPEN + "<Overview><Title>Colours</Title><FormattedContent><![CDATA[<p>Look <b>up"
    "</b><script>alert(1)</script></p>]]></FormattedContent></Overview>"
    + asked("sky", choice("blue", "green"))
    + asked(
        "all",
        choice(
            "red",
            "cyan",
            "grey",
            limits="<MinSelectionCount>2</MinSelectionCount>"
            "<MaxSelectionCount>2</MaxSelectionCount>",
        ),
        required=False,
    )
    + asked(
        "age",
        "<FreeTextAnswer><Constraints><IsNumeric minValue='18' maxValue='120'/>"
        "</Constraints></FreeTextAnswer>",
    )
    + "</QuestionForm>"
)
KEY = (
    f'<AnswerKey xmlns="{SCHEMAS}2005-10-01/AnswerKey.xsd">'
    "<Question><QuestionIdentifier>sky</QuestionIdentifier><AnswerOption>"
    "<SelectionIdentifier>blue</SelectionIdentifier><AnswerScore>3</AnswerScore>"
    "</AnswerOption></Question>"
    "<Question><QuestionIdentifier>all</QuestionIdentifier><AnswerOption>"
    "<SelectionIdentifier>red</SelectionIdentifier>"
    "<SelectionIdentifier>cyan</SelectionIdentifier><AnswerScore>4</AnswerScore>"
    "</AnswerOption><DefaultScore>-1</DefaultScore></Question>{mapping}</AnswerKey>"
)


def mapped(kind):
    inner = f"<QualificationValueMapping>{kind}</QualificationValueMapping>"
    return KEY.replace("{mapping}", inner if kind else "")


PERCENT = (
    "<PercentageMapping><MaximumSummedScore>7</MaximumSummedScore></PercentageMapping>"
)
SCALE = (
    "<ScaleMapping><SummedScoreMultiplier>0.5</SummedScoreMultiplier></ScaleMapping>"
)
RANGE = (
    "<RangeMapping><SummedScoreRange><InclusiveLowerBound>5</InclusiveLowerBound>"
    "<InclusiveUpperBound>7</InclusiveUpperBound><QualificationValue>10"
    "</QualificationValue></SummedScoreRange><OutOfRangeQualificationValue>1"
    "</OutOfRangeQualificationValue></RangeMapping>"
)


@pytest.mark.parametrize(
    ("mapping", "right", "half", "wrong"),
    [("", 7, 2, -1), (PERCENT, 100, 29, -14), (SCALE, 4, 1, 0), (RANGE, 10, 1, 1)],
)
def test_keys_score_exact_sets_only_and_map_the_sum(mapping, right, half, wrong):
    key = read_key(mapped(mapping))

    def value(sky, *all_):
        return grade(
            key, [FormAnswer("sky", selections=sky), FormAnswer("all", selections=all_)]
        )

    assert value(("blue",), "cyan", "red") == right
    assert value(("blue",), "red") == half
    assert value(()) == wrong
    assert value(("blue", "green"), "red", "cyan", "grey") == wrong


@pytest.mark.parametrize(
    "broken",
    [
        mapped("<OddMapping/>"),
        mapped(PERCENT.replace("7", "0")),
        mapped(SCALE.replace("0.5", "1/3")),
        mapped(RANGE.replace("10", "ten")),
        f'<AnswerKey xmlns="{SCHEMAS}2005-10-01/AnswerKey.xsd"/>',
    ],
)
def test_keys_that_cannot_grade_are_refused(broken):
    with pytest.raises(TurkError) as caught:
        read_key(broken)
    assert caught.value.turk_code.endswith("XMLParseError")


@pytest.mark.parametrize(
    "questions",
    [
        "",
        asked("a", choice("x")) * 2,
        asked("a", choice("x", "x")),
        asked("a", choice()),
        asked("", choice("x")),
        asked("a", "<FileUploadAnswer/>"),
        asked("a", choice("x")).replace("Text>", "Application>"),
        asked("a", choice("x", limits="<MinSelectionCount>-1</MinSelectionCount>")),
        "<Advert/>" + asked("a", choice("x")),
    ],
)
def test_forms_that_cannot_be_shown_are_refused(questions):
    with pytest.raises(TurkError):
        read_form(f"{OPEN}{questions}</QuestionForm>")


def test_formatted_text_keeps_nothing_that_acts():
    shown = safe_html(
        '<p style="x" onclick="x()">&lt;a<img src="https://a.org/?&quot;" alt="&quot;"/>'
        '<img src="data:text/html,x" alt="&lt;an image"/><iframe src="https://a.org"/>'
        '<a href="https://a.org/&quot;onclick=&quot;x">b</a><td colspan="2&quot;">c</td>'
        "&lt;script&gt;</p>"
    )
    assert shown == (
        '<p>&lt;a<img src="https://a.org/?&quot;" alt="&quot;">&lt;an image'
        '<a href="https://a.org/&quot;onclick=&quot;x" target="_blank" '
        'rel="noopener noreferrer">b</a><td>c</td>&lt;script&gt;</p>'
    )
    with pytest.raises(TurkError):
        safe_html("<p>open")


def test_texts_of_a_form_are_only_shown():
    link = "<DataURL>https://a.org/&quot;</DataURL><AltText>&lt;</AltText>"
    blocks = (
        "<Title>&lt;</Title><Text>&lt;</Text><List><ListItem>&lt;</ListItem></List>"
        f"<Binary>{link}</Binary><Binary>{link.replace('https', 'http')}</Binary>"
    )
    form = read_form(f"{OPEN}<Overview>{blocks}</Overview>{asked('a', choice('x'))}</QuestionForm>")  # fmt: skip
    assert form.parts[0] == (
        '<h2>&lt;</h2><p>&lt;</p><ul><li>&lt;</li></ul><a href="https://a.org/&quot;" '
        'target="_blank" rel="noopener noreferrer">&lt;</a>&lt;'
    )


def test_a_form_is_shown_checked_and_its_answers_stored_as_xml(desk, wanda):
    hit = post(desk, Question=FORM)
    listed = wanda.get("request", group_of(hit))
    assert '<fieldset class="plain hit" disabled>' in listed.text
    turn = wanda.accept(hit)
    address = reverse("work:turn", args=[turn.entity_id])
    page = wanda.client.get(address).text
    assert "The blue one" in page
    assert "<script>alert" not in page
    fields = {one.identifier: one.name for one in read_form(FORM).questions}
    wrong = {fields["all"]: ["red"], fields["age"]: "seven"}
    refused = wanda.client.post(address, wrong)
    assert refused.status_code == 422
    for sentence in ("choose an answer", "at least 2", "enter a number"):
        assert sentence in refused.text
    assert 'value="seven"' in refused.text
    for age, sentence in (("17", "at least 18"), ("121", "at most 120")):
        out = {**wrong, fields["age"]: age}
        assert sentence in wanda.client.post(address, out).text
    sent = {
        fields["sky"]: "blue",
        fields["all"]: ["red", "cyan", "invented"],
        fields["age"]: "44",
    }
    wanda.client.post(address, sent)
    (got,) = desk.client.list_assignments_for_hit(HITId=hit)["Assignments"]
    for piece in (
        "<QuestionIdentifier>sky</QuestionIdentifier>"
        "<SelectionIdentifier>blue</SelectionIdentifier>",
        "<SelectionIdentifier>red</SelectionIdentifier>"
        "<SelectionIdentifier>cyan</SelectionIdentifier></Answer>",
        "<FreeText>44</FreeText>",
    ):
        assert piece in got["Answer"]
    assert "invented" not in got["Answer"]


def take_test(wanda, kind, **sent):
    asked_for = wanda.client.post(reverse("work:requester-qualification", args=[kind]))
    if "/test/" not in asked_for["Location"]:
        return None
    fields = {one.identifier: one.name for one in read_form(FORM, "Test").questions}
    wanda.client.get(asked_for["Location"])
    return wanda.client.post(
        asked_for["Location"], {fields[name]: value for name, value in sent.items()}
    )


def test_a_test_is_graded_by_its_key_and_failing_values_granted(desk, wanda, hands):
    kind = qualification(
        desk,
        Test=FORM,
        AnswerKey=mapped(PERCENT),
        TestDurationInSeconds=600,
        RetryDelayInSeconds=3600,
    )
    take_test(wanda, kind, sky="green", age="30")
    (one,) = desk.client.list_workers_with_qualification_type(QualificationTypeId=kind)[
        "Qualifications"
    ]
    assert one["IntegerValue"] == -14
    assert desk.client.list_qualification_requests()["NumResults"] == 0
    assert take_test(wanda, kind, sky="blue", age="30") is None  # too early
    hands.forward(seconds=3601)
    take_test(wanda, kind, sky="blue", all=["red", "cyan"], age="30")
    got = desk.client.get_qualification_score(
        QualificationTypeId=kind, WorkerId=one["WorkerId"]
    )
    assert got["Qualification"]["IntegerValue"] == 100
    page = wanda.get("requester-qualification", kind).text
    assert '<b class="num">100</b>' in page
    assert "AnswerKey" not in page


def test_a_test_without_a_key_waits_and_can_be_taken_once(desk, wanda, hands):
    kind = qualification(desk, Test=FORM, TestDurationInSeconds=600)
    take_test(wanda, kind, sky="blue", age="30")
    (waiting,) = desk.client.list_qualification_requests()["QualificationRequests"]
    assert "<SelectionIdentifier>blue</SelectionIdentifier>" in waiting["Answer"]
    assert take_test(wanda, kind) is None
    desk.client.reject_qualification_request(
        QualificationRequestId=waiting["QualificationRequestId"], Reason="No"
    )
    hands.forward(days=100)
    assert take_test(wanda, kind) is None
    assert "only once" in wanda.get("requester-qualification", kind).text


def test_the_time_of_a_test_is_held_at_a_second_look(desk, wanda, hands):
    kind = qualification(
        desk, Test=FORM, TestDurationInSeconds=60, RetryDelayInSeconds=100
    )
    address = reverse("work:requester-qualification", args=[kind])
    first = wanda.client.post(address)["Location"]
    hands.forward(seconds=50)
    assert wanda.client.post(address)["Location"] == first
    with pytest.raises(GenieError, match="its time is up"):  # it is not theirs
        send_test(QualificationRequest.own.get(), make_worker(), [])
    assert desk.client.list_qualification_requests()["NumResults"] == 0
    hands.forward(seconds=41)
    assert take_test(wanda, kind) is None
    fields = {one.identifier: one.name for one in read_form(FORM, "Test").questions}
    wanda.client.post(first, {fields["sky"]: "blue", fields["age"]: "20"})
    assert desk.client.list_qualification_requests()["NumResults"] == 0
    hands.forward(seconds=10)
    take_test(wanda, kind, sky="blue", age="20")
    assert desk.client.list_qualification_requests()["NumResults"] == 1
    states = QualificationRequest.own.order_by("pk").values_list("state", flat=True)
    assert list(states) == ["REJECTED", "PENDING"]


def test_what_is_granted_by_itself_needs_no_requester(desk, wanda):
    kind = qualification(desk, AutoGranted=True, AutoGrantedValue=7)
    wanda.client.post(reverse("work:requester-qualification", args=[kind]))
    (one,) = desk.client.list_workers_with_qualification_type(QualificationTypeId=kind)[
        "Qualifications"
    ]
    assert one["IntegerValue"] == 7


def test_inactive_and_deleted_qualifications_cannot_be_asked_for(desk, wanda):
    kind = qualification(desk, QualificationTypeStatus="Inactive")
    address = reverse("work:requester-qualification", args=[kind])
    wanda.client.post(address)
    assert not QualificationRequest.own.exists()
    desk.client.delete_qualification_type(QualificationTypeId=kind)
    assert wanda.client.get(address).status_code == 404
    assert not RequesterAssignment.own.exists()
