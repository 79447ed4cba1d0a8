import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from django.utils.safestring import SafeString

from crowd.hit_templates.formats import to_html
from crowd.hit_templates.words import LANGUAGE

ROOT = Path(__file__).resolve().parent
# the folder of the text for unpaid raters
COLLEAGUES = "colleagues"
# the language of a consent.md unless its template says otherwise
ENGLISH = "en"
# a fact about the study, and the words without it
_FACT = re.compile(r"\{(\w+)(?:\|([^}]*))?\}")
_FILE = re.compile(rf"consent\.({LANGUAGE})\.md")


@dataclass(frozen=True)
class Consent:
    """One version of the consent text; its hash identifies the version."""

    text: str
    language: str = ENGLISH

    @cached_property
    def html(self) -> SafeString:
        return to_html(self.text)

    @cached_property
    def sha256(self) -> str:
        """Return the version; the same text in another folder has the same one."""
        return hashlib.sha256(self.text.encode()).hexdigest()


@cache
def consent_of(slug: str | None = None) -> Mapping[str, Consent]:
    """Return the consent text by language: the template's own consent.md, or ours.

    A template's own text is offered only with its own translations.
    """
    own = ROOT / (slug or "")
    folder = own if (own / "consent.md").is_file() else ROOT
    texts = {ENGLISH: folder / "consent.md"}
    for path in sorted(folder.glob("consent.*.md")):
        if match := _FILE.fullmatch(path.name):
            texts[match[1]] = path
    return {
        language: Consent(path.read_text(encoding="utf-8"), language)
        for language, path in texts.items()
    }


def consents_for(slug: str | None, form: Mapping[str, Any]) -> Mapping[str, Consent]:
    """Return the texts, the default first; work may bring its own (see form.py).

    Below each stands who asks, if the work states it.
    """
    texts, facts = _texts(slug, form), form.get("study", {})
    if not facts:
        return texts
    return {
        language: Consent(f"{one.text}\n{_facts(language, facts)}", language)
        for language, one in texts.items()
    }


def _facts(language: str, facts: Mapping[str, str]) -> str:
    own = ROOT / f"study.{language}.md"
    text = (own if own.is_file() else ROOT / "study.md").read_text("utf-8")
    return _FACT.sub(lambda found: facts.get(found[1]) or found[2] or "–", text)


def _texts(slug: str | None, form: Mapping[str, Any]) -> Mapping[str, Consent]:
    usual = form.get("language", ENGLISH)
    if own := form.get("consent", ""):
        said = {
            language: words["consent"]
            for language, words in form.get("languages", {}).items()
            if words.get("consent")
        }
        return {
            language: Consent(text, language)
            for language, text in {usual: own, **said}.items()
        }
    texts = consent_of(slug)
    first = usual if usual in texts else ENGLISH
    return {first: texts[first], **texts}


def consent_for(slug: str | None, form: Mapping[str, Any]) -> Consent:
    return next(iter(consents_for(slug, form).values()))


def consent_markdown(slug: str | None = None) -> str:
    return consent_of(slug)[ENGLISH].text
