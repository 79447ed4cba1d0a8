"""Make a task's bundle of material and questions."""

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import mean

from leaderboard.designs.base import Design
from leaderboard.tasks.drafts.ask import (
    DEFAULT,
    KINDS,
    OVERALL,
    Ask,
    fair_cents,
    offered_designs,
    seconds_for,
)
from leaderboard.tasks.drafts.bundle import Bundle, bundle_of
from leaderboard.tasks.drafts.documents import whole_size
from leaderboard.tasks.intake.join import Material
from leaderboard.tasks.intake.roles import TEXT

MOST_ITEMS = 300
_TRANSLATION = "translation"
_LOOKED_AT = 200


def draft(material: Material, ask: Ask) -> Bundle:
    """Create the bundle of a task.

    Whether this site can use it is checked by `services.configuration`.
    """
    rows = [
        (item.id, dict(item.fields), list(item.references)) for item in material.items
    ]
    return bundle_of(_document(material, ask), rows)


def _document(material: Material, ask: Ask) -> dict[str, object]:
    document: dict[str, object] = {
        "slug": ask.slug,
        "title": ask.title,
        "kind": ask.kind or "free",
        "summary": ask.summary,
        "source_language": ask.source_language,
        "target_language": ask.target_language,
    }
    if ask.version_of:
        document["version_of"] = ask.version_of
    if material.output_format != TEXT:
        document["output_format"] = material.output_format
    document |= {
        "release": {"reader": "demo-jsonl", "hidden_references": ask.hidden_references},
        "fields": dict(material.labels),
    }
    if material.formats:
        document["formats"] = dict(material.formats)
    document |= {
        "source": {"field": next(iter(material.labels), "")},
        "metrics": {"use": [*ask.metrics] or _metrics(material)},
        "human": _human(material, ask),
    }
    if ask.way.table() == "comparison":
        document["comparison"] = _comparison(ask)
    # staff may submit without a limit; other teams have the usual one
    document["quota"] = {"submissions": 3, "days": 7}
    return document


def _metrics(material: Material) -> list[str]:
    if not all(item.references for item in material.items):
        return []
    return ["sacrebleu", "chrf", "rougeL", "length"]


def _human(material: Material, ask: Ask) -> dict[str, object]:
    single = ask.way.table() == "human"
    design = ask.way if single else offered_designs()[DEFAULT]
    template, statement = _page(design, ask.kind if single else "")
    criteria = dict(ask.criteria) if single else {}
    criteria = criteria or {OVERALL: statement}
    table: dict[str, object] = {
        "platform": ask.platform,
        # known by name or link, or a crowd
        "raters": "these" if ask.platform == Ask.platform else "like",
        "design": design.slug,
        "scale": design.scales[0],
        "hit_template": (ask.template if single else "") or template,
        "sample_size": _sample_size(material, ask),
        "ratings_per_instance": ask.ratings,
        **_pay(material, ask, criteria),
        **_care(material, ask),
        # the same people rate all systems
        "exposure": "campaign",
        "anchor_share": 0,
    }
    if ask.kind == _TRANSLATION:
        table["show_reference"] = all(item.references for item in material.items)
    if ask.consent:
        table["consent"] = ask.consent
    if single:
        table |= _put(ask, criteria)
    table["criteria"] = criteria
    if len(criteria) > 1:
        table["test_criteria"] = _marks(ask, criteria)
    return table


def _sample_size(material: Material, ask: Ask) -> int:
    n = min(ask.n_items or MOST_ITEMS, max(1, len(material.items)))
    if ask.items_per_page == 1 or not ask.by_document:
        return n
    names = Counter(item.id.rpartition(".")[0] or item.id for item in material.items)
    return whole_size(list(names.values()), n)


def _page(design: type[Design], kind: str) -> tuple[str, str]:
    if kind not in KINDS or design.hit_template != Design.hit_template:
        return design.hit_template, design.question
    template, statement = KINDS[kind]
    on_agreement = design.scales[0] in {"likert-5", "binary"}
    return template, statement if on_agreement else design.question


def _pay(
    material: Material, ask: Ask, criteria: Mapping[str, str]
) -> dict[str, object]:
    outputs = [[*of.values()][:_LOOKED_AT] for of in material.systems.values()]
    pages = [
        [*item.fields.values(), *(texts[n] for texts in outputs[:1] if n < len(texts))]
        for n, item in enumerate(material.items[:_LOOKED_AT])
    ]
    reading = mean(seconds_for(page, len(criteria)) for page in pages or [[]])
    seconds = round(reading) if ask.seconds is None else ask.seconds
    reward = ask.reward_cents
    if reward is None:
        reward = 0 if ask.volunteers else fair_cents(seconds)
    return {"reward_cents": reward, "expected_seconds": seconds}


def _care(material: Material, ask: Ask) -> dict[str, object]:
    referenced = sum(bool(item.references) for item in material.items) > 1
    percent = ask.tests_percent
    if percent is None:
        percent = 5 if referenced and not ask.volunteers else 0
    table: dict[str, object] = {
        "positive_share": percent / 100,
        "negative_share": percent / 100,
        # without test questions, no worker is excluded and no answer is asked for again
        "repost_share": 0.1 if percent else 0,
    }
    if ask.qualification is not None:
        table["qualification_test"] = dict(ask.qualification)
    if ask.volunteers:
        table["worker_percent"] = 100
    return table


def _put(ask: Ask, criteria: Mapping[str, str]) -> dict[str, object]:
    table = _pages(ask)
    if ask.instructions:
        table["instructions"] = ask.instructions
    if ask.checkboxes:
        table["checkboxes"] = list(ask.checkboxes)
    if blind := [name for name in ask.blind if name in criteria]:
        table["show_input"] = dict.fromkeys(blind, False)
    return table


def _pages(ask: Ask) -> dict[str, object]:
    if ask.items_per_page == 1:
        return {}
    by = {"page_by": "id"} if ask.by_document else {}
    return {"items_per_page": ask.items_per_page, **by}


def _marks(ask: Ask, criteria: Mapping[str, str]) -> dict[str, Sequence[str]]:
    """Mark good texts on all criteria, wrong ones on the first that shows the input."""
    seen = [name for name in criteria if name not in ask.blind]
    return {"positive": list(criteria), "negative": seen[:1]}


def _comparison(ask: Ask) -> dict[str, object]:
    table: dict[str, object] = {
        "design": ask.way.slug,
        "scale": ask.way.scales[0],
        "hit_template": ask.template or ask.way.hit_template,
        **_pages(ask),
    }
    if ask.instructions:
        table["instructions"] = ask.instructions
    criteria = dict(ask.criteria) or {OVERALL: ask.way.question}
    table["criteria"] = criteria
    if len(criteria) > 1:
        table["test_criteria"] = {"negative": list(criteria)[:1]}
    return table
