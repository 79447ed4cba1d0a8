"""What workers and submitters read is translated, and the catalogues fit the source."""

import ast
import gettext
import re
import subprocess
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

import pytest
from django.conf import settings
from django.template.base import Lexer, TokenType
from django.urls import reverse
from django.utils.translation import get_language, gettext_lazy, override, to_locale
from django.utils.translation.template import templatize

from crowd.messages import services as messages
from crowd.models import Message
from genie.lib.serving.languages import ENGLISH, dollars, format_digits
from leaderboard.teams.services import notices
from tests.crowd.making import make_worker
from tests.factories import make_user

ROOT = Path(__file__).resolve().parent.parent
OTHERS = [code for code, _ in settings.LANGUAGES if code != ENGLISH]
# What share of the texts must be translated, in percent: less for one that is being added.
AT_LEAST = dict.fromkeys(OTHERS, 100)

# --- texts of templates that nobody can translate ---------------------------------

TRANSLATED = re.compile(
    r"(?:account|allauth|mfa|parts|socialaccount|usersessions)/.*"
    r"|[^/]+\.html"
    r"|worker_site/(?!requester/).*"
    r"|leaderboard/(?:submissions|teams)/.*"
    r"|leaderboard/parts/(?:errors|inside|warnings)\.html"
    r"|leaderboard/boards/(?:my_submissions|submission)\.html"
    r"|leaderboard/boards/parts/(?:cards|progress|task_head|walk)\.html"
    r"|leaderboard/site/(?:home|parts/leading)\.html"
)
READ_ALOUD = {"alt", "aria-description", "aria-label", "data-l", "placeholder", "title"}
# names, and what is the same everywhere
SAME = re.compile(
    r"\b(?:Genie|HIT|HITs|JSON|MB|SHA-256|UTC|URL|PayPal|IBAN|BIC|wide)\b"
)


class Texts(HTMLParser):
    """The texts of a page, but for what machines read and what is only a picture."""

    def __init__(self) -> None:
        super().__init__()
        self.inside: list[str] = []
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attrs if name in READ_ALOUD]
        if tag in {"script", "style", "code", "kbd", "svg"}:
            self.inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self.inside and self.inside[-1] == tag:
            self.inside.pop()

    def handle_data(self, data: str) -> None:
        if not self.inside:
            self.found.append(data)


def untranslated(source: str) -> list[str]:
    kept, skip = [], ""
    for token in Lexer(source).tokenize():
        word = token.contents.split(" ")[0]
        if skip:
            skip = "" if token.token_type == TokenType.BLOCK and word == skip else skip
        elif token.token_type == TokenType.TEXT:
            kept.append(token.contents)
        elif token.token_type == TokenType.BLOCK:
            skip = f"end{word}" if word in {"blocktranslate", "comment"} else ""
            is_class = token.contents == "block body_class"
            skip = "endblock" if is_class else skip
    texts = Texts()
    texts.feed("".join(kept))
    return [
        " ".join(text.split())
        for text in texts.found
        if re.search(r"[^\W\d_]{2}", SAME.sub("", text))
    ]


def templates() -> list[Path]:
    names = subprocess.run(
        ["git", "ls-files", "templates"], cwd=ROOT, capture_output=True, check=True
    )
    return [ROOT / name for name in names.stdout.decode().split()]


def test_what_workers_and_submitters_read_can_be_translated():
    assert untranslated('<p title="Ab">{% translate "c" %} cd</p>') == ["Ab", "cd"]
    found = {
        name: words
        for path in templates()
        if TRANSLATED.fullmatch(name := str(path.relative_to(ROOT / "templates")))
        if (words := untranslated(path.read_text("utf-8")))
    }
    assert found == {}


# --- catalogues --------------------------------------------------------------------


class Entry(NamedTuple):
    """One text of a catalogue, with its translation in one or several forms."""

    ids: tuple[str, ...]
    said: tuple[str, ...]
    fuzzy: bool
    # as compiled: with what tells it from others of the same words
    key: str


