import pytest

from genie.lib.unguessable import seed_for
from quality.test_questions.services import Material, draw_items
from tests.crowd.making import refused


def material(n: int) -> list[Material]:
    return [
        Material(
            content_key=f"content-{i}",
            data={"fields": [{"label": "Question", "text": f"q{i}"}], "prediction": ""},
            reference=f"answer {i}",
        )
        for i in range(n)
    ]


def draw(n: int, n_positive: int, n_negative: int, seed: int = 1):
    return draw_items(
        campaign_key="c",
        material=material(n),
        n_positive=n_positive,
        n_negative=n_negative,
        seed=seed,
    )


def own_reference(hidden) -> str:
    return f"answer {hidden.spec.content_key.removeprefix('content-')}"


@pytest.mark.parametrize("n", [2, 3, 10, 81])
@pytest.mark.parametrize("seed", range(5))
def test_positive_ones_show_their_own_reference_and_negative_ones_never_do(n, seed):
    hidden = draw(n, n // 2, n // 2, seed)
    by_polarity = {"POSITIVE": [], "NEGATIVE": []}
    for one in hidden:
        by_polarity[one.polarity].append(one)
        shown_right = one.spec.data["prediction"] == own_reference(one)
        assert shown_right == (one.polarity == "POSITIVE")
    assert {key: len(value) for key, value in by_polarity.items()} == {
        "POSITIVE": n // 2,
        "NEGATIVE": n // 2,
    }


def test_no_reference_is_used_twice_nothing_tells_a_test_and_a_seed_repeats():
    shown = [one.spec.data["prediction"] for one in draw(20, 0, 20)]
    assert len(set(shown)) == 20
    hidden = draw(10, 3, 3)
    for one in hidden:
        assert set(one.spec.data) == {"fields", "prediction"}
        assert "positive" not in one.spec.key.lower()
        assert len(one.spec.key) == 32
    assert draw(30, 5, 5, seed=1) == draw(30, 5, 5, seed=1)
    assert draw(30, 5, 5, seed=1) != draw(30, 5, 5, seed=2)


def test_equal_references_are_never_a_negative_question():
    same = [
        Material(content_key=f"same-{i}", data={"prediction": ""}, reference="yes ")
        for i in range(4)
    ] + material(4)
    hidden = draw_items(
        campaign_key="c", material=same, n_positive=0, n_negative=3, seed=3
    )
    for one in hidden:
        own = next(m for m in same if m.content_key == one.spec.content_key)
        assert one.spec.data["prediction"].strip() != own.reference.strip()


def test_no_test_questions_need_no_references():
    assert (
        draw_items(campaign_key="c", material=[], n_positive=0, n_negative=0, seed=1)
        == []
    )


@pytest.mark.parametrize(
    ("n", "positive", "negative"), [(1, 1, 0), (0, 0, 1), (3, 4, 0), (3, 0, 4)]
)
def test_too_few_references_are_said_in_words(n, positive, negative):
    refused("too-few-references", draw, n, positive, negative)


def test_a_worker_who_knows_the_program_and_the_data_cannot_recompute_a_name(settings):
    """Item names stand on the page: all that goes into them can be guessed but the key."""
    ours = {one.spec.key for one in draw(10, 3, 3)}
    assert {one.spec.key for one in draw(10, 3, 3)} == ours
    settings.SECRET_KEY = "a guess"
    assert not {one.spec.key for one in draw(10, 3, 3)} & ours


def test_a_campaigns_seed_cannot_be_recomputed_either(settings):
    ours = seed_for("campaign", "submission:12")
    assert 0 <= ours < 2**63
    assert seed_for("campaign", "submission:12") == ours
    assert seed_for("campaign", "submission:13") != ours
    settings.SECRET_KEY = "a guess"
    assert seed_for("campaign", "submission:12") != ours
