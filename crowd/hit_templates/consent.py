from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

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
    own = ROOT / (slug or "") / "consent.md"
    path = own if own.is_file() else ROOT / "consent.md"
    text = path.read_text(encoding="utf-8")
    return Consent(to_html(text), hashlib.sha256(text.encode()).hexdigest())
