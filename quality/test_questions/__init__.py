"""Test questions: items with a known answer, hidden among a campaign's items.

`services.inject` makes and places them with a stored seed; `services.grade` marks the
answers. Only this wing and those above it can identify these items.

Front door: models; edits (edit, make); selectors; separability (features, measure);
services.
"""
