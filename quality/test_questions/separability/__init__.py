"""Whether test questions can be told from real items without reading them.

`features` describes items as a script sees them, `measure.separability` says how well a
small classifier and the best single rule tell tests from real items. Pure: no Django.
"""
