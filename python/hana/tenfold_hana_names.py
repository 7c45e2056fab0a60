"""Adds `langchain_hana.gpu`, and three names to `langchain_hana.embeddings`, beside SAP's package or where there is none.

tenfold-hana.pth imports this module as Python starts; Tenfold itself is imported with the first of these names.
"""
import os
import sys
from importlib.machinery import ModuleSpec, PathFinder

NAMES = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'tenfold_hana', 'names')   # what lies here is under langchain_hana
ADDED = ('HanaTensorRTMultiGPUEmbeddings', 'MultiGPUEmbeddings', 'TensorRTEmbeddings')


def add_names(module):
    """To a module of SAP's, where it does not have them itself."""
    others = getattr(module, '__getattr__', None)

    def find(name):
        if name in ADDED:
            import tenfold_hana
            return getattr(tenfold_hana, name)
        if others:
            return others(name)
        raise AttributeError(f'module {module.__name__!r} has no attribute {name!r}')
    module.__getattr__ = find


class InFront:
    """Finds SAP's `langchain_hana.embeddings` by whoever finds it, and adds the names when it has been executed."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != 'langchain_hana.embeddings' or not path or list(path) == [NAMES]:
            return None
        others = [finder for finder in sys.meta_path if finder is not InFront and hasattr(finder, 'find_spec')]
        spec = next((found for found in (finder.find_spec(name, path, target) for finder in others) if found is not None), None)
        if spec is not None and hasattr(spec.loader, 'exec_module'):
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                add_names(module)
            spec.loader.exec_module = exec_module
        return spec


class Behind:
    """Looks last: the package where none is installed, and what SAP's does not have."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == 'langchain_hana':
            spec = ModuleSpec(name, None, origin='tenfold-hana', is_package=True)
            spec.submodule_search_locations = [NAMES]
            return spec
        return PathFinder.find_spec(name, [NAMES]) if name in ('langchain_hana.gpu', 'langchain_hana.embeddings') else None


sys.meta_path.insert(0, InFront)
sys.meta_path.append(Behind)
