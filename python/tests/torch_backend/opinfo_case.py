"""The samples that torch ships for its operators (OpInfo), as graphs of core ATen overloads: what is computed without torch's help.

Each sample is traced, as the backend does it, and every overload in the trace with the tag `core` is an operator of its own: an engine of
this one node, on the arguments that it had in eager mode, beside torch's result.
"""
import logging

import tenfold
import torch
from tenfold.torch._call import Refused
from tenfold.torch._island import Island
from tenfold.torch._options import Options
from torch.fx.experimental.proxy_tensor import make_fx
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._python_dispatch import TorchDispatchMode

logging.getLogger('tenfold').setLevel(logging.ERROR)       # most single operators have no kernel for such small samples
QUICK = Options({'optimization_level': 0}, min_block_size=1, frozen=True, plan_cache=False)
ORDERS = (torch.ops.aten.sort.default, torch.ops.aten.topk.default)
DTYPES = (torch.float32, torch.int64, torch.bool)


def core_overloads():
    """Names of all overloads of ATen with the tag `core`, that give tensors and write to none of their arguments."""
    found = []
    for name in dir(torch.ops.aten):
        packet = getattr(torch.ops.aten, name)
        for overload in packet.overloads() if hasattr(packet, 'overloads') else ():
            op = getattr(packet, overload)
            if torch.Tag.core in op.tags:
                found.append(str(op))
    return sorted(found)


class Seen(TorchDispatchMode):
    """Calls of core overloads, with their arguments and results."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def __torch_dispatch__(self, function, kinds, args=(), kwargs=None):
        made = function(*args, **(kwargs or {}))
        if torch.Tag.core in function.tags:
            self.calls.append((function, args, kwargs or {}))
        return made


def calls_of(op, sample):
    """Calls of core overloads that a sample comes to."""
    seen = Seen()
    with torch.no_grad(), seen:
        op(sample.input, *sample.args, **sample.kwargs)
    return seen.calls


def calls_of_samples(op, dtype, most):
    """Those of the first samples of an operator; none for what it cannot compute here."""
    if dtype not in op.supported_dtypes('cpu'):
        return
    for sample in list(op.sample_inputs('cpu', dtype))[:most]:
        try:
            yield from calls_of(op, sample)
        except (RuntimeError, NotImplementedError, TypeError, AssertionError):   # a sample of an error, or of a library that is not there
            continue


def flat(value):
    return [value] if isinstance(value, torch.Tensor) else [t for v in value for t in flat(v)] if isinstance(value, (list, tuple)) else []


def graph_of(function, args, kwargs):
    """A graph of one call, whose inputs are the tensors among its arguments."""
    tensors = [t for t in flat([*args, *kwargs.values()])]

    def replaced(value, given):
        if isinstance(value, torch.Tensor):
            return next(given)
        if isinstance(value, (list, tuple)):
            return [replaced(v, given) for v in value]
        return value

    def called(*given):
        left = iter(given)
        return function(*[replaced(a, left) for a in args], **{k: replaced(v, left) for k, v in kwargs.items()})
    if not tensors:                            # an engine has an input
        tensors = [torch.ones(2)]
        return make_fx(lambda x: (function(*args, **kwargs), x + 1), tracing_mode='fake')(*tensors), tensors
    if function is torch.ops.aten._embedding_bag.default:      # what comes behind the first result is for gradients
        return make_fx(lambda *given: called(*given)[0], tracing_mode='fake')(*tensors), tensors
    mode = 'symbolic' if torch.Tag.dynamic_output_shape in function.tags else 'fake'
    return make_fx(called, tracing_mode=mode)(*tensors), tensors


def check(function, args, kwargs):
    """None: an engine computes it as torch does. Else why not."""
    graph, tensors = graph_of(function, args, kwargs)
    wanted = flat(function(*args, **kwargs))
    try:
        island = Island(graph.graph, {}, QUICK, graph)
        found = flat(island(*tensors))
    except (Refused, tenfold.Error) as error:
        return f'{type(error).__name__}: {error}'
    if function in ORDERS:                     # equal elements may come in any order
        places, axis = found[1], (list(args) + [kwargs.get('dim', -1)])[1 if function is not torch.ops.aten.topk.default else 2:][0]
        found[1] = torch.gather(args[0], axis, places) if args[0].dim() else args[0]
        wanted[1] = wanted[0]
    for ours, theirs in zip(found, wanted, strict=False):
        try:
            torch.testing.assert_close(ours, theirs, equal_nan=True)
        except AssertionError as error:
            return 'WRONG ' + str(error).replace('\n', ' ')[:200]
    return None
