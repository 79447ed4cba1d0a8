"""Models of careful workers from test questions and from their real answers.

Pure. `answers` has the input; `expected` predicts answers from others', `reading` asks
whether a worker's follow, `key` and `habits` add what marks and manners tell.
"""
