"""One campaign of an evaluation before it is created."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from leaderboard.evaluation.services.anchors import AnchorSpec
from leaderboard.evaluation.services.hidden.offers import Planned
from leaderboard.evaluation.services.items import JudgedSpec
from quality.test_questions.services.inject import HiddenItem


@dataclass(frozen=True)
class Part:
    """One campaign before it is built.

    Parameters
    ----------
    key, title : str
    criteria : dict
        What is asked.
    seed : int
    judged : list of JudgedSpec
    planned : Planned
        Its test questions, and what staff are told of them.
    draw : callable
        Draws its test questions from another seed.
    anchors : sequence of AnchorSpec, optional
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
