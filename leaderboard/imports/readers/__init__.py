"""Readers of rating files from other tools, one module per layout in `layouts`.

`read.guess` asks every layout how surely a file has it; `read.read` reads the file with
one. The result is the same for all layouts, see `judgments`.
"""
