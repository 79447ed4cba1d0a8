"""Imported ratings: read, previewed, and stored with a separate board.

`readers` read files of ratings by the roles of their columns and do not use Django. They
turn `File`s into `Judgments`, with the kind of every row and every problem by its row; a
`Layout` does so for a format that columns cannot describe.
`models` record where an import came from and its missing details. `services.bring_in`
makes a task with a board of `Judgments`, or adds another wave to one. Imported raters
have no account here: they are never asked or paid. `selectors.judgments_of` reads them
back.

Front door: models; readers (columns, judgments, layout, mapping, options, people,
preview, read, sources, uploads); selectors; services (bring_in, plan, take_back).
"""
