from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from django.utils.safestring import SafeString

from crowd.hit_templates.markdown import to_html

ROOT = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Consent:
    """One version of what workers agree to; its hash is the version."""

    html: SafeString
    sha256: str


@cache
def consent_of(slug: str | None = None) -> Consent:
    """Give what workers agree to: the template's own consent.md, or the default.

    The same text in another folder is the same version.
    """
    return _consent(consent_markdown(slug))


def consent_for(slug: str | None, form: Mapping[str, Any]) -> Consent:
    """Give what workers agree to where their work may bring its own text (see form.py)."""
    own = form.get("consent", "")
    return _consent(own) if own else consent_of(slug)


def consent_markdown(slug: str | None = None) -> str:
    """Give the text of a template as it is written."""
    own = ROOT / (slug or "") / "consent.md"
    path = own if own.is_file() else ROOT / "consent.md"
    return path.read_text(encoding="utf-8")


def _consent(text: str) -> Consent:
    return Consent(to_html(text), hashlib.sha256(text.encode()).hexdigest())
