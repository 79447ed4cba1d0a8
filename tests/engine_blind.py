"""Tests that say the same on every database engine: left out on PostgreSQL.

What is dear and sends the engine only statements that other tests send as well stands
here. In it, what has the marker `every_engine` runs. Paths are relative to `tests`; what is
named on the command line runs all the same.
"""

from pathlib import Path

TESTS = Path(__file__).resolve().parent

ENGINE_BLIND = {
    "no database": (
        "leaderboard/metrics",
        "leaderboard/submissions/preflight",
        "leaderboard/submissions/readers",
        "leaderboard/stats",
        "leaderboard/metric_board/stats",
        "leaderboard/papers",
        "research",
        "leaderboard/table_stats",
        "quality/stats",
        "test_house.py",
        "test_wings.py",
        "test_nothing_dead.py",
        "test_docs.py",
    ),
    "whole processes and other people's programs": (
        "test_demo.py",
        "test_extensions.py",
        "test_supervisor.py",
        "acceptance",
        "client",
        "genie/test_production.py",
        "genie/test_s3_storage.py",
        "leaderboard/commands/test_submit.py",
        "fuzz",
    ),
    "the same calls to other platforms": (
        "crowd/platforms/test_campaign_elsewhere.py",
        "crowd/platforms/test_fair_pay_elsewhere.py",
        "crowd/platforms/test_faults.py",
        "crowd/platforms/test_mturk.py",
        "crowd/platforms/test_notices.py",
        "crowd/platforms/test_panel_visits.py",
        "crowd/platforms/test_prolific_campaign.py",
        "crowd/platforms/test_rewards_change_elsewhere.py",
        "crowd/platforms/test_same_scores.py",
        "crowd/platforms/test_taking_back.py",
        "crowd/platforms/test_topic_notices.py",
        "crowd/platforms/test_who_is_sent.py",
    ),
    "the same walk with other designs, numbers or endings": (
        "leaderboard/evaluation/comparisons/test_adding_money.py",
        "leaderboard/evaluation/comparisons/test_comparisons_stop_by_themselves.py",
        "leaderboard/evaluation/comparisons/test_expected.py",
        "leaderboard/evaluation/comparisons/test_joint_evaluations.py",
        "leaderboard/evaluation/comparisons/test_other_workers.py",
        "leaderboard/evaluation/designs",
        "leaderboard/evaluation/hidden/test_anchors_with_few_workers.py",
        "leaderboard/evaluation/hidden/test_before_approval.py",
        "leaderboard/evaluation/hidden/test_everything_public.py",
        "leaderboard/evaluation/hidden/test_gate_of_several.py",
        "leaderboard/evaluation/hidden/test_inside_the_sample.py",
        "leaderboard/evaluation/hidden/test_nothing_else_tells.py",
        "leaderboard/evaluation/hidden/test_texts.py",
        "leaderboard/evaluation/test_evidence_about_workers.py",
        "leaderboard/evaluation/walk/test_anchors_link_crowds.py",
        "leaderboard/evaluation/walk/test_campaigns_carry_the_systems_names.py",
        "leaderboard/evaluation/walk/test_ends_of_campaigns.py",
        "leaderboard/evaluation/walk/test_honest_answers_on_several_criteria.py",
        "leaderboard/evaluation/walk/test_limits_come_from_the_task.py",
        "leaderboard/evaluation/walk/test_loop.py",
        "leaderboard/evaluation/walk/test_more_answers.py",
        "leaderboard/evaluation/walk/test_partial_scores_are_ranked_by_decision.py",
        "leaderboard/evaluation/walk/test_scores_become_final.py",
        "leaderboard/evaluation/walk/test_scores_wait_for_held_exclusions.py",
        "leaderboard/evaluation/walk/test_stopping_asks_whether_to_publish.py",
        "leaderboard/evaluation/walk/test_stopping_the_evaluation_itself.py",
        "leaderboard/evaluation/walk/test_wmt21.py",
        "leaderboard/releases",
        "leaderboard/studio",
        "leaderboard/tasks/config/test_prices_and_ledgers.py",
        "quality/bans/test_too_many_exclusions_wait_for_a_person.py",
        "quality/detection/test_all_evidence.py",
        "quality/detection/test_kept_verdicts.py",
        "quality/detection/test_next_hit.py",
    ),
    "pages and jobs over the same rows": (
        "crowd/campaigns/test_limits_per_worker.py",
        "crowd/hits/test_answers_of_every_design.py",
        "crowd/requester/test_notifications.py",
        "crowd/requester/test_own_page.py",
        "crowd/requester/test_reasons_and_appeals.py",
        "crowd/requester/test_refusals.py",
        "crowd/requester/test_tables_in_and_out.py",
        "crowd/requester/test_worker_pages.py",
        "crowd/test_hit_templates.py",
        "crowd/worker_site/test_around_the_work.py",
        "crowd/worker_site/test_staff_pages.py",
        "leaderboard/admin/test_roles_on_tasks.py",
        "leaderboard/admin/test_submission_list.py",
        "leaderboard/api/test_bundles.py",
        "leaderboard/api/test_documentation.py",
        "leaderboard/api/test_permissions.py",
        "leaderboard/api/test_who_may_keep_answers.py",
        "leaderboard/boards/exports/test_evaluation_cards.py",
        "leaderboard/boards/exports/test_every_eval_ever.py",
        "leaderboard/boards/pages",
        "leaderboard/commands/test_separability.py",
        "leaderboard/evaluation/comparisons/test_pages.py",
        "leaderboard/metric_board/test_api.py",
        "leaderboard/metric_board/test_boards_are_computed_by_jobs.py",
        "leaderboard/metric_board/test_downloads.py",
        "leaderboard/metric_board/test_headline.py",
        "leaderboard/metric_board/test_metrics_follow_in_the_background.py",
        "leaderboard/metric_board/test_metrics_of_others.py",
        "leaderboard/metric_board/test_pages.py",
        "leaderboard/site/docs",
        "leaderboard/site/test_boards_stay_quick.py",
        "leaderboard/site/test_hostile_texts.py",
        "leaderboard/site/test_submission_pages.py",
        "leaderboard/site/test_who_sees_a_submission.py",
        "leaderboard/site/test_words_on_certainty.py",
        "test_admin_actions.py",
        "test_cuts.py",
        "test_permissions.py",
        "nets",
        "walk",
    ),
}
_BLIND = {TESTS / path for paths in ENGINE_BLIND.values() for path in paths}


def is_engine_blind(path: Path, named: list[str]) -> bool:
    """Tell whether a test's file is left out, unless `named` asks for it."""
    wanted = {Path(name.split("::")[0]).resolve() for name in named}
    return any(
        blind in (path, *path.parents)
        and not any(blind in (way, *way.parents) for way in wanted)
        for blind in _BLIND
    )
