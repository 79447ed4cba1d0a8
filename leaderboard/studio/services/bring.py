"""Imports of ratings: a draft keeps the files, a job reads them, a person confirms.

The draft's state has, under `imported`: `layout`, `choices` and `about` as entered;
`scales` by criterion; `phase`; `asked`, which counts requests, so that a late job
writes nothing; `seen`, the findings; `error`.
"""

from __future__ import annotations

import logging
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.contrib.auth import get_user_model
from django.core.cache import cache
from django.core.files.base import File
from django.db import transaction

from genie.lib import jobs
from genie.lib.bounded import LimitExceeded, Limits, call_bounded
from genie.lib.errors import GenieError
from genie.lib.typing import Account
from leaderboard.imports.readers.columns import Proposal
from leaderboard.imports.readers.layout import Choice
from leaderboard.imports.readers.mapping import ROLES, SLUG, parse
from leaderboard.imports.readers.people import pseudonyms, without_people
from leaderboard.imports.readers.preview import Preview
from leaderboard.imports.readers.uploads import Found, find, short_reason
from leaderboard.imports.selectors import About
from leaderboard.imports.services.bring_in import bring_in, check
from leaderboard.imports.services.plan import preview_import
from leaderboard.studio.models import Draft
from leaderboard.studio.services import keep
from leaderboard.tasks.models import Task

# The findings about imported files that a person sees before the import.
N_NAMES = 100
N_COLUMNS = 300
LONGEST = 80
LONGEST_MAPPING = 1 << 20


def preview_of(
    found: Found, shown: Preview | None = None, asked: Sequence[Choice] = ()
) -> dict[str, Any]:
    proposal = found.proposal
    about: dict[str, Any] = {
        "layout": found.layout,
        "choices": [
            {**vars(one), "options": list(one.options)}
            for one in (*proposal.questions, *asked)
        ],
        "columns": _columns(proposal),
        "n_columns": len(proposal.columns),
        "mapping": proposal.mapping,
        "files": [one.name for one in found.files][:N_NAMES],
    }
    if shown is None:
        return about
    said = shown.to_dict()
    first = said.pop("rows")
    people = pseudonyms(row["worker"] for row in first)
    # a draft stores short words only: no texts, no names of people
    rows = [
        {
            key: str(cell)[:LONGEST]
            for key, cell in {**row, "worker": people[row["worker"]]}.items()
            if cell not in ("", None)
        }
        for row in first
    ]
    problems = [one["text"] for one in said.pop("problems")]
    counted = said["roles"]
    n_judgments = sum(counted[role] for role in said["counted"] if role in counted)
    return {
        **about,
        **said,
        "rows": rows,
        "problems": problems,
        "n_judgments": n_judgments,
        "systems": list(said["systems"]),
    }


def _columns(found: Proposal) -> list[dict[str, Any]]:
    listed, order = [], list(ROLES)
    for one in sorted(found.columns, key=lambda one: order.index(one.role))[:N_COLUMNS]:
        first = next(iter(one.fields))
        texts = [*one.examples, *(row.get(first, "") for row in found.rows)]
        if "identifies people" in one.reason:
            texts = []
        elif one.role == "rater":
            texts = [pseudonyms(texts)[text] for text in texts]
        # numbers of items look like ids of platforms
        plain = one.role in ("item", "document", "system")
        cells = [(text if plain else without_people(text))[:LONGEST] for text in texts]
        listed.append(
            {
                "name": one.name,
                "n": len(one.fields),
                "role": one.role,
                "reason": short_reason(one),
                "examples": cells[: len(one.examples)],
                "cells": cells[len(one.examples) :],
            }
        )
    return listed


READING, READ, IMPORTING, IMPORTED = "reading", "read", "importing", "imported"
UNDER_WAY = frozenset([READING, IMPORTING])
KEY = "imported"
READ_JOB, IMPORT_JOB = "leaderboard.jobs.read_import", "leaderboard.jobs.bring_in"
# Large files of 200,000 judgments take ten seconds; the job has no other limit.
LIMITS = Limits(cpu_seconds=240, memory_bytes=2 << 30, wall_seconds=480)
_TOLD_EVERY = 20_000
_OUR_FAULT = (
    "Something went wrong on our side with these files. Choose another layout or "
    "leave files out. The site's operator can find details in the log."
)

