"""Each architecture by two ways: torch's graph as the backend converts it, and the module's own ONNX export. Both become one plan."""
import collections
from unittest import mock

import tenfold
import torch
from architectures_case import ARCHITECTURES, randomised

# Operators whose steps compute nothing; so do steps of the kind "copy".
MOVING = {'Cast', 'Concat', 'DepthToSpace', 'Expand', 'Flatten', 'Gather', 'GatherElements', 'GatherND', 'Identity', 'Pad', 'Reshape',
          'Slice', 'SpaceToDepth', 'Split', 'Squeeze', 'Tile', 'Transpose', 'Unsqueeze'}


def made(name, dtype=torch.float32):
    torch.manual_seed(0)
    module, args, keywords = ARCHITECTURES[name]()
    randomised(module, args)

    def typed(value):
        return value.to(dtype) if value.is_floating_point() else value
    return module.to(dtype), tuple(map(typed, args)), {k: typed(v) for k, v in keywords.items() if isinstance(v, torch.Tensor)} | {
        k: v for k, v in keywords.items() if not isinstance(v, torch.Tensor)}


def onnx_of(module, args, keywords):
    """The model that torch's exporter writes."""
    with torch.no_grad():
        return torch.onnx.export(module, args, kwargs=keywords, dynamo=True, verbose=False).model_proto


def compiled_engine(module, args, keywords, **options):
    """The engine of the backend, and a call of it with this call's tensors; raises ValueError where there is more than one."""
    from tenfold.torch._island import Island
    seen, call = [], Island.__call__

    def kept(self, given):
        seen.append((self, list(given)))
        return call(self, given)
    torch._dynamo.reset()
    run = torch.compile(module, backend='tenfold', options={'plan_cache': False, **options})
    with mock.patch.object(Island, '__call__', kept), torch.no_grad():
        run(*args, **keywords)
    if len(seen) != 1:
        raise ValueError(f'{len(seen)} engines')
    island, given = seen[0]
    return island._last[1], [given[i] for i in island._inputs]


def onnx_engine(model, **options):
    return tenfold.build(model.SerializeToString(), **options)


def steps(engine):
    """How many steps a plan has, by operator."""
    return collections.Counter('copy' if s.kind == 'copy' else s.op for s in engine.inspection().programs[0].steps)


def moving(counted):
    return {op: count for op, count in sorted(counted.items()) if op == 'copy' or op in MOVING}


def told(counted):
    return ' '.join(f'{count} {op}' for op, count in sorted(counted.items(), key=lambda pair: (-pair[1], pair[0])))
