"""Drafts: the files of a task in preparation, and the answers so far."""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from django.core.files.base import File
from django.db import transaction
from django.utils import timezone

from crowd.hit_templates.consent import COLLEAGUES, consent_markdown
from crowd.workers.models.qualification_test import QualificationQuestion
from genie.lib.errors import GenieError
from genie.lib.typing import Account
from leaderboard.studio.models import Draft, DraftFile
from leaderboard.studio.services import own_test, pilot
from leaderboard.studio.services.look import MOST_FILES, Files, look_at
from leaderboard.tasks.drafts.ask import Ask
from leaderboard.tasks.intake.roles import Use
from leaderboard.tasks.models import Task

# Drafts are deleted after so many days without a change; a loaded task stays.
KEPT_DAYS = 30
LINK, INVITED = "link", "invited"
N_DRAWN, PASS_PERCENT = 8, 80
OWN_PEOPLE = {LINK, INVITED}


@transaction.atomic
def begin(
    *, owner: Account, slug: str, title: str, files: Sequence[File[bytes]], **state: Any
) -> Draft:
    """Store the files of a new draft; one with a `state` is about an existing task.

    Raises ``slug-taken``, ``no-files``, ``too-many-files``, ``same-file``.
    """
    if not state:
        refuse_taken(slug)
    draft = Draft.objects.create(owner_id=owner.pk, slug=slug, title=title, state=state)
    add(draft, files)
    return draft


def refuse_taken(slug: str) -> None:
    """Refuse the address of an existing task: drafts make new ones only."""
    if Task.objects.filter(slug=slug).exists():
        raise GenieError(
            f"There is already a task with the address {slug}. Choose a different one.",
            code="slug-taken",
        )


@transaction.atomic
def add(draft: Draft, files: Sequence[File[bytes]]) -> None:
    """Store more files; one with the name of an older one replaces it."""
    names = [_name(file) for file in files]
    if not names:
        raise GenieError("Choose at least one file.", code="no-files")
    if len(set(names)) < len(names):
        raise GenieError("Two files have the same name. Rename one.", code="same-file")
    if len(names) + draft.files.exclude(name__in=names).count() > MOST_FILES:
        raise GenieError(
            f"A draft has {MOST_FILES} files at most.", code="too-many-files"
        )
    draft.files.filter(name__in=names).delete()
    for name, file in zip(names, files, strict=True):
        row = DraftFile(draft=draft, name=name)
        # a random name in the storage: uploaded names may be anything
        row.file.save(f"{draft.pk}-{secrets.token_hex(8)}", file)
    draft.save()


def drop_file(draft: Draft, pk: int) -> None:
    draft.files.filter(pk=pk).delete()
    draft.save()


def delete(draft: Draft) -> None:
    """Delete a draft with its files and end its pilots; a loaded task stays."""
    pilot.end(draft, by=None, reason="The draft was deleted.")
    draft.delete()


def forget_old() -> None:
    """Delete drafts without recent changes, and settle pilots that are over."""
    before = timezone.now() - timedelta(days=KEPT_DAYS)
    for draft in Draft.objects.filter(changed_at__lt=before):
        delete(draft)
    pilot.close_over()


def read(draft: Draft) -> Files:
    """Read the draft's files again, with the roles that its owner chose."""
    opened = [(row.name, row.file.open("rb")) for row in draft.files.all()]
    try:
        return look_at(
            opened,
            settled=settled_uses(draft),
            fewest=1 if "adds" in draft.state else 2,
        )
    finally:
        for _, file in opened:
            file.close()


def settled_uses(draft: Draft) -> list[Use]:
    return [
        Use(file, column, role, name, shown_as, "set by you")
        for file, column, role, name, shown_as in draft.state.get("uses", [])
    ]


def settle(draft: Draft, uses: Sequence[Use]) -> None:
    rows = [[use.file, use.column, use.role, use.name, use.format] for use in uses]
    keep(draft, uses=rows)


def keep(draft: Draft, **said: Any) -> None:
    draft.state = {**draft.state, **said}
    draft.save()


def ask_of(draft: Draft) -> Ask:
    """Return the questions and people of a draft, with defaults for missing answers."""
    asked: dict[str, Any] = draft.state.get("asked", {})
    people: dict[str, Any] = draft.state.get("people", {})
    criteria = asked.get("criteria", [])
    who = people.get("who", LINK)
    reward = people.get("reward_cents")
    seconds = draft.state.get("measured", {}).get("seconds")
    volunteers = who == LINK and not reward
    said = {name: asked[name] for name in _ASKED if name in asked}
    said["consent"] = said.get("consent") or usual_consent(volunteers=volunteers)
    return Ask(
        slug=draft.slug,
        title=draft.title,
        criteria={name: question for name, question, _ in criteria},
        blind=[name for name, _, blind in criteria if blind],
        platform="selfhosted" if who in OWN_PEOPLE else who,
        volunteers=volunteers,
        n_items=people.get("n_items") or 0,
        ratings=people.get("ratings") or 1,
        reward_cents=reward,
        qualification=_qualification(people),
        seconds=math.ceil(seconds) if seconds else None,
        tests_percent=people.get("tests_percent"),
        items_per_page=people.get("items_per_page") or 1,
        by_document=bool(people.get("by_document")),
        version_of=draft.state.get("version_of", ""),
        **said,
    )


def usual_consent(*, volunteers: bool) -> str:
    """Return the text that unpaid raters agree to; of others, the site's is used."""
    return consent_markdown(COLLEAGUES).strip() if volunteers else ""


def written_test(draft: Draft) -> list[QualificationQuestion]:
    people: dict[str, Any] = draft.state.get("people", {})
    if people.get("qualification") != own_test.WRITTEN:
        return []
    return own_test.read(people["test_questions"])


def pass_percent(draft: Draft) -> int:
    return draft.state.get("people", {}).get("pass_percent") or PASS_PERCENT


def _qualification(people: Mapping[str, Any]) -> dict[str, Any] | None:
    wanted = people.get("qualification", "")
    if not wanted:
        return None
    if wanted == own_test.NAMED:
        return {"name": people["test_name"]}
    table = {"pass_percent": people.get("pass_percent") or PASS_PERCENT}
    if wanted == own_test.DRAWN:
        table["n"] = people.get("test_n") or N_DRAWN
    return table


_ASKED = (
    "design",
    "kind",
    "summary",
    "checkboxes",
    "allow_tie",
    "together",
    "instructions",
    "consent",
    "source_language",
    "target_language",
    "hidden_references",
)


def _name(file: File[bytes]) -> str:
    return (file.name or "file")[-200:]
