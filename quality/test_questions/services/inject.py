"""Make test questions and hide them among a campaign's items.

crowd shows test questions without knowing it: they are items like all others, their
keys are made with the site's secret, and only `Placement` identifies them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from crowd.hits.models.campaign import Campaign, Item
from crowd.hits.services.build import ItemSpec
from genie.lib.errors import GenieError
from genie.lib.seeds import generator, seed_from
from genie.lib.unguessable import name_for
from quality.test_questions.models import Placement, Polarity


@dataclass(frozen=True)
class Material:
    content_key: str
    data: Mapping[str, Any]
    reference: str


@dataclass(frozen=True)
class HiddenItem:
    """A test question before it is built: the item, and the right answer.

    `expected` adds to polarity and scale, see `crowd.workers.services.known_answers`.
    """

    spec: ItemSpec
    polarity: str
    expected: Mapping[str, Any] = field(default_factory=dict)
    # how its text was made, for `Placement`
    kind: str = ""
    made_from: Mapping[str, Any] = field(default_factory=dict)
    text_sha256: str = ""


def item_key(campaign_key: str, *parts: str) -> str:
    """Return a key that does not reveal the item's kind."""
    return name_for("item", campaign_key, *parts)


def draw_items(
    *,
    campaign_key: str,
    material: Sequence[Material],
    n_positive: int,
    n_negative: int,
    seed: int,
    expected: Mapping[str, Mapping[str, Any]] | None = None,
    blind: bool = False,
) -> list[HiddenItem]:
    """Make positive and negative test questions from references (Genie, section 5).

    Positive: a reference in place of the prediction. Negative: the references,
    cyclically permuted, so that no input meets its own. If raters do not see the input
    (`blind`), another input's reference is no worse; then the words are shuffled.
    `expected` has the right answer for each polarity.
    """
    if n_positive + n_negative == 0:
        return []
    if len(material) < 2:
        raise GenieError(
            "Test questions need references of at least two instances.",
            code="too-few-references",
        )
    rng = generator(seed_from("test questions", seed))
    order = [material[int(index)] for index in rng.permutation(len(material))]
    # Positive ones from the front, negative ones from the back, so that as few inputs
    # as possible are used for both.
    positives = [_positive(campaign_key, m) for m in order[:n_positive]]
    permuted = _permuted(order, rng)
    if blind:
        permuted = [(judged, shuffled_words(other, rng)) for judged, other in permuted]
    negatives = [
        _negative(campaign_key, m, other) for m, other in permuted[::-1][:n_negative]
    ]
    if len(positives) < n_positive or len(negatives) < n_negative:
        raise GenieError(
            f"There are references for {len(positives)} positive and {len(negatives)} "
            f"negative test questions, but {n_positive} and {n_negative} are needed.",
            code="too-few-references",
        )
    if expected is None:
        return positives + negatives
    return [
        replace(question, expected=expected[question.polarity])
        for question in positives + negatives
    ]


def shuffled_words(text: str, rng: np.random.Generator) -> str:
    """Shuffle a text's words until the text differs; a single word is reversed."""
    words = text.split()
    if len(set(words)) < 2:
        return text.strip()[::-1]
    while True:
        shuffled = [words[int(index)] for index in rng.permutation(len(words))]
        if shuffled != words:
            return " ".join(shuffled)


def _permuted(
    order: Sequence[Material], rng: np.random.Generator
) -> list[tuple[Material, str]]:
    shift = int(rng.integers(1, len(order)))
    rotated = [*order[shift:], *order[:shift]]
    return [
        (judged, other.reference)
        for judged, other in zip(order, rotated, strict=True)
        # Two instances may share a reference or an input; then the answer would not be
        # wrong.
        if other.reference.strip() != judged.reference.strip()
        and other.content_key != judged.content_key
    ]


def _positive(campaign_key: str, material: Material) -> HiddenItem:
    return HiddenItem(
        spec=ItemSpec(
            key=item_key(campaign_key, "positive", material.content_key),
            data={**material.data, "prediction": material.reference},
            content_key=material.content_key,
        ),
        polarity=Polarity.POSITIVE,
    )


def _negative(campaign_key: str, material: Material, other: str) -> HiddenItem:
    return HiddenItem(
        spec=ItemSpec(
            key=item_key(campaign_key, "negative", material.content_key),
            data={**material.data, "prediction": other},
            content_key=material.content_key,
        ),
        polarity=Polarity.NEGATIVE,
    )


def place(campaign: Campaign, hidden: Sequence[HiddenItem]) -> None:
    """Store which of the campaign's items are test questions, known only here."""
    by_key = {question.spec.key: question for question in hidden}
    items = Item.objects.filter(campaign=campaign, key__in=list(by_key))
    Placement.objects.bulk_create(
        [
            Placement(
                campaign=campaign,
                item_id=pk,
                polarity=by_key[key].polarity,
                expected=dict(by_key[key].expected),
                kind=by_key[key].kind,
                made_from=dict(by_key[key].made_from),
                text_sha256=by_key[key].text_sha256,
            )
            for pk, key in items.values_list("pk", "key")
        ],
        batch_size=2_000,
    )
