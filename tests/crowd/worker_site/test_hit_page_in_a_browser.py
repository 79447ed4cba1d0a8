"""The HIT page in a real browser: by keyboard, by mouse, by touch, without a network."""

from datetime import timedelta

import pytest
from django.urls import reverse

from crowd import hit_templates
from crowd.campaigns.services import review
from crowd.campaigns.services.work import next_assignment, submit
from crowd.hits.services.build import ItemSpec
from crowd.models import Assignment, Consent, Rating
from crowd.scales.base import all_scales
from crowd.workers.services import exclusions, invitations
from tests.browser import (
    LOOKS,
    READ,
    SLOW,
    _session,
    go,
    look,
    overflows,
    picture,
    violations,
    wait_for_hit,
    wait_until,
)
from tests.crowd.making import (
    POOL,
    answers_for,
    do_one,
    hit_type,
    item,
    items,
    make_campaign,
)
from tests.factories import make_user

pytestmark = SLOW
State = Assignment.State


def at(assignment):
    return reverse("work:hit", args=[assignment.pk])


def at_work(open_page, wim, **how):
    return open_page(at(next_assignment(wim)), user=wim.user, **how)


def values():
    return list(Rating.own.order_by("pk").values_list("value", flat=True))


def test_a_campaign_is_answered_by_keyboard_only(open_page, wim):
    make_campaign(5)
    page = at_work(open_page, wim)
    for n, key in enumerate("53421", start=1):
        wait_for_hit(page, n)
        page.keyboard.press(key)
        page.keyboard.press("Enter")
    page.wait_for_url(f"**{reverse('work:home')}")
    assert values() == [1.0, 0.5, 0.75, 0.25, 0.0]
    assert "no more of this work" in page.inner_text("main")


def test_from_sign_in_to_the_first_answer_without_a_mouse(open_page, wim):
    Consent.own.all().delete()
    make_campaign(2)
    page = open_page(reverse("work:home"), user=wim.user)

    def go(name):
        for _ in range(30):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.textContent.trim()") == name:
                return page.keyboard.press("Enter")
        raise AssertionError(f"{name} cannot be reached by Tab.")

    go("Before you start")
    page.wait_for_url(f"**{reverse('work:consent', args=[POOL])}")
    go("I agree")
    page.wait_for_url(f"**{reverse('work:instructions', args=[POOL])}")
    go("Start")
    wait_for_hit(page, 1)
    page.keyboard.press("4")
    page.keyboard.press("Enter")
    wait_for_hit(page, 2)
    assert values() == [0.75]


def test_arrows_and_tab_work_as_with_any_form(open_page, wim):
    make_campaign(2)
    page = at_work(open_page, wim)
    page.keyboard.press("3")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    wait_for_hit(page, 2)
    assert values() == [0.75]


def test_enter_without_an_answer_sends_nothing(open_page, wim):
    make_campaign(1)
    page = at_work(open_page, wim)
    page.keyboard.press("Enter")
    page.wait_for_timeout(300)
    assert Rating.own.count() == 0
    assert page.evaluate("document.activeElement.type") == "radio"


def test_a_held_key_answers_one_hit_only(open_page, wim):
    make_campaign(4)
    page = at_work(open_page, wim)
    page.keyboard.press("5")
    page.keyboard.down("Enter")
    for _ in range(4):
        page.keyboard.down("Enter")  # repeats, as a keyboard does
    wait_for_hit(page, 2)
    page.keyboard.down("5")
    page.keyboard.down("Enter")
    page.wait_for_timeout(300)
    assert len(values()) == 1


def test_the_single_keys_can_be_turned_off_for_good(open_page, wim):
    make_campaign(2)
    page = at_work(open_page, wim)
    page.get_by_label("Answer with digit keys and Enter").uncheck()
    page.locator("h1").click(force=True)
    page.keyboard.press("4")
    page.reload()
    page.keyboard.press("3")
    assert page.locator("input[type=radio]:checked").count() == 0
    page.get_by_label("Answer with digit keys and Enter").check()
    page.keyboard.press("4")
    assert page.locator("input[type=radio]:checked").get_attribute("value") == "0.75"


def test_digits_in_the_remark_are_text(open_page, wim):
    make_campaign(2)
    page = at_work(open_page, wim)
    page.keyboard.press("4")
    page.get_by_text("Something is wrong with this HIT").click()
    page.get_by_role("textbox").fill("")
    page.get_by_role("textbox").type("5 of 3 words\nare missing")
    page.get_by_role("button", name="Submit").click()
    wait_for_hit(page, 2)
    assert values() == [0.75]
    assert "5 of 3 words" in Assignment.own.get(state=State.SUBMITTED).remark


