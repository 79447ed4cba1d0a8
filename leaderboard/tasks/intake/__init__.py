"""Files of inputs and outputs: read, interpreted, joined.

Pure and of the standard library alone, so that a stranger's file can be read in a child
process with limits (`genie.lib.bounded`). `read.read_table` returns a file as a table,
or all of its problems. `guess.guess` proposes the role of each column, which a person
corrects. `join.put_together` makes instances and systems of them.
"""