@cache
def catalogue(language: str) -> list[Entry]:
    path = folder(language) / "django.po"
    entries = []
    for block in re.split(r"\n\n+", path.read_text("utf-8").strip()):
        lines = [line for line in block.splitlines() if not line.startswith("#~")]
        texts: dict[str, str] = {}
        name = ""
        for line in lines:
            if line.startswith(("msg", '"')):
                start = line.index('"')
                name = line[:start].strip() or name
                texts[name] = texts.get(name, "") + ast.literal_eval(line[start:])
        if texts:
            ids = tuple(texts[k] for k in ("msgid", "msgid_plural") if k in texts)
            said = tuple(v for k, v in texts.items() if k.startswith("msgstr"))
            fuzzy = any(x.startswith("#,") and "fuzzy" in x for x in lines)
            key = "\x04".join(texts[k] for k in ("msgctxt", "msgid") if k in texts)
            entries.append(Entry(ids, said, fuzzy and ids != ("",), key))
    return entries


def folder(language: str) -> Path:
    return ROOT / "genie" / "locale" / to_locale(language) / "LC_MESSAGES"


_LITERAL = r"u?('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
_MARKED = re.compile(rf"\bn?gettext\({_LITERAL}(?:, {_LITERAL})?")


def marked_in_templates() -> set[tuple[str, ...]]:
    found = set()
    for path in templates():
        source = path.read_text("utf-8")
        if "translate" in source and "admin" not in path.parts:
            for texts in _MARKED.findall(templatize(source)):
                found.add(tuple(ast.literal_eval(text) for text in texts if text))
    return found


def marked_in_code() -> set[tuple[str, ...]]:
    found = set()
    for app in ("genie", "leaderboard", "quality", "crowd"):
        for path in (ROOT / app).rglob("*.py"):
            source = path.read_text("utf-8")
            if "gettext" not in source:
                continue
            for node in ast.walk(ast.parse(source)):
                if isinstance(node, ast.Call) and (texts := _texts_of(node)):
                    found.add(texts)
    return found


def _texts_of(call: ast.Call) -> tuple[str, ...]:
    name = getattr(call.func, "id", "")
    if name != "_" and "gettext" not in name:
        return ()
    most = 2 if name.startswith("ngettext") else 1
    given = [node.value for node in call.args[:most] if isinstance(node, ast.Constant)]
    return tuple(text for text in given if isinstance(text, str))


def test_catalogues_have_what_the_source_has():
    marked = marked_in_templates() | marked_in_code()
    # a text that occurs alone and with a plural is one entry
    plural = {texts[0] for texts in marked if len(texts) == 2}
    wanted = {texts for texts in marked if len(texts) == 2 or texts[0] not in plural}
    for language in OTHERS:
        has = {entry.ids for entry in catalogue(language)[1:]}
        assert has == wanted, f"`make messages`, then translate: {language}"


_PLACEHOLDER = re.compile(r"%\(\w+\)\w|\{\w*\}|<[^>]*>")
_NUMBERS = {"%(n)s", "%(count)s", "%(counter)s"}


def parts(text: str) -> list[str]:
    return sorted(_PLACEHOLDER.findall(text))


@pytest.mark.parametrize("language", OTHERS)
def test_translations_are_whole_and_keep_what_is_filled_in(language):
    head, *entries = catalogue(language)
    n_forms = int(re.search(r"nplurals=\s*(\d)", head.said[0])[1])
    wrong = []
    n_done = 0
    for entry in entries:
        done = all(entry.said)
        n_done += done
        if not done and any(entry.said):
            wrong.append((entry.ids[0], "only some forms"))
        if entry.fuzzy or len(entry.said) != (n_forms if len(entry.ids) == 2 else 1):
            wrong.append((entry.ids[0], "fuzzy, or wrong forms"))
        for said in filter(None, entry.said):
            allowed = [parts(text) for text in entry.ids]
            if len(entry.ids) == 2:  # "one day" needs no number
                allowed += [
                    [p for p in parts(t) if p not in _NUMBERS] for t in entry.ids
                ]
            if parts(said) not in allowed:
                wrong.append((entry.ids[0], said))
            if (said[:1] == "\n", said[-1] == "\n") != (
                entry.ids[0][:1] == "\n",
                entry.ids[0][-1] == "\n",
            ):
                wrong.append((entry.ids[0], "line ends"))
    assert wrong == []
    assert 100 * n_done >= AT_LEAST[language] * len(entries)


