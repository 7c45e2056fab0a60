"""Core ATen overloads without torch's help: the samples that torch ships (OpInfo), one an overload in the short form, and samples of ours
for overloads that none of those comes to."""
import itertools
import math
import os
import warnings

import opinfo_case
import torchvision  # noqa: F401 (whose operators are tried)
import transformers.integrations.moe  # noqa: F401
from torch_case import TorchCase, torch, unittest

SHORT = bool(os.environ.get('TENFOLD_TORCH_SHORT'))
SAMPLES, EACH = (4, 1) if SHORT else (1000, 3)      # of an operator and type; calls of one kind that are tried
WITHOUT = 180                      # overloads that engines compute, at least
A, P = torch.ops.aten, torch.ops.prims


def own_samples():
    """Calls of overloads that OpInfo's samples do not come to."""
    torch.manual_seed(0)
    f, i = torch.randn(3, 4), torch.randint(-9, 9, (3, 4))
    image, b = torch.randn(2, 3, 6, 5), torch.rand(3, 4) > 0.5
    mean, variance = torch.randn(3), torch.rand(3) + 0.5
    yield A._native_batch_norm_legit_no_training.default, (image, mean, mean, mean, variance, 0.1, 1e-5)
    yield A._native_batch_norm_legit.no_stats, (image, mean, mean, True, 0.1, 1e-5)
    for op, value in ((A.bitwise_and.Scalar, 5), (A.bitwise_or.Scalar, 5), (A.bitwise_xor.Scalar, 5), (A.div.Scalar, 3), (A.mul.Scalar, 3),
                      (A.add.Scalar, 3), (A.sub.Scalar, 3), (A.remainder.Scalar, 4), (A.fmod.Scalar, 4), (A.eq.Scalar, 3), (A.ne.Scalar, 3),
                      (A.lt.Scalar, 1), (A.le.Scalar, 1), (A.gt.Scalar, 1), (A.ge.Scalar, 1)):
        yield op, (i, value)
        if 'bitwise' not in str(op):
            yield op, (f, value)
    for mode in ('floor', 'trunc', None):
        yield A.div.Scalar_mode, (f, 0.7, ), {'rounding_mode': mode}
        yield A.div.Scalar_mode, (i, 4), {'rounding_mode': mode}
    yield A.any.dims, (b, [0, 1])
    yield A.any.dims, (f, [1], True)
    yield A.copy.default, (f, torch.randn(4))
    yield A.native_dropout.default, (f, 0.5, False)
    yield A.pow.Scalar, (2.5, f)
    yield A.scatter.value, (f, 1, torch.tensor([[0, 2], [1, 3]]), 7.5)
    yield A.reflection_pad2d.default, (image, [1, 2, 3, 1])
    yield A.reflection_pad3d.default, (torch.randn(1, 2, 4, 5, 6), [1, 2, 1, 1, 2, 3])
    yield A.replication_pad2d.default, (image, [1, 2, 3, 1])
    yield A.replication_pad3d.default, (torch.randn(1, 2, 4, 5, 6), [1, 2, 1, 1, 2, 3])
    yield A.col2im.default, (torch.randn(2, 12, 12), [4, 5], [2, 2], [1, 1], [0, 0], [1, 1])
    yield A.upsample_bilinear2d.vec, (image, [9, 7], False, None)
    yield A.upsample_bilinear2d.vec, (image, None, True, [2.0, 1.5])
    yield A.upsample_bilinear2d.vec, (image, None, False, [2.0, 1.5])
    yield A.upsample_nearest2d.vec, (image, None, [2.0, 1.5])
    yield A.upsample_nearest2d.vec, (image, [9, 7], None)
    yield A.upsample_nearest2d.vec, (torch.randn(1, 2, 3, 9), None, [1.3, 1.5])           # 3 rows stay 3, and are moved
    yield A.upsample_bilinear2d.vec, (torch.randn(1, 2, 3, 9), None, False, [1.3, 1.5])
    yield from corners()
    yield A.sym_size.int, (f, 1)
    yield A.avg_pool1d.default, (torch.randn(2, 3, 9), [3], [2], [1])
    yield A.adaptive_avg_pool1d.default, (torch.randn(2, 3, 9), [4])
    yield A._adaptive_avg_pool2d.default, (image, [4, 3])
    yield A._adaptive_avg_pool3d.default, (torch.randn(1, 2, 4, 5, 6), [2, 3, 6])
    yield A.var.dim, (f, [1], False)
    yield A.view.default, (f, [2, -1])
    yield A.squeeze.dims, (torch.randn(1, 3, 1), [0, 1])
    yield from gradients(image)
    yield from running()
    yield from of_other_libraries()
    yield A.empty_permuted.default, ([0, 3], [1, 0])
    for x, vec in ((torch.randn(1, 2, 5), A.upsample_linear1d.vec), (torch.randn(1, 2, 3, 4, 5), A.upsample_trilinear3d.vec)):
        yield vec, (x, [7] * (x.dim() - 2), True, None)
        yield vec, (x, None, False, [2.0] * (x.dim() - 2))
    for x, vec in ((torch.randn(1, 2, 5), A.upsample_nearest1d.vec), (torch.randn(1, 2, 3, 4, 5), A.upsample_nearest3d.vec)):
        yield vec, (x, [7] * (x.dim() - 2), None)
    yield A.upsample_bicubic2d.vec, (image, [9, 7], False, None)
    yield A._native_batch_norm_legit.default, (image, mean, mean, mean, variance, False, 0.1, 1e-5)
    yield A.atan2.out, (f, torch.randn(3, 4)), {'out': torch.empty(3, 4)}
    for op in (A.bitwise_and.Tensor, A.bitwise_or.Tensor, A.bitwise_xor.Tensor):
        yield op, (i, torch.randint(-9, 9, (4,)))
    yield A.bitwise_not.default, (i,)
    yield A.atan2.default, (f, torch.randn(3, 4))
    yield A._embedding_bag.default, (torch.randn(9, 5), torch.tensor([1, 3, 3, 8, 0]), torch.tensor([0, 2, 4]))
    yield A._embedding_bag.default, (torch.randn(9, 5), torch.tensor([1, 3, 3, 8, 0]), torch.tensor([0, 2, 2]), False, 1)
    yield A.index_put.default, (f, [b], torch.tensor(2.0))
    yield A.empty.memory_format, ([2, 0],)
    yield A.empty_strided.default, ([0, 2], [2, 1])


