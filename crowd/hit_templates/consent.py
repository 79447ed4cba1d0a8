from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from django.utils.safestring import SafeString

from crowd.hit_templates.markdown import to_html


@dataclass(frozen=True)
class Consent:
    """One version of what workers agree to; its hash is the version."""

    html: SafeString
    sha256: str


def read_consent(path: Path) -> Consent:
    """Read a consent text; the same text in another folder is the same version."""
    text = path.read_text(encoding="utf-8")
    return Consent(to_html(text), hashlib.sha256(text.encode()).hexdigest())
