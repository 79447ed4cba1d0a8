"""Transactions cut between their statements: nothing stays, and the next try succeeds.

The tests named here exercise these functions. When such a test calls one, it is first
done whole to count what it writes and undone, then cut off before its second and before
its last writing statement, as if the process had died: no row may differ from before.
Then it is called as the test wanted, and the rest of the test has to hold.

A job cannot be one transaction. It is cut off in its middle, keeps what it committed,
and is then done again as the queue would do it.
"""

import ast
import copy
import functools
import sys
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import pytest
from django.db import connection, transaction

from tests import kept

ROOT = Path(__file__).resolve().parent.parent
# What moves money, states and test questions.
PACKAGES = ["crowd/campaigns", "crowd/elsewhere", "crowd/hits", "crowd/money", "crowd/requester", "leaderboard/evaluation", "leaderboard/imports", "leaderboard/judges", "leaderboard/metric_board", "leaderboard/metric_runs", "leaderboard/releases", "leaderboard/submissions", "quality"]  # fmt: skip
# By test, below tests/: what it cuts.
CUT: dict[str, str] = {
    "leaderboard/api/test_deciding.py::test_a_comparison_is_asked_for_once_under_a_key_and_taken_back": """
        leaderboard.evaluation.decide:take_back
        leaderboard.evaluation.services.comparison:request
    """,
    "crowd/platforms/test_prolific_campaign.py::test_an_appeal_against_a_rejection_that_stands_is_granted_with_a_bonus": """
        quality.appeals.services:grant_by_bonus
    """,
    "leaderboard/site/test_public_log.py::test_what_is_withdrawn_is_sealed_again": "crowd.money.services.budgets:set_limit",
    "crowd/campaigns/test_adding_money.py::test_it_stands_in_the_history_of_campaign_and_account": """
        crowd.campaigns.services.add_money:add_money
        crowd.campaigns.services.reissue:replace_lost
        crowd.money.services.budgets:set_aside_again
    """,
    "crowd/campaigns/test_changing_the_reward.py::test_other_campaigns_with_the_same_hit_type_keep_theirs": """
        crowd.campaigns.services.change_reward:change_reward
    """,
    "crowd/campaigns/test_limits_per_worker.py::test_staff_lift_it_and_the_log_says_so": """
        crowd.campaigns.services.run:lift_share
    """,
    "crowd/campaigns/test_more_answers.py::test_each_worker_may_do_the_same_share_of_more": """
        crowd.campaigns.services.more_answers:ask_for_more
    """,
    "crowd/campaigns/test_pages.py::test_undo_is_of_the_whole_page": "crowd.campaigns.services.claim:fill",
    "crowd/requester/test_reasons_and_appeals.py::test_a_granted_appeal_approves_and_charges_once": "crowd.requester.services.overturn:overturn",
    "crowd/requester/test_forms_and_tests.py::test_a_test_is_graded_by_its_key_and_failing_values_granted": """
        crowd.requester.services.qualification_requests:ask
        crowd.requester.services.qualification_requests:send_test
    """,
    "leaderboard/evaluation/comparisons/test_comparisons_stop_by_themselves.py::test_all_pairs_share_the_error_and_decided_ones_ask_no_more": "leaderboard.evaluation.services.comparison:request_all_pairs",
    "leaderboard/evaluation/hidden/test_measured_before.py::test_what_is_measured_is_not_measured_again": "leaderboard.evaluation.services.hidden.drawn:keep_check",
    "crowd/campaigns/test_reissuing_work.py::test_a_second_ban_after_a_lifted_one_replaces_again": """
        crowd.campaigns.services.reissue:count_again
        crowd.campaigns.services.reissue:replace_answers
    """,
    "crowd/campaigns/test_reservations_end.py::test_it_stays_with_its_worker_until_the_time_is_over": """
        crowd.campaigns.services.claim:pass_on_reservation
    """,
    "crowd/campaigns/test_undo.py::test_a_test_question_is_marked_anew_and_looks_like_any_other": """
        crowd.campaigns.services.undo:change_page
    """,
    "crowd/hits/test_sending_answers_in.py::test_an_answer_to_returned_work_is_refused": """
        crowd.campaigns.services.work:give_back
    """,
    "crowd/hits/test_sending_answers_in.py::test_overdue_work_goes_back_to_the_pool_once": """
        crowd.campaigns.services.work:release_overdue
    """,
    "crowd/money/test_fair_pay.py::test_a_bonus_is_planned_once_for_each_approved_answer": """
        crowd.money.services.fair_pay:make_up crowd.money.services.payouts:by_hand
    """,
    "crowd/money/test_payouts.py::test_a_crash_between_two_writes_leaves_nothing": """
        crowd.money.services.payouts:take_back
    """,
    "crowd/money/test_payouts.py::test_a_month": """
        crowd.money.services.payouts:plan_due
    """,
    "crowd/money/test_payouts.py::test_a_file_pays_whom_it_was_approved_for_until_it_is_over": """
        crowd.money.services.payouts:save_details crowd.money.services.payouts:file
        crowd.money.services.payouts:plan crowd.money.services.payouts:settle
    """,
    "crowd/money/test_review_and_pay.py::test_rejecting_after_the_campaign_gives_its_money_back": """
        crowd.campaigns.services.claim:_claim
        crowd.campaigns.services.claim:next_assignment
        crowd.campaigns.services.review:reject
        crowd.campaigns.services.work:submit_page crowd.money.services.budgets:commit
        crowd.money.services.budgets:settle
    """,
    "crowd/platforms/test_prolific_campaign.py::test_a_campaign_is_one_study_and_its_work_comes_back_and_is_paid_once": """
        crowd.elsewhere.services.decisions:plan_decisions
        crowd.elsewhere.services.study:_follow
        crowd.elsewhere.services.whole_places:_plan_rest
    """,
    "crowd/platforms/test_prolific_campaign.py::test_a_notice_is_followed_once": """
        crowd.elsewhere.services.notices:follow crowd.elsewhere.services.study:_store_cost
    """,
    "crowd/platforms/test_rewards_change_elsewhere.py::test_each_hit_pays_what_it_says_there": """
        crowd.elsewhere.services.collect:_take_in
        crowd.elsewhere.services.retype:_plan
    """,
    "crowd/platforms/test_staff_and_platforms.py::test_a_person_says_that_a_bonus_was_not_paid": """
        crowd.elsewhere.admin:send_again
        crowd.money.services.bonuses:give
    """,
    "crowd/platforms/test_taking_back.py::test_after_the_window_a_bonus_is_paid_instead": """
        crowd.campaigns.services.overturn:pay_instead
    """,
    "crowd/requester/test_accounts_that_grow.py::test_a_hit_that_is_full_stays_reviewable_when_it_may_stay_longer": """
        crowd.requester.services.turns:accept crowd.requester.services.turns:send_in
    """,
    "crowd/requester/test_reasons_and_appeals.py::test_a_decision_that_stands_costs_nothing_and_is_told": """
        quality.appeals.services:uphold
    """,
    "crowd/requester/test_reasons_and_appeals.py::test_an_appeal_is_granted_only_with_money_on_the_requesters_account": """
        crowd.requester.services.access_keys:deposit
    """,
    "crowd/requester/test_tables_in_and_out.py::test_a_batch_can_be_stopped": """
        crowd.requester.batches.post:post crowd.requester.batches.post:stop
    """,
    "crowd/requester/test_tables_in_and_out.py::test_the_table_of_results_comes_back_with_decisions": """
        crowd.requester.batches.post:apply_reviews
    """,
    "leaderboard/evaluation/comparisons/test_joint_evaluations.py::test_a_page_may_show_some_of_the_systems": """
        leaderboard.evaluation.services.joint:request
    """,
    "leaderboard/evaluation/comparisons/test_waves_extend_campaigns.py::test_new_hits_come_after_those_that_are_there": """
        crowd.hits.services.build:extend
    """,
    "leaderboard/evaluation/test_machine.py::test_a_failure_is_seen_on_the_evaluation_and_on_what_it_is_for[joint]": """
        leaderboard.evaluation.decide:retry
        leaderboard.evaluation.strategies.joint:SideBySide.launch
    """,
    "leaderboard/evaluation/test_machine.py::test_what_is_decided_is_on_the_evaluation_and_the_submission_at_once[comparison]": """
        crowd.campaigns.services.run:_move leaderboard.evaluation.decide:approve
        leaderboard.evaluation.decide:decline
        leaderboard.evaluation.decide:stop leaderboard.evaluation.machine:move
        leaderboard.evaluation.strategies.comparison:write
        leaderboard.evaluation.strategies.comparison:ComparisonOfTwo.launch
    """,
    "leaderboard/evaluation/walk/test_partial_scores_are_ranked_by_decision.py::test_a_reason_is_needed_and_one_decision_counts": """
        leaderboard.evaluation.decide:rank_partial
    """,
    "leaderboard/evaluation/walk/test_scores_become_final.py::test_a_ban_that_changes_no_score_does_not_use_the_day_up": """
        crowd.campaigns.services.run:reopen
    """,
    "leaderboard/evaluation/walk/test_submit.py::test_a_step_that_fails_three_times_can_be_retried": """
        leaderboard.evaluation.decide:retry_submission
    """,
    "leaderboard/evaluation/walk/test_stopping_asks_whether_to_publish.py::test_a_stop_is_taken_back_while_pages_are_open[False]": """
        crowd.campaigns.services.run:resume leaderboard.evaluation.decide:go_on
    """,
    "leaderboard/evaluation/walk/test_stopping_asks_whether_to_publish.py::test_staff_publish_later_what_they_did_not_at_once": """
        leaderboard.evaluation.decide:publish_partial
        quality.detection.services.assess_pool:_write
    """,
    "leaderboard/evaluation/walk/test_several_systems.py::test_questions_measured_for_each_are_measured_again_for_all": "leaderboard.evaluation.services.request:join",
    "leaderboard/evaluation/walk/test_stopping_the_evaluation_itself.py::test_a_withdrawn_submission_comes_back_without_money[approved]": """
        crowd.money.services.budgets:release
        leaderboard.evaluation.decide:restore
        leaderboard.evaluation.decide:withdraw
        leaderboard.evaluation.strategies.single_system:SingleSystem.launch
        leaderboard.metric_runs.services:run
        leaderboard.submissions.services.lifecycle:move
        leaderboard.submissions.services.submit:receive
        leaderboard.submissions.services.submit:team_for
        leaderboard.submissions.services.lifecycle:_accept
    """,
    "leaderboard/metric_board/test_metrics_follow_in_the_background.py::test_a_heavy_metric_does_not_hold_the_walk_up": """
        leaderboard.metric_runs.services:_keep leaderboard.metric_runs.services:_plan
    """,
    "leaderboard/imports/test_bring_in.py::test_preferences_get_a_joint_evaluation_and_a_board_of_shares": """
        leaderboard.imports.services.write:_score
    """,
    "leaderboard/judges/test_runs.py::test_an_endpoint_that_says_no_stops_the_run_without_its_words": """
        leaderboard.judges.services.ask:ask leaderboard.judges.services.decide:approve
        leaderboard.judges.services.decide:resume
        leaderboard.judges.services.work:finish
        leaderboard.judges.services.work:_settle
        leaderboard.judges.services.work:hold leaderboard.judges.services.work:keep
        leaderboard.metric_board.services:publish
    """,
    "leaderboard/metric_board/test_boards_are_computed_by_jobs.py::test_a_board_that_fails_says_so_and_can_be_tried_again": """
        leaderboard.metric_board.services:retry
    """,
    "leaderboard/metric_board/test_metrics_of_others.py::test_staff_take_a_metric_off_its_board": """
        leaderboard.metric_board.services:receive
        leaderboard.metric_board.services:withdraw
    """,
    "leaderboard/monitoring/test_study_page.py::test_a_page_that_a_rater_left_open_is_released": "crowd.campaigns.services.work:release",
    "leaderboard/releases/test_releases_are_made_by_jobs.py::test_a_cancelled_release_stops_and_can_begin_again": """
        leaderboard.releases.queued:request leaderboard.releases.queued:retry
    """,
    "leaderboard/tasks/test_drawn_qualification_tests.py::test_the_questions_are_half_right_and_half_wrong_and_nobody_judges_them": """
        leaderboard.evaluation.services.qualification:draw_test
    """,
    "quality/appeals/test_appeals.py::test_a_ban_that_was_lifted_meanwhile_is_granted_without_a_second_lift": """
        quality.appeals.services:grant quality.bans.services:ban
        quality.bans.services:lift
    """,
    "quality/appeals/test_appeals_pages.py::test_staff_answer_once": """
        crowd.campaigns.services.overturn:overturn
    """,
    "quality/bans/test_too_many_exclusions_wait_for_a_person.py::test_a_confirmed_exclusion_is_a_ban_with_its_reason_and_happens_once": """
        quality.bans.services:confirm
    """,
    "quality/bans/test_too_many_exclusions_wait_for_a_person.py::test_a_refused_exclusion_does_not_come_back": """
        quality.bans.services:refuse
        quality.detection.services.judge:_write
    """,
}  # fmt: skip
# What no test cuts, by the reason.
UNCUT: dict[str, str] = {
    "several transactions one after another, each done again by a job or a person": """
        crowd.campaigns.services.review:approve
        leaderboard.evaluation.campaigns:collect
        leaderboard.evaluation.strategies.comparison:ComparisonOfTwo.collect
        leaderboard.evaluation.rescoring:rescore leaderboard.evaluation.rescoring:settle
        leaderboard.evaluation.services.refit:refit
        leaderboard.evaluation.strategies.joint:SideBySide.score
        leaderboard.evaluation.strategies.single_system:SingleSystem.publish
        leaderboard.evaluation.strategies.single_system:SingleSystem.score
        leaderboard.evaluation.strategies.single_system:_reopen
        leaderboard.evaluation.strategies.single_system:_watch_replacements
        leaderboard.imports.services.bring_in:bring_in
        leaderboard.imports.services.take_back:take_back
        leaderboard.metric_runs.services:resume
    """,
    "tests only let it write once": """
        crowd.campaigns.services.work:_same_or_refused
        crowd.money.services.budgets:divide crowd.requester.services.settle:settle
        crowd.requester.services.turns:give_back
        leaderboard.evaluation.services.qualification:ensure
        leaderboard.judges.services.define:make
        leaderboard.judges.services.estimate:estimate
        leaderboard.judges.services.license:_write
        leaderboard.metric_runs.services:_readopt
        quality.appeals.services:against_ban quality.appeals.services:against_exclusion
        quality.appeals.services:against_record quality.appeals.services:against_rejection
        quality.appeals.services:against_requester
        quality.test_questions.services:grade
        quality.test_questions.services:settle
    """,
    "it asks a platform in between; tests/crowd/platforms kill it": """
        crowd.elsewhere.services.decisions:_store_decision
        crowd.elsewhere.services.decisions:pay_bonuses
        crowd.elsewhere.services.early_ends:_plan
        crowd.elsewhere.services.notices:follow_hits
        crowd.elsewhere.admin:confirm_payment
        crowd.elsewhere.services.retype:move
        crowd.elsewhere.services.study:_note_answer
        crowd.elsewhere.services.whole_places:note_screen_outs
    """,
    "a page, address or job around a service that is cut": """
        crowd.money.admin:PayoutTermsAdmin.changelist_view
        crowd.requester.api:_answer
        leaderboard.evaluation.admin.submission:_decided
        leaderboard.evaluation.api.comparisons:asked_once
        leaderboard.evaluation.api.staff:DecisionView.post
        leaderboard.evaluation.strategies.measured_tests:measure_tests
        leaderboard.judges.api:JudgeRunDecision.post
        quality.bans.admin:impose
    """,
}  # fmt: skip
# By test: the jobs that it kills in their middle whenever they are done.
KILLED: dict[str, str] = {
    "leaderboard/imports/test_bring_in.py::test_preferences_get_a_joint_evaluation_and_a_board_of_shares": """
        leaderboard.imports.services.bring_in:bring_in
    """,
    "leaderboard/imports/test_kept_apart.py::test_a_second_wave_adds_and_taking_it_back_restores": """
        leaderboard.imports.services.take_back:take_back
    """,
    "leaderboard/evaluation/walk/test_submit.py::test_a_valid_file_is_measured_by_every_metric_of_the_task": """
        leaderboard.jobs:validate leaderboard.jobs:measure
    """,
    "leaderboard/evaluation/walk/test_stopping_asks_whether_to_publish.py::test_staff_publish_later_what_they_did_not_at_once": """
        leaderboard.jobs:step_evaluation
    """,
    "leaderboard/metric_board/test_metrics_follow_in_the_background.py::test_pieces_put_together_are_the_whole": """
        leaderboard.jobs:measure_piece
    """,
    "leaderboard/metric_board/test_boards_are_computed_by_jobs.py::test_a_board_says_what_the_statistics_say": """
        leaderboard.jobs:compute_metric_board
    """,
}  # fmt: skip
OURS = ("crowd", "genie", "leaderboard", "quality", "tests")
WRITES = ("INSERT", "UPDATE", "DELETE")


