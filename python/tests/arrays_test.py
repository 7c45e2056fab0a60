"""Arrays in and out: what is taken where it lies, what is copied once, what is refused by name; the truth is NumPy's."""
import gc
import os
import sys
import time
import unittest
import weakref

import ml_dtypes
import numpy as np
from case import PROFILE, QUICK, Case, TensorProto, batch, helper, model, one_node, tanh_engine, tanh_model, truth

import tenfold


class ByDlpack:
    """An array that has DLPack alone, of either form."""

    def __init__(self, array, versioned=True, device=None):
        self.array, self.versioned, self.device, self.asked = array, versioned, device, []

    def __dlpack_device__(self):
        return self.device or self.array.__dlpack_device__()

    def __dlpack__(self, *, stream=None, **keywords):
        self.asked.append((stream, keywords))
        if keywords and not self.versioned:
            raise TypeError('max_version: this producer is of before')
        return self.array.__dlpack__(stream=stream, **keywords)


class Forms(Case):
    def test_calls_by_position_and_name(self):
        engine, x = tanh_engine(), batch()
        self.near(engine(x), truth(x))
        self.near(engine({'x': x}), truth(x))
        two = tenfold.build(model([helper.make_node('Add', ['a', 'b'], ['s']), helper.make_node('Sub', ['a', 'b'], ['d'])],
                                  [(n, TensorProto.FLOAT, [3]) for n in 'ab'], [(n, TensorProto.FLOAT, [3]) for n in 'sd']), **QUICK)
        a, b = np.float32([1, 2, 3]), np.float32([5, 7, 11])
        for results in (two(a, b), two({'b': b, 'a': a})):
            np.testing.assert_array_equal(results['s'], a + b)
            np.testing.assert_array_equal(results['d'], a - b)
        out = np.zeros(3, np.float32)
        self.assertIs(two(a, b, out={'d': out})['d'], out)
        np.testing.assert_array_equal(out, a - b)
        out = [np.zeros(3, np.float32), None]
        self.assertIs(two(a, b, out=out)['s'], out[0])

    def test_producers_of_dlpack_in_both_forms(self):
        x = batch()
        for versioned in (True, False):
            given = ByDlpack(x.copy(), versioned)
            self.near(tanh_engine()(given), truth(x))
            self.assertTrue(all(stream is None for stream, _ in given.asked))
            self.assertEqual('max_version' in given.asked[0][1], True)
        self.near(tanh_engine()(memoryview(x)), truth(x))

    def test_memory_of_producers_is_let_go(self):
        x = batch()
        before = sys.getrefcount(x)
        for _ in range(10):
            tanh_engine()(ByDlpack(x))
        gc.collect()
        self.assertEqual(sys.getrefcount(x), before)

    def test_every_type_that_numpy_has(self):
        for name in ('float32', 'float64', 'float16', 'int64', 'int32', 'int16', 'int8', 'uint64', 'uint32', 'uint16', 'uint8', 'bool'):
            with self.subTest(name):
                dtype = np.dtype(name)
                x = (np.arange(12) % 2).astype(dtype).reshape(3, 4)
                engine = tenfold.build(one_node('Identity', helper.np_dtype_to_tensor_dtype(dtype), [3, 4]), **QUICK)
                y = engine(x)
                self.assertEqual(y.dtype, dtype)
                np.testing.assert_array_equal(y, x)

    def test_types_of_ml_dtypes(self):
        for onnx_type, dtype in ((TensorProto.BFLOAT16, ml_dtypes.bfloat16), (TensorProto.FLOAT8E4M3FN, ml_dtypes.float8_e4m3fn)):
            x = np.arange(8).astype(dtype)
            engine = tenfold.build(one_node('Identity', onnx_type, [8]), **QUICK)
            y = engine(x)
            self.assertEqual(y.dtype, np.dtype(dtype))
            np.testing.assert_array_equal(y.astype(np.float32), np.arange(8, dtype=np.float32))

    def test_scalars_and_empty_arrays(self):
        engine = tenfold.build(one_node('Neg', TensorProto.FLOAT, []), **QUICK)
        y = engine(np.float32(3))
        self.assertEqual((y.shape, float(y)), ((), -3.0))
        engine = tenfold.build(one_node('Neg', TensorProto.FLOAT, ['n', 2]), profiles={'x': ([0, 2], [1, 2], [4, 2])}, **QUICK)
        self.assertEqual(engine(np.zeros((0, 2), np.float32)).shape, (0, 2))


