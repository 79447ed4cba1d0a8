"""A HIT as one self-contained page, which platforms show in a frame."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from django.conf import settings
from django.contrib.staticfiles import finders
from django.core import signing
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation
from django.utils.safestring import SafeString, mark_safe

from crowd.hits.models import HIT, HITType, Item
from crowd.hits.selectors import language_for, template_of, worded
from genie.lib.errors import GenieError

STYLES = ("worker/question.css", "worker/elsewhere.css")
SCRIPT = "worker/elsewhere.js"
PAGE = "worker/page.js"
SLIDER = "worker/slider.js"
MARKS = "worker/marks.js"
SALT = "crowd.hit-page"


class ShownItem(Protocol):
    key: str


@dataclass(frozen=True)
class Pages:
    show: Callable[[HITType, Item, Mapping[str, str], int], Any]
    read: Callable[[Any], dict[str, str]]

    def answers(
        self, hit_type: HITType, hit: HIT, fields: Mapping[str, str]
    ) -> dict[str, dict[str, str]]:
        answers_of_items: dict[str, dict[str, str]] = {}
        for i, item in enumerate(hit.items.all()):
            shown = self.show(hit_type, item, fields, i)
            if raw_answers := self.read(shown):
                answers_of_items[item.key] = raw_answers
        return answers_of_items


def page_of(
    hit_type: HITType,
    hit: HIT,
    pages: Pages,
    nonce: str = "",
    wanted: str | None = None,
) -> str:
    """Render a HIT with its style and scripts inlined; the page fetches nothing.

    The nonce allows exactly these scripts if we serve the page. The page is in the
    wanted language if possible. A posted page is in the task's language, because its
    readers are not known.
    """
    items = hit.items.all()
    language = language_for(hit_type, wanted, [item.data for item in items])
    with translation.override(language):
        return page_of_items(worded(hit_type, language), items, pages, nonce)


def page_of_items(
    hit_type: HITType, of: Iterable[Item], pages: Pages, nonce: str = ""
) -> str:
    template = template_of(hit_type)
    items = [pages.show(hit_type, item, {}, i) for i, item in enumerate(of)]
    scripts = [PAGE, SCRIPT, SLIDER] + ([MARKS] if template.marks_errors else [])
    return render_to_string(
        "worker_site/elsewhere.html",
        {
            "hit_type": hit_type,
            "from_right": hit_type.language in settings.LANGUAGES_BIDI,
            "instructions": template.instructions_of(hit_type.form),
            "items": items,
            "styles": [_inside(name) for name in STYLES],
            "scripts": [_inside(name) for name in scripts],
            "nonce": nonce,
        },
    )


def address_of(hit: HIT) -> str:
    """Return the address at which we serve the page; empty if it cannot be opened.

    It reveals the HIT to anyone who has it, and cannot be guessed.
    """
    site = str(settings.GENIE["SITE_URL"]).rstrip("/")
    # Platforms show our page in a frame, and browsers put no http page into an https
    # one.
    if not site.startswith("https://"):
        return ""
    token = signing.dumps(hit.pk, salt=SALT)
    return f"{site}{reverse('work:elsewhere', args=[token])}"


def hit_of(token: str) -> HIT | None:
    try:
        pk = signing.loads(token, salt=SALT)
    except signing.BadSignature:
        return None
    return HIT.objects.select_related("campaign__hit_type").filter(pk=pk).first()


def _inside(name: str) -> SafeString:
    path = finders.find(name)
    if not isinstance(path, str):
        raise GenieError(f"The file {name} is missing.", code="file-missing")
    with open(path, encoding="utf-8") as file:  # noqa: PTH123 - finders give strings
        text = file.read()
    # Either would end its element early, and the rest would appear as text.
    if "</script" in text.lower() or "</style" in text.lower():
        raise GenieError(f"{name} cannot be embedded in a page.", code="file-unusable")
    return mark_safe(text)  # noqa: S308 - our own file
