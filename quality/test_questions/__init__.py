"""Test questions: items with a known answer, hidden among a campaign's items.

`services` make them, place them with a stored seed and mark the answers. Only this
package and those above it can identify these items.

Front door: models; edits (edit, make); selectors; separability (features, measure);
services.
"""
