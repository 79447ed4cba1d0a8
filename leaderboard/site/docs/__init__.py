"""The documentation on the site: docs/*.md as pages, by role, with search and glossary.

`contents` says which pages there are, `markdown` turns one into HTML, `pages` reads it,
`search` looks through all of them and `shipped` describes the tasks that come along.
"""
