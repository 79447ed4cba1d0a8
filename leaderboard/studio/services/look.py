"""Read files of outputs: their content, their problems, and the resulting questions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

from django.conf import settings

from crowd import hit_templates
from crowd.scales.base import all_scales
from genie.lib.bounded import LimitExceeded, call_bounded
from genie.lib.bounded import Limits as Bounds
from genie.lib.errors import GenieError
from leaderboard.evaluation.services import comparison, joint
from leaderboard.files import Problem, open_file
from leaderboard.tables import Table
from leaderboard.tasks.drafts.ask import KINDS, Ask
from leaderboard.tasks.drafts.bundle import SLUG, Bundle
from leaderboard.tasks.drafts.draft import MOST_ITEMS, draft
from leaderboard.tasks.drafts.languages import language_of
from leaderboard.tasks.intake.guess import guess
from leaderboard.tasks.intake.join import Material, put_together
from leaderboard.tasks.intake.read import LIMITS, read_table
from leaderboard.tasks.intake.roles import Said, Use
from leaderboard.tasks.services import configuration

# Limits of a web process for one file; it is read in a child process.
BOUNDS = Bounds(cpu_seconds=20, memory_bytes=1 << 30, wall_seconds=60)
MOST_FILES = 100
# How many people may rate a pair.
VOTES = {1, 2, *range(3, comparison.MOST_WORKERS + 1, 2)}
NO_QUESTION = (
    "Write the question that people answer, such as “How fluent is the text?”."
)
NO_LANGUAGE = "Choose the language of the {}. It is not clear from the texts."
_AGREEMENT = {"likert-5", "binary"}
_SERVICES = {"comparison": comparison, "joint": joint}


@dataclass(frozen=True)
class Files:
    """The content of files, before any is stored.

    `tables` are readable ones, for a preview, and `uses` the roles of columns. Without
    `problems`, `material` is complete.
    """

    tables: list[Table] = field(default_factory=list)
    uses: list[Use] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    material: Material | None = None


@dataclass(frozen=True)
class Drafted:
    bundle: Bundle | None
    problems: list[str]


def look_at(
    files: Sequence[tuple[str, IO[bytes]]],
    said: Said | None = None,
    settled: Sequence[Use] = (),
    *,
    fewest: int = 2,
) -> Files:
    """Read files and join them, without storing.

    `files` are name and content of each; `settled` has the roles that a person
    confirmed.
    """
    if not files or len(files) > MOST_FILES:
        return Files(problems=[Problem("no-files", f"choose 1 to {MOST_FILES} files")])
    tables: list[Table] = []
    problems: list[Problem] = []
    for name, stream in files:
        read = _read(name, stream)
        if isinstance(read, Table):
            tables.append(read)
        else:
            problems += read
    names = [table.file for table in tables]
    problems += [
        Problem("same-file", "two files have this name; rename one", name)
        for name in sorted({name for name in names if names.count(name) > 1})
    ]
    if problems:
        return Files(tables, [], problems)
    uses, problems = guess(tables, said, settled)
    if problems:
        return Files(tables, uses, problems)
    material, problems = put_together(tables, uses, fewest=fewest)
    problems += _too_long(material)
    return Files(tables, uses, problems, None if problems else material)


def _read(name: str, stream: IO[bytes]) -> Table | list[Problem]:
    limits = replace(LIMITS, n_bytes=int(settings.GENIE["MAX_UPLOAD_BYTES"]))
    try:
        return call_bounded(
            read_table, stream, BOUNDS, with_packages=True, file=name, most=limits
        )
    except LimitExceeded:
        return [
            Problem(
                "too-large",
                "reading it takes more time or memory than a file may; split it",
                name,
            )
        ]


def _too_long(material: Material) -> list[Problem]:
    most = int(settings.GENIE["MAX_PREDICTION_CHARS"])
    return [
        Problem(
            "too-large",
            f"the output of “{name}” for “{key}” has {len(text):,} characters; "
            f"{most:,} are allowed (GENIE_MAX_PREDICTION_CHARS)",
        )
        for name, outputs in material.systems.items()
        for key, text in outputs.items()
        if len(text) > most
    ][:10]


def draft_of(material: Material, ask: Ask) -> Drafted:
    """Draft the task and return all problems on this site, without storing."""
    if not SLUG.fullmatch(ask.slug) or len(ask.slug) > 100:
        wrong = (
            f"The name {ask.slug[:80]!r} must be lower-case letters and digits, with "
            "hyphens between them, such as my-summaries."
        )
        return Drafted(None, [wrong])
    ask = complete_ask(material, ask)
    known = {"inputs": ask.source_language, "outputs": ask.target_language}
    lacking = [NO_LANGUAGE.format(side) for side, found in known.items() if not found]
    if not ask.criteria:
        lacking = [NO_QUESTION, *lacking]
    if lacking:
        return Drafted(None, lacking)
    try:
        bundle = draft(material, ask)
    except GenieError as error:
        return Drafted(None, [error.message])
    misfits = [str(one) for one in configuration.misfits(bundle.document).all()]
    return Drafted(bundle, [*misfits, *_unlike(material, ask)])


def questions_of(ask: Ask) -> dict[str, str]:
    """Return the criteria, or those that the page publishes; empty without either."""
    scale = all_scales()[ask.way.scales[0]]
    published = scale.slug in _AGREEMENT if ask.page in KINDS else scale.counted
    usual = hit_templates.get(ask.page).questions if published else {}
    return dict(usual if scale.counted else ask.criteria or usual)


def complete_ask(material: Material, ask: Ask) -> Ask:
    """Add published questions, and languages that the texts show."""
    inputs = [text for item in material.items for text in item.fields.values()]
    outputs = [text for texts in material.systems.values() for text in texts.values()]
    return replace(
        ask,
        criteria=questions_of(ask),
        source_language=ask.source_language or language_of(inputs),
        target_language=ask.target_language or language_of(outputs),
    )


def _unlike(material: Material, ask: Ask) -> Iterator[str]:
    referenced = sum(bool(item.references) for item in material.items)
    drawn = (ask.qualification or {}).get("n", 0)
    judged = min(ask.n_items or MOST_ITEMS, len(material.items))
    if isinstance(drawn, int) and drawn > 0 and referenced - judged < drawn:
        yield (
            f"A test of {drawn} questions is drawn from {drawn} inputs with "
            "references that are not rated. Have at most "
            f"{max(referenced - drawn, 0):,} rated, or write the test."
        )
    if ask.way.needs_reference and (bare := len(material.items) - referenced):
        yield (
            f"{bare:,} of the instances to be rated have no reference, which the design "
            f"{ask.way.slug} shows to workers."
        )
    n, service = len(material.systems), _SERVICES.get(ask.way.table())
    if service and not 2 <= n <= service.MOST_SYSTEMS:
        yield f"This design needs 2 to {service.MOST_SYSTEMS} systems, not {n}."
    if service and ask.ratings > service.MOST_WORKERS:
        yield f"This design allows at most {service.MOST_WORKERS} ratings of an input."
    elif service is comparison and ask.ratings not in VOTES:
        yield (
            "An even number of ratings may have no majority. For comparisons, choose "
            "1, 2 (a third decides if two disagree), 3, 5, 7 or 9."
        )
    if ask.tests_percent and referenced < 2:
        yield (
            "Test questions are made from references, and the files have "
            f"{'one' if referenced else 'none'}. Set their share to 0."
        )


def open_files(paths: Mapping[str, str]) -> list[tuple[str, IO[bytes]]]:
    """Open files by name and path, as a command receives them.

    Raises ``unreadable-file``.
    """
    return [(name, open_file(Path(path))) for name, path in paths.items()]
