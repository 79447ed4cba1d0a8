"""The languages of the pages for workers and submitters.

All other pages are in English: boards and their evidence, the studio, staff's and
requesters' pages, the admin, the API, and all stored text. They must not become half
translated, so the language is chosen by address, and is English by default.
"""

import re
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.formats import get_format
from django.utils.functional import Promise

ENGLISH = "en"
# each by its own name, for readers of no other
LANGUAGES: list[tuple[str, str]] = [
    (ENGLISH, "English"),
    ("de", "Deutsch"),
    ("fr", "Français"),
    ("es", "Español"),
    ("zh-hans", "简体中文"),
    ("ar", "العربية"),
    ("hi", "हिन्दी"),
]

_TRANSLATED = re.compile(
    r"/(?:"
    r"|(?:login|logout|account|language|teams|team-invitation)/.*"
    r"|submissions/(?:\d+/(?:withdraw/)?)?"
    r"|tasks/[^/]+/(?:submit|check)/"
    # requesters' pages are theirs, and the pages around them are in English
    r"|work/(?!(?:requests|turn|frame|look)/).*"
    r")"
)


def is_translated(path: str) -> bool:
    """Check whether the page at an address is in the reader's language.

    Examples
    --------
    >>> [is_translated(path) for path in ("/", "/work/hit/7/", "/tasks/x/submit/")]
    [True, True, True]
    >>> [is_translated(path) for path in ("/admin/", "/work/turn/A/", "/tasks/x/")]
    [False, False, False]
    """
    return _TRANSLATED.fullmatch(path) is not None


def format_digits(digits: str) -> str:
    """Format an English number in the page's language."""
    if translation.get_language() == ENGLISH:
        return digits
    signs = {
        ",": get_format("THOUSAND_SEPARATOR"),
        ".": get_format("DECIMAL_SEPARATOR"),
    }
    return digits.translate(str.maketrans(signs))


def dollars(cents: int) -> str:
    """Format an amount of money in the page's language."""
    amount = format_digits(f"{cents / 100:,.2f}")
    # with a non-breaking space
    return f"{amount}\N{NO-BREAK SPACE}$" if _sign_behind() else f"${amount}"


def _sign_behind() -> bool:
    return translation.get_language() in {"de", "es", "fr"}


def in_every_language(text: Promise) -> list[str]:
    found = []
    for code, _ in LANGUAGES:
        with translation.override(code):
            found.append(str(text))
    return found


class LanguageMiddleware:
    """Shows a page in the language chosen on the site, or in the browser's.

    Unlike Django's own it resets the language: the thread's next request, and code
    outside requests, use English.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not is_translated(request.path_info):
            with translation.override(ENGLISH):
                return self.get_response(request)
        language = translation.get_language_from_request(request)
        # the menu of languages is shown where it has an effect
        request.languages = settings.LANGUAGES  # type: ignore[attr-defined]
        with translation.override(language):
            response = self.get_response(request)
        patch_vary_headers(response, ["Accept-Language", "Cookie"])
        response.headers.setdefault("Content-Language", language)
        return response
