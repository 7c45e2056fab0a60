"""`tenfold segment`: a network of small windows over an image or volume in a file, slab by slab, to another file.

The program `tenfold` parses flags and hands them over as --name=value. main() gives the exit code.
docs/guides/segment.md describes it. `_run.py` is a whole run, to be read from top to bottom.
"""
from __future__ import annotations

from tenfold.imaging.segment._program import main

__all__ = ['main']
