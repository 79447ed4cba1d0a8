"""Statistics of anybody's table of ratings or pairs, without a database.

`genie stats` reads a file (`read`), estimates (`analysis`, for pairs `pairs.analyse`)
with what `leaderboard.stats` has for the boards, and writes text, LaTeX, a page or JSON.
`rank_audit` ranks systems from a score for each item; `judges` tests whether a judge may
label in a person's place.

Front door: analysis; judges (labels, licences); latex; page; pairs (analyse); plots; read;
report; text; two_crowds; rank_audit (api, read, report).
"""
