"""`python -m tenfold.beside_onnxruntime` is `tenfold compare MODEL --to=onnxruntime`, without the program's help."""
import sys

from tenfold.beside_onnxruntime import main

sys.exit(main(sys.argv[1:]))
