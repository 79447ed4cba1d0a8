import json

import pytest

from leaderboard.submissions.preflight.base import Check, Texts

WORDS = ["Rain falls on the roof.", "The dog sleeps.", "Seven ships sail north today."]


def texts(predictions: list[str], *, references: bool = True) -> Texts:
    """Return predictions with one reference each, or none, and no other submission."""
    n = len(predictions)
    given = [[WORDS[i % len(WORDS)]] if references else [] for i in range(n)]
    sources = [f"Source {i}." for i in range(n)]
    return Texts(predictions, given, sources, "en", "en", (), 2022)


class CheckContract:
    @pytest.mark.parametrize("references", [True, False])
    @pytest.mark.parametrize(
        "predictions", [WORDS * 40, ["…"], [""] * 60, ["the same"] * 60, [" \n\t"]]
    )
    def test_it_says_nothing_or_one_sentence_with_its_figures(
        self, check: type[Check], predictions: list[str], references: bool
    ) -> None:
        seen = texts(predictions, references=references)
        warning = check().look(seen)
        assert warning == check().look(seen)
        if warning is not None:
            assert warning.code == check.slug
            assert warning.sentence.strip().endswith(".")
            json.dumps(warning.figures, allow_nan=False)
