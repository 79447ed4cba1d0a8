"""Excluding one worker never takes a system off the ranking: R3 of what was measured."""

import csv
import io
from datetime import timedelta

import pytest
from django.db.models import F
from django.urls import reverse

from crowd.campaigns.services import claim
from crowd.campaigns.services import claim as preference
from crowd.campaigns.services.add_money import add_money
from crowd.hits.selectors import progress_of
from crowd.models import Assignment, Campaign, Commitment
from crowd.workers.selectors.eligible import unseen_hits
from crowd.workers.services import invitations
from crowd.workers.services import invitations as consent
from genie.lib import jobs
from leaderboard.boards.selectors.certainty import ranked_pks
from leaderboard.boards.selectors.history import newest_leads
from leaderboard.boards.selectors.home import newest_board
from leaderboard.boards.selectors.rows import standings
from leaderboard.boards.selectors.submission_progress import scores_of, still_open
from leaderboard.evaluation import decide
from leaderboard.evaluation.selectors import unsettled
from leaderboard.evaluation.services.simulate import DILIGENT, Crowd, Player
from leaderboard.models import HumanEvaluation, Score, SubmissionEvent
from quality.bans import services
from quality.models import Ban, TestQuestion
from tests.factories import asked_about
from tests.kept import kept
from tests.leaderboard.evaluation.days import a_day_later
from tests.leaderboard.evaluation.steps import ask, now, settle, spent

N_WORKERS = 12


@pytest.fixture
def players(task):
    """Return twelve workers; the first is found out only when staff look."""
    crowd = []
    for number in range(N_WORKERS):
        worker = invitations.register_worker(
            platform_worker_id=f"of-twelve-{number}", simulated=True
        )
        consent.give_consent(worker, task.slug)
        crowd.append(Player(worker, DILIGENT))
    return crowd


@pytest.fixture
def begin(task, hand_in, good, boss):
    def begun(share: float):
        ask(task, repost_share=share)
        wrong = dict.fromkeys(good, "I do not know.")
        made = [
            hand_in(content, simulated=True, name=name)
            for name, content in (("Right", good), ("Wrong", wrong))
        ]
        jobs.drain()
        for submission in made:
            decide.approve(asked_about(submission), by=boss, start_now=True)
        settle()
        return made

    return lambda share: kept("two systems", lambda: begun(share), share)


def do_share(players, quality) -> None:
    crowd = Crowd(players, quality=quality, seed=1)
    while crowd.do_hit(players[0]):
        pass
    for campaign in Campaign.own:
        mine = campaign.hits.filter(assignments__worker=players[0].worker).count()
        assert mine >= 0.15 * campaign.hits.count()


def answer(players, quality) -> None:
    """Let the first worker answer all that they may, and the others all that is left."""
    do_share(players, quality)
    work(players, quality)


def work(players, quality) -> None:
    crowd = Crowd(players[1:], quality=quality, seed=2)
    while crowd.work():
        settle()
    settle()


def exclude(players, task, boss) -> None:
    services.ban(players[0].worker, task.slug, by=boss, reason="At random.")


def pass_a_minute() -> None:
    """So long a score may not have seen an exclusion."""
    Ban.own.update(created_at=F("created_at") - timedelta(minutes=2))


def exported(client, task) -> dict[str, dict[str, str]]:
    address = reverse("leaderboard:board-export", args=[task.slug, "csv"])
    rows = csv.DictReader(io.StringIO(client.get(address).text))
    return {row["system"]: row for row in rows}


def lost(players) -> int:
    """Count the first worker's answers on outputs, test questions left out."""
    answers = Assignment.objects.filter(worker=players[0].worker)
    tests = TestQuestion.own.values("item")
    return answers.exclude(hit__items__in=tests).count()


@pytest.fixture
def without_room(begin, players, quality, task, boss):
    """Exclude the first worker when the budget has no room to ask again."""

    def excluded():
        made = begin(0.0)
        answer(players, quality)
        exclude(players, task, boss)
        work(players, quality)
        return made

    return kept("without room", excluded)


