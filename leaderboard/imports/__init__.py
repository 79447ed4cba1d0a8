"""Judgments made elsewhere: read, looked at, and stored so that they get a board of their own.

`readers` know the layouts of the field's files and nothing of Django: a `Layout` turns
`Source`s into `Judgments`, with the role of every row and every problem by its row.
`models` keep where an import came from and what nobody knows of it.

Front door: models; readers (layout, names).
"""