class Cut(BaseException):
    """The process dies here."""


def functions_with(word="atomic", packages=PACKAGES) -> set[str]:
    """Return `module:function` of all that opens a transaction in these packages."""
    found = set()
    for package in packages:
        for path in sorted((ROOT / package).rglob("*.py")):
            text = path.read_text("utf-8")
            if word in text and "migrations" not in path.parts:
                module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
                found |= {
                    f"{module}:{name}" for name in _opening(ast.parse(text), word)
                }
    return found


def _opening(node, word, outer=""):
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield from _opening(child, word, f"{outer}{child.name}.")
        elif isinstance(child, ast.FunctionDef) and word in ast.unparse(child):
            yield f"{outer}{child.name}"


@contextmanager
def cutting(names, *, jobs=False):
    """Cut each function off the first time that it writes twice or more, a job always."""
    left, under_way = set(names), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept.Place, "anew", True)
        for name in names:
            _replace(patch, name, left, under_way, keeps=jobs)
        yield
    assert left == set(), "These were not cut in this test; see tests/cuts.py."


def _replace(patch, name, left, under_way, *, keeps):
    module, _, path = name.partition(":")
    owner = import_module(module)
    *classes, last = path.split(".")
    for one in classes:
        owner = getattr(owner, one)
    real = vars(owner)[last]

    @functools.wraps(real)
    def cut_first(*args, **kwargs):
        # what it calls is not cut while it is
        if (name in left or keeps) and not under_way:
            under_way.append(name)
            try:
                if _cut(name, real, args, kwargs, keeps=keeps):
                    left.discard(name)
            finally:
                under_way.clear()
        return real(*args, **kwargs)

    patch.setattr(owner, last, cut_first)
    if not classes:
        for module in list(sys.modules.values()):
            if getattr(module, "__name__", "").startswith(OURS):
                _replace_in(patch, module, real, cut_first)


