"""What one item costs whoever answers it: keys, clicks, scrolls and seconds of page time.

A real browser answers HITs of each design, by keyboard on a desktop screen and by finger
on a phone of 390 x 664, as somebody would who never errs: a key or a tap for each answer,
a scroll wherever the next thing to touch is out of sight, and then Submit. Page time is
from sending an answer until the next item can be answered. The designs show the examples
of their templates. `sent in sight` and `pay in sight` say of how many items Submit and
what the HIT pays could be seen when the item came up.

    python -m benchmarks.bench_hit                       a table
    python -m benchmarks.bench_hit --pictures FOLDER     and pictures of each design
    python -m benchmarks.bench_hit --items 5             five items on a page, costs per item
"""

import argparse
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import world
from benchmarks.bench_worker_site import free_port, serve

NAMES = ("chromium", "chromium-browser", "google-chrome")
# a name, the HIT template, its scale
DESIGNS = (
    ("likert", "question-answering", "likert-5"),
    ("binary", "binary-judgement", "binary"),
    ("magnitude", "magnitude-judgement", "magnitude"),
    ("slider", "slider-translation", "slider-100"),
    ("two-choice", "two-choice-outputs", "two-choice"),
    ("preference", "preference-summarization", "preference-5"),
    ("error span", "error-span-translation", "slider-100"),
    ("side by side", "rankme-outputs", "magnitude"),
)
SCREENS: dict[str, dict[str, Any]] = {
    "desktop": {"viewport": {"width": 1280, "height": 800}},
    "phone": {
        "viewport": {"width": 390, "height": 664},
        "has_touch": True,
        "is_mobile": True,
    },
}
IN_SIGHT = """element => {
  const box = element.getBoundingClientRect();
  const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
  const top = document.elementFromPoint(x, y);
  return box.width > 0 && top !== null && (element.contains(top) || top.contains(element));
}"""
READY = """before => {
  const form = document.getElementById("hit");
  return form && form.dataset.hit !== before && document.readyState === "complete";
}"""


@dataclass
class Cost:
    """What items of one design took on one screen."""

    n: int = 0
    keys: int = 0
    clicks: int = 0
    scrolls: int = 0
    ms: float = 0.0
    send_in_sight: int = 0
    pay_in_sight: int = 0

    def row(self) -> str:
        """Give the figures of one item."""
        each = (self.keys, self.clicks, self.scrolls)
        figures = " | ".join(f"{count / self.n:.1f}" for count in each)
        seen = f"{self.send_in_sight} of {self.n} | {self.pay_in_sight} of {self.n}"
        return f"{figures} | {self.ms / self.n / 1000:.3f} | {seen}"


def make_work(n_each: int, items: int = 1) -> dict[str, str]:
    """Make a campaign and a worker for each design and screen; give the sessions."""
    from django.contrib.auth import get_user_model
    from django.test import Client
    from django.utils import timezone

    from crowd import hit_templates
    from crowd.campaigns.services import run
    from crowd.hits.models import Pool
    from crowd.hits.services.build import HITTypeSpec, ItemSpec, build_campaign
    from crowd.workers.services.invitations import give_consent, register_worker

    sessions = {}
    for number, (name, slug, scale) in enumerate(DESIGNS):
        template = hit_templates.get(slug)
        pool = Pool.objects.create(slug=slug).pk
        build_campaign(
            key=slug,
            pool=pool,
            title=template.title,
            hit_type=HITTypeSpec(
                template=slug,
                scale=scale,
                criteria=template.questions,
                form={**template.form, "items_per_page": items},
                title=template.title,
                description=template.description,
                keywords=template.keywords,
                reward_cents=12,
                assignment_seconds=1800,
            ),
            items=[
                ItemSpec(f"item-{i}", template.example, f"input-{i}")
                for i in range((n_each * 2 + 2) * items)
            ],
            budget_cents=10**6,
            seed=1,
            starts_at=timezone.now(),
        )
        for screen in SCREENS:
            user = get_user_model().objects.create(username=f"{screen}-{number}")
            worker = register_worker(platform_worker_id=user.username, user=user)
            give_consent(worker, pool)
            client = Client()
            client.force_login(user)
            sessions[f"{name} {screen}"] = client.cookies["sessionid"].value
    run.start_due()
    return sessions


def sees(page: Any, selector: str) -> bool:
    return bool(page.locator(selector).first.evaluate(IN_SIGHT))


