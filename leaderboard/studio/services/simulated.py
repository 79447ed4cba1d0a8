"""A simulated pilot: programs answer some pages of a draft, so that broken ones are found first.

No person is asked, and nothing of it is on a board or in a release. `judges` prices, asks
for approval, pays and keeps the answers, as it does of tasks.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from genie.lib.errors import GenieError
from genie.lib.seeds import generator
from genie.lib.typing import Account
from genie.lib.unguessable import seed_for
from leaderboard.judges.models import Judge, JudgeSheet
from leaderboard.judges.services import sheets
from leaderboard.judges.services.ask import Wish
from leaderboard.studio.models import Draft
from leaderboard.studio.services.preview import compares
from leaderboard.tasks.drafts.bundle import Bundle
from leaderboard.tasks.intake.join import Material

N_ITEMS, REPEATS = 20, 2
MOST_ITEMS, MOST_REPEATS = 300, 10
_OF_DRAFT, OF_FILES = "draft-", "files-"


def key_of(draft: Draft) -> str:
    """Name a draft to the wing of judges."""
    return f"{_OF_DRAFT}{draft.pk}"


def sheet_of(draft: Draft) -> JudgeSheet | None:
    """Give what judges were last asked about a draft."""
    return JudgeSheet.objects.filter(key=key_of(draft)).first()


def content_of(
    key: str, bundle: Bundle, material: Material, n_items: int
) -> dict[str, Any]:
    """Write down what is asked about; the same inputs each time, more with a larger number."""
    drawn = generator(seed_for("simulated-pilot", key)).permutation(len(material.items))
    items = [material.items[at] for at in sorted(map(int, drawn[:n_items]))]
    return {
        "document": dict(bundle.document),
        "items": [
            {
                "id": item.id,
                "fields": dict(item.fields),
                "references": list(item.references),
            }
            for item in items
        ],
        "systems": {
            name: [outputs[item.id] for item in items]
            for name, outputs in material.systems.items()
        },
    }


def price(
    key: str,
    bundle: Bundle,
    material: Material,
    judges: Sequence[Judge],
    *,
    n_items: int,
    wish: Wish,
    by: Account,
) -> JudgeSheet:
    """Say what it would cost and send; nothing is asked before a person approves that.

    Raises
    ------
    GenieError
        ``not-for-judges`` where a judge answers another kind of question, and as
        `sheets.begin` does.
    """
    mode = "pairwise" if compares(bundle) else "pointwise"
    for judge in judges:
        if judge.definition["mode"] != mode:
            raise GenieError(
                f"{judge} does not answer as this draft asks: {mode}.",
                code="not-for-judges",
            )
    content = content_of(key, bundle, material, n_items)
    title = str(bundle.document.get("title", key))
    return sheets.begin(key, title, content, judges, wish, by=by)


@transaction.atomic
def begin(
    draft: Draft,
    bundle: Bundle,
    material: Material,
    judges: Sequence[Judge],
    **wanted: Any,
) -> JudgeSheet:
    """Price one for a draft.

    Raises
    ------
    GenieError
        ``already-loaded``, and as `price` does.
    """
    # who clicks twice at once prices one after the other
    draft = Draft.objects.select_for_update(of=("self",)).get(pk=draft.pk)
    if draft.task_id is not None:
        raise GenieError("The task has been loaded already.", code="already-loaded")
    return price(key_of(draft), bundle, material, judges, **wanted)


def changed_since(
    sheet: JudgeSheet, draft: Draft, bundle: Bundle, material: Material
) -> bool:
    """Tell whether the draft is another one by now than judges were asked about."""
    n = len(sheet.content.get("items", []))
    now = content_of(key_of(draft), bundle, material, n)
    return bool(now != sheet.content)


def end(draft: Draft, *, by: Account | None, reason: str) -> None:
    """End it and forget its texts; what it cost stays in the ledger."""
    sheets.end(key_of(draft), by=by, reason=reason)


def forget(draft: Draft) -> None:
    """Do so of a draft that is deleted, with all answers about it."""
    sheets.forget(key_of(draft), reason="The draft was deleted.")


def forget_orphans() -> None:
    """Do so where the draft is gone, with its owner's account for instance."""
    kept = JudgeSheet.objects.filter(key__startswith=_OF_DRAFT)
    there = {key_of(draft) for draft in Draft.objects.only("pk")}
    for key in set(kept.values_list("key", flat=True)) - there:
        sheets.forget(key, reason="The draft is gone.")
    # a command forgets its own, unless it was killed
    sheets.forget_left(OF_FILES, timezone.now() - timedelta(days=1))
