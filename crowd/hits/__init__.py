"""HITs: what is shown, who worked on it, what was answered.

A campaign has items; a HIT shows some of them, an assignment is one worker's turn at a
HIT, an answer is one rating. Building is deterministic: a campaign's key and seed
decide its items, their order and their names. This wing knows neither the rated systems
nor which items are test questions.

Front door: models; selectors; services (build, check_answers, platforms).
"""
