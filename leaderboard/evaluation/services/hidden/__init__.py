"""Hidden test questions made from a task's outputs; see `quality.test_questions`.

`offers` finds texts of known quality, `single`, `in_slots` and `references` draw questions,
`drawn` stores and measures them. Private outputs are shown only in their own campaigns.
"""
