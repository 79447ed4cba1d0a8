"""Whether test questions can be distinguished from real items without reading them.

`features` describes items by what a script can measure; `measure.separability` computes
how well a small classifier and the best single rule find the tests. Pure: no Django.
"""
