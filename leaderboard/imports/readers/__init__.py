"""Files of judgments by other people's tools; a layout each, in `layouts`.

How a file is read: `read.guess` asks every layout how surely it is its own, `read.read`
lets one read it. What comes out is the same for all, see `judgments`.
"""
