"""Minimal edits of real outputs, for test questions that must be read to be answered.

`make.edits_of` returns edits of one text in a seeded order; `kinds` defines the kinds
of errors; `languages` has the language data of the rules, one file each. Pure: no
Django, no database.
"""
