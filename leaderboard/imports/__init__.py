"""Imported ratings: read, previewed, and stored with a separate board.

`readers` know the layouts of the field's files and do not use Django: a `Layout` turns
`Source`s into `Judgments`, with the role of every row and every problem by its row.
`models` record where an import came from and its missing details. `services.bring_in`
makes a task with a board of `Judgments`, or adds another wave to one. Imported raters
have no account here: they are never asked or paid. `selectors.judgments_of` reads them
back.

Front door: models; readers (judgments, layout, names, people, preview, read, sources,
uploads); selectors; services (bring_in, plan, take_back).
"""
