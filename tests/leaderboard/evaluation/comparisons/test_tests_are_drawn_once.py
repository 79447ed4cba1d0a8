"""The test questions of a comparison are those that were drawn when it began."""

from leaderboard.evaluation import waves
from leaderboard.models import Comparison
from quality.models import TestQuestion
from tests.crowd.making import items, make_campaign
from tests.leaderboard.evaluation.comparisons.conftest import config_with


def specs_of(wave):
    return [(item.spec, item.expected, item.kind) for item in wave.hidden]


def test_later_waves_keep_tests_when_texts_are_used_elsewhere(task, right, level, ask):
    config_with(task, positive_share=0.2, negative_share=0.2, wave_size=5)
    found = ask(right, level[0], max_pairs=20)
    planned = specs_of(waves.wave_of(found, 5, 15))
    assert len(planned) == 6
    # another campaign of the pool asks what this one is still going to ask
    other = make_campaign(of=items(20), pool=task.slug, key="other")
    TestQuestion.objects.bulk_create(
        TestQuestion(campaign=other, item=item, polarity="POSITIVE", text_sha256=sha)
        for item, sha in zip(
            other.items.all(),
            {test.text_sha256 for test in waves.wave_of(found, 0, 20).hidden} - {""},
            strict=False,
        )
    )
    again = Comparison.objects.get(pk=found.pk)
    assert specs_of(waves.wave_of(again, 5, 15)) == planned
