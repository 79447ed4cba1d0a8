"""Where hidden test questions come from, and what counts as a right answer to them.

`good` and `wrong` find texts whose quality is known, `single` draws a campaign's
questions that show one output. Outputs of private systems are shown in their own
campaigns only.
"""
