from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter

from crowd.hits.models import Rating
from leaderboard.tasks.models import Task

# The recorded and the missing details of imported ratings.
#
# Pages, the API and files all use it. A task whose ratings were made here costs no query.
MARK = "imported ratings"
CLOSED = "The ratings of this task were imported, so you cannot add systems here."
#: Details that readers of a human evaluation need -> in words; imports record them.
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
    """Files that were imported together; "" for details that are not recorded."""

    source: str
    licence: str
    citation: str
    layout: str
    imported_at: datetime
    files: tuple[str, ...]
    # whether rows without a worker exist
    unnamed: bool
    # key of ASKED -> recorded detail
    known: Mapping[str, str]

    @property
    def in_words(self) -> list[tuple[str, str]]:
        return [(ASKED.get(key, key), said) for key, said in self.known.items()]


@dataclass(frozen=True)
class Provenance:
    origins: tuple[Origin, ...]

    @property
    def unknown(self) -> list[str]:
        """Details that at least one of the origins lacks."""
        return [
            words
            for key, words in ASKED.items()
            if not self.origins or any(key not in one.known for one in self.origins)
        ]

    @property
    def workers_unknown(self) -> str:
        """Consequence of rows without a worker, as a sentence; usually empty."""
        if not any(one.unnamed for one in self.origins):
            return ""
        return (
            "Raters unknown: some rows do not identify the rater, so intervals and ranks "
            "of their systems cover instances only."
        )

    @property
    def sentence(self) -> str:
        """The provenance in one line, for files and captions."""
        said = [
            f"{one.imported_at:%Y-%m-%d} from {one.source or 'files'}"
            f" (license {one.licence or 'not recorded'})"
            for one in self.origins
        ]
        text = MARK.capitalize()
        text += f": {'; '.join(said)}." if said else "."
        text += f" {self.workers_unknown}" if self.workers_unknown else ""
        return (
            f"{text} Not recorded: {', '.join(self.unknown)}." if self.unknown else text
        )


def detector_of(pool: str) -> str:
    """Return the detector that the method of a pool's task names, or ""."""
    task = Task.objects.filter(slug=pool).first()
    return task.configuration.detector if task else ""


def is_rated(task: Task) -> bool:
    return Rating.objects.filter(item__campaign__pool=task.slug).exists()


def provenance_of(task: Task) -> Provenance | None:
    """Return where a task's ratings come from; None if they were made here."""
    if not task.imported:
        return None
    return Provenance(
        tuple(
            Origin(
                source=row.source,
                licence=row.licence,
                citation=row.citation,
                layout=row.layout,
                imported_at=row.created_at,
                files=tuple(file["name"] for file in row.files),
                unnamed=bool(row.said.get("unnamed")),
                known={key: str(said) for key, said in row.known.items() if said},
            )
            for row in sorted(task.imports.all(), key=attrgetter("pk"))
        )
    )


def note_of(task: Task) -> str:
    """Return the sentence shown with all numbers of an imported task, or ""."""
    found = provenance_of(task)
    return found.sentence if found else ""


def mark_of(task: Task) -> str:
    """Return a short mark for narrow places, in brackets and after a space, or ""."""
    return f" ({MARK})" if task.imported else ""
