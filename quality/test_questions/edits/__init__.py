"""Minimal edits of real outputs, for test questions that must be read to be answered.

`make.edits_of` offers edits of one text in a seeded order; `kinds` says what each kind
makes wrong; `languages` holds what the rules need to know of a language, one file each.
Pure: no Django, no database.
"""
