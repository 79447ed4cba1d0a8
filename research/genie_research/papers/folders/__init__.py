"""Folders of published judgments, each with its tables."""
