"""Metric boards: how far automatic metrics agree with people.

A job computes a snapshot when what it rests on has changed (`services.boards`); pages and
the API only show the newest one. `stats` is the arithmetic, pure and checked against
published numbers. Anybody may hand in scores of a metric of their own; they appear on
this board and nowhere else.

Front door: models; api (boards); selectors (snapshot); services (boards, outside);
views (board, downloads, outside).
"""
