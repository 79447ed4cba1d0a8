"""Judges, such as language models: files of labels and facts, results as sheets and JSON."""
