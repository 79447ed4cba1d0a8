"""Every design in a real browser: by keyboard only, by mouse, by touch on a phone."""

from urllib.parse import urljoin

import pytest
from django.urls import reverse

from crowd import hit_templates
from crowd.campaigns.services.work import next_assignment
from crowd.models import Assignment, Rating
from crowd.workers.services import invitations
from tests.browser import SLOW, overflows, picture, violations, wait_for_hit
from tests.crowd.designs import campaign_of

pytestmark = SLOW
SEGMENTS = "Zwölf 🦆 ducks swam.\r\nNobody counted."


@pytest.fixture
def at_work(open_page, wim):
    def open_(slug, *, width="desktop", **how):
        campaign_of(slug, n=2, **how)
        assignment = next_assignment(wim)
        path = reverse("work:hit", args=[assignment.pk])
        return open_page(path, user=wim.user, width=width)

    return open_


def wait_until_sent(page):
    wait_for_hit(page, 2)
    assert Assignment.own.filter(state="SUBMITTED").count() == 1


def answers():
    rows = Rating.own.order_by("pk").values_list("criterion", "slot", "value")
    return [(f"{c}@{s}" if s else c, value) for c, s, value in rows]


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def tab_to(page, selector):
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("s => document.activeElement.matches(s)", selector):
            return
    raise AssertionError(f"{selector} cannot be reached by Tab.")


@pytest.mark.parametrize(
    ("slug", "keys", "given"),
    [
        ("binary-judgement", "2", [("overall", 0.0)]),
        ("two-choice-outputs", "2", [("overall", 0.0)]),
        ("likert-6-judgement", "163", [("informativeness", 1.0), ("naturalness", 6.0), ("quality", 3.0)]),
        ("preference-summarization", "12345", [("fluency", 1.0), ("redundancy", 0.75), ("faithfulness", 0.5), ("importance", 0.25), ("overall", 0.0)]),
    ],
)  # fmt: skip
def test_choices_are_made_by_digits_alone(at_work, slug, keys, given):
    page = at_work(slug)
    press(page, *keys, "Enter")
    wait_until_sent(page)
    assert answers() == given


def test_the_article_comes_up_after_the_first_questions(at_work):
    page = at_work("preference-summarization", width="phone")
    article = page.locator(".later .text")
    article.wait_for(state="hidden")
    picture(page, "preference-before-the-text")
    assert violations(page) == []
    for i in range(2):
        page.locator("fieldset").nth(i).locator(".answer").first.click()
    article.wait_for()
    assert not overflows(page)
    assert violations(page) == []
    picture(page, "preference-with-the-text")
    page.get_by_role("button", name="Submit").click()
    page.wait_for_selector("#trouble:not([hidden])")
    assert not Rating.own.exists()
    for i in range(2, 5):
        page.locator("fieldset").nth(i).locator(".answer").last.click()
    page.get_by_role("button", name="Submit").click()
    wait_until_sent(page)
    assert [value for _, value in answers()] == [1.0, 1.0, 0.0, 0.0, 0.0]


def test_magnitudes_of_all_outputs_are_typed_one_after_the_other(at_work):
    page = at_work("rankme-outputs")
    for number in ("150", "80", "25"):
        tab_to(page, "input[type=number]")
        page.keyboard.type(number)
    page.keyboard.press("Enter")
    wait_until_sent(page)
    assert answers() == [("quality@A", 1.5), ("quality@B", 0.8), ("quality@C", 0.25)]


def test_every_template_is_answered_by_mouse_on_a_wide_screen(open_page, wim):
    templates = hit_templates.all_templates()
    for slug in templates:
        campaign_of(slug, pool=slug)
        invitations.give_consent(wim, slug)
    page = None
    for n, (slug, template) in enumerate(templates.items(), 1):
        path = reverse("work:hit", args=[next_assignment(wim, slug).pk])
        page = page or open_page(path, user=wim.user)
        page.goto(urljoin(page.url, path))
        for group in page.locator("fieldset.question").all():
            group.locator(".answer").last.click()
        for field in page.locator("input[type=number]").all():
            field.click()
            field.fill("60")
        page.get_by_role("button", name="Submit").click()
        page.wait_for_url("**/work/")
        sent = Assignment.own.filter(state="SUBMITTED")
        assert sent.count() == n, slug
        said = Rating.objects.filter(assignment=sent.order_by("-pk").first())
        assert said.count() >= len(template.questions), slug