def running():
    """Running extremes, histograms, reductions by places, and what counts for all elements."""
    nan, f, i = math.nan, torch.randn(5, 7), torch.randint(-3, 3, (5, 7))
    odd = torch.tensor([1.0, nan, 3.0, -math.inf, nan, 3.0, math.inf, 0.0])
    for op in (A.cummax.default, A.cummin.default):
        for x in (f, i, i > 0, odd, torch.tensor(2.0), torch.randn(3, 1), torch.zeros(2, 0)):
            yield op, (x, -1)
        yield op, (f, 0)
    for op in (A.cumprod.default, A.logcumsumexp.default):
        for x in (f, f.half(), torch.tensor([0.5, -math.inf, 3.0]), torch.tensor([math.inf, 1.0, nan]), torch.tensor(2.0)):
            yield op, (x, -1)
    yield A.cumprod.default, (i, 0)
    for op in (A.max.default, A.min.default):
        for x in (f, i, i > 0, odd, torch.tensor(2.0)):
            yield op, (x,)
    for x, *settings in ((f, 10, -2, 2), (f, 7), (f * 0 + 3, 4), (f, 5, 0.5, 0.5), (torch.tensor([nan, 1.0, 2.0]), 4, 1, 2),
                         (f.double(), 9, 0, 1)):
        yield A.histc.default, (x, *settings)
    places, values = torch.tensor([0, 3, 3]), torch.arange(15.0).reshape(5, 3) - 4
    for reduce in ('prod', 'mean', 'amax', 'amin'):
        for include in (True, False):
            yield A.index_reduce.default, (f, 1, places, values, reduce), {'include_self': include}
            yield A.index_reduce.default, (f.t(), 0, places, values.t(), reduce), {'include_self': include}
            if reduce != 'mean':
                yield A.index_reduce.default, (i, 1, places, values.long(), reduce), {'include_self': include}


