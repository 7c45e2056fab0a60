"""Where there is no real tensorrt, pycuda, torch_tensorrt or onnxruntime, `import tensorrt` means tenfold.tensorrt, `import pycuda`
tenfold.pycuda, `import torch_tensorrt` tenfold.torch_tensorrt, and `import onnxruntime` tenfold.onnxruntime. torch.compile's backends
"tensorrt" and "torch_tensorrt" are Tenfold's then.

tenfold-shim.pth imports this module as Python starts. It looks last: what is really installed is found before.
"""
import importlib
import sys
from importlib.machinery import ModuleSpec

OFFERED = {'tensorrt': 'tenfold.tensorrt', 'tensorrt.plugin': 'tenfold.tensorrt.plugin',
           'tensorrt.tensorrt': 'tenfold.tensorrt.tensorrt',
           'torch_tensorrt': 'tenfold.torch_tensorrt', 'torch_tensorrt.ptq': 'tenfold.torch_tensorrt.ptq',
           'torch_tensorrt.dynamo': 'tenfold.torch_tensorrt.dynamo', 'torch_tensorrt.logging': 'tenfold.torch_tensorrt.logging',
           'torch_tensorrt.runtime': 'tenfold.torch_tensorrt.runtime',
           'pycuda': 'tenfold.pycuda', 'pycuda.driver': 'tenfold.pycuda.driver',
           'onnxruntime': 'tenfold.onnxruntime', 'onnxruntime.capi': 'tenfold.onnxruntime.capi',
           **{f'onnxruntime.capi.{name}': f'tenfold.onnxruntime.capi.{name}'
              for name in ('onnxruntime_pybind11_state', '_pybind_state', 'onnxruntime_inference_collection')}}
WHOLE = ('pycuda', 'onnxruntime')   # whose parts come along: else Python would find a second copy of them in their folder
ORIGIN = 'tenfold-shim'   # by which tenfold.tensorrt.install() knows that this is no real one


class Loader:
    @staticmethod
    def create_module(spec):
        return None

    @staticmethod
    def exec_module(module):
        name = module.__spec__.name
        sys.modules[name] = importlib.import_module(OFFERED[name])
        if name in WHOLE:
            for part, of_tenfold in OFFERED.items():
                if part.startswith(name + '.'):
                    sys.modules[part] = importlib.import_module(of_tenfold)


class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        return ModuleSpec(name, Loader, origin=ORIGIN) if name in OFFERED else None


sys.meta_path.append(Finder)


def backend(module, inputs, **options):
    """torch's backend of these names: the real one's, where it is installed."""
    from importlib.util import find_spec
    spec = find_spec('torch_tensorrt')
    if spec is not None and spec.origin != ORIGIN and spec.name == 'torch_tensorrt':   # ours has a longer name
        from torch_tensorrt.dynamo.backend import torch_tensorrt_backend
        return torch_tensorrt_backend(module, inputs, **options)
    from tenfold.torch_tensorrt import backend as own
    return own(module, inputs, **options)
