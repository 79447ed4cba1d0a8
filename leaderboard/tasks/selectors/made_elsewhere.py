"""What is known, and what nobody here knows, of judgments that were made elsewhere.

One place for pages, the API and files; a task whose judgments are our own costs no query.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from leaderboard.imports.models import Import
from leaderboard.tasks.models import Task

MARK = "judgments made elsewhere"
CLOSED = (
    "Judgments on this task were made elsewhere and imported: nobody is asked here, so no "
    "system can be added."
)
#: What readers of a human evaluation ask for -> in words; imports say what they know of it.
ASKED: Mapping[str, str] = {
    "pay": "what people were paid",
    "recruitment": "how they were found",
    "instructions": "their instructions",
    "screening": "who was screened out",
    "exclusions": "who was excluded afterwards",
    "tests": "hidden test questions",
    "consent": "what they agreed to",
    "ethics": "approval by an ethics board",
    "expertise": "their expertise",
    "interface": "what they saw on the page",
    "exposure": "what else they had seen",
    "period": "when they were asked",
    "time": "how long they took",
}


@dataclass(frozen=True)
class Origin:
    """Files that were read in at once; "" where nobody said."""

    source: str
    licence: str
    citation: str
    layout: str
    imported_at: datetime
    files: tuple[str, ...]
    # whether some of its rows, or all, name no worker
    unnamed: bool
    # ASKED -> what is known of it
    known: Mapping[str, str]

    @property
    def in_words(self) -> list[tuple[str, str]]:
        """What is known, by its question."""
        return [(ASKED.get(key, key), said) for key, said in self.known.items()]


@dataclass(frozen=True)
class Provenance:
    """Where all judgments of a task come from."""

    origins: tuple[Origin, ...]

    @property
    def unknown(self) -> list[str]:
        """Name what at least one of the origins does not say."""
        return [
            words
            for key, words in ASKED.items()
            if not self.origins or any(key not in one.known for one in self.origins)
        ]

    @property
    def workers_unknown(self) -> str:
        """Say what follows where rows do not tell who judged; usually empty."""
        if not any(one.unnamed for one in self.origins):
            return ""
        return (
            "Workers unknown: not all rows say who judged, so intervals and ranks of "
            "their systems leave workers out and cover which instances were drawn."
        )

    @property
    def sentence(self) -> str:
        """Say it in one line, for files and captions."""
        said = [
            f"imported {one.imported_at:%Y-%m-%d} from {one.source or 'files'}"
            f" ({f'licence: {one.licence}' if one.licence else 'licence not known'})"
            for one in self.origins
        ]
        text = f"{MARK.capitalize()}, not on this site"
        text += f": {'; '.join(said)}." if said else "."
        text += f" {self.workers_unknown}" if self.workers_unknown else ""
        return f"{text} Not known: {', '.join(self.unknown)}." if self.unknown else text


def provenance_of(task: Task) -> Provenance | None:
    """Give where a task's judgments come from; None where they are our own."""
    if not task.imported:
        return None
    rows = Import.objects.filter(task=task).order_by("pk")
    return Provenance(tuple(_origin(row) for row in rows))


def note_of(task: Task) -> str:
    """Give the sentence that stands wherever numbers of an imported task do, or ""."""
    found = provenance_of(task)
    return found.sentence if found else ""


def mark_of(task: Task) -> str:
    """Give the few words for where there is no room, in brackets and with a space, or ""."""
    return f" ({MARK})" if task.imported else ""


def _origin(row: Import) -> Origin:
    return Origin(
        source=row.source,
        licence=row.licence,
        citation=row.citation,
        layout=row.layout,
        imported_at=row.created_at,
        files=tuple(file["name"] for file in row.files),
        unnamed=bool(row.said.get("unnamed")),
        known={key: str(said) for key, said in row.known.items() if said},
    )
