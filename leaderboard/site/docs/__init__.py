"""The documentation on the site: docs/*.md as pages on four shelves, with search and glossary.

`contents` lists and reads the pages, `markdown` renders one, and `search` searches all of them
and describes the included tasks.
"""
