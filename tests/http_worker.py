"""A worker who knows the site as a browser does: pages in, the forms on them out.

Nothing here looks into the database: what to send stands on the page, or it cannot be
sent. `Reader` says what somebody who knows the right answers would think.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urljoin

from django.test import Client
from lxml import html

# What a reader thinks of a text below an input: 0 (bad) to 1 (good).
Reader = Callable[[str, str], float]
PASSWORD = "kestrel-over-heath-7"
SITE = "/work/"


@dataclass(frozen=True)
class Page:
    """One page, and where it stands."""

    address: str
    status: int
    root: html.HtmlElement

    @property
    def text(self) -> str:
        return " ".join(self.root.text_content().split())

    def form_to(self, ending: str) -> html.FormElement:
        """Find the form that goes to an address with this ending."""
        for form in self.root.forms:
            action = urljoin(self.address, form.get("action") or "")
            if re.search(ending, action):
                return form
        raise AssertionError(f"No form goes to {ending} on: {self.text[:300]}")

    def link_to(self, part: str) -> str:
        for address in self.root.xpath("//a/@href"):
            if part in address:
                return str(address)
        raise AssertionError(f"No link goes to {part} on: {self.text[:300]}")


class HttpWorker:
    """One person at one browser."""

    def __init__(self, name: str, read: Reader) -> None:
        self.name, self.read = name, read
        self.client = Client(enforce_csrf_checks=True)
        self.page = Page("/", 0, html.fromstring("<p></p>"))

    def go(self, address: str) -> Page:
        return self._at(self.client.get(address, follow=True), address)

    def send(self, form: html.FormElement, **given: str) -> Page:
        """Send a form with all it holds, filled in where it has such fields."""
        holds = {name: value or "" for name, value in form.form_values()}
        names = {control.name for control in form.inputs if control.name}
        assert set(given) <= names, f"{set(given) - names} is no field of the form"
        action = urljoin(self.page.address, form.get("action") or self.page.address)
        data = {**holds, **given}
        return self._at(self.client.post(action, data, follow=True), action)

    def arrive(self, invitation: str, pool: str) -> None:
        """Take up an invitation, agree, read the instructions, begin."""
        page = self.go(f"{SITE}invitation/{invitation}/")
        form = page.form_to("invitation")
        given = {"password1": PASSWORD, "password2": PASSWORD}
        page = self.send(form, username=self.name, **given)
        page = self.go(page.link_to(f"{SITE}consent/{pool}/"))
        page = self.send(page.form_to("consent"))
        assert f"{SITE}instructions/{pool}/" in page.address
        self.send(page.form_to(f"{SITE}next/"))

    def resume(self, pool: str) -> bool:
        """Begin again from the start page; False when there is nothing to do."""
        self.go(SITE)
        if self.page.root.xpath(f"//a[contains(@href, '{SITE}hit/')]"):
            self.go(self.page.link_to(f"{SITE}hit/"))
            return True
        if not any("next" in (f.get("action") or "") for f in self.page.root.forms):
            return False
        self.send(self.page.form_to(f"{SITE}next/"))
        return self.has_work

    @property
    def has_work(self) -> bool:
        return f"{SITE}hit/" in self.page.address

    def answer(self) -> Page:
        """Answer the HIT on the page; what comes back is the next one, or the end."""
        form = self.page.form_to(SITE + r"hit/\d+/$")
        given = answers_on(self.page.root, self.read)
        assert given, self.page.text
        page = self.send(form, active_seconds="8", **given)
        assert page.status == 200, page.text
        return page

    def _at(self, response, address: str) -> Page:
        if response.redirect_chain:
            address = urljoin(address, response.redirect_chain[-1][0])
        root = html.fromstring(response.content.decode())
        self.page = Page(address, response.status_code, root)
        return self.page


def answers_on(root: html.HtmlElement, read: Reader) -> dict[str, str]:
    """Say what a reader would answer to each question of a page."""
    shown = _texts(root)
    opinions = {slot: read(shown.given, text) for slot, text in shown.judged.items()}
    found: dict[str, str] = {}
    for fieldset in root.xpath(".//fieldset[contains(@class, 'question')]"):
        radios = fieldset.xpath(".//input[@type='radio']")
        legend = fieldset.xpath("string(legend)")
        found[radios[0].name] = _chosen(radios, _wish(opinions, legend))
    for field in root.xpath(
        ".//div[contains(@class, 'question')]//input[@type='number']"
    ):
        label = root.xpath("string(.//label[@for=$name])", name=field.name)
        found[field.name] = _number(_wish(opinions, label), shown.worth)
    for marks in root.xpath(".//input[@class='spans']"):
        text = json.loads(marks.getparent().get("data-text"))
        opinion = opinions[marks.name[-1] if marks.name[-1] in opinions else ""]
        kind = root.xpath("string((.//select[@class='kind']//option/@value)[2])")
        found[marks.name] = _marked(text, opinion, kind)
    return found


@dataclass(frozen=True)
class _Shown:
    given: str
    judged: Mapping[str, str]
    worth: float | None


def _texts(root: html.HtmlElement) -> _Shown:
    def texts(kind: str) -> list[tuple[str, str]]:
        return [
            (section.xpath("string(h2)").strip(), section.xpath("string(div)"))
            for section in root.xpath(".//section[contains(@class, $kind)]", kind=kind)
        ]

    standard = [heading for heading, _ in texts("standard")]
    given = [text for heading, text in texts("given") if heading not in standard]
    judged = texts("judged")
    slots = [heading[-1] for heading, _ in judged] if len(judged) > 1 else [""]
    worth = re.search(r"[\d,.]+$", standard[0]) if standard else None
    return _Shown(
        "\n".join(given),
        {slot: text for slot, (_, text) in zip(slots, judged, strict=True)},
        float(worth[0]) if worth else None,
    )


def _wish(opinions: Mapping[str, float], question: str) -> float:
    """Say where between 0 and 1 the answer lies; for two outputs, on the side of A."""
    of_one = re.match(r"([A-Z]): ", question.strip())
    if of_one:
        return opinions[of_one[1]]
    if len(opinions) == 2:
        return 0.5 + (opinions["A"] - opinions["B"]) / 2
    [only] = opinions.values()
    return only


def _chosen(radios: list[html.InputElement], wish: float) -> str:
    values = [radio.get("value") for radio in radios]
    if set(values) <= {"A", "B", "tie"}:
        return "A" if wish >= 0.5 else "B"
    numbers = [float(value) for value in values]
    low, high = min(numbers), max(numbers)
    wanted = low + wish * (high - low)
    return min(values, key=lambda value: abs(float(value) - wanted))


def _number(wish: float, worth: float | None) -> str:
    """Give a number from 0 to 100, or the tenth to the whole of what a text is worth."""
    return f"{100 * wish:g}" if worth is None else f"{worth * 10 ** (wish - 1):g}"


def _marked(text: str, opinion: float, kind: str) -> str:
    if opinion > 0.5 or not text.split():
        return "[]"
    word = re.search(r"\w+", text) or re.search(r"\S+", text)
    span = {"start": word.start(), "end": word.end(), "severity": "major"}
    return json.dumps([{**span, "category": kind} if kind else span])
