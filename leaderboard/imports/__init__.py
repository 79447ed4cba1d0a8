"""Judgments made elsewhere: read, looked at, and stored so that they get a board of their own.

`readers` know the layouts of the field's files and nothing of Django: a `Layout` turns
`Source`s into `Judgments`, with the role of every row and every problem by its row.
`models` keep where an import came from and what nobody knows of it. `services.bring_in`
makes a task with a board of `Judgments`, or adds another wave to one; nobody of those who
judged is asked, paid or told anything here. `selectors.judgments_of` reads them back.

Front door: models; about; readers (judgments, layout, names, people, preview, read, sources,
uploads); selectors (judgments_of, published); services (bring_in, settle,
take_back).
"""
