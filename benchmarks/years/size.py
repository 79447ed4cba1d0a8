"""How much a site of years has of everything."""

from dataclasses import dataclass

EACH, JUDGED, RATINGS = 1_000, 200, 5
SYSTEMS = 100
TESTS = 4
BEING_JUDGED = 5
METRICS = ("sacrebleu", "rougeL")
CONFIG = {
    "fields": {"source": "Text"},
    "source": {"field": "source"},
    "metrics": {"use": list(METRICS), "headline": list(METRICS)},
    "human": {
        "design": "direct-assessment",
        "scale": "likert-5",
        "hit_template": "summarization",
        "sample_size": JUDGED,
        "ratings_per_instance": RATINGS,
        "reward_cents": 9,
        "expected_seconds": 20,
        "criteria": {"overall": "Is it good?"},
    },
}


@dataclass(frozen=True)
class Size:
    """How much there is of everything."""

    judgments: int

    @property
    def tasks(self) -> int:
        return max(1, self.judgments // (SYSTEMS * JUDGED * RATINGS))

    @property
    def systems(self) -> int:
        """Count the systems of one task."""
        return self.judgments // (self.tasks * JUDGED * RATINGS)

    @property
    def being_judged(self) -> int:
        return max(1, self.systems * BEING_JUDGED // SYSTEMS)

    @property
    def crowd(self) -> int:
        """Count the workers of one task."""
        return self.systems * 10

    @property
    def posted(self) -> int:
        """Count the HITs of the account that posts by program."""
        return self.judgments // 10


def slug(task: int) -> str:
    return f"years-{task}"


def after(first: int, n: int) -> range:
    return range(first + 1, first + n + 1)
