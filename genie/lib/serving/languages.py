"""The languages of the pages that workers and submitters read.

All else is in English: boards and their evidence, the studio, staff's and requesters'
pages, the admin, the API, and whatever is stored. A page of those must not become half
translated, so the language is chosen by address, and English where no address says
otherwise.
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
# each by its own name, for whoever reads no other
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
    # pages of requesters are theirs, and what surrounds them is in the language of most
    r"|work/(?!(?:requests|turn|frame|look)/).*"
    r")"
)


def is_translated(path: str) -> bool:
    """Tell whether the page at an address is in the reader's language.

    Examples
    --------
    >>> [is_translated(path) for path in ("/", "/work/hit/7/", "/tasks/x/submit/")]
    [True, True, True]
    >>> [is_translated(path) for path in ("/admin/", "/work/turn/A/", "/tasks/x/")]
    [False, False, False]
    """
    return _TRANSLATED.fullmatch(path) is not None


def written(digits: str) -> str:
    """Write a number as the page's language does, given as English writes it.

    Examples
    --------
    >>> written("1,234.5")
    '1,234.5'
    """
    if translation.get_language() == ENGLISH:
        return digits
    signs = {
        ",": get_format("THOUSAND_SEPARATOR"),
        ".": get_format("DECIMAL_SEPARATOR"),
    }
    return digits.translate(str.maketrans(signs))


def dollars(cents: int) -> str:
    """Write an amount of money as the page's language does.

    Examples
    --------
    >>> dollars(184), dollars(0)
    ('$1.84', '$0.00')
    """
    amount = written(f"{cents / 100:,.2f}")
    # with a space that does not break
    return f"{amount}\N{NO-BREAK SPACE}$" if _sign_behind() else f"${amount}"


def _sign_behind() -> bool:
    return translation.get_language() in {"de", "es", "fr"}


def in_every_language(text: Promise) -> list[str]:
    """Give a text in each language, to find what was written in any of them."""
    found = []
    for code, _ in LANGUAGES:
        with translation.override(code):
            found.append(str(text))
    return found


class LanguageMiddleware:
    """Shows a page in the language that was chosen on the site, or in the browser's.

    Unlike Django's own it leaves nothing behind: the next request of the thread, and
    whatever runs without one, is in English.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not is_translated(request.path_info):
            with translation.override(ENGLISH):
                return self.get_response(request)
        language = translation.get_language_from_request(request)
        # the menu of languages is shown where it changes something
        request.languages = settings.LANGUAGES  # type: ignore[attr-defined]
        with translation.override(language):
            response = self.get_response(request)
        patch_vary_headers(response, ["Accept-Language", "Cookie"])
        response.headers.setdefault("Content-Language", language)
        return response