class Memory(Case):
    def test_dense_arrays_are_used_where_they_lie(self):
        context, x, y = tanh_engine().create_context(), batch(), np.zeros((4, 4), np.float32)
        context.bind('x', x)
        context.bind('y', y)
        for seed in range(3):
            x[:] = batch(seed=seed)      # what is written there is what the next run reads
            context.run()
            self.near(y, truth(x))

    def test_strided_arrays_are_copied(self):
        x = batch(8)
        forms = {'rows': x[::2], 'columns': np.asfortranarray(x[:4]), 'backwards': x[3::-1], 'broadcast': np.broadcast_to(x[:1], (4, 6)),
                 'odd': np.frombuffer(b'\0' + x[:4].tobytes(), np.uint8)[1:].view(np.float32).reshape(4, 6)}
        for name, array in forms.items():
            with self.subTest(name):
                self.near(tanh_engine()(array), truth(np.ascontiguousarray(array)))
        out = np.zeros((4, 8), np.float32)
        tanh_engine()(x[:4], out=out[:, ::2])
        self.near(out[:, ::2], truth(x[:4]))
        self.assertFalse(out[:, 1::2].any())

    def test_results_outlive_the_engine(self):
        x = batch()
        engine = tenfold.build(tanh_model(), profiles=PROFILE, **QUICK)
        y, again = engine(x), engine(2 * x)
        context = engine.create_context()
        context.bind('x', x)
        context.run()
        copied = context.outputs()['y']
        del engine, context
        gc.collect()
        for array in (y, copied):
            self.near(array, truth(x))
        self.near(again, truth(2 * x))

    def test_sizes_that_only_the_run_knows(self):
        engine = tenfold.build(model([helper.make_node('NonZero', ['x'], ['y'])], [('x', TensorProto.FLOAT, [8])],
                                     [('y', TensorProto.INT64, [1, 'n'])]), **QUICK)
        for x in (np.float32([0, 1, 0, 2, 0, 0, 0, 3]), np.zeros(8, np.float32), np.ones(8, np.float32)):
            np.testing.assert_array_equal(engine(x), np.asarray(np.nonzero(x)))
        self.refused(tenfold.InvalidArgument, "'y'", engine, np.ones(8, np.float32), out=np.zeros((1, 8), np.int64))

    def test_many_calls_leave_memory_and_counts(self):
        calls = int(os.environ.get('TENFOLD_MANY_CALLS', 50_000))
        engine, x, out = tanh_engine(), batch(), np.zeros((4, 4), np.float32)
        session = tenfold.Session(tanh_model(), providers=['CPUExecutionProvider'], tune='never')
        context, own, feed, names = engine.create_context(), tenfold.DeviceArray.of(x, 'cpu'), {'x': x}, ['y']

        def bound():
            context.bind('x', x), context.bind('y', out), context.run()

        def refused():
            with self.assertRaises(ValueError):
                engine(x.astype(np.float64))
        # What is called, and how often as much rarer than the first it is: a future takes as long as many calls.
        entries = {'new': (lambda: engine(x), 1), 'named': (lambda: engine(feed, out=out), 1), 'bound': (bound, 1),
                   'session': (lambda: session.run(names, feed), 1), 'own': (lambda: engine(own, out=out), 1),
                   'new own': (lambda: engine(own), 10), 'future': (lambda: engine.run_async(x, out=out).result(60), 10),
                   'cancelled': (lambda: engine.run_async(x, out=out).cancel(), 10), 'refused': (refused, 50)}
        for name, (call, rarer) in entries.items():
            with self.subTest(name):
                for _ in range(1000):
                    call()
                objects = (x, out, engine, own, feed, session, None)
                before, memory = self.settled(objects)
                for _ in range(calls // rarer):
                    call()
                after, later = self.settled(objects)
                # One huge page (2 MiB) is no leak. AddressSanitizer keeps what was freed, and the stacks of those who freed it.
                self.assertLess(later - memory, (32 if 'libasan' in os.environ.get('LD_PRELOAD', '') else 4) << 20)
                self.assertEqual(after[:-1], before[:-1])
                self.assertLess(abs(after[-1] - before[-1]), 100)

    def settled(self, objects):
        """Reference counts and the process's memory, when nothing is under way any more: what was cancelled ends a little later."""
        engine = objects[2]
        for _ in range(40):
            engine.run_async(objects[0]).result(60)
        time.sleep(0.05)
        gc.collect()
        with open('/proc/self/statm') as file:
            return [sys.getrefcount(o) for o in objects], int(file.read().split()[1]) * 4096

    def test_bound_arrays_are_kept_and_let_go(self):
        context = tanh_engine().create_context()
        x = batch()
        gone = weakref.ref(x)
        context.bind('x', x)
        del x
        gc.collect()
        self.assertIsNotNone(gone())
        context.bind('x', batch())
        gc.collect()
        self.assertIsNone(gone())


class Refused(Case):
    def test_arrays_that_do_not_fit(self):
        engine, x = tanh_engine(), batch()
        bad, wrong = tenfold.InvalidArgument, (tenfold.InvalidArgument, ValueError)
        self.refused(wrong, ["'x'", 'float32', 'float64'], engine, x.astype(np.float64))
        self.refused(wrong, ["'x'", 'byte order'], engine, x.astype('>f4'))
        self.refused(TypeError, ["'x'", 'objects'], engine, x.astype(object))
        self.refused(TypeError, ["'x'"], engine, x.astype(np.complex64))
        for strings in (np.array([['a'] * 6]), np.array([[b'a'] * 6]), np.array([['a'] * 6], object)):
            self.refused(TypeError, ["'x'", 'strings', 'numbers'], engine, strings)
        self.refused(TypeError, ["'x'"], engine, x.astype('M8[s]'))
        self.refused(TypeError, ["'x'", 'list'], engine, x.tolist())
        self.refused(wrong, ["'x'", '6'], engine, np.zeros((4, 5), np.float32))
        self.refused(wrong, ["'x'", '6'], engine, np.zeros(6, np.float32))
        self.refused(wrong, ["'x'", '9x6', '1..8x6'], engine, batch(9))
        self.refused(bad, ["'z'", "'x'"], engine, {'z': x})
        self.refused(bad, "'y'", engine, {'x': x, 'y': x})
        self.refused(bad, '2 arrays', engine, x, x)
        self.refused(bad, ["'x'", 'missing'], engine)
        self.refused(TypeError, 'inputs by name come in a dict', engine, x=x)
        self.refused(bad, 'GPU', engine, x, stream=1)
        self.refused(TypeError, 'build()', tenfold.Engine.__new__(tenfold.Engine), x)
        self.near(engine(x), truth(x))   # none of that leaves a mark

    def test_outputs_that_do_not_fit(self):
        engine, x = tanh_engine(), batch()
        frozen = np.zeros((4, 4), np.float32)
        frozen.flags.writeable = False
        self.refused(tenfold.InvalidArgument, ["'y'", 'read-only'], engine, x, out=frozen)
        self.refused(tenfold.InvalidArgument, ["'y'", '4x4', '3x4'], engine, x, out=np.zeros((3, 4), np.float32))
        self.refused(tenfold.InvalidArgument, ["'y'", 'float16'], engine, x, out=np.zeros((4, 4), np.float16))
        self.refused(tenfold.InvalidArgument, ["'y'", 'strides'], engine, x, out=np.zeros((4, 4), np.float32)[::-1])
        self.refused(tenfold.InvalidArgument, "'x'", engine, x, out={'x': x})
        both = np.zeros(4 * 6, np.float32)
        self.refused(tenfold.InvalidArgument, 'shares memory', engine, both.reshape(4, 6), out=both[:16].reshape(4, 4))
        frozen = ByDlpack(frozen)
        self.refused(tenfold.InvalidArgument, ["'y'", 'read-only'], engine, x, out=frozen)

    def test_other_devices(self):
        x = batch()
        self.refused(tenfold.InvalidArgument, ["'x'", 'device'], tanh_engine(), ByDlpack(x, device=(8, 0)))

        class OnGpu:
            __cuda_array_interface__ = dict(shape=(4, 6), typestr='<f4', data=(4096, False), version=3)
        self.refused(tenfold.InvalidArgument, ["'x'", 'GPU', 'CPU'], tanh_engine(), OnGpu())

    def test_producers_that_lie(self):
        class Raises:
            def __dlpack__(self, **keywords):
                raise ZeroDivisionError('mine')

        class Nonsense:
            def __dlpack__(self, **keywords):
                return 3
        self.refused(ZeroDivisionError, 'mine', tanh_engine(), Raises())
        self.refused(TypeError, ["'x'", 'DLPack'], tanh_engine(), Nonsense())


if __name__ == '__main__':
    unittest.main()