class Hands:
    """Somebody who answers items on one page, counted."""

    def __init__(self, page: Any, cost: Cost) -> None:
        self.page = page
        self.cost = cost

    def reach(self, element: Any) -> None:
        """Scroll to what is out of sight."""
        if not element.evaluate(IN_SIGHT):
            self.cost.scrolls += 1
            element.evaluate("e => e.scrollIntoView({block: 'center'})")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
            self.cost.keys += 1

    def tap(self, element: Any, **how: Any) -> None:
        self.reach(element)
        element.tap(**how)
        self.cost.clicks += 1

    def questions(self) -> Iterator[Any]:
        """Give the questions one after the other, those too that come up later."""
        for question in self.page.locator("#hit .question:not(.tick)").all():
            if question.is_visible():
                yield question

    def by_keyboard(self) -> None:
        if self.page.locator(".marks").count():
            # the third word, an error
            self.press("ArrowRight", "ArrowRight", "ArrowRight", "1", "Tab")
        for question in self.questions():
            self.reach(question)
            radio = question.locator("input[type=radio]")
            if radio.count():
                self.press(radio.first.get_attribute("data-key"))
                continue
            number = question.locator("input[type=number]")
            elsewhere = "e => document.activeElement !== document.body && e !== document.activeElement"
            while number.evaluate(elsewhere):
                self.press("Tab")
            self.press("8", "0")
        self.press("Enter")

    def by_finger(self) -> None:
        if self.page.locator(".marks").count():
            self.tap(self.page.locator(".word").nth(2))
            self.tap(self.page.locator("[data-severity=minor]"))
        for question in self.questions():
            slider = question.locator("input[type=range]")
            if question.locator(".answer").count():
                self.tap(question.locator(".answer").first)
            elif slider.count():
                box = slider.bounding_box()
                self.tap(
                    slider, position={"x": box["width"] * 0.8, "y": box["height"] / 2}
                )
            else:
                self.tap(question.locator("input[type=number]"))
                self.press("8", "0")
        self.tap(self.page.locator("#send"))


def work(page: Any, cost: Cost, n: int, by: str) -> None:
    """Answer items; the first page is there already."""
    hands = Hands(page, cost)
    for _ in range(n):
        page.wait_for_function(READY, arg="")
        items = page.locator("article.item").count()
        cost.n += items
        cost.send_in_sight += items * sees(page, "#send")
        cost.pay_in_sight += items * sees(page, ".standing :text('pays')")
        before = page.evaluate("document.getElementById('hit').dataset.hit")
        # where the hands are is where the eyes end
        hands.by_keyboard() if by == "keyboard" else hands.by_finger()
        start = time.perf_counter()
        page.wait_for_function(READY, arg=before)
        cost.ms += 1000 * (time.perf_counter() - start)


def pictures(browser: Any, address: str, cookie: Any, screen: str, to: Path) -> None:
    for scheme in ("light", "dark"):
        context = browser.new_context(**SCREENS[screen], color_scheme=scheme)
        context.add_cookies([cookie])
        page = context.new_page()
        page.goto(address)
        page.screenshot(path=to.with_name(f"{to.name}-{screen}-{scheme}.png"))
        context.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--each", type=int, default=4, help="pages of each design")
    parser.add_argument("--items", type=int, default=1, help="items on a page")
    parser.add_argument("--only", help="one design")
    parser.add_argument("--pictures", type=Path, help="a folder for pictures")
    asked = parser.parse_args()
    from playwright.sync_api import sync_playwright

    with ExitStack() as stack:
        stack.callback(shutil.rmtree, world.set_up(), ignore_errors=True)
        # Playwright's loop lives in this thread, and Django would refuse its database.
        os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
        sessions = make_work(asked.each, asked.items)
        port = free_port()
        site = serve(port)
        stack.callback(site.wait)
        stack.callback(site.terminate)
        browser = stack.enter_context(sync_playwright()).chromium.launch(
            executable_path=next(filter(None, map(shutil.which, NAMES)))
        )
        stack.callback(browser.close)
        home = f"http://127.0.0.1:{port}/work/"
        print("| design | screen | keys | clicks | scrolls | s | Send | pay |")
        print("|---|---|---|---|---|---|---|---|")
        for name, _, _ in DESIGNS:
            if asked.only not in (None, name):
                continue
            for screen, how in SCREENS.items():
                value = sessions[f"{name} {screen}"]
                cookie = {"name": "sessionid", "value": value, "url": home}
                context = browser.new_context(**how)
                context.add_cookies([cookie])
                page = context.new_page()
                page.goto(home)
                page.get_by_role("button", name="Start").first.click()
                page.wait_for_function(READY, arg="")
                if asked.pictures:
                    asked.pictures.mkdir(parents=True, exist_ok=True)
                    to = asked.pictures / name.replace(" ", "-")
                    pictures(browser, page.url, cookie, screen, to)
                cost = Cost()
                by = "keyboard" if screen == "desktop" else "finger"
                work(page, cost, asked.each, by)
                print(f"| {name} | {screen} | {cost.row()} |", flush=True)
                context.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
