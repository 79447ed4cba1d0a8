"""Who is careful: models of workers from test questions and from their real answers.

Pure. `answers` has what goes in, `key` and the models of ratings what one answer tells,
`turning` what a sequence tells, `fitting` puts them together.
"""
