"""tensorrt.plugin: plug-ins from decorated functions, on the CPU beside NumPy."""
from typing import Tuple

import numpy as np
import numpy.typing as npt
from tensorrt_plugins_case import RANGE, Plugged

import tenfold.tensorrt as trt
import tenfold.tensorrt.plugin as trtp
from tenfold.tensorrt.plugin import _decorators


class Quick(Plugged):
    def setUp(self):
        super().setUp()
        self.addCleanup(_decorators._known.clear)

    def network(self, func, *names, **keywords):
        """One input x, and a layer of func(x)."""
        network = trt.Builder(self.logger).create_network()
        layer = network.add_plugin(func(network.add_input('x', trt.float32, (-1, 2, 5, 6))), **keywords)
        for i, name in enumerate(names):
            layer.get_output(i).name = name
            network.mark_output(layer.get_output(i))
        return network

    def x(self, n=2):
        return np.random.default_rng(n).standard_normal((n, 2, 5, 6)).astype(np.float32)

    def test_attributes_of_all_kinds(self):
        @trtp.register('sample::blend')
        def describe(x: trtp.TensorDesc, amount: float, times: int, kind: str, on: bool, raw: bytes,
                     table: npt.NDArray[np.float32]) -> trtp.TensorDesc:
            return x.like()

        @trtp.impl('sample::blend')
        def compute(x: trtp.Tensor, amount: float, kind: str, times: int, on: bool, raw: bytes, table: npt.NDArray[np.float32],
                    outputs: Tuple[trtp.Tensor], stream: int) -> None:
            assert (kind, on, raw) == ('sum', True, b'\x00\x01') and x.strides == (60, 30, 6, 1) and not np.asarray(x).flags.writeable
            np.asarray(outputs[0])[:] = np.asarray(x) * np.float32(amount) * times + table[1]
        network = self.network(lambda x: trtp.op.sample.blend(x, amount=0.5, times=3, kind='sum', on=True, raw=b'\x00\x01',
                                                              table=np.array([1, 2], np.float32)), 'y')
        context = self.loaded(self.plan(network, x=RANGE)).create_execution_context()
        for n in (2, 1, 4):
            x, out = self.x(n), np.empty((n, 2, 5, 6), np.float32)
            self.run_on(context, {'y': out}, x=x)
            self.near(out, x * 1.5 + 2)
        with self.assertRaisesRegex(ValueError, "'amount' is a float, got int"):
            self.network(lambda x: trtp.op.sample.blend(x, amount=1, times=3, kind='', on=True, raw=b'', table=np.zeros(1, np.float32)))
        with self.assertRaisesRegex(ValueError, 'takes the attributes amount'):
            self.network(lambda x: trtp.op.sample.blend(x, amount=1.0))
        with self.assertRaisesRegex(ValueError, 'takes 1 tensors'):
            trtp.op.sample.blend()

    def test_shapes_are_expressions(self):
        @trtp.register('sample::halves')
        def describe(x: trtp.TensorDesc) -> Tuple[trtp.TensorDesc, trtp.TensorDesc]:
            first, second = x.like(), trtp.from_shape_expr((x.shape_expr[0] * 2, trtp.cdiv(x.shape_expr.numel(), 7)), trt.int32)
            first.shape_expr[2] = trtp.max(x.shape_expr[2] + 1, 3) - 1
            return first, second

        @trtp.impl('sample::halves')
        def compute(x: trtp.Tensor, outputs: Tuple[trtp.Tensor], stream: int) -> None:
            np.asarray(outputs[0])[:] = np.asarray(x)
            np.asarray(outputs[1])[:] = outputs[1].shape[1]
        network = self.network(trtp.op.sample.halves, 'a', 'b')
        self.assertEqual([tuple(network.get_output(i).shape) for i in (0, 1)], [(-1, 2, 5, 6), (-1, -1)])
        context = self.loaded(self.plan(network, x=RANGE)).create_execution_context()
        x, a, b = self.x(3), np.empty((3, 2, 5, 6), np.float32), np.empty((6, 26), np.int32)
        self.run_on(context, {'a': a, 'b': b}, x=x)
        np.testing.assert_array_equal(a, x)
        np.testing.assert_array_equal(b, np.full((6, 26), 26))

    def test_sizes_that_only_the_run_knows(self):
        @trtp.register('sample::positive')
        def describe(x: trtp.TensorDesc) -> Tuple[trtp.TensorDesc, trtp.TensorDesc]:
            count = x.shape_expr.numel()
            size = trtp.size_tensor(trtp.cdiv(count, 2), count)
            return trtp.from_shape_expr((size.expr(),), x.dtype), size

        @trtp.impl('sample::positive')
        def compute(x: trtp.Tensor, outputs: Tuple[trtp.Tensor], stream: int) -> None:
            found = np.asarray(x)[np.asarray(x) > 0]
            np.asarray(outputs[0])[:found.size] = found
            np.asarray(outputs[1])[...] = found.size
        network = self.network(trtp.op.sample.positive, 'found', 'size')
        context = self.loaded(self.plan(network, x=RANGE)).create_execution_context()
        x, found, size = self.x(2), np.zeros(120, np.float32), np.zeros((), np.int32)
        self.run_on(context, {'found': found, 'size': size}, x=x)
        expected = x[x > 0]
        self.assertEqual(int(size), expected.size)
        np.testing.assert_array_equal(found[:expected.size], expected)

    def test_autotune_tells_types_and_tactics(self):
        used, most = [], []

        @trtp.register('sample::tuned')
        def describe(x: trtp.TensorDesc) -> trtp.TensorDesc:
            return x.like()

        @trtp.autotune('sample::tuned')
        def tune(x: trtp.TensorDesc, outputs: Tuple[trtp.TensorDesc]):
            assert x.shape.max[1:] == (2, 5, 6)
            most.append(x.shape.max[0])
            return [trtp.AutoTuneCombination('FP16|FP32, FP16|FP32', 'LINEAR', [1, 2])]

        @trtp.impl('sample::tuned')
        def compute(x: trtp.Tensor, outputs: Tuple[trtp.Tensor], stream: int, tactic: int) -> None:
            used.append(tactic)
            np.asarray(outputs[0])[:] = np.asarray(x)
        network = self.network(trtp.op.sample.tuned, 'y')
        self.plan(network, x=RANGE)
        self.assertEqual(set(used), {1, 2})
        self.assertEqual(most[-1], 4)

        @trtp.autotune('sample::tuned')
        def other(x: trtp.TensorDesc, outputs: Tuple[trtp.TensorDesc]):
            return [trtp.AutoTuneCombination('FP16*FP32, FP16')]
        with self.assertRaisesRegex(ValueError, 'refuses DataType.FLOAT'):
            self.network(trtp.op.sample.tuned, 'y')

    def test_combinations(self):
        f, h, i = trt.DataType.FLOAT, trt.DataType.HALF, trt.DataType.INT32
        made = trtp.AutoTuneCombination('FP32|FP16, FP32|FP16, FP32*FP16')
        for types, expected in (((f, f, f), True), ((h, h, f), True), ((f, h, f), False), ((f, f, i), False)):
            self.assertEqual(made.takes(types), expected)
        by_place = trtp.AutoTuneCombination()
        by_place.pos([0, 1], 'FP32|FP16')
        by_place.pos(2, 'INT32')
        self.assertTrue(by_place.takes((h, h, i)))
        self.assertFalse(by_place.takes((h, h, f)))
        with self.assertRaisesRegex(ValueError, 'twice'):
            by_place.pos(1, 'FP32')
        self.assertFalse(trtp.AutoTuneCombination('FP32, FP32', 'HWC').takes((f, f)))

    def test_what_is_missing_is_told(self):
        with self.assertRaisesRegex(ValueError, r'register\("sample::none"\) comes first'):
            trtp.impl('sample::none')
        with self.assertRaisesRegex(ValueError, '"namespace::name"'):
            trtp.register('sample')
        with self.assertRaisesRegex(ValueError, 'need type hints'):
            trtp.register('sample::bare')(lambda x: x)

        @trtp.register('sample::compiled')
        def describe(x: trtp.TensorDesc) -> trtp.TensorDesc:
            return x.like()
        with self.assertRaisesRegex(ValueError, 'neither impl nor aot_impl'):
            self.network(trtp.op.sample.compiled)

        @trtp.aot_impl('sample::compiled')
        def compiled(x: trtp.TensorDesc, outputs: Tuple[trtp.TensorDesc], tactic: int):
            raise AssertionError('asked on the CPU')
        with self.assertRaisesRegex(ValueError, 'has no impl'):
            self.network(trtp.op.sample.compiled, aot=False)
        with self.assertRaisesRegex(NotImplementedError, 'GPUs alone'):
            self.network(trtp.op.sample.compiled, 'y')


if __name__ == '__main__':
    import unittest
    unittest.main()
