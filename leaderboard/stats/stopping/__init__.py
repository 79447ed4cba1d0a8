"""Stopping rules: stop a comparison once two systems differ significantly."""
