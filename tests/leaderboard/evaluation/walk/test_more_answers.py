"""Staff ask for more answers while people judge: the board and its texts say so."""

from crowd.models import Campaign
from leaderboard.evaluation.selectors.system_ratings import ratings_per_output


def test_campaigns_that_differ_are_said_as_a_range():
    one, three = Campaign(answers_per_hit=1), Campaign(answers_per_hit=3)
    assert ratings_per_output([three, one], 1) == "1 to 3"
    assert ratings_per_output([three], 1) == 3
    assert ratings_per_output([], 2) == 2
