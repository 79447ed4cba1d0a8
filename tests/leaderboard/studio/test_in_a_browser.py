"""The studio in a real browser: from a file to a link by keyboard, and the work on a phone."""

import os
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.urls import reverse

from genie.lib import jobs
from leaderboard.evaluation.run import advance
from leaderboard.models import Draft, Submission
from tests.browser import go, overflows, violations, wait_for_hit, wait_until
from tests.factories import make_user
from tests.leaderboard.studio.test_before_loading import REFERENCED
from tests.leaderboard.studio.test_imports import table
from tests.leaderboard.studio.test_new import csv_of
from tests.leaderboard.studio.test_pages import at

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
]
# Set it to a folder to look at the pages afterwards.
SCREENSHOTS = os.environ.get("GENIE_SCREENSHOTS")
SIZES = {"wide": (1440, 900), "phone": (390, 844)}
# What axe reads, which costs most of a look: each scheme once.
READ = {("wide", "light"), ("phone", "dark")}
BELOW = (
    "() => document.activeElement.labels?.[0]?.textContent.trim()"
    " || document.activeElement.textContent.trim()"
)


def seen(page, name, sizes=SIZES):
    """Check a page for every visitor, and keep pictures if asked to."""
    for size in sizes:
        for scheme in ("light", "dark"):
            width, height = SIZES[size]
            page.set_viewport_size({"width": width, "height": height})
            page.emulate_media(color_scheme=scheme)
            assert not overflows(page), f"{name} at {width}"
            if (size, scheme) in READ:
                assert violations(page) == [], f"{name} at {width}"
            if SCREENSHOTS:
                file = Path(SCREENSHOTS) / f"{name}-{width}-{scheme}.png"
                page.screenshot(path=file, full_page=True)


def tab_to(page, label):
    for _ in range(90):
        page.keyboard.press("Tab")
        if page.evaluate(BELOW).startswith(label):
            return
    raise AssertionError(f"Tab does not reach {label!r}")


def press(page, label, key="Enter"):
    tab_to(page, label)
    with page.expect_navigation():
        page.keyboard.press(key)


def fill(page, label, text):
    tab_to(page, label)
    page.keyboard.type(text)


def work_off():
    advance()
    jobs.drain()


def test_from_a_file_to_a_link_by_keyboard_and_the_work_on_a_phone(open_page, tmp_path):
    mia = make_user("mia", is_staff=True, is_superuser=True)
    file = tmp_path / "outputs.csv"
    file.write_text(csv_of(REFERENCED), encoding="utf-8")
    page = open_page(reverse("leaderboard:studio-new"), user=mia)
    tab_to(page, "Files with outputs")
    # what chooses a file is the system's window, not a page
    page.set_input_files("*:focus", file)
    fill(page, "Name of the task", "My answers")
    press(page, "Read the files")
    press(page, "Continue to questions")
    fill(page, "Question", "The answer is correct.")
    press(page, "Continue to people")
    press(page, "Continue to the start page")
    press(page, "Load the task and submit the systems")
    work_off()
    # the page looks again by itself, and may be just leaving while somebody walks by Tab
    page.get_by_role("button", name="Start", exact=True).wait_for()
    seen(page, "start-colleagues")
    page.get_by_role("button", name="Start", exact=True).click()
    fill(page, "One link for each person", "Nina")
    press(page, "Make links")
    seen(page, "links")
    link = page.get_by_label("Link for Nina").input_value()
    work_off()
    assert {one.state for one in Submission.own} == {"ANNOTATING"}

    phone = open_page(urlsplit(link).path)
    seen(phone, "invitation", ["phone"])
    press(phone, "Start")
    wait_for_hit(phone, 1)
    seen(phone, "hit", ["phone"])
    phone.keyboard.press("1")
    phone.keyboard.press("Enter")
    wait_for_hit(phone, 2)


def test_every_page_of_the_studio_for_everybody(open_page, client):
    mia = make_user("mia", is_staff=True, is_superuser=True)
    client.force_login(mia)
    draft = Draft.objects.create(owner=mia, slug="mine", title="My answers")
    page = open_page(reverse("leaderboard:studio-new"), user=mia)
    seen(page, "new")
    _with_files(client, draft)
    for step in ("files", "ask", "people", "tests", "pilot"):
        go(page, at(draft, step))
        if step == "people":
            page.click("text=Advanced")
        seen(page, step)
    press(page, "Approve and start the pilot")
    seen(page, "pilot-begun")
    go(page, at(draft, "start"))
    press(page, "Load the task and submit the systems")
    work_off()
    go(page, at(draft, "start"))
    seen(page, "start")
    go(page, reverse("leaderboard:studio-task", args=["mine"]))
    fill(page, "Why", "Tried it.")
    press(page, "Save")
    wait_until(page, "document.readyState === 'complete'")
    seen(page, "task")


def _with_files(client, draft):
    from tests.leaderboard.studio.test_pages import asked, upload

    files = [upload("a.csv", csv_of(REFERENCED))]
    client.post(at(draft, "files"), {"add": "", "files": files})
    client.post(at(draft, "ask"), asked())
    people = {"who": "invited", "ratings": "1", "n_items": "8", "tests_percent": "20"}
    client.post(at(draft, "people"), people)


def test_judgments_of_others_by_keyboard_for_everybody(open_page, tmp_path):
    mia = make_user("mia", is_staff=True, is_superuser=True)
    file = tmp_path / "ratings.csv"
    file.write_bytes(table())
    page = open_page(reverse("leaderboard:studio-import-new"), user=mia)
    seen(page, "import-new")
    tab_to(page, "Files with ratings")
    page.set_input_files("*:focus", file)
    fill(page, "Name of the task", "Old ratings")
    press(page, "Read the files")
    jobs.drain()
    page.get_by_text("This can be imported").wait_for()
    seen(page, "import")
    fill(page, "Source", "https://ratings.example/old")
    press(page, "Import 72 ratings")
    jobs.drain()
    page.get_by_text("The board of Old ratings").wait_for()
    go(page, reverse("leaderboard:board", args=["old-ratings"]))
    seen(page, "imported-board")
    # where they are from
    go(page, reverse("leaderboard:methods", args=["old-ratings"]))
    seen(page, "imported-methods")
