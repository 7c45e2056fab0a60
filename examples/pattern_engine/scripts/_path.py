"""Imported first: it finds the package `pattern_engine` from wherever a script is called."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