def test_without_room_in_the_budget_both_stay_ranked_and_provisional(
    without_room, task, client
):
    best, _ = without_room
    rows = list(standings(task))
    assert [(row.system, row.rank_first) for row in rows] == [
        ("Right", 1),
        ("Wrong", 2),
    ]
    for row in rows:
        assert row.human.n < 0.95 * row.human.of
        assert row.human.provisional
        assert str(row.partial) == f"ended at {row.human.n} of {row.human.of}"
    assert set(ranked_pks(task)) == {row.pk for row in rows}
    assert newest_leads(task, 50)[0].result.pk == best.pk
    assert newest_board() == task
    # what could be paid for was asked again once, and nothing beyond
    for campaign in Campaign.own:
        assert campaign.state == Campaign.State.COMPLETE
        assert "were not replaced" in campaign.notice
        assert progress_of([campaign])[campaign.pk].spent_cents <= campaign.budget_cents

    # page, API, CSV and JSON agree
    board = client.get(reverse("leaderboard:board", args=[task.slug])).text
    assert f"ended at {rows[0].human.n} of 12" in board
    assert "provisional" in board
    pass_a_minute()
    page = client.get(reverse("leaderboard:submission", args=[best.pk])).text
    assert "This score has no rank" not in page
    assert "stays ranked" in page
    assert still_open(now(best), scores_of(now(best))) == [unsettled.MISSING]
    assert unsettled.MISSING in page
    api = client.get(f"/api/v1/tasks/{task.slug}/leaderboard/").json()["results"]
    in_json = client.get(
        reverse("leaderboard:board-export", args=[task.slug, "json"])
    ).json()["rows"]
    in_csv = exported(client, task)
    for row, told, file in zip(rows, api, in_json, strict=True):
        assert (told["rank_first"], told["human"]["provisional"]) == (
            row.rank_first,
            True,
        )
        assert (file["rank_first"], file["partial"]) == (
            row.rank_first,
            str(row.partial),
        )
        line = in_csv[row.system]
        assert line["rank_first"] == str(row.rank_first)
        assert line["human_overall_provisional"].lower() == "true"
        assert line["human_overall_n"] == str(row.human.n)

    # nothing changes any more, however often it is looked at
    before = Score.own.count()
    a_day_later()
    settle()
    settle()
    assert Score.own.count() == before
    assert all(row.human.provisional for row in standings(task))


def test_money_that_is_added_collects_them_again_and_makes_both_final(
    without_room, players, quality, task, boss
):
    for campaign in Campaign.own.order_by("pk"):
        add_money(
            campaign.pk,
            200,
            budget_cents=campaign.budget_cents,
            by=boss,
            reason="To replace what was lost.",
        )
    settle()
    assert set(Campaign.own.values_list("state", flat=True)) == {"RUNNING"}
    work(players, quality)
    a_day_later()
    settle()
    settle()
    for row in standings(task):
        assert (row.human.n, row.human.provisional, row.partial) == (12, False, None)
        assert row.rank_first is not None
    assert not HumanEvaluation.objects.filter(final_at=None).exists()
    assert not Commitment.own.filter(settled_at=None).exists()
    assert sum(Commitment.own.values_list("amount_cents", flat=True)) == spent()
    n_events = SubmissionEvent.objects.count()
    settle()
    assert SubmissionEvent.objects.count() == n_events


@pytest.mark.slow
def test_with_room_in_the_budget_they_are_ranked_while_ratings_are_collected_again(
    begin, players, quality, task, boss
):
    best, _ = begin(1.0)
    answer(players, quality)
    assert not any(row.human.provisional for row in standings(task))
    n_lost = lost(players)
    exclude(players, task, boss)
    settle()
    settle()
    rows = list(standings(task))
    assert [(row.system, row.rank_first) for row in rows] == [
        ("Right", 1),
        ("Wrong", 2),
    ]
    for row in rows:
        assert row.human.provisional
        assert str(row.partial) == f"{row.human.n} of 12 so far"
    assert unsettled.REPLACEMENTS in still_open(now(best), scores_of(now(best)))
    open_places = sum(p.n_left for p in progress_of(Campaign.own).values())
    assert open_places >= n_lost

    work(players, quality)
    a_day_later()
    settle()
    settle()
    for row in standings(task):
        assert (row.human.n, row.human.provisional, row.partial) == (12, False, None)
    for campaign in Campaign.own.all():
        assert progress_of([campaign])[campaign.pk].spent_cents <= campaign.budget_cents
    assert spent() <= sum(Campaign.own.values_list("budget_cents", flat=True))


def test_money_of_questions_that_are_left_over_collects_lost_ratings(
    begin, players, quality, task, boss, monkeypatch
):
    begin(0.0)

    def leave_tests(worker, campaign, _among):
        unseen = unseen_hits(worker.pk, campaign.pk)
        outputs = unseen.exclude(items__in=TestQuestion.own.values("item"))
        return list(outputs.values_list("pk", flat=True))

    monkeypatch.setitem(preference._choosers, "test questions", leave_tests)
    monkeypatch.setattr(claim, "ROUNDS", 1)
    do_share(players, quality)
    exclude(players, task, boss)
    assert not Assignment.own.filter(replaced_at__isnull=False).exists()
    work(players, quality)
    for row in standings(task):
        assert (row.human.n, row.human.provisional) == (12, False)
    assert spent() <= sum(Campaign.own.values_list("budget_cents", flat=True))


def test_what_staff_stopped_early_has_no_rank_whoever_is_excluded(
    begin, players, quality, task, boss
):
    """Half of it was never rated: that is no loss to exclusions."""
    half, _ = begin(0.0)
    crowd = Crowd(players, quality=quality, seed=1)
    for player in players[:4]:
        for _ in range(8):
            crowd.do_hit(player)
    decide.stop(asked_about(half), by=boss, reason="Too dear.", publish=True)
    exclude(players, task, boss)
    settle()
    settle()
    row = next(row for row in standings(task) if row.pk == half.pk)
    assert row.rank_first is None
    assert str(row.partial).startswith("stopped at")
    assert not row.human.provisional