@pytest.mark.parametrize("language", OTHERS)
def test_what_is_compiled_is_what_was_written(language):
    with (folder(language) / "django.mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)._catalog
    del compiled[""]  # the head, without its date
    wanted = {}
    for entry in catalogue(language)[1:]:
        if any(entry.said) and not entry.fuzzy:
            forms = entry.said if len(entry.ids) == 2 else None
            for i, said in enumerate(forms or ()):
                wanted[entry.key, i] = said
            if forms is None:
                wanted[entry.key] = entry.said[0]
    assert compiled == wanted, "`make messages` compiles them"


# --- which page is in which language ----------------------------------------------


@pytest.mark.django_db
def test_pages_follow_choice_and_browser_and_others_stay_english(client, admin_client):
    def shown(path: str, header: str = "") -> tuple[str, str]:
        answer = client.get(path, headers={"accept-language": header} if header else {})
        page = re.search(r'<html lang="([\w-]+)"(?: dir="(\w+)")?', answer.text)
        return page[1], page[2] or "ltr"

    login, tasks = reverse("login"), reverse("leaderboard:tasks")
    assert shown(login) == ("en", "ltr")
    assert shown(login, "de-AT,en;q=0.5") == ("de", "ltr")
    assert shown(login, "zh-CN") == ("zh-hans", "ltr")
    assert shown(login, "ar-EG") == ("ar", "rtl")
    assert shown(login, "pt") == ("en", "ltr")
    assert shown(tasks, "de") == ("en", "ltr")
    assert get_language() == ENGLISH

    answer = client.post(
        reverse("leaderboard:language"), {"language": "hi", "next": login}
    )
    assert answer["Location"] == login
    assert shown(login, "de") == ("hi", "ltr")
    assert shown(tasks) == ("en", "ltr")
    vary = client.get(login)["Vary"]
    assert {"Accept-Language", "Cookie"} <= set(re.split(", *", vary))
    assert 'name="language" value="ar"' in client.get(login).text
    assert 'name="language"' not in client.get(tasks).text
    for path in (reverse("admin:index"), reverse("leaderboard:studio-new")):
        answer = admin_client.get(path, headers={"accept-language": "de"})
        assert "Abmelden" not in answer.text
        assert re.search(r'lang="en(?:-us)?"', answer.text)


@pytest.mark.django_db
def test_people_are_written_to_in_the_language_that_they_chose(client):
    worker = make_worker(user=make_user("wanda"))
    day = gettext_lazy("Monday")  # Django's own
    kind = Message.Kind.STAFF
    assert messages.send(worker, kind, day, day).text == "Monday"
    assert notices.language_of(worker.user) == ENGLISH

    client.force_login(worker.user)
    client.post(reverse("leaderboard:language"), {"language": "de"})
    assert messages.send(worker, kind, day, day).subject == "Montag"
    assert messages.send(worker, kind, "Monday", day).subject == "Monday"
    assert notices.language_of(worker.user) == "de"
    client.post(reverse("leaderboard:language"), {"language": "tlh"})
    assert notices.language_of(worker.user) == "de"
    with override("fr"):  # in which they sign in
        client.force_login(worker.user)
        client.force_login(newcomer := make_user("odile"))
    assert notices.language_of(newcomer) == "fr"
    assert notices.language_of(worker.user) == "de"
    assert get_language() == ENGLISH


def test_numbers_and_money_are_written_as_the_language_does():
    said = {}
    for code, _ in settings.LANGUAGES:
        with override(code):
            said[code] = (format_digits("1,234.5"), dollars(123_456))
    assert said["en"] == ("1,234.5", "$1,234.56")
    assert said["de"] == ("1.234,5", "1.234,56\N{NO-BREAK SPACE}$")
    assert said["fr"][0] == "1\N{NO-BREAK SPACE}234,5"
    assert said["hi"] == ("1,234.5", "$1,234.56")
