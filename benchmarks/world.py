"""A throw-away Genie with synthetic texts, for the benchmarks."""

import json
import os
import tempfile
from pathlib import Path

import numpy as np

WORDS = [f"{a}{b}{c}" for a in "bdgklmnprst" for b in "aeiou" for c in "nrslmtdk"]


def set_up(folder: Path | None = None) -> Path:
    """Make an empty database in a folder of its own, or use a folder; return it."""
    folder = folder or Path(tempfile.mkdtemp(prefix="genie-bench-"))
    new = not any(folder.iterdir())
    os.environ.update(
        GENIE_VAR=str(folder),
        GENIE_SECRET_KEY="bench",
        GENIE_LOG_LEVEL="ERROR",
        DJANGO_SETTINGS_MODULE="genie.settings",
    )
    import django
    from django.core.management import call_command

    django.setup()
    if new:
        call_command("migrate", verbosity=0)
    return folder


def texts(n: int, *, seed: int, n_words: int = 20) -> list[str]:
    """Give `n` texts of random words."""
    rng = np.random.default_rng(seed)
    weights = 1 / np.arange(1, len(WORDS) + 1)
    weights /= weights.sum()
    rows = rng.choice(len(WORDS), size=(n, n_words), p=weights)
    return [" ".join(WORDS[int(i)] for i in row) for row in rows]


def noisy(originals: list[str], *, seed: int, share: float = 0.3) -> list[str]:
    """Give texts in which a share of the words is another one: a fair prediction."""
    rng = np.random.default_rng(seed)
    changed = []
    for text in originals:
        words = text.split()
        for i in np.flatnonzero(rng.random(len(words)) < share):
            words[int(i)] = WORDS[int(rng.integers(len(WORDS)))]
        changed.append(" ".join(words))
    return changed


def lines(folder: Path, n: int) -> tuple[Path, list[str], list[str]]:
    """Write a release of `n` segments as JSON lines; return ids and references."""
    target = folder / f"lines-{n}"
    target.mkdir()
    ids = [f"doc.{i}" for i in range(n)]
    references = texts(n, seed=1)
    rows = [
        {"id": key, "fields": {"source": source}, "references": [reference]}
        for key, source, reference in zip(
            ids, texts(n, seed=2), references, strict=True
        )
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (target / "test.jsonl").write_text(text)
    return target, ids, references


def release(folder: Path, n: int) -> tuple[Path, list[str], list[str]]:
    """Write a release of `n` segments in WMT's text layout; return ids and references."""
    target = folder / f"release-{n}"
    target.mkdir()
    ids = [f"doc.{i}" for i in range(n)]
    references = texts(n, seed=1)
    (target / "ids.txt").write_text("\n".join(ids) + "\n")
    (target / "source.txt").write_text("\n".join(texts(n, seed=2)) + "\n")
    (target / "reference.A.txt").write_text("\n".join(references) + "\n")
    return target, ids, references