def of_other_libraries():
    """Primitives of torch's decompositions, torchvision's boxes, and transformers' grouped products."""
    f, i = torch.randn(4, 6), torch.randint(-9, 9, (4, 6))
    yield P.sum.default, (f, [0])
    yield P.sum.default, (i, [0, 1])
    yield P.prod.default, (f, [1])
    for op in (P.amax.default, P.amin.default):
        yield op, (f, [1])
    for dtype in (torch.float64, torch.int32, torch.bool, torch.float16):
        yield P.convert_element_type.default, (f, dtype)
    yield P.div.default, (i, torch.full_like(i, -4))
    yield P.div.default, (f, f + 9)
    for op in (P.add, P.mul, P.lt, P.maximum, P.remainder, P.fmod):
        yield op.default, (f, f.flip(0))
    for op in (P.sin, P.abs, P.rsqrt, P.round):
        yield op.default, (f,)
    yield P.where.default, (f > 0, f, -f)
    yield P.iota.default, (7,), {'start': 2, 'step': 3, 'dtype': torch.int64, 'device': torch.device('cpu'), 'requires_grad': False}
    image, boxes = torch.randn(2, 3, 16, 20), torch.rand(6, 4) * 6
    boxes[:, 2:] += boxes[:, :2] + 0.5
    rois = torch.cat([torch.randint(0, 2, (6, 1)).float(), boxes], 1)
    for samples, aligned in itertools.product((2, -1), (True, False)):
        yield torch.ops.torchvision.roi_align.default, (image, rois, 0.7, 3, 4, samples, aligned)
    for ends in ([4, 10, 16], [0, 16, 16], [3, 3, 9]):            # an expert without rows, and rows without an expert
        x, weights = torch.randn(16, 8), torch.randn(3, 8, 16)
        yield torch.ops.transformers.grouped_mm_fallback.default, (x, weights, torch.tensor(ends))
    yield A._grouped_mm.default, (x.bfloat16(), weights.bfloat16(), torch.tensor([4, 10, 16], dtype=torch.int32))


def corners():
    """Numbers and settings at the edge of what an operator takes."""
    nan, inf = math.nan, math.inf
    x = torch.tensor([nan, inf, -inf, 0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 88.0, -104.0, 1e-4])
    a, b = torch.broadcast_tensors(x[:, None], x)
    for op in (A.atan2.default, A.remainder.Tensor, A.fmod.Tensor, A.maximum.default, A.minimum.default, A.pow.Tensor_Tensor, A.lt.Tensor):
        yield op, (a, b)
    for mode in ('floor', 'trunc'):
        yield A.div.Tensor_mode, (a, b), {'rounding_mode': mode}
    for exponent in (-0.5, 0.5, -1, 2, 3):
        yield A.pow.Tensor_Scalar, (x, exponent)
    for op in (A.sign, A.isnan, A.isinf, A.relu, A.sigmoid, A.tanh, A.round, A.trunc, A.rsqrt, A.log1p, A.any, A.amax, A.argmax):
        yield op.default, (x,)
    for op in (A.max.dim, A.min.dim, A.cumsum.default, A.sort.default):
        yield op, (a, 1)
    small = torch.tensor([-128, -7, -1, 0, 1, 3, 120], dtype=torch.int8)
    for mode in ('floor', 'trunc'):
        yield A.div.Tensor_mode, (small[:, None], small[small != 0]), {'rounding_mode': mode}
    for op in (A.any.default, A.all.default, A.sum.default, A.prod.default):
        yield op, (torch.zeros(0, 3),)
    yield A.div.Tensor_mode, ((torch.randn(999) * 20).bfloat16(), (torch.randn(999) * 3).bfloat16()), {'rounding_mode': 'trunc'}
    for op in (A.add.Tensor, A.sub.Tensor):
        yield op, (torch.randn(999).half(), torch.randn(999).half()), {'alpha': -3.125}
    yield A._log_softmax.default, (torch.randn(16, 64) + 1000, 1, False)
    yield A.any.dims, (a, [])
    yield A.pow.Tensor_Tensor, (torch.tensor([7, 3, -3]), torch.tensor([22, 39, 39]))                     # beyond 2^53
    yield A.reflection_pad2d.default, (torch.randn(1, 2, 3, 3), [2, -1, -1, 0])
    yield A.replication_pad2d.default, (torch.randn(1, 2, 4, 4), [-4, 5, 0, 0])


