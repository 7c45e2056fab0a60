#!/usr/bin/env python3
"""Types and orders other than the model's, and inputs with defaults, on the command line: cli_formats_test.py TENFOLD.

NumPy is the truth, and ONNX Runtime where it is installed."""

import cli_case
from cli_case import FLOAT, ONCE, CliCase, TensorProto, helper, np, numpy_helper, save_model

try:
    import onnxruntime
except ImportError:
    onnxruntime = None

USAGE = 2


class Formats(CliCase):
    """A folder with i.onnx: y = relu(x * w) for images x[batch,3,4,5], w a number for each channel."""

    def setUp(self):
        super().setUp()
        self.scale = np.array([1, -1, 2], np.float32).reshape(3, 1, 1)
        nodes = [helper.make_node('Mul', ['x', 'w'], ['t']), helper.make_node('Relu', ['t'], ['y'])]
        image, result = ('x', FLOAT, ['batch', 3, 4, 5]), ('y', FLOAT, ['batch', 3, 4, 5])
        self.images = save_model(self.path('i.onnx'), nodes, [image], [result], [numpy_helper.from_array(self.scale, 'w')])
        self.x = np.arange(2 * 3 * 4 * 5, dtype=np.float32).reshape(2, 3, 4, 5) % 13
        self.y = np.maximum(self.x * self.scale, 0)

    def answer(self, x, *flags, model=None):
        np.save(self.path('x.npy'), x)
        files = (f"--loadInputs=x:{self.path('x.npy')}", f"--exportOutput={self.path('y.npz')}")
        self.tenfold('exec', model or f'--onnx={self.images}', *files, *flags, *ONCE)
        with np.load(self.path('y.npz')) as arrays:
            return arrays['y']

    def test_types(self):
        for name, dtype in (('fp16', np.float16), ('int8', np.int8), ('uint8', np.uint8), ('int32', np.int32), ('fp32', np.float32)):
            y = self.answer(self.x.astype(dtype), f'--inputIOFormats={name}:chw', '--outputIOFormats=fp16:chw')
            self.assertEqual(y.dtype, np.float16)
            np.testing.assert_array_equal(y, self.y)

    def test_orders(self):
        hwc = np.ascontiguousarray(self.x.transpose(0, 2, 3, 1))
        for flags in ((), ('--shapes=x:2x3x4x5',), ('--minShapes=x:1x3x4x5', '--optShapes=x:2x3x4x5', '--maxShapes=x:4x3x4x5')):
            y = self.answer(hwc.astype(np.uint8), '--inputIOFormats=uint8:hwc', '--outputIOFormats=fp32:hwc', *flags)
            np.testing.assert_array_equal(y, self.y.transpose(0, 2, 3, 1))
        np.testing.assert_array_equal(self.answer(hwc.astype(np.float16), '--inputIOFormats=fp16:hwc8+hwc'), self.y)

    def test_a_plan_keeps_them(self):
        plan, hwc = self.path('i.plan'), np.ascontiguousarray(self.x.transpose(0, 2, 3, 1)).astype(np.float16)
        self.answer(hwc, '--inputIOFormats=fp16:hwc', f'--saveEngine={plan}')
        np.testing.assert_array_equal(self.answer(hwc, model=f'--loadEngine={plan}'), self.y)
        self.assertIn('x  f16[', self.tenfold('inspect', plan).stdout)
        self.tenfold('exec', f'--loadEngine={plan}', '--inputIOFormats=fp16:hwc', *ONCE)
        self.refused(USAGE, "'x' is f16 in the plan, not i8", 'exec', f'--loadEngine={plan}', '--inputIOFormats=int8:hwc', *ONCE)

    def test_what_makes_no_sense_is_refused_before_the_build(self):
        ids = save_model(self.path('ids.onnx'), [helper.make_node('Gather', ['table', 'ids'], ['y'])],
                         [('table', FLOAT, [4, 2]), ('ids', TensorProto.INT64, [3])], [('y', FLOAT, [3, 2])])
        for model, part, flag in (
            (self.images, 'chw (row-major', '--inputIOFormats=fp16:chw4'),
            (self.images, "there is no type 'fp17'", '--inputIOFormats=fp17:chw'),
            (self.images, 'expected type:order', '--inputIOFormats=fp16'),
            (self.images, 'has 2 entries for 1 tensors: x', '--inputIOFormats=fp16:chw,fp16:chw'),
            (self.model, "output 'y' is f32[batch,4]: dhwc is an order of [...,C,D,H,W], of 4", '--outputIOFormats=fp16:dhwc'),
            (self.model, "input 'x:0' is f32[batch,6]: hwc is an order of [...,C,H,W], of 3 dims at least", '--inputIOFormats=fp16:hwc'),
            (ids, "'ids' is i64 in the model, which f16 for all would round", '--inputIOFormats=fp16:chw'),
        ):  # fmt: skip
            with self.subTest(flag):
                done = self.refused(USAGE, part, 'exec', f'--onnx={model}', flag, *ONCE)
                self.assertNotIn('Engine built', done.stderr)
        self.tenfold('exec', f'--onnx={ids}', '--inputIOFormats=fp16:chw,int32:chw', '--skipInference')


