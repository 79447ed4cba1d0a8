"""Staff ask for more answers while people judge: the board and its texts say so."""

from crowd.campaigns.services.more_answers import ask_for_more, price_answers
from crowd.models import Assignment, Campaign, Commitment
from leaderboard.evaluation.selectors.system_ratings import ratings_per_output
from leaderboard.evaluation.selectors.worker_figures import worker_figures
from leaderboard.evaluation.services.simulate import Crowd
from leaderboard.models import Score, SubmissionEvent
from leaderboard.releases import exports
from leaderboard.releases.card import _design
from leaderboard.releases.selectors.card import card
from quality.bans.selectors import clean_ratings
from tests.leaderboard.evaluation.days import a_day_later
from tests.leaderboard.evaluation.steps import now, settle, spent


def test_each_output_is_judged_twice_published_once(
    annotating, task, diligent, boss, quality
):
    campaign = Campaign.own.get()
    n_hits, money = campaign.hits.count(), campaign.budget_cents
    places = sum(campaign.hits.values_list("max_assignments", flat=True))
    price = price_answers(campaign, 1)
    assert price.cents == n_hits * campaign.hit_type.reward_cents
    ask_for_more(
        campaign.pk, 1, shown=1, agreed_cents=price.cents, by=boss, reason="Too wide."
    )
    Crowd(diligent, quality=quality, seed=1).work()
    settle()
    a_day_later()
    settle()
    submission = now(annotating)
    assert submission.state == "PUBLISHED"
    assert SubmissionEvent.objects.filter(state="PUBLISHED").count() == 1
    assert Score.objects.get(superseded_at=None).n == 12
    each = clean_ratings(campaign).groupby("item").size()
    # items rated twice have three
    assert (len(each), set(each)) == (12, {2, 3})
    # the share of test questions is what it was
    assert Assignment.own.count() <= places + n_hits
    account = Commitment.own.get()
    assert account.settled_at is not None
    assert account.amount_cents <= money + price.cents
    assert account.amount_cents == spent()

    evaluation = submission.human_evaluation
    figures = worker_figures(evaluation.campaigns_in_order)
    made = card(submission, evaluation, figures, team="Team")
    assert ("ratings per output", 2) in made["Outputs rated"]
    assert "with 2 ratings per output" in exports.paragraph(made)
    assert "2 rating(s) per output" in _design(task)[0]


def test_campaigns_that_differ_are_said_as_a_range():
    one, three = Campaign(answers_per_hit=1), Campaign(answers_per_hit=3)
    assert ratings_per_output([three, one], 1) == "1 to 3"
    assert ratings_per_output([three], 1) == 3
    assert ratings_per_output([], 2) == 2
