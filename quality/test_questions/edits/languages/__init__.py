"""Language data for the rules of edits: one file each.

To add a language, add a file with a subclass of `base.Language` whose `slug` is the
language's code; it is found without registration.
"""
