"""What leaves the site and leads back to it: pictures of boards, frames, feeds, what machines find.

Everything here shows what a visitor may see and nothing else, whoever asks: it is handed on,
kept by others and read without an account. `charts` draws boards as SVG and makes PNG of it
with resvg and the font in `fonts`, so that a picture looks the same on every machine.

Front door: urls; selectors (page_card, share_links).
"""
