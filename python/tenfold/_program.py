"""The program `tenfold`: the wheel's own, which this hands over to."""
import os
import sys
from typing import NoReturn


PROGRAM = os.path.join(os.path.dirname(__file__), 'bin', 'tenfold')


def main() -> NoReturn:
    os.environ.setdefault('TENFOLD_PYTHON', sys.executable)   # verbs that run in Python find this package
    name = os.path.basename(sys.argv[0])
    os.execv(PROGRAM, ['trtexec' if name == 'trtexec' else PROGRAM, *sys.argv[1:]])   # the program heeds its name
