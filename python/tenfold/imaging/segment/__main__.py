"""`python -m tenfold.imaging.segment` is `tenfold segment`, without the program's help; exec's flags are --build=--fp16 here."""
import sys

from tenfold.imaging.segment import main

sys.exit(main(sys.argv[1:]))
