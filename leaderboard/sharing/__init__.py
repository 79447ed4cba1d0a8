"""Public representations of boards: pictures, frames, feeds, metadata for machines.

All of it shows only what an anonymous visitor may see: it is passed on, cached
elsewhere and read without an account. `charts` draws boards as SVG and converts them to
PNG with resvg and the font in `fonts`, so that a picture looks the same on every
machine.

Front door: selectors; urls; views.
"""
