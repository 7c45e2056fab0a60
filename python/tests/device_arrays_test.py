"""DeviceArray on the CPU, and DLPack's table of C functions from a producer of our own; the truth is NumPy's."""
import ctypes
import gc
import sys
import unittest

import ml_dtypes
import numpy as np
from case import QUICK, Case, TensorProto, batch, helper, model, tanh_engine, tanh_model, truth

import tenfold
import tenfold.onnxruntime


class DLTensor(ctypes.Structure):
    _fields_ = [('data', ctypes.c_void_p), ('device_type', ctypes.c_int32), ('device_id', ctypes.c_int32), ('ndim', ctypes.c_int32),
                ('code', ctypes.c_uint8), ('bits', ctypes.c_uint8), ('lanes', ctypes.c_uint16), ('shape', ctypes.POINTER(ctypes.c_int64)),
                ('strides', ctypes.POINTER(ctypes.c_int64)), ('byte_offset', ctypes.c_uint64)]


READ = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(DLTensor))
STREAM = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))


class Table(ctypes.Structure):
    _fields_ = [('major', ctypes.c_uint32), ('minor', ctypes.c_uint32), ('previous', ctypes.c_void_p), ('allocate', ctypes.c_void_p),
                ('to_managed', ctypes.c_void_p), ('from_managed', ctypes.c_void_p), ('read', READ), ('stream', STREAM)]


