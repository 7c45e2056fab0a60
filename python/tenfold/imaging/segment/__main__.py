"""`python -m tenfold.imaging.segment` is `tenfold segment`, without the program's help."""
import sys

from tenfold.imaging.segment import main

sys.exit(main(sys.argv[1:]))
