"""Stopping rules: stop a comparison as soon as two systems differ significantly, not before."""
