from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from leaderboard.evaluation.services.anchors import AnchorSpec
from leaderboard.evaluation.services.hidden.offers import Planned
from leaderboard.evaluation.services.items import JudgedSpec
from quality.test_questions.services import HiddenItem


@dataclass(frozen=True)
class Part:
    """One campaign before it is created.

    `planned` has its test questions and notes for staff; `draw` draws them from another
    seed.
    """

    key: str
    title: str
    criteria: dict[str, str]
    seed: int
    judged: list[JudgedSpec]
    planned: Planned
    draw: Callable[[int], Planned]
    anchors: Sequence[AnchorSpec] = field(default_factory=list)

    @property
    def hidden(self) -> list[HiddenItem]:
        return self.planned.items