def focused(page):
    return page.evaluate("(e => e.getAttribute('role') || e.type || e.tagName)(document.activeElement)")  # fmt: skip


def test_a_number_is_typed_at_once_without_looking_for_its_field(at_work):
    page = at_work("magnitude-judgement")
    assert focused(page) == "BODY"
    page.keyboard.type("75")
    assert focused(page) == "number"
    page.keyboard.press("Enter")
    wait_until_sent(page)
    assert [value for _, value in answers()] == [0.75]


def test_an_arrow_leads_from_a_fresh_page_to_the_first_answer(at_work):
    page = at_work("two-choice-outputs")
    press(page, "ArrowDown")
    assert focused(page) == "BODY"  # a long text is scrolled
    press(page, "ArrowRight")
    assert page.locator("input[type=radio]:checked").get_attribute("data-key") == "1"
    press(page, "ArrowRight", "Enter")
    wait_until_sent(page)
    assert [value for _, value in answers()] == [0.0]


@pytest.mark.parametrize(
    ("slug", "there"),
    [("slider-translation", "range"), ("error-span-translation", "listbox")],
)
def test_an_arrow_leads_to_what_is_set_or_marked_and_sets_nothing(at_work, slug, there):
    page = at_work(slug)
    press(page, "ArrowRight")
    assert focused(page) == there
    assert page.locator("input[type=number]").input_value() == ""


def test_a_slider_stands_nowhere_until_it_is_moved(at_work):
    page = at_work("slider-translation")
    slider = page.get_by_role("slider")
    assert slider.get_attribute("aria-valuetext") == "not set yet"
    hint = page.get_by_text("Not answered yet. Tap the line, or type a number.")
    assert hint.is_visible()
    described = page.locator(f"[id={slider.get_attribute('aria-describedby')}]")
    assert described.inner_text().split() == [
        "0",
        *["not", "at", "all", "100", "completely"],
    ]
    assert page.locator("input[type=number]").input_value() == ""
    page.keyboard.press("Enter")
    page.wait_for_timeout(200)
    assert not Rating.own.exists()
    slider.focus()
    press(page, "End", "ArrowLeft", "ArrowLeft")
    picture(page, "slider-set")
    assert hint.is_hidden()
    page.keyboard.press("Enter")
    wait_until_sent(page)
    assert answers() == [("overall", 98.0)]


@pytest.mark.parametrize(
    ("slug", "ends"),
    [
        ("error-span-translation", ["not at all", "completely"]),
        ("error-span-pairs", ["not at all", "completely"]),
        ("sqm-translation", ["None of the meaning", "All of the meaning"]),
    ],
)
def test_each_untouched_slider_names_its_ends_and_how_to_set_it(at_work, slug, ends):
    page = at_work(slug, width="phone")
    sliders = page.get_by_role("slider").count()
    for words in ends:
        assert page.locator(".field").get_by_text(words).count() == sliders
    assert page.locator(".untouched:visible").count() == sliders
    page.locator("input[type=number]").first.fill("40")
    assert page.locator(".untouched:visible").count() == sliders - 1


def test_a_slider_takes_a_click_where_it_stands_and_survives_a_reload(at_work):
    page = at_work("slider-translation", width="phone")
    page.get_by_role("slider").click()
    assert page.locator("input[type=number]").input_value() == "50"
    page.reload()
    assert page.locator("input[type=number]").input_value() == "50"
    assert "unset" not in page.get_by_role("slider").get_attribute("class")
    page.get_by_role("button", name="Submit").click()
    wait_until_sent(page)
    assert answers() == [("overall", 50.0)]


def test_ticks_stand_below_the_rating_and_are_reached_by_tab(at_work):
    page = at_work("question-answering", form={"checkboxes": ["added", "missed"]})
    page.keyboard.press("5")
    tab_to(page, ".tick input")
    page.keyboard.press("Space")
    page.reload()
    assert page.locator(".tick input").first.is_checked()
    assert violations(page) == []
    picture(page, "ticks")
    page.get_by_role("button", name="Submit").click()
    wait_until_sent(page)
    assert answers() == [("overall", 1.0), ("added", 1.0), ("missed", 0.0)]


