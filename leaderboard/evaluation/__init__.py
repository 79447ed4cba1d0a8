"""Human evaluation: from a price that a person approves to scores that can be published.

One machine serves three strategies: a single system (a fixed sample becomes a score), a
comparison (waves of pairs until a rule decides) and a joint evaluation (several outputs
on a page become a ranking). `decide` is where people approve, decline, stop and retry,
`run` takes every evaluation one step further, `machine` alone writes states, and
`strategies` hold what differs. Which submission wrote an output is known here and never
in `crowd`.

Front door: models; admin (decisions); api (comparisons, serializers, staff); campaigns;
decide; estimates; evidence; expected; machine; price; rescoring; result_columns; run; selectors
(board_ratings, comparison_labels, comparisons, joint, ranked_scores, system_ratings,
task_policy, unsettled, worker_figures); services (comparison, fit_pieces, joint,
platform_crowds, public_log, qualification, ranking_numbers, refit, request, score,
simulate); services.hidden (preview); strategies; views.
"""
