"""Recomputed published tables: of three papers, and of folders of judgments.

A folder per paper, a file per table; `reproduce` prints paper, ours and a verdict for
each cell. `folder` compares the figures of a folder with a list of printed numbers,
`task_table` those of a task of a site.
"""