class OptionalInputs(CliCase):
    """o.onnx: y = x w + b, where w and b are inputs with initializers."""

    def setUp(self):
        super().setUp()
        random = np.random.default_rng(5)
        self.w, self.b = random.standard_normal((6, 4)).astype(np.float32), random.standard_normal(4).astype(np.float32)
        self.x, self.other = random.standard_normal((2, 6)).astype(np.float32), random.standard_normal(4).astype(np.float32)
        nodes = [helper.make_node('MatMul', ['x', 'w'], ['t']), helper.make_node('Add', ['t', 'b'], ['y'])]
        self.optional = save_model(self.path('o.onnx'), nodes, [('x', FLOAT, [2, 6]), ('w', FLOAT, [6, 4]), ('b', FLOAT, [4])],
                                   [('y', FLOAT, [2, 4])], [numpy_helper.from_array(self.w, 'w'), numpy_helper.from_array(self.b, 'b')])
        np.save(self.path('x.npy'), self.x), np.save(self.path('b.npy'), self.other)

    def truth(self, **inputs):
        expected = inputs['x'] @ self.w + inputs.get('b', self.b)
        if onnxruntime:
            quiet = onnxruntime.SessionOptions()
            quiet.log_severity_level = 3
            session = onnxruntime.InferenceSession(self.optional, quiet, providers=['CPUExecutionProvider'])
            np.testing.assert_allclose(session.run(None, inputs)[0], expected, rtol=1e-4, atol=1e-5)
        return expected

    def answer(self, source, files, *flags):
        self.tenfold('exec', source, f'--loadInputs={files}', f"--exportOutput={self.path('y.npz')}", '--noTF32', *flags, *ONCE)
        with np.load(self.path('y.npz')) as arrays:
            return arrays['y']

    def test_bound_or_not(self):
        x, b, plan = f"x:{self.path('x.npy')}", f"b:{self.path('b.npy')}", self.path('o.plan')
        alone, both = self.truth(x=self.x), self.truth(x=self.x, b=self.other)
        for flags in (['--overridable'], ['--overridable=b'], ['--overridable=b', f'--saveEngine={plan}']):
            model = f'--onnx={self.optional}'
            np.testing.assert_allclose(self.answer(model, x, *flags), alone, rtol=1e-4, atol=1e-5)
            np.testing.assert_allclose(self.answer(model, f'{x},{b}', *flags), both, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(self.answer(f'--loadEngine={plan}', x), alone, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(self.answer(f'--loadEngine={plan}', f'{x},{b}'), both, rtol=1e-4, atol=1e-5)
        self.assertIn('b  f32[4]  has a default', self.tenfold('inspect', plan).stdout)

    def test_constants_unless_they_are_asked_for(self):
        files = f"x:{self.path('x.npy')},b:{self.path('b.npy')}"
        expected = "the model has no input 'b'; its inputs are: 'x'"
        self.refused(USAGE, expected, 'exec', f'--onnx={self.optional}', f'--loadInputs={files}', *ONCE)
        part = "'c' is to be overridable, but the model has no input of that name with an initializer; it has 'b', 'w'"
        self.refused(USAGE, part, 'exec', f'--onnx={self.optional}', '--overridable=c', *ONCE)
        self.tenfold('compare', self.optional, '--reference', '--overridable')


if __name__ == '__main__':
    cli_case.main()