def producer(major=1, previous=None):
    """A class of arrays that are read by the table alone, and the table."""

    class Array:
        reads = 0

        def __init__(self, array, device_type=1, code=2):
            self.array, self.device_type, self.code = array, device_type, code
            self.shape = (ctypes.c_int64 * array.ndim)(*array.shape)
            self.strides = (ctypes.c_int64 * array.ndim)(*(s // array.itemsize for s in array.strides))

    @READ
    def read(array, to):
        Array.reads += 1
        t, a = to.contents, array.array
        t.data, t.device_type, t.device_id, t.ndim, t.byte_offset = a.ctypes.data, array.device_type, 0, a.ndim, 0
        t.code, t.bits, t.lanes, t.shape, t.strides = array.code, 8 * a.itemsize, 1, array.shape, array.strides
        return 0

    @STREAM
    def stream(kind, device, to):
        to.contents.value = 0
        return 0
    Array.table = Table(major, 3, previous and ctypes.addressof(previous), None, None, None, read, stream)
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    Array.name = b'dlpack_exchange_api'
    Array.__dlpack_c_exchange_api__ = new(ctypes.addressof(Array.table), Array.name, None)
    return Array


class ByTable(Case):
    def test_arrays_in_and_out(self):
        Array, engine, x = producer(), tanh_engine(), batch(8)
        for rows in (x[:4], x[::2], np.asfortranarray(x)):
            self.near(engine(Array(rows)), truth(np.ascontiguousarray(rows)))
        out = np.zeros((4, 4), np.float32)
        given = Array(out)
        self.assertIs(engine(Array(x[:4]), out=given), given)
        self.near(out, truth(x[:4]))
        self.assertGreater(Array.reads, 4)
        self.refused(tenfold.InvalidArgument, ["'x'", 'int32'], engine, Array(x[:4].astype(np.int32), code=0))
        self.refused(tenfold.InvalidArgument, ["'x'", 'GPU'], engine, Array(x[:4], device_type=2))
        self.refused(TypeError, "'x'", engine, Array(x[:4], code=5))        # complex numbers
        self.refused(TypeError, "'x'", engine, Array(x[:4], device_type=8))

    def test_a_table_of_another_major_version_points_to_ours(self):
        old = producer()
        Array = producer(2, old.table)
        self.near(tanh_engine()(Array(batch())), truth(batch()))
        alone = producer(2)
        self.refused(TypeError, "'x'", tanh_engine(), alone(batch()))
        self.assertEqual(alone.reads, 0)

    def test_subclasses_are_asked_otherwise(self):
        class Mine(producer()):
            def __dlpack__(self, **keywords):
                return (2 * self.array).__dlpack__(**keywords)

            def __dlpack_device__(self):
                return 1, 0
        self.near(tanh_engine()(Mine(batch())), truth(2 * batch()))

    def test_many_types_and_calls_leave_nothing(self):
        Array, engine, x = producer(), tanh_engine(), batch()
        given = Array(x)
        for _ in range(20):
            engine(given), engine(producer()(x))
        gc.collect()
        before = sys.getrefcount(given), sys.getrefcount(x)
        for _ in range(200):
            engine(given)
        self.assertEqual((sys.getrefcount(given), sys.getrefcount(x)), before)


class OnTheHost(Case):
    def test_what_it_is(self):
        a = tenfold.DeviceArray((2, 3), 'float16', device='cpu')
        self.assertEqual((a.shape, a.dtype, a.device, a.nbytes, a.size, a.ndim, len(a)), ((2, 3), np.dtype('float16'), 'cpu', 12, 6, 2, 2))
        np.testing.assert_array_equal(a.numpy(), np.zeros((2, 3)))
        self.assertEqual(tenfold.DeviceArray(3, np.int8, 'cpu').shape, (3,))
        self.assertEqual(tenfold.DeviceArray((), 'i64', 'cpu').numpy().shape, ())
        self.assertEqual(tenfold.DeviceArray((0, 2), 'f32', 'cpu').numpy().shape, (0, 2))
        self.assertFalse(hasattr(a, '__cuda_array_interface__'))
        self.assertIn('float16[2x3] on cpu', repr(a))
        self.assertEqual(tanh_engine().device, 'cpu')

    def test_copies_in_and_out(self):
        x = batch()
        a = tenfold.DeviceArray.of(x, 'cpu')
        x0 = x.copy()
        x[:] = 0
        np.testing.assert_array_equal(a.numpy(), x0)
        a.copy_from(np.asfortranarray(2 * x0))
        np.testing.assert_array_equal(a.numpy(), 2 * x0)
        b = tenfold.DeviceArray.of(a, 'cpu')
        np.testing.assert_array_equal(b.numpy(), 2 * x0)
        c = tenfold.DeviceArray.of(np.arange(4).astype(ml_dtypes.bfloat16), 'cpu')
        self.assertEqual(c.dtype, np.dtype(ml_dtypes.bfloat16))
        np.testing.assert_array_equal(np.asarray(c).astype(np.float32), np.arange(4))

    def test_the_same_memory_by_every_protocol(self):
        a = tenfold.DeviceArray.of(np.arange(6, dtype=np.int32).reshape(2, 3), 'cpu')
        for view in (np.asarray(a), np.from_dlpack(a), np.array(memoryview(a), copy=False)):
            self.assertEqual((view.dtype, view.shape), (np.int32, (2, 3)))
            self.assertEqual(view.ctypes.data, a.address)
            view[0, 0] += 1
        self.assertEqual(int(a.numpy()[0, 0]), 3)
        view, bytes_of = np.from_dlpack(a), bytes(a)
        del a
        gc.collect()
        np.testing.assert_array_equal(view.ravel()[1:], [1, 2, 3, 4, 5])
        self.assertEqual(len(bytes_of), 24)
        old = tenfold.DeviceArray(2, 'f32', 'cpu').__dlpack__()
        self.assertIn('"dltensor"', repr(old))
        del old

    def test_engines_read_and_write_it(self):
        engine, x = tanh_engine(), batch()
        a, out = tenfold.DeviceArray.of(x, 'cpu'), tenfold.DeviceArray((4, 4), 'f32', 'cpu')
        y = engine(a)
        self.assertIsInstance(y, tenfold.DeviceArray)
        self.near(y.numpy(), truth(x))
        self.assertIs(engine(x, out=out), out)
        self.near(out.numpy(), truth(x))
        self.near(engine.run_async(a).result(20).numpy(), truth(x))
        context = engine.create_context()
        context.bind('x', a), context.bind('y', out)
        for factor in (1, 2):
            a.copy_from(factor * x)
            context.run()
            self.near(out.numpy(), truth(factor * x))
        by_run = tenfold.build(model([helper.make_node('NonZero', ['x'], ['y'])], [('x', TensorProto.FLOAT, [4])],
                                     [('y', TensorProto.INT64, [1, 'n'])]), **QUICK)
        found = by_run(tenfold.DeviceArray.of(np.float32([0, 1, 0, 2]), 'cpu'))
        np.testing.assert_array_equal(found.numpy(), [[1, 3]])

    def test_values_of_sessions(self):
        value = tenfold.onnxruntime.OrtValue.ortvalue_from_shape_and_type([4, 6], np.float32)
        value.update_inplace(batch())
        s = tenfold.Session(tanh_model(), providers=['CPUExecutionProvider'], tune='never')
        self.near(s.run_with_ort_values(['y'], {'x': value})[0].numpy(), truth(batch()))
        a = tenfold.DeviceArray.of(batch(), 'cpu')
        self.near(s.run(['y'], {'x': a})[0].numpy(), truth(batch()))
        held = tenfold.onnxruntime.OrtValue(a)
        self.assertEqual((held.shape(), held.data_type(), held.data_ptr(), held.device_name()), ([4, 6], 'tensor(float)', a.address, 'cpu'))
        held.update_inplace(2 * batch())
        self.near(held.numpy(), 2 * batch())
        if not any(d.device.startswith('cuda') for d in tenfold.devices()):
            self.refused(tenfold.DeviceError, '', tenfold.onnxruntime.OrtValue.ortvalue_from_numpy, batch(), 'cuda', 0)
            self.refused(tenfold.DeviceError, '', tenfold.Stream)
        self.refused(tenfold.Unsupported, "'npu'", tenfold.onnxruntime.OrtValue.ortvalue_from_numpy, batch(), 'npu', 0)

    def test_what_does_not_fit(self):
        new, bad = tenfold.DeviceArray, tenfold.InvalidArgument
        self.refused(bad, '-1', new, (-1,), 'f32', 'cpu')
        self.refused(TypeError, 'whole number', new, 'two', 'f32', 'cpu')
        self.refused(TypeError, 'complex', new, 2, 'complex64', 'cpu')
        self.refused(bad, 'numbers', new, 2, 'string', 'cpu')
        self.refused(tenfold.Unsupported, "'tpu'", new, 2, 'f32', 'tpu')
        self.refused(TypeError, 'device', new, 2, 'f32', 3)
        for size in (1 << 50, 1 << 60):
            self.refused(tenfold.OutOfMemory, 'bytes', new, size, 'u8', 'cpu')
        a = new((2, 2), 'f32', 'cpu')
        self.refused(bad, ['float32', 'float64'], a.copy_from, np.zeros((2, 2)))
        self.refused(bad, ['2x2', '4'], a.copy_from, np.zeros(4, np.float32))
        self.refused(bad, 'stream', a.numpy, 7)
        self.refused(BufferError, 'copy', a.__dlpack__, copy=True)
        self.refused(BufferError, 'cpu', a.__dlpack__, dl_device=(2, 0))
        self.refused(TypeError, 'axes', len, new((), 'f32', 'cpu'))
        self.refused(bad, ["'x'", 'float64'], tanh_engine(), new((4, 6), 'f64', 'cpu'))
        self.refused(tenfold.Unsupported, 'streams', tenfold.Stream, device='cpu')

    def test_streams_of_others(self):
        stream = tenfold.Stream(64)
        self.assertEqual((stream.handle, stream.__cuda_stream__(), stream == tenfold.Stream(64), repr(stream)),
                         (64, (0, 64), True, "tenfold.Stream(0x40, 'cuda:0')"))
        with stream, tenfold.Stream(65):   # engines of the CPU have no streams, and run as ever
            self.near(tanh_engine()(batch()), truth(batch()))
        self.refused(tenfold.InvalidArgument, 'entered', stream.__exit__)


if __name__ == '__main__':
    unittest.main()
