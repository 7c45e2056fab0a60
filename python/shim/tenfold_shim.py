"""Where there is no real tensorrt or pycuda, `import tensorrt` means tenfold.tensorrt, and `import pycuda` tenfold.pycuda.

tenfold-shim.pth imports this module as Python starts. It looks last: what is really installed is found before.
"""
import importlib
import sys
from importlib.machinery import ModuleSpec

OFFERED = {'tensorrt': 'tenfold.tensorrt', 'tensorrt.plugin': 'tenfold.tensorrt.plugin',
           'pycuda': 'tenfold.pycuda', 'pycuda.driver': 'tenfold.pycuda.driver'}
ORIGIN = 'tenfold-shim'   # by which tenfold.tensorrt.install() knows that this is no real one


class Loader:
    @staticmethod
    def create_module(spec):
        return None

    @staticmethod
    def exec_module(module):
        name = module.__spec__.name
        sys.modules[name] = importlib.import_module(OFFERED[name])
        if name == 'pycuda':
            sys.modules['pycuda.driver'] = importlib.import_module('tenfold.pycuda.driver')


class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        return ModuleSpec(name, Loader, origin=ORIGIN) if name in OFFERED else None


sys.meta_path.append(Finder)
