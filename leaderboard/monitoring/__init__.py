"""Campaigns as staff watch them: pace, expected end, spending, test questions.

It changes no data; the buttons lead to the crowd's own pages. One page shows all
campaigns of a task, and each campaign's page in the admin shows its own.

Front door: admin; alarms; selectors.
"""
