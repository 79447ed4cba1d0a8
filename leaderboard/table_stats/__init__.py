"""Statistics of any table of ratings or pairs, without a database.

`genie stats` reads a file (`read`), computes estimates (`analysis`, for pairs
`pairs.analyse`) with the boards' `leaderboard.stats`, and writes text, LaTeX, a page or
JSON. `rank_audit` ranks systems from a score for each item; `judges` tests whether a judge
may replace people as annotators.

Front door: analysis; judge_labels; page; pairs; rank_audit (api, read, report); read;
report; text; two_crowds.
"""