def _replace_in(patch, module, real, cut_first):
    for key, value in list(vars(module).items()):
        if value is real:
            patch.setattr(module, key, cut_first)
        elif isinstance(value, dict) and not key.startswith("__"):
            for one in [k for k, v in value.items() if v is real]:
                patch.setitem(value, one, cut_first)


def _cut(name, real, args, kwargs, *, keeps):
    """Return whether it wrote often enough to be cut."""
    with _undone():
        try:
            with _counting() as (written, blocks):
                real(*_copied(args), **_copied(kwargs))
        except Exception:  # noqa: BLE001 - the test asks for what it refuses
            return False
    if len(written) < 2:
        return False
    if keeps:
        with pytest.raises(Cut), _counting(len(written) // 2 + 1):
            real(*_copied(args), **_copied(kwargs))
        # The transaction around a test would not be there.
        transaction.set_rollback(False)
        return True
    # a statement that changes nothing in this test shows here alone
    assert len({(), *blocks}) == 2, f"{name} is not one transaction"
    before = _rows()
    for place in {2, len(written)}:
        with _undone():
            with pytest.raises(Cut), _counting(place):
                real(*_copied(args), **_copied(kwargs))
            after = _rows()
        changed = [table for table, rows in before.items() if after[table] != rows]
        assert changed == [], f"{name} was cut at {place} of {written}"
    return True


@contextmanager
def _undone():
    with transaction.atomic():
        try:
            yield
        finally:
            transaction.set_rollback(True)


@contextmanager
def _counting(end=None):
    """List statements that write and their transactions; die before one of them."""
    written, blocks, outer = [], [], len(connection.atomic_blocks)

    def watch(execute, sql, *more):
        if sql.lstrip().upper().startswith(WRITES):
            written.append(sql[:60])
            blocks.append((*connection.atomic_blocks[outer : outer + 1],))
            if len(written) == end:
                raise Cut
        return execute(sql, *more)

    with connection.execute_wrapper(watch):
        yield written, blocks


def _rows():
    raw = connection.connection
    return {
        table: raw.execute(f'select * from "{table}"').fetchall()
        for table in connection.introspection.table_names()
    }


def _copied(given):
    """Copy the arguments: what is undone in the database stays in them."""
    try:
        return copy.deepcopy(given)
    except TypeError:  # files, locks and sessions
        return given
