"""Offers this package as `tensorrt`, where there is no real one."""
from __future__ import annotations

import importlib.util
import os
import runpy
import sys


def install() -> bool:
    """Makes `import tensorrt` mean this package in this process. False: a real one is installed, and stays."""
    ours = sys.modules['tenfold.tensorrt']
    if sys.modules.get('tensorrt') is not ours:
        if 'tensorrt' in sys.modules or importlib.util.find_spec('tensorrt') is not None:
            return False
        sys.modules['tensorrt'] = ours
    return True


def main() -> None:
    """python -m tenfold.tensorrt SCRIPT ARGS"""
    if len(sys.argv) < 2 or sys.argv[1] in ('-h', '--help'):
        print('python -m tenfold.tensorrt SCRIPT ARGS: runs a script, to which `import tensorrt` gives tenfold.tensorrt')
        raise SystemExit(0 if len(sys.argv) > 1 else 2)
    if not install():
        print('tenfold.tensorrt: a real tensorrt is installed, and used', file=sys.stderr)
    del sys.argv[0]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    runpy.run_path(sys.argv[0], run_name='__main__')