logger = logging.getLogger(__name__)


def begin(
    *, owner: Account, slug: str, title: str, files: Sequence[File[bytes]], **said: Any
) -> Draft:
    """Store files of ratings in a draft, and enqueue reading them.

    `said`: `layout`, `choices`, `scales`, `about`, and `at_once` to import without a
    confirmation.

    Raises ``slug-taken``, ``no-files``, ``too-many-files``, ``same-file``.
    """
    if Task.objects.filter(slug=slug, imported=False).exists():
        raise GenieError(
            f"The task with the address {slug} has ratings from this site, which "
            "cannot be mixed with imported ones. Choose another address.",
            code="slug-taken",
        )
    with transaction.atomic():
        draft = keep.begin(
            owner=owner, slug=slug, title=title, files=files, imported={}
        )
        say(draft, **said)
        draft.refresh_from_db()
    return draft


def is_import(draft: Draft) -> bool:
    return KEY in draft.state


def state_of(draft: Draft) -> dict[str, Any]:
    """Return the state of an import, with all keys."""
    usual = {
        "layout": "",
        "choices": {},
        "scales": {},
        "about": {},
        "phase": "",
        "asked": 0,
        "at_once": False,
    }
    return {**usual, "seen": {}, "error": "", **draft.state.get(KEY, {})}


def say(draft: Draft, **said: Any) -> None:
    """Store a person's answers about the files, and enqueue reading them again.

    Raises ``under-way`` during the import, ``imported-already`` after it.
    """
    with transaction.atomic():
        draft = Draft.objects.select_for_update().get(pk=draft.pk)
        _refuse_busy(draft)
        asked = state_of(draft)["asked"] + 1
        _put(draft, **said, phase=READING, asked=asked, error="", seen={})
        jobs.enqueue(READ_JOB, pk=draft.pk)


def use_mapping(draft: Draft, file: File[bytes]) -> None:
    """Read the files again by an uploaded mapping.

    Raises ``not-a-mapping`` and the errors of `say`.
    """
    say(draft, layout=SLUG, choices=parse(file.read(LONGEST_MAPPING), str(file.name)))


def start(draft: Draft, *, title: str = "", **said: Any) -> None:
    """Enqueue an import; an empty title leaves the draft's.

    Raises ``under-way``, ``imported-already``, ``not-read`` if the files cannot be
    imported.
    """
    with transaction.atomic():
        draft = Draft.objects.select_for_update().get(pk=draft.pk)
        _refuse_busy(draft)
        found = state_of(draft)
        if found["phase"] != READ or found["error"]:
            raise GenieError(
                found["error"] or "The files have not been read yet.", code="not-read"
            )
        draft.title = title or draft.title
        _put(draft, **said, phase=IMPORTING, error="")
        jobs.enqueue(IMPORT_JOB, pk=draft.pk)


def _refuse_busy(draft: Draft) -> None:
    phase = state_of(draft)["phase"]
    if phase == IMPORTING:
        raise GenieError("The import is in progress.", code="under-way")
    if phase == IMPORTED:
        raise GenieError("The import is done.", code="imported-already")


def read_now(pk: int) -> None:
    """Read a draft's files and store the findings: a dry run of the import."""
    draft = Draft.objects.filter(pk=pk).first()
    if draft is None or state_of(draft)["phase"] != READING:
        return
    asked = state_of(draft)
    found = _find(draft)
    summary, judgments = preview_of(found), found.proposal.judgments
    # a format's reader refuses by itself; the options of the command are left out
    asked_first = [
        one
        for one in found.proposal.questions
        if found.proposal.columns or one.name == "lost"
    ]
    open_ones = [
        re.sub(r" \([^()]*\)", "", one.question).partition("?")[0] + "?"
        for one in asked_first
        if one.needed
    ]
    refused = [*filter(None, [found.error]), *open_ones]
    if judgments is not None:
        task: dict[str, Any] = {
            "slug": draft.slug,
            "about": _about(draft, found),
            "files": found.files,
        }
        try:
            summary = preview_of(found, *preview_import(judgments, **task))
            refused += summary["refused"]
            if not refused:
                check(judgments, **task)
        except GenieError as stopped:
            refused.append(stopped.message)
    summary["troubles"], error = refused, " ".join(refused)
    with transaction.atomic():
        draft = Draft.objects.select_for_update().get(pk=pk)
        if state_of(draft)["asked"] == asked["asked"]:
            _put(draft, phase=READ, seen=summary, error=error)
            if asked["at_once"] and not error:
                start(draft)


