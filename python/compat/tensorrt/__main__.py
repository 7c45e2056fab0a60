"""`python -m tenfold.tensorrt SCRIPT ARGS` runs a script that imports tensorrt."""
from tenfold.tensorrt._install import main

main()
