"""Staff are told when work is answered faster than its texts can be read."""

from crowd.campaigns.selectors.reading_pace import (
    faster_than_reading,
    least_seconds,
    measured_times,
    n_words,
)
from crowd.campaigns.services.reissue import without_shortage
from crowd.campaigns.services.run import STARVED, TOO_FAST, UNDERPAID
from crowd.campaigns.services.run import watch_crowd as watch
from crowd.models import Assignment, Campaign
from crowd.money.selectors.fair_pay import is_underpaid
from leaderboard.evaluation.selectors.worker_figures import worker_figures
from tests.crowd.making import do_all, item, make_campaign, make_worker
from tests.factories import make_user, signed_in

# 236 words and "What is it?": 239 words take a minute, a third of it is 20.1 seconds
LONG = "word " * 236


def answered(*seconds, **fields):
    things = [item(f"item-{i}", text=LONG) for i in range(len(seconds))]
    campaign = make_campaign(of=things, **fields)
    done = do_all(make_worker(simulated=campaign.simulated))
    for work, time in zip(done, seconds, strict=True):
        Assignment.objects.filter(pk=work.pk).update(active_seconds=time)
    return campaign


def notice_of(campaign):
    watch(campaign)
    return Campaign.objects.get(pk=campaign.pk).notice


def test_all_that_is_shown_counts_and_nothing_else():
    data = {
        "fields": [{"label": "Not these words", "text": "one two", "lang": "en"}],
        "prediction": "three",
        "reference": "four five",
        "lang": "en",
        "outputs": [{"slot": "A", "text": "six"}, {"slot": "B", "text": "seven"}],
        "standard_value": 100,
    }
    assert n_words(data) == 7
    assert n_words({}) == 0
    campaign = answered(1, 1, 1, 1, 1)
    assert round(least_seconds([campaign])[campaign.pk], 2) == round(
        60 * 239 / 238 / 3, 2
    )


def test_programs_are_not_expected_to_read():
    programs = [answered(0.2, 0.2, 0.2, 0.2, 0.2, simulated=True)]
    assert not faster_than_reading(programs, measured_times(programs))


def test_nobody_is_told_that_volunteers_are_underpaid():
    seconds = (400, 400, 400, 400, 400)
    assert UNDERPAID in notice_of(answered(*seconds))
    campaign = Campaign.own.get()
    campaign.hit_type.reward_cents = 0
    assert not is_underpaid(campaign)


def test_the_pay_of_such_work_is_marked_wherever_it_is_shown():
    campaign = answered(0.2, 0.2, 0.2, 0.2, 0.2)
    watch(campaign)
    client = signed_in(make_user("ada", is_staff=True, is_superuser=True))
    assert "$1,800.00<br>faster than reading" in client.get("/admin/").text
    campaigns = client.get("/admin/crowd/campaign/").text
    assert "$1,800.00, faster than reading" in campaigns
    figures = worker_figures([Campaign.objects.get(pk=campaign.pk)])
    assert figures.faster_than_reading
    Assignment.own.update(active_seconds=40)
    assert not worker_figures([campaign]).faster_than_reading
    assert TOO_FAST not in notice_of(campaign)


def test_a_notice_of_missing_money_is_not_cut_by_the_others(monkeypatch):
    """What is cut could neither be read nor be taken back once money is added."""
    campaign = answered(0.2, 0.2, 0.2, 0.2, 0.2)
    for name in ("is_starved", "is_underpaid"):
        monkeypatch.setattr(f"crowd.campaigns.services.run.{name}", lambda *_: True)
    shortage = (
        "1234 answers that do not count were not replaced: the campaign's "
        "budget of $12,345.00 is used up."
    )
    Campaign.objects.filter(pk=campaign.pk).update(notice=shortage)
    told = notice_of(campaign)
    assert told == f"{TOO_FAST} {STARVED} {UNDERPAID} {shortage}"
    assert without_shortage(told) == f"{TOO_FAST} {STARVED} {UNDERPAID}"
