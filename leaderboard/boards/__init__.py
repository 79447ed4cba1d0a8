"""Leaderboards and the pages behind them: standings, evidence, submissions, exports.

`selectors.columns` reads a board as columns, which is all that ranks need;
`selectors.rows` reads the rest for the rows of one page. Pages, exports and the API
read the same selectors, so a number cannot differ between them. Rendered boards are
cached under `selectors.version`, which changes exactly when something that the board
shows does.

Front door: models; api (evidence, submissions, tasks); exports (board, markdown,
table); selectors (certainty, columns, evidence, history, home, judged, rows,
version); views (board, exports, files, methods, my_submissions, pairs, submission,
tasks).
"""
