"""Requesters' work in a real browser: frames, origins, keyboard, accessibility."""

import json

import pytest

from crowd.models import RequesterAssignment
from crowd.requester.batches.results import answers_of
from tests.browser import overflows, picture, violations, wait_until
from tests.crowd.requester.making import external, group_of, html, post
from tests.crowd.requester.test_forms_and_tests import FORM

pytestmark = pytest.mark.browser

# As pages for Mechanical Turk are written: the address of its own server in the form, and
# a call of its own script. This one also tries what it must not be able to do.
PAGE = """<!DOCTYPE html><html lang="en"><head><title>Moods</title></head><body>
<form name="mturk_form" method="post" id="mturk_form"
      action="https://www.mturk.com/mturk/externalSubmit">
<input type="hidden" value="" name="assignmentId" id="assignmentId">
<input type="hidden" name="tried" id="tried">
<p><label>Mood <input name="mood"></label></p>
<p><input type="submit" id="submitButton" value="Send it in"></p></form>
<script>
turkSetAssignmentID();
const tries = {
  cookie: () => document.cookie, store: () => localStorage.length,
  page: () => parent.document.title, away: () => { top.location = "/admin/"; },
};
tried.value = Object.keys(tries).filter((name) => {
  try { tries[name](); return true; } catch (error) { return false; }
}).join() || "nothing";
</script></body></html>"""


def test_a_requesters_page_is_looked_at_accepted_and_sent_in(desk, wanda, open_page):
    hit = post(desk, Question=html(PAGE, height=0))
    page = open_page(
        f"/work/requests/{group_of(hit)}/", user=wanda.user, forgive="Unsafe attempt"
    )
    preview = page.frame_locator("#task")
    assert preview.locator("#submitButton").is_disabled()
    assert violations(page) == []
    picture(page, "group-1440-light")
    page.get_by_role("button", name="Accept and work").click()
    frame = page.frame_locator("#task")
    frame.locator("#submitButton").click(trial=True)  # once it is enabled
    assert page.locator("#left").inner_text().endswith("left")
    assert violations(page) == []
    # what is not ours tells its height, and the frame fits
    wait_until(page, "document.getElementById('task').height < 600")
    picture(page, "turn-1440-light")
    frame.get_by_label("Mood").fill("très bien & <more>")
    frame.locator("#submitButton").click()
    page.get_by_role("heading", name="Your answer is stored").wait_for()
    assert violations(page) == []
    answer = RequesterAssignment.own.get().answer
    assert "<FreeText>tr&#232;s bien &amp; &lt;more&gt;</FreeText>" in answer
    assert "<FreeText>nothing</FreeText>" in answer
    assert "/admin/" not in page.url


CROWD_FORM = """<!DOCTYPE html><html lang="en"><head><title>Colours</title></head><body>
<crowd-form><p>Which one?</p><textarea name="why" aria-label="Why"></textarea>
<crowd-radio-group><crowd-radio-button name="blue" value="yes">Blue</crowd-radio-button>
<crowd-radio-button name="red" value="yes">Red</crowd-radio-button></crowd-radio-group>
<crowd-checkbox name="sure" value="yes">Sure</crowd-checkbox>
<crowd-input name="other" label="Other words"></crowd-input></crowd-form></body></html>"""


def test_a_crowd_form_works_though_its_own_script_is_gone(desk, wanda, open_page):
    turn = wanda.accept(post(desk, Question=html(CROWD_FORM, height=300)))
    page = open_page(f"/work/turn/{turn.entity_id}/", user=wanda.user)
    frame = page.frame_locator("#task")
    frame.get_by_label("Why").fill('It "is"')
    frame.get_by_label("Red").check()
    frame.get_by_label("Blue").check()
    frame.get_by_label("Sure").check()
    frame.get_by_label("Other words").fill("é")
    frame.get_by_role("button", name="Submit").click()
    page.get_by_role("heading", name="Your answer is stored").wait_for()
    found = answers_of(RequesterAssignment.own.get().answer)
    assert json.loads(found.pop("taskAnswers")) == [
        {
            "why": 'It "is"',
            "blue": {"yes": True},
            "red": {"yes": False},
            "sure": {"yes": True},
            "other": "é",
        }
    ]
    assert found == {}


def test_a_form_is_answered_by_keyboard_on_a_phone_in_the_dark(desk, wanda, open_page):
    hit = post(desk, Question=FORM)
    page = open_page(
        "/work/requests/", user=wanda.user, width="phone", scheme="dark", forgive="422"
    )
    assert violations(page) == []
    assert not overflows(page)
    picture(page, "groups-360-dark")
    page.get_by_role("link", name="Say how it reads").press("Enter")
    assert violations(page) == []
    picture(page, "group-360-dark")
    page.get_by_role("button", name="Accept and work").press("Enter")
    page.get_by_role("radio", name="The blue one").press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")  # one colour, where two are asked for
    page.get_by_role("textbox").focus()
    page.keyboard.type("44")
    page.keyboard.press("Enter")
    page.get_by_role("alert").wait_for()
    page.get_by_text("Please choose at least 2.").wait_for()
    assert page.get_by_role("radio", name="The blue one").is_checked()
    assert page.get_by_role("textbox").input_value() == "44"
    assert violations(page) == []
    assert not overflows(page)
    picture(page, "form-360-dark")
    page.get_by_role("checkbox", name="The cyan one").press("Space")
    page.get_by_role("button", name="Submit").press("Enter")
    page.get_by_role("heading", name="Your answer is stored").wait_for()
    assert "<SelectionIdentifier>cyan<" in RequesterAssignment.own.get().answer
    assert RequesterAssignment.own.get().hit.entity_id == hit
    page.goto(page.url.split("/turn/")[0] + "/earnings/")
    assert violations(page) == []
    assert not overflows(page)
    picture(page, "earnings-360-dark")


def test_a_page_of_another_site_has_its_own_origin(desk, wanda, chromium, live_server):
    hit = post(desk, Question=external("https://lab.example.org/ad?x=1", height=300))
    theirs = """<!doctype html><title>Lab</title><form method="post"><input name="code"
      value=""><input type="hidden" name="assignmentId"><button>Done</button></form>
      <script>
      const known = new URLSearchParams(location.search);
      const form = document.forms[0];
      form.action = known.get("turkSubmitTo") + "/mturk/externalSubmit";
      form.code.value = self.origin;
      form.assignmentId.value = known.get("assignmentId");
      </script>"""
    context = chromium.new_context()
    context.route(
        "https://lab.example.org/**",
        lambda route: route.fulfill(body=theirs, content_type="text/html"),
    )
    # A browser lets no page of the internet reach this machine by itself.
    context.route(
        "**/mturk/externalSubmit", lambda route: route.fulfill(response=route.fetch())
    )
    cookie = wanda.client.cookies["sessionid"].value
    context.add_cookies(
        [{"name": "sessionid", "value": cookie, "url": live_server.url}]
    )
    page = context.new_page()
    page.goto(f"{live_server.url}/work/requests/{group_of(hit)}/")
    page.get_by_role("button", name="Accept and work").click()
    frame = page.frame_locator("#task")
    frame.get_by_role("button", name="Done").click()
    # Nor do our scripts load there, for the same reason; the link below does without.
    frame.get_by_text("Submitted. Thank you!").wait_for()
    page.get_by_role("button", name="I have submitted it").click()
    page.get_by_role("heading", name="Your answer is stored").wait_for()
    assert (
        "<FreeText>https://lab.example.org</FreeText>"
        in RequesterAssignment.own.get().answer
    )
    context.close()