def test_answers_survive_a_reload_and_are_forgotten_when_they_arrived(open_page, wim):
    make_campaign(2)
    page = at_work(open_page, wim)
    page.keyboard.press("2")
    page.get_by_text("Something is wrong with this HIT").click()
    page.get_by_role("textbox").fill("Odd.")
    page.reload()
    assert page.locator("input[type=radio]:checked").get_attribute("value") == "0.25"
    assert page.get_by_role("textbox").input_value() == "Odd."
    assert values() == []
    page.get_by_role("button", name="Submit").click()
    wait_for_hit(page, 2)
    assert page.locator("input[type=radio]:checked").count() == 0
    assert page.evaluate("Object.keys(localStorage).filter(k => localStorage[k].includes('Odd'))") == []  # fmt: skip


def test_a_second_tab_shows_the_same_answers(open_page, wim):
    make_campaign(1)
    first = at_work(open_page, wim)
    first.keyboard.press("4")
    second = first.context.new_page()
    second.goto(first.url)
    assert second.locator("input[type=radio]:checked").get_attribute("value") == "0.75"
    second.keyboard.press("3")
    wait_until(
        first, "document.querySelector('input[type=radio]:checked').value === '0.5'"
    )


def test_the_back_button_is_harmless(open_page, wim):
    make_campaign(3)
    page = open_page(reverse("work:home"), user=wim.user)
    page.get_by_role("button", name="Start").click()
    wait_for_hit(page, 1)
    for n in (2, 3):
        page.keyboard.press("5")
        page.keyboard.press("Enter")
        wait_for_hit(page, n)
    page.go_back()
    page.wait_for_url(f"**{reverse('work:home')}")
    page.get_by_role("link", name="Continue").wait_for()
    assert len(values()) == 2


def test_a_double_click_counts_once(open_page, wim):
    make_campaign(2)
    page = at_work(open_page, wim)
    page.keyboard.press("5")
    page.get_by_role("button", name="Submit").dblclick()
    wait_for_hit(page, 2)
    assert len(values()) == 1


def test_a_lost_connection_loses_no_answer(chromium, live_server, wim):
    make_campaign(2)
    context = chromium.new_context()
    context.add_cookies([_session(wim.user, live_server.url)])
    page = context.new_page()
    page.goto(live_server.url + at(next_assignment(wim)))
    context.set_offline(True)
    page.keyboard.press("4")
    page.keyboard.press("Enter")
    wait_until(page, "!document.getElementById('trouble').hidden")
    assert "Your answer is kept here" in page.inner_text("#trouble")
    assert violations(page) == []
    assert values() == []
    context.set_offline(False)
    wait_for_hit(page, 2)
    assert values() == [0.75]
    context.close()


def test_an_answer_that_another_tab_sent_is_said_to_be(chromium, live_server, wim):
    make_campaign(2)
    assignment = next_assignment(wim)
    context = chromium.new_context()
    context.add_cookies([_session(wim.user, live_server.url)])
    page = context.new_page()
    page.goto(live_server.url + at(assignment))
    submit(assignment, answers_for(assignment, "1"))
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Your answer is stored")
    assert values() == [1.0]
    context.close()


def test_active_time_stands_still_while_nobody_is_there(open_page, wim):
    make_campaign(2)
    assignment = next_assignment(wim)
    Assignment.own.update(accepted_at=assignment.accepted_at - timedelta(hours=1))
    page = open_page(reverse("work:home"), user=wim.user)
    page.clock.install()
    page.goto(page.url.replace(reverse("work:home"), at(assignment)))
    page.clock.run_for(20_000)
    page.mouse.move(10, 10)
    page.clock.run_for(20_000)
    page.clock.run_for(600_000)  # gone for ten minutes
    page.keyboard.press("5")
    page.keyboard.press("Enter")
    wait_for_hit(page, 2)
    seconds = Assignment.objects.get(pk=assignment.pk).active_seconds
    assert 70 <= seconds <= 110


def test_the_time_that_is_left_is_shown_and_marked_when_it_is_short(open_page, wim):
    make_campaign(1, hit_type=hit_type(assignment_seconds=200))
    page = open_page(reverse("work:home"), user=wim.user)
    page.clock.install()
    page.goto(page.url.replace(reverse("work:home"), at(next_assignment(wim))))
    left = page.locator("#left")
    assert left.inner_text().startswith("3:")
    page.clock.run_for(90_000)
    assert left.inner_text().startswith("1:")
    assert "soon" in left.get_attribute("class")
    page.clock.run_for(200_000)
    assert left.inner_text() == "time is up"