def detail():
    answer = Rating.own.get()
    text = answer.item.data["prediction"]
    return answer.value, [
        (text[span["start"] : span["end"]], span["severity"])
        for span in answer.detail["spans"]
    ]


def test_errors_are_marked_by_keyboard_only(at_work):
    page = at_work("error-span-translation", data={"prediction": SEGMENTS})
    tab_to(page, "[role=listbox]")
    press(page, "ArrowRight", "ArrowRight", "Shift+ArrowRight", "2")
    press(page, "Home", "1")
    press(page, "ArrowRight", "1", "Delete")
    press(page, "End", "ArrowLeft", "ArrowLeft", "1")
    assert "2 minor, 1 major" in page.inner_text(".marked")
    assert violations(page) == []
    picture(page, "error-spans")
    tab_to(page, "input[type=number]")
    page.keyboard.type("40")
    page.keyboard.press("Enter")
    wait_until_sent(page)
    assert detail() == (40.0, [("Zwölf", "minor"), ("ducks swam", "major"), ("counted", "minor")])  # fmt: skip


def test_errors_are_marked_with_the_mouse(at_work):
    page = at_work("error-span-translation", data={"prediction": SEGMENTS})
    word = page.locator(".word")
    word.get_by_text("ducks").hover()
    page.mouse.down()
    word.get_by_text("swam").hover()
    page.mouse.up()
    page.get_by_role("button", name="Major").click()
    word.get_by_text("Zwölf").click()
    page.get_by_role("button", name="Minor").click()
    page.locator("input[type=number]").fill("55")
    page.reload()
    assert "1 minor, 1 major" in page.inner_text(".marked")
    page.get_by_role("button", name="Submit").click()
    wait_until_sent(page)
    assert detail() == (55.0, [("Zwölf", "minor"), ("ducks swam", "major")])


def test_errors_are_marked_by_two_taps_on_a_phone(at_work):
    page = at_work("error-span-translation", width="phone", data={"prediction": SEGMENTS})  # fmt: skip
    word = page.locator(".word")
    word.get_by_text("ducks").click()
    word.get_by_text("Nobody").click()
    page.get_by_role("button", name="Minor").click()
    word.get_by_text("counted").click()
    page.get_by_role("button", name="Major").click()
    page.get_by_role("button", name="No error").click()
    assert not overflows(page)
    assert violations(page) == []
    picture(page, "error-spans-on-a-phone")
    page.get_by_role("slider").click()
    page.get_by_role("button", name="Submit").click()
    wait_until_sent(page)
    assert detail() == (50.0, [("ducks swam.\r\nNobody", "minor")])


def test_errors_are_named_and_what_is_missing_is_marked_by_keyboard(at_work):
    page = at_work("mqm-translation", data={"prediction": SEGMENTS})
    tab_to(page, "[role=listbox]")
    press(page, "ArrowRight", "ArrowRight", "Shift+ArrowRight", "3")
    assert focused(page) == "select-one"
    page.locator(".kinds select").first.select_option("Accuracy/Mistranslation")
    press(page, "Enter")
    assert focused(page) == "listbox"
    press(page, "End", "2")
    page.locator(".kinds select").last.select_option("Accuracy/Omission")
    assert violations(page) == []
    assert not overflows(page)
    picture(page, "mqm")
    press(page, "Enter")
    press(page, "Enter")
    wait_until_sent(page)
    answer = Rating.own.get()
    assert (answer.value, answer.detail["spans"][1]) == (
        -30.0,
        {"missing": True, "severity": "major", "category": "Accuracy/Omission"},
    )


def test_an_empty_text_has_nothing_to_mark_and_can_be_rated(at_work):
    page = at_work("error-span-translation", data={"prediction": " "})
    assert "is empty." in page.inner_text(".judged")
    page.locator("input[type=number]").fill("0")
    page.keyboard.press("Enter")
    wait_until_sent(page)
    assert detail() == (0.0, [])
