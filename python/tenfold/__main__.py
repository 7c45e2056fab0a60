"""`python -m tenfold` is the program `tenfold`."""
from tenfold._program import main

main()
