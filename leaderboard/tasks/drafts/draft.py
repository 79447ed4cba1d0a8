"""Make a task's bundle of material and questions."""

from collections import Counter
from statistics import mean

from crowd.scales.base import all_scales
from leaderboard.designs.base import Design, all_designs
from leaderboard.tasks.drafts.ask import DEFAULT, Ask, fair_cents, seconds_for
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
    if ask.way.table() != "human":
        document[ask.way.table()] = _question_table(ask)
    # staff may submit without a limit; other teams have the usual one
    document["quota"] = {"submissions": 3, "days": 7}
    return document


def _metrics(material: Material) -> list[str]:
    if not all(item.references for item in material.items):
        return []
    return ["sacrebleu", "chrf", "rougeL", "length"]


def _human(material: Material, ask: Ask) -> dict[str, object]:
    # [human] of questions about several systems names a page that no one is shown
    usual = all_designs()[DEFAULT]
    single = ask.way.table() == "human"
    table: dict[str, object] = {
        "platform": ask.platform,
        # known by name or link, or a crowd
        "raters": "these" if ask.platform == Ask.platform else "like",
        **(_question_table(ask) if single else _page(usual, usual.hit_template)),
        "sample_size": _sample_size(material, ask),
        "ratings_per_instance": ask.ratings,
        **_pay(material, ask),
        **_care(material, ask),
        # the same people rate all systems
        "exposure": "campaign",
        "anchor_share": 0,
    }
    if ask.kind == _TRANSLATION:
        table["show_reference"] = all(item.references for item in material.items)
    if ask.consent:
        table["consent"] = ask.consent
    return table


def _sample_size(material: Material, ask: Ask) -> int:
    n_all = max(1, len(material.items))
    # Test questions take the place of other outputs, unless a number was asked for.
    room = n_all if ask.n_items else int(n_all / (1 + _percent(material, ask) / 50))
    n = min(ask.n_items or MOST_ITEMS, max(1, room))
    if ask.items_per_page == 1 or not ask.by_document:
        return n
    names = Counter(item.id.rpartition(".")[0] or item.id for item in material.items)
    return whole_size(list(names.values()), n)


def _pay(material: Material, ask: Ask) -> dict[str, object]:
    outputs = [[*of.values()][:_LOOKED_AT] for of in material.systems.values()]
    shown = outputs[: ask.way.n_shown(len(outputs))]
    pages = [
        [*item.fields.values(), *(texts[n] for texts in shown if n < len(texts))]
        for n, item in enumerate(material.items[:_LOOKED_AT])
    ]
    n_criteria = 1 if _apart(ask) else len(ask.criteria)
    reading = mean(seconds_for(page, n_criteria) for page in pages or [[]])
    seconds = round(reading) if ask.seconds is None else ask.seconds
    reward = ask.reward_cents
    if reward is None:
        reward = 0 if ask.volunteers else fair_cents(seconds)
    return {"reward_cents": reward, "expected_seconds": seconds}


def _percent(material: Material, ask: Ask) -> int:
    """Return the share of test questions of each polarity."""
    if ask.tests_percent is not None:
        return ask.tests_percent
    referenced = sum(bool(item.references) for item in material.items) > 1
    return 5 if referenced and not ask.volunteers else 0


def _care(material: Material, ask: Ask) -> dict[str, object]:
    percent = _percent(material, ask)
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


def _page(design: type[Design], template: str) -> dict[str, object]:
    scale = design.scales[0]
    return {"design": design.slug, "scale": scale, "hit_template": template}


def _question_table(ask: Ask) -> dict[str, object]:
    criteria, blind = dict(ask.criteria), [*ask.blind]
    table = _page(ask.way, ask.page)
    if ask.items_per_page > 1:
        table["items_per_page"] = ask.items_per_page
        table |= {"page_by": "id"} if ask.by_document else {}
    usual = {
        "instructions": ask.instructions,
        "checkboxes": [*ask.checkboxes],
        "show_input": {name: False for name in criteria if name in blind},
        "allow_tie": ask.allow_tie and ask.way.table() == "comparison",
        "setup": 2 if _apart(ask) else 0,
    }
    table |= {name: value for name, value in usual.items() if value}
    table["criteria"] = criteria
    if len(criteria) > 1:
        # good texts on all criteria, wrong ones on the first that shows the input
        seen = [name for name in criteria if name not in blind]
        marks = {"positive": [*criteria], "negative": seen[:1]}
        table["test_criteria"] = {name: marks[name] for name in ask.way.test_polarities}
    return table


def _apart(ask: Ask) -> bool:
    """Check for a campaign for each criterion: of magnitudes (RankME), or of pairs."""
    relative = all_scales()[ask.way.scales[0]].relative and not ask.together
    return len(ask.criteria) > 1 and (relative or ask.way.table() == "comparison")
