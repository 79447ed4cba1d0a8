"""Read files of outputs: their content, their problems, and the resulting questions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import IO, BinaryIO, cast

from django.conf import settings

from genie.lib.bounded import LimitExceeded, call_bounded
from genie.lib.bounded import Limits as Bounds
from genie.lib.errors import GenieError
from leaderboard.evaluation.services.comparison import MOST_SYSTEMS, MOST_WORKERS
from leaderboard.files import Problem
from leaderboard.tables import Table
from leaderboard.tasks.drafts.ask import Ask
from leaderboard.tasks.drafts.bundle import SLUG, Bundle
from leaderboard.tasks.drafts.draft import MOST_ITEMS, draft
from leaderboard.tasks.intake.guess import guess
from leaderboard.tasks.intake.join import Material, put_together
from leaderboard.tasks.intake.read import LIMITS, read_table
from leaderboard.tasks.intake.roles import Said, Use
from leaderboard.tasks.services import configuration

# Limits of a web process for one file; it is read in a child process.
BOUNDS = Bounds(cpu_seconds=20, memory_bytes=1 << 30, wall_seconds=60)
MOST_FILES = 100
# How many people may rate a pair.
VOTES = {1, 2, *range(3, MOST_WORKERS + 1, 2)}


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
    material, problems = put_together(tables, uses)
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
            f"{most:,} are possible (GENIE_MAX_PREDICTION_CHARS)",
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
    try:
        bundle = draft(material, ask)
    except GenieError as error:
        return Drafted(None, [error.message])
    misfits = [str(one) for one in configuration.misfits(bundle.document).all()]
    return Drafted(bundle, [*misfits, *_unlike(material, ask)])


def _unlike(material: Material, ask: Ask) -> Iterator[str]:
    referenced = sum(bool(item.references) for item in material.items)
    drawn = (ask.qualification or {}).get("n", 0)
    judged = min(ask.n_items or MOST_ITEMS, len(material.items))
    if isinstance(drawn, int) and drawn > 0 and referenced - judged < drawn:
        yield (
            f"A test of {drawn} questions is drawn from {drawn} inputs with references "
            f"that nobody judges: have at most {max(referenced - drawn, 0):,} judged, or "
            "write the test."
        )
    if ask.way.needs_reference and (bare := len(material.items) - referenced):
        yield (
            f"{bare:,} of the instances to be rated have no reference, which the design "
            f"{ask.way.slug} shows to workers."
        )
    if ask.way.table() == "comparison":
        n, most = len(material.systems), MOST_SYSTEMS
        if not 2 <= n <= most:
            yield f"Comparisons of two systems need 2 to {most} systems, not {n}."
        if len(ask.criteria) > 1:
            yield "Comparisons of two systems ask one question; leave the others out."
        if ask.ratings not in VOTES:
            yield (
                "An even number of ratings may have no majority: choose 1, 2 (a third "
                "decides where two disagree), 3, 5, 7 or 9 for comparisons."
            )
    elif ask.tests_percent and referenced < 2:
        yield (
            "Test questions are made from references, and the files have "
            f"{'one' if referenced else 'none'}: set their share to 0."
        )


def opened(paths: Mapping[str, str]) -> list[tuple[str, IO[bytes]]]:
    """Open files by name and path, as a command receives them.

    Raises ``unreadable-file``.
    """
    files: list[tuple[str, IO[bytes]]] = []
    for name, path in paths.items():
        try:
            files.append((name, cast("BinaryIO", open(path, "rb"))))  # noqa: SIM115, PTH123
        except OSError as error:
            raise GenieError(
                f"{path} cannot be read: {error.strerror}.", code="unreadable-file"
            ) from error
    return files
