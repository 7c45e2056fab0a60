"""Offers this package as `tensorrt`, where there is no real one."""
from __future__ import annotations

import importlib
import importlib.util
import os
import runpy
import sys


def _offer(name: str, ours: str, *submodules: str) -> bool:
    """True: `import name` means `ours` in this process. False: a real one is installed, and stays."""
    module = importlib.import_module(ours)
    if sys.modules.get(name) is not module:
        spec = None if name in sys.modules else importlib.util.find_spec(name)
        if name in sys.modules or (spec is not None and spec.origin != 'tenfold-shim'):
            return False
        sys.modules[name] = module
        for submodule in submodules:
            sys.modules[f'{name}.{submodule}'] = importlib.import_module(f'{ours}.{submodule}')
    return True


def install() -> bool:
    """Makes `import tensorrt` mean this package in this process, and `import pycuda` its stand-in. What is really installed stays; False:
    a real tensorrt is."""
    _offer('pycuda', 'tenfold.pycuda', 'driver')
    return _offer('tensorrt', 'tenfold.tensorrt', 'plugin', 'tensorrt')


def main() -> None:
    """python -m tenfold.tensorrt SCRIPT ARGS"""
    if len(sys.argv) < 2 or sys.argv[1] in ('-h', '--help'):
        print('python -m tenfold.tensorrt SCRIPT ARGS: runs a script, to which '
              '`import tensorrt` gives tenfold.tensorrt, and pycuda its stand-in')
        raise SystemExit(0 if len(sys.argv) > 1 else 2)
    if not install():
        print('tenfold.tensorrt: a real tensorrt is installed, and used', file=sys.stderr)
    del sys.argv[0]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    runpy.run_path(sys.argv[0], run_name='__main__')
