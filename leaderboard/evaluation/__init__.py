"""Human evaluation: from a price that a person approves to scores that can be published.

One machine serves three strategies: a single system (a fixed sample becomes a score), a
comparison (waves of pairs until a rule decides) and a joint evaluation (several outputs
on a page become a ranking). `decide` is where people approve, decline, stop and retry,
`run` takes every evaluation one step further, `machine` alone writes states, and
`strategies` hold what differs. Which submission wrote an output is known here and never
in `crowd`.

Front door: models; closing; decide; estimate_words; estimates; evidence; precision;
price; ranking; rescoring; run; stored_fit; strategies; admin
(campaign_links, draw_test); api (asking, comparisons, decisions, staff);
selectors (board_ratings, campaigns, judged,
comparison_labels, comparisons, coverage, hidden_tests, joint, progress, ratings_beside,
ratings_digest, sample_disclosure, system_ratings, task_policy, unsettled,
worker_figures); services (comparison, fit_pieces, joint, platform_crowds, public_log,
qualification, ranking_numbers, refit, request, score, simulate); services.hidden
(preview); views (comparison, joint).
"""
