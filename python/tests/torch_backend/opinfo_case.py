"""The samples that torch ships for its operators (OpInfo), as graphs of core ATen overloads: what is computed without torch's help.

Each sample is run with the backend's decompositions, and every call of an overload with the tag `core` is an operator of its own: an engine
of this one node, on the arguments that it had in eager mode, beside torch's result.
"""
import collections
import logging

import tenfold
import torch
from tenfold.torch._backend import decompositions
from tenfold.torch._call import Refused
from tenfold.torch._convert import UNFORESEEN
from tenfold.torch._subgraph import Subgraph
from tenfold.torch._options import Options
from torch.fx.experimental.proxy_tensor import make_fx
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._python_dispatch import TorchDispatchMode

logging.getLogger('tenfold').setLevel(logging.ERROR)       # most single operators have no kernel for such small samples
QUICK = Options({'optimization_level': 0}, min_block_size=1, frozen=True, plan_cache=False)
TABLE = decompositions()
ORDERS = (torch.ops.aten.sort.default, torch.ops.aten.sort.stable, torch.ops.aten.topk.default)
SUMS = set("""mm bmm addmm baddbmm dot mv convolution convolution_backward attention _softmax _log_softmax sum mean var prod cumsum
    _adaptive_avg_pool2d _adaptive_avg_pool3d adaptive_avg_pool1d avg_pool1d avg_pool2d avg_pool3d native_layer_norm native_group_norm
    _native_batch_norm_legit _native_batch_norm_legit_no_training _fused_rms_norm upsample_bilinear2d upsample_bicubic2d upsample_linear1d
    upsample_trilinear3d grid_sampler_2d""".split())
ROUNDINGS = 4        # of SUMS, whose steps ours and torch's round in another order, beside the result in float64
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
        kwargs = kwargs or {}
        if torch.Tag.core in function.tags:       # of shapes as they are now: some functions unsqueeze their tensors in place
            self.calls.append((function, *torch.utils._pytree.tree_map_only(torch.Tensor, torch.Tensor.detach, (args, kwargs))))
        elif function in TABLE:
            with self:
                made = TABLE[function](*args, **kwargs)
            if made is not NotImplemented:
                return made
        return function(*args, **kwargs)


def calls_of(op, sample):
    """Calls of core overloads that a sample comes to."""
    seen = Seen()
    with torch.no_grad(), seen:
        op(sample.input, *sample.args, **sample.kwargs)
    return seen.calls


def calls_of_samples(op, dtype, maximum):
    """Those of the first samples of an operator; none for what it cannot compute here."""
    if dtype not in op.supported_dtypes('cpu'):
        return
    for sample in list(op.sample_inputs('cpu', dtype))[:maximum]:
        try:
            yield from calls_of(op, sample)
        except (RuntimeError, NotImplementedError, TypeError, AssertionError):   # a sample of an error, or of a library that is not there
            continue


def described(function, args, kwargs):
    """A call but for the numbers in its tensors: calls of one description are one graph."""
    def reported(value):
        if isinstance(value, torch.Tensor):
            return f'{value.dtype}{list(value.shape)}{list(value.stride())}+{value.storage_offset()}'.removeprefix('torch.')
        if isinstance(value, (list, tuple)):
            return f'[{", ".join(map(reported, value))}]'
        return repr(value)
    return f'{function}({", ".join([*map(reported, args), *(f"{k}={reported(v)}" for k, v in sorted(kwargs.items()))])})'


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
    by_data = torch.Tag.dynamic_output_shape in function.tags and any(t.dtype in (torch.bool, torch.uint8) for t in tensors)
    mode = 'symbolic' if by_data or function is torch.ops.aten.nonzero.default else 'fake'
    return make_fx(called, tracing_mode=mode)(*tensors), tensors


def check(function, args, kwargs):
    """None: an engine computes it as torch does. Else why not."""
    graph, tensors = graph_of(function, args, kwargs)
    expected = flat(function(*args, **kwargs))
    try:
        subgraph = Subgraph(graph.graph, {}, QUICK, graph)
        found = flat(subgraph(tensors))
    except (Refused, tenfold.Error) as error:
        return f'{type(error).__name__}: {error}'
    if function is torch.ops.aten._embedding_bag.default or not flat(args):     # graph_of() has other results
        found, expected = found[:1], expected[:1]
    if function in ORDERS:
        by_places(function, args, kwargs, found, expected)
    return difference(function, found, expected, lambda: flat(function(*doubled(args), **doubled(kwargs))))


def doubled(value):
    return torch.utils._pytree.tree_map_only(torch.Tensor, lambda t: t.double() if t.is_floating_point() else t, value)


def by_places(function, args, kwargs, found, expected):
    """Equal elements may come in any order: what lies at the places is compared instead of the places."""
    given = dict(zip((a.name for a in function._schema.arguments), args, strict=False)) | kwargs
    axis, x = given.get('dim', -1), given['self']
    if x.dim() and not given.get('stable'):
        found[1], expected[1] = (torch.gather(x, axis, places) for places in (found[1], expected[1]))


def difference(function, found, expected, exactly):
    if len(found) != len(expected):
        return f'WRONG {len(found)} results, torch has {len(expected)}'
    for place, (ours, theirs) in enumerate(zip(found, expected, strict=True)):
        if 'empty' in str(function):           # what nobody has written holds anything
            ours, theirs = torch.zeros_like(ours), torch.zeros_like(theirs)
        try:
            torch.testing.assert_close(ours, theirs, equal_nan=True)
        except AssertionError as error:
            if str(function).split('.')[1] not in SUMS or not theirs.is_floating_point() or off(ours, exactly()[place]) > ROUNDINGS:
                return 'WRONG ' + str(error).replace('\n', ' ')[:200]
    return None


def off(found, truth):
    """The largest error, in roundings of the largest element of the result in float64."""
    return float((found.double() - truth).abs().max() / truth.abs().max()) / torch.finfo(found.dtype).eps


class Tally:
    """What became of calls, by overload. Of calls of one kind, `each` are tried; the others count as those did."""

    def __init__(self, each):
        self.each, self.tried = each, collections.Counter()
        self.whys = {}                                              # of each kind: why not, None: as torch computes it
        self.calls = collections.Counter()                          # by overload, and what became of them
        self.refused = collections.defaultdict(collections.Counter)   # by overload, the reasons
        self.wrong = collections.defaultdict(set)

    def add(self, function, args, kwargs, kind=None):
        name, kind = str(function), kind or described(function, args, kwargs)
        if self.tried[kind] < self.each:
            self.tried[kind] += 1
            why = check(function, args, kwargs)
            self.whys[kind] = why or self.whys.get(kind)
            if why and (why.startswith('WRONG') or UNFORESEEN in why):
                self.wrong[name].add(f'{why[:200]} of {described(function, args, kwargs)[:300]}')
        why = self.whys[kind]
        self.calls[name, 'computed' if why is None else 'wrong' if why.startswith('WRONG') else 'left'] += 1
        if why is not None:
            self.refused[name][why[:150]] += 1

    def __str__(self):
        total = collections.Counter()
        for (_, what), count in self.calls.items():
            total[what] += count
        return (f'{sum(total.values())} calls of {len({n for n, _ in self.calls})} overloads, {len(self.tried)} kinds of them, '
                f'{sum(self.tried.values())} tried: ' + ', '.join(f'{total[w]} {w}' for w in ('computed', 'left', 'wrong')))