def bring_in_now(pk: int) -> None:
    """Import a draft's files; a job that runs twice finds the phase changed."""
    draft = Draft.objects.filter(pk=pk).first()
    if draft is None or state_of(draft)["phase"] != IMPORTING:
        return
    found = _find(draft)
    try:
        judgments = found.proposal.judgments
        if judgments is None:
            raise GenieError(found.error, code="not-read")
        row = bring_in(
            judgments,
            slug=draft.slug,
            by=get_user_model().objects.get(pk=draft.owner_id),
            about=_about(draft, found),
            files=found.files,
            tell=_teller(pk),
        )
    except GenieError as error:
        # a job that died between the import and this line has imported it
        if error.code == "imported-already":
            _keep(pk, phase=IMPORTED, task=Task.objects.get(slug=draft.slug))
        else:
            _keep(pk, phase=READ, error=error.message)
        return
    except Exception:
        _keep(pk, phase=READ, error=_OUR_FAULT)
        raise
    _keep(pk, phase=IMPORTED, error="", task=row.task)


def _teller(pk: int) -> Callable[[str, int, int], None]:
    """Return a function that stores an import's progress now and then.

    Not in the database: other connections cannot see into its transaction.
    """
    last = -_TOLD_EVERY

    def tell(what: str, done: int, of: int) -> None:
        nonlocal last
        if done - last >= _TOLD_EVERY or done == of:
            last = done
            cache.set(_progress(pk), (what, done, of), 3600)

    return tell


def progress_of(draft: Draft) -> tuple[str, int, int] | None:
    found: tuple[str, int, int] | None = cache.get(_progress(draft.pk))
    return found


def _progress(pk: int) -> str:
    return f"import-of-draft-{pk}"


def _keep(pk: int, *, task: Task | None = None, **said: Any) -> None:
    with transaction.atomic():
        draft = Draft.objects.select_for_update().filter(pk=pk).first()
        if draft is not None:
            draft.task = task or draft.task
            _put(draft, **said)


def _put(draft: Draft, **said: Any) -> None:
    keep.keep(draft, **{KEY: {**state_of(draft), **said}})


def _about(draft: Draft, found: Found) -> About:
    said = state_of(draft)
    about: Mapping[str, Any] = said["about"]
    return About(
        title=draft.title,
        source=about.get("source", ""),
        licence=about.get("licence", ""),
        citation=about.get("citation", ""),
        raters=about.get("raters", ""),
        known={key: text for key, text in about.get("known", {}).items() if text},
        choices={**said["choices"], **found.proposal.mapping},
        questions={k: text for k, text in about.get("questions", {}).items() if text},
        scales=said["scales"],
    )


def _find(draft: Draft) -> Found:
    said, files = state_of(draft), []
    with tempfile.TemporaryFile() as together:
        for row in draft.files.all():
            with row.file.open("rb") as file:
                before = together.tell()
                for chunk in file.chunks():
                    together.write(chunk)
            files.append((row.name, together.tell() - before))
        try:
            return call_bounded(
                find,
                together,
                LIMITS,
                with_packages=True,
                files=files,
                layout=said["layout"],
                choices=said["choices"],
            )
        except RuntimeError:
            logger.exception("Judgments of draft %s could not be read", draft.pk)
            return Found(error=_OUR_FAULT)
        except LimitExceeded:
            return Found(
                error="Reading these files takes more time or memory than a page may "
                "use. Split them, or ask the site's operator to use genie import."
            )
