"""Campaigns as staff watch them: pace, expected end, spending against plan, test questions.

Nothing here changes anything; the buttons lead to what the crowd's own pages do. One
page shows all campaigns of a task, and each campaign's page in the admin shows its own.

Front door: admin; alarms; selectors.
"""
