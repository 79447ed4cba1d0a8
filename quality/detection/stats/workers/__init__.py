"""Models of careful workers from test questions and from their real answers.

Pure. `answers` has the input, `key` and the models of ratings the likelihood of one
answer, `turning` that of a sequence, and `fitting` combines them.
"""
