"""A short pilot of the key: staff read test questions without it, and missed edits go."""

from collections.abc import Collection, Sequence

from genie.lib.typing import Account
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.services.hidden.offers import EDIT
from leaderboard.evaluation.services.items import Part
from quality.test_questions.selectors import shown_fields

# An edit is dropped if at least so many readers miss it, and more than half of them.
MISSED = 2


def to_read(parts: Sequence[Part]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return keys and texts of questions and as many outputs, in no telling order."""
    shown = [item.spec for part in parts for item in part.hidden]
    shown += [item.spec for p in parts for item in p.judged[: len(p.hidden)]]
    return [(s.key, shown_fields(s.data)) for s in sorted(shown, key=lambda s: s.key)]


def keep_reading(
    evaluation: HumanEvaluation, by: Account, wrong: Collection[str]
) -> int:
    """Store which keys a reader found wrong; return how many edits were dropped."""
    n = 0
    for row in evaluation.drawn_tests.all():
        asked = []
        for question in row.questions:
            if question["kind"].startswith(EDIT):
                missed = question["made_from"].setdefault("missed", {})
                missed[str(by.pk)] = question["spec"]["key"] not in wrong
                n_missed = sum(missed.values())
                if n_missed >= MISSED and 2 * n_missed > len(missed):
                    n += 1
                    continue
            asked.append(question)
        row.n_wanted -= len(row.questions) - len(asked)
        row.questions = asked
        row.save(update_fields=["questions", "n_wanted"])
    return n
