"""`tenfold compare MODEL --to=onnxruntime`: a model's outputs and times beside ONNX Runtime's, whole and node by node.

The program `tenfold` hands its flags over as --name=value. main() gives the exit code. `_program.py` is a whole run, to be read from top
to bottom. Needs the packages onnx and onnxruntime.
"""
from __future__ import annotations

from tenfold.beside_onnxruntime._program import main

__all__ = ['main']
