"""What the rules of edits must know of languages: one file each.

To add a language, add a file with a subclass of `base.Language` whose `slug` is the
language's code; nothing has to be registered.
"""
