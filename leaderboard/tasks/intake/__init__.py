"""People's files of inputs and outputs: read, understood, put together.

Pure and of the standard library alone, so that a stranger's file can be read in a child
process with limits (`genie.lib.bounded`). `read.read_table` gives a file as a table, or
all that is wrong with it; `guess.guess` says what each column seems to be, which a person
corrects; `join.put_together` makes instances and systems of it.
"""