def gradients(image):
    """Of layers, with what their forward operators gave."""
    kernel, turned = torch.randn(4, 3, 3, 2), torch.randn(3, 4, 3, 2)
    every = [(k, s, p, d, t, [0, 0], 1) for s, p, d in (([1, 1], [0, 0], [1, 1]), ([2, 1], [1, 1], [1, 2]))
             for k, t in ((kernel, False), (turned, True))]
    for weight, *settings in [*every, (kernel[:3, :1].clone(), [1, 1], [1, 1], [1, 1], False, [0, 0], 3)]:
        y = A.convolution.default(image, weight, None, *settings)
        yield A.convolution_backward.default, (torch.randn_like(y), image, weight, [y.shape[1]], *settings, [True] * 3)
    for settings in (([3, 2], [2, 1], [1, 1], False, True, None), ([3, 2], [2, 2], [1, 0], True, False, None),
                     ([2, 2], [2, 2], [0, 0], False, True, 3), ([3, 2], [2, 2], [1, 1], True, True, None)):
        y = A.avg_pool2d.default(image, *settings)
        yield A.avg_pool2d_backward.default, (torch.randn_like(y), image, *settings)
    yield A._adaptive_avg_pool2d_backward.default, (torch.randn(2, 3, 4, 3), image)
    y, places = A.max_pool2d_with_indices.default(image, [3, 2], [2, 1], [1, 1])
    yield A.max_pool2d_with_indices_backward.default, (torch.randn_like(y), image, [3, 2], [2, 1], [1, 1], [1, 1], False, places)
    rows = torch.tensor([[1, 3, 3], [0, 8, 3]])
    for padding, by_frequency in ((-1, False), (3, True)):
        yield A.embedding_dense_backward.default, (torch.randn(2, 3, 5), rows, 9, padding, by_frequency)
    weight, bias = torch.randn(5), torch.randn(5)
    _, mean, factor = A.native_layer_norm.default(image, [5], weight, bias, 1e-5)
    yield A.native_layer_norm_backward.default, (torch.randn_like(image), image, [5], mean, factor, weight, bias, [True] * 3)
    x, weight = torch.randn(2, 6, 4), torch.randn(6)
    _, mean, factor = A.native_group_norm.default(x, weight, weight, 2, 6, 4, 3, 1e-5)
    yield A.native_group_norm_backward.default, (torch.randn_like(x), x, mean, factor, weight, 2, 6, 4, 3, [True] * 3)


class Operators(TorchCase):
    def found(self):
        tally = opinfo_case.Tally(EACH)
        for function, args, *keywords in own_samples():
            tally.add(function, args, keywords[0] if keywords else {})
        for op in opinfo_case.op_db:
            for dtype in opinfo_case.DTYPES[:1] if SHORT else opinfo_case.DTYPES:
                for function, args, kwargs in opinfo_case.calls_of_samples(op, dtype, SAMPLES):
                    if not SHORT:
                        tally.add(function, args, kwargs)
                    elif str(function) not in tally.tried:
                        tally.add(function, args, kwargs, str(function))
        return tally

    def test_core_overloads(self):
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            tally = self.found()
        core = opinfo_case.core_overloads()
        done = [name for name in core if tally.calls[name, 'computed']]
        for name in sorted(set(tally.refused) | set(core) - set(done)):
            whys = '; '.join(f'{count} {why}' for why, count in tally.refused[name].most_common(3))
            print(f'{name}: {tally.calls[name, "computed"]} computed, left: {whys or "no sample"}')
        wrong = [f'{name}: {why}' for name, whys in tally.wrong.items() for why in whys]
        self.assertFalse(wrong, '\n'.join(wrong))                  # a refusal is torch's to compute; a wrong answer is nobody's
        partly = sum(n in tally.refused for n in done)
        print(f'{tally}. {len(done)} of {len(core)} core overloads without torch, {partly} of them not in all')
        self.assertGreaterEqual(len(done), WITHOUT)


if __name__ == '__main__':
    unittest.main()
