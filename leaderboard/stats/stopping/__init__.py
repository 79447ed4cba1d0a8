"""Stopping rules: stop asking as soon as two systems differ significantly, not before."""
