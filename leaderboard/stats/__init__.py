"""Arithmetic that more than one wing uses: intervals, ranks, tests, planning.

Pure: no Django, seeds are arguments, same inputs give the same bytes. Each public
function cites its source and is checked against an outside implementation or a
published number. `stopping` holds the rules by which comparisons end.
"""
