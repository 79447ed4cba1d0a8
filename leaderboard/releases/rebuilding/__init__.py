"""Compute every published number of a release again, without a database."""
