"""Sources of hidden test questions and their right answers.

`good` and `wrong` find texts of known quality, `single` draws a campaign's questions
that show one output. Outputs of private systems are shown only in their own campaigns.
"""
