"""Metric boards: how well automatic metrics agree with people.

A job computes a snapshot when its inputs have changed (`services`); pages and the
API only show the newest one. `stats` is the arithmetic, pure and checked against published
numbers. Users may upload scores of custom metrics, which appear only on this board.

Front door: models; api; selectors (downloads, snapshot); services; views (board, downloads,
outside).
"""
