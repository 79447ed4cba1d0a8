"""Judges, such as language models, as sheets and JSON."""
