"""The documentation on the site: docs/*.md as pages, by role, with search and glossary.

`contents` lists the pages, `markdown` turns one into HTML, `pages` reads it, `search`
searches all of them and `shipped` describes the included tasks.
"""
