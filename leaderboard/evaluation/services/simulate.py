"""Programs that simulate workers for demos; every answer is marked as simulated.

They use the same services as the worker site: they receive a HIT, read it, and submit
answers from the scale's labels.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from django.db.models import prefetch_related_objects

from crowd.campaigns.services import work
from crowd.hit_templates.form import Errors
from crowd.hits.models import HITType, Item
from crowd.hits.selectors import (
    Asked,
    errors_of,
    marked_texts,
    questions_about,
    spans_key,
)
from crowd.scales.base import Scale
from crowd.workers.models.worker import Worker
from crowd.workers.services import test_attempts
from crowd.workers.services.known_answers import as_item
from genie.lib.errors import GenieError
from genie.lib.seeds import generator, seed_from

DILIGENT, CARELESS, AGREEABLE = "diligent", "careless", "agreeable"


@dataclass(frozen=True)
class Player:
    worker: Worker
    habit: str


class Crowd:
    def __init__(
        self,
        players: list[Player],
        *,
        quality: Callable[[Item], float],
        seed: int,
        of_text: Callable[[Item, str], float] | None = None,
    ) -> None:
        """Take the players and a good worker's opinion: 0 (bad) to 1 (good).

        `of_text` returns the opinion on one text of an item that shows several.
        """
        self.players = players
        self.quality = quality
        self.of_text = of_text or (lambda item, _text: quality(item))
        self.rng = generator(seed_from("simulated workers", seed))

    def work(self, on_answer: Callable[[int], None] | None = None) -> int:
        n, worked = 0, True
        while worked:
            worked = False
            for index in self.rng.permutation(len(self.players)):
                if not self.do_hit(self.players[int(index)]):
                    continue
                worked, n = True, n + 1
                if on_answer is not None:
                    on_answer(n)
        return n

    def do_hit(self, player: Player) -> bool:
        """Do one HIT as this worker; False if none is available."""
        assignment = work.next_assignment(player.worker)
        if assignment is None:
            return False
        # Read once, here and when the answers are checked.
        prefetch_related_objects([assignment.hit], "items")
        items = list(assignment.hit.items.all())
        hit_type = assignment.hit.campaign.hit_type
        work.submit(
            assignment,
            {item.key: self._answers(hit_type, item, player) for item in items},
            active_seconds=float(self.rng.gamma(9.0, 1.2)),
        )
        return True

    def take_test(self, player: Player, name: str) -> bool:
        attempt = test_attempts.start(player.worker, name)
        hit_type = attempt.test.hit_type
        for row in attempt.answers.select_related("question"):
            if hit_type is None or row.question.data is None:
                raise GenieError(
                    "Simulated annotators can only take drawn tests.",
                    code="test-by-hand",
                )
            attempt = test_attempts.answer(
                attempt_pk=attempt.pk,
                worker=player.worker,
                position=row.position,
                raw_answers=self._answers(hit_type, as_item(row.question), player),
            )
        return bool(attempt.passed)

    def _answers(self, hit_type: HITType, item: Item, player: Player) -> dict[str, str]:
        questions = questions_about(hit_type, item.data)
        outputs = {
            str(output["slot"]): str(output["text"])
            for output in item.data.get("outputs", ())
        }
        opinions = {
            slot: self._opinion(self.of_text(item, text), player.habit)
            for slot, text in outputs.items()
        } or {"": self._opinion(self.quality(item), player.habit)}
        answers = {
            question.key: self._answer(question, item, opinions)
            for question in questions
            if not (question.checkbox or question.scale.counted)
        }
        errors = errors_of(hit_type)
        return answers | {
            spans_key(slot): _mark_errors(marked.text, opinions[slot], errors)
            for slot, marked in marked_texts(hit_type, item.data).items()
        }

    def _answer(self, question: Asked, item: Item, opinions: dict[str, float]) -> str:
        scale = question.scale
        if scale.compares:
            first, second = opinions.values()
            return _nearest(scale, 0.5 + (first - second) / 2, self.rng)
        opinion = opinions[question.slot]
        if scale.options:
            return _nearest(scale, opinion, self.rng)
        if scale.relative:
            worth = float(item.data.get("standard_value", 100))
            return f"{max(1, round(worth * (0.1 + 1.4 * opinion)))}"
        low, high = scale.minimum, scale.maximum
        return f"{round(low + opinion * (high - low))}"

    def _opinion(self, quality: float, habit: str) -> float:
        if habit == CARELESS:
            return float(self.rng.uniform(0, 1))
        if habit == AGREEABLE:
            return float(np.clip(self.rng.normal(0.95, 0.1), 0, 1))
        return float(np.clip(quality + self.rng.normal(0, 0.12), 0, 1))


def _mark_errors(text: str, opinion: float, errors: Errors) -> str:
    word = re.search(r"\S+", text)
    if opinion > 0.6 or word is None:
        return ""
    wanted = "minor" if opinion > 0.3 else "major"
    severity = wanted if wanted in errors.severities else errors.severities[-1]
    span = {"start": word.start(), "end": word.end(), "severity": severity}
    if errors.kinds:
        span["category"] = errors.kinds[0]
    return json.dumps([span])


def _nearest(scale: type[Scale], target: float, rng: np.random.Generator) -> str:
    """Return the answer nearest to `target` between 0 (low end) and 1; ties by chance."""
    options = sorted(scale.options, key=lambda option: option.value)
    low, high = options[0].value, options[-1].value
    distances = np.array(
        [abs(option.value - (low + target * (high - low))) for option in options]
    )
    near = np.flatnonzero(np.isclose(distances, distances.min()))
    index = near[0] if len(near) == 1 else rng.choice(near)
    return options[int(index)].raw