def test_without_scripts_the_page_is_a_plain_form(chromium, live_server, wim):
    make_campaign(2)
    context = chromium.new_context(java_script_enabled=False)
    context.add_cookies([_session(wim.user, live_server.url)])
    page = context.new_page()
    page.goto(live_server.url + at(next_assignment(wim)))
    assert "until" in page.inner_text("#left")
    page.get_by_text("Strongly agree").click()
    page.get_by_role("button", name="Submit").click()
    page.wait_for_load_state()
    assert page.inner_text(".standing b") == "2"
    assert values() == [1.0]
    context.close()


@pytest.mark.parametrize("slug", hit_templates.all_templates())
def test_every_template_is_readable_everywhere(open_page, wim, slug):
    template = hit_templates.get(slug)
    kind = hit_type(template=slug, scale=template.scale, criteria=template.questions, title=template.title, form=template.form)  # fmt: skip
    make_campaign(hit_type=kind, of=[ItemSpec("only", template.example, "only")])
    page = at_work(open_page, wim)
    for width, scheme in LOOKS:
        look(page, width, scheme)
        assert not overflows(page), (width, scheme)
        if (width, scheme) in READ:
            assert violations(page) == [], (width, scheme)
        picture(page, f"hit-{slug}-{width}-{scheme}")


@pytest.mark.parametrize(
    "slug", [slug for slug, scale in all_scales().items() if not scale.counted]
)
def test_every_scale_can_be_answered_on_a_phone_by_touch(open_page, wim, slug):
    slug_of = "two-choice-outputs" if all_scales()[slug].compares else None
    template = hit_templates.get(slug_of or "question-answering")
    of = [ItemSpec(f"item-{i}", template.example, f"about-{i}") for i in range(2)]
    make_campaign(of=of, hit_type=hit_type(scale=slug, template=template.slug))
    page = at_work(open_page, wim, width="phone")
    assert not overflows(page)
    assert violations(page) == []
    picture(page, f"scale-{slug}")
    if all_scales()[slug].options:
        page.locator(".answer").first.click()
    else:
        page.locator("input[type=number]").fill("60")
    page.get_by_role("button", name="Submit").click()
    wait_for_hit(page, 2)
    assert len(values()) == 1


def test_long_unbroken_and_right_to_left_texts_fit_on_a_phone(open_page, wim):
    long = item("k", text="ab" * 400, question="مرحبا بالعالم " * 10)
    make_campaign(of=[long])
    page = at_work(open_page, wim, width="phone")
    assert not overflows(page)
    direction = "el => getComputedStyle(el).direction"
    assert page.locator(".given .text").evaluate(direction) == "rtl"
    assert page.locator(".judged .text").evaluate(direction) == "ltr"
    picture(page, "hit-right-to-left")


def test_the_pages_around_the_work_are_readable_everywhere(open_page, wim):
    make_campaign(5, hit_type=hit_type(title="Judge the answer to a question"))
    make_campaign(2, of=items(2, "o-"), pool="other", hit_type=hit_type(title="Judge a translation"))  # fmt: skip
    done = [do_one(wim) for _ in range(3)]
    review.approve([done[0].pk])
    review.reject(done[1].pk, None, "All three answers came within a second.")
    exclusions.exclude(wim, "third", "Some of your answers did not agree with ours.")
    over = reverse("work:hit", args=[done[1].pk])
    invitation = reverse("work:invitation", args=[invitations.invite(make_user("sam"))])
    pages = {
        "home": (reverse("work:home"), wim.user),
        "consent": (reverse("work:consent", args=["other"]), wim.user),
        "instructions": (reverse("work:instructions", args=[POOL]), wim.user),
        "earnings": (reverse("work:earnings"), wim.user),
        "over": (over, wim.user),
        "invitation": (invitation, None),
    }
    here = {user: open_page("/", user=user) for user in (wim.user, None)}
    for name, (path, user) in pages.items():
        page = here[user]
        go(page, path)
        for width, scheme in LOOKS:
            look(page, width, scheme)
            assert not overflows(page), (name, width, scheme)
            if (width, scheme) in READ:
                assert violations(page) == [], (name, width, scheme)
            picture(page, f"{name}-{width}-{scheme}")
