#!/usr/bin/env python3
"""The C interface by dlopen, from Python's ctypes: ctypes_test.py LIBTENFOLD LIBTENFOLD_BUILDER

A model is built from bytes and run on NumPy's arrays; ONNX Runtime (or NumPy, where that is absent) is the independent truth. Then
inspection, bindings, callbacks, errors; and a process that opens the runtime library alone. Exit code 77: NumPy or onnx is missing.
"""
import ctypes as c
import os
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError as missing:
    print(f'skipped: {missing}')
    sys.exit(77)
try:
    import onnxruntime
except ImportError:
    onnxruntime = None

P, I, S, N = c.c_void_p, c.c_int32, c.c_char_p, c.c_size_t
READ = c.CFUNCTYPE(I, P, c.c_uint64, P, N)
WRITE = c.CFUNCTYPE(I, P, P, N)
CHOOSE = c.CFUNCTYPE(I, P, S, S, P, I)


def struct(*fields):
    class Made(c.Structure):
        _fields_ = [('struct_size', N), *fields]

        def __init__(self, **values):
            super().__init__(struct_size=c.sizeof(type(self)), **values)
    return Made


Range = struct(('input', S), ('profile', I), ('rank', I), ('min', P), ('opt', P), ('max', P))
Config = struct(('device', S), ('threads', I), ('optimization_level', I), ('allow_bf16', I), ('timing_cache', S), ('ranges', P),
                ('range_count', I), ('log', P), ('log_user', P), ('refittable', I), ('no_tf32', I))
Binding = struct(('name', S), ('dtype', S), ('shape', c.POINTER(c.c_int64)), ('rank', I), ('is_input', I))
Program = struct(('steps', I), ('ranges', I), ('arena_bytes', c.c_int64), ('arena_live_bytes', c.c_int64), ('nodes', I), ('tensors', I))
Step = struct(('name', S), ('op', S), ('kind', S), ('tactic', S), ('tactic_version', I), ('config_count', I), ('config', P),
              ('attributes', S), ('body', S), ('inputs', I), ('outputs', I), ('workspace_bytes', c.c_int64), ('parent', I), ('part', I),
              ('nodes', c.POINTER(I)), ('node_count', I))
Operand = struct(('name', S), ('dtype', S), ('shape', c.POINTER(c.c_int64)), ('rank', I), ('dims', S), ('layout', S), ('place', S),
                 ('constant', I), ('packed', I), ('dense', I), ('bytes', c.c_int64), ('tensors', c.POINTER(I)), ('tensor_count', I))
ModelNode = struct(('name', S), ('steps', c.POINTER(I)), ('step_count', I), ('removed_by', S))
ModelTensor = struct(('name', S), ('step', I), ('where', S))
Problem = struct(('kind', I), ('opset', I), ('node', S), ('op', S), ('domain', S), ('message', S), ('hint', S), ('text', S), ('outputs', I))


def load(path):
    library = c.CDLL(path, mode=os.RTLD_LOCAL | os.RTLD_NOW)
    for name in ('tenfold_last_error', 'tenfold_version', 'tenfold_status_name', 'tenfold_engine_binding_symbol', 'tenfold_operator',
                 'tenfold_engine_label'):
        if hasattr(library, name):
            getattr(library, name).restype = S
    return library


RUN, BUILD = sys.argv.pop(1), sys.argv.pop(1)
build, run = load(BUILD), load(RUN)
rng = np.random.default_rng(1)
W = rng.standard_normal((5, 3)).astype(np.float32)
B = rng.standard_normal(3).astype(np.float32)


def model():
    """y = softmax(relu(x w + b)) for x[batch, 5]"""
    nodes = [helper.make_node('Gemm', ['x', 'w', 'b'], ['g'], name='gemm'), helper.make_node('Relu', ['g'], ['r'], name='relu'),
             helper.make_node('Softmax', ['r'], ['y'], name='softmax', axis=-1)]
    graph = helper.make_graph(nodes, 'small', [helper.make_tensor_value_info('x', TensorProto.FLOAT, ['batch', 5])],
                              [helper.make_tensor_value_info('y', TensorProto.FLOAT, ['batch', 3])],
                              [numpy_helper.from_array(W, 'w'), numpy_helper.from_array(B, 'b')])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)])
    made.ir_version = 8
    onnx.checker.check_model(made)
    return made.SerializeToString()


def expected(x):
    if onnxruntime:
        return onnxruntime.InferenceSession(model(), providers=['CPUExecutionProvider']).run(None, {'x': x})[0]
    r = np.maximum(x @ W + B, 0)
    e = np.exp(r - r.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def text(value):
    return value.decode() if value is not None else None


def ok(status):
    assert status == 0, f'{text(run.tenfold_status_name(status))}: {text(run.tenfold_last_error())}'


def built():
    shapes = [(c.c_int64 * 2)(n, 5) for n in (1, 2, 8)]
    ranges = (Range * 1)(Range(input=b'x', rank=2, min=c.addressof(shapes[0]), opt=c.addressof(shapes[1]), max=c.addressof(shapes[2])))
    config = Config(threads=1, ranges=c.addressof(ranges), range_count=1, no_tf32=1)
    engine, data = P(), model()
    ok(build.tenfold_build_bytes(data, N(len(data)), c.byref(config), c.byref(engine)))
    return engine


def answer(engine, x):
    context = P()
    ok(run.tenfold_context_create(engine, c.byref(context)))
    y = np.empty((x.shape[0], 3), np.float32)
    ok(run.tenfold_context_set_shape(context, 0, (c.c_int64 * 2)(*x.shape), 2))
    ok(run.tenfold_context_bind(context, 0, P(x.ctypes.data), N(x.nbytes)))
    ok(run.tenfold_context_bind(context, 1, P(y.ctypes.data), N(y.nbytes)))
    ok(run.tenfold_context_run(context))
    run.tenfold_context_free(context)
    return y


class Ctypes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.engine = built()

    def test_answers(self):
        for n in (1, 3, 8):
            x = rng.standard_normal((n, 5)).astype(np.float32)
            np.testing.assert_allclose(answer(self.engine, x), expected(x), rtol=1e-5, atol=1e-6)

    def test_plans_through_callbacks(self):
        pieces, x = [], rng.standard_normal((4, 5)).astype(np.float32)

        def write(_, piece, size):
            pieces.append(c.string_at(piece, size))
            return 0
        ok(run.tenfold_engine_save_to(self.engine, WRITE(write), None))
        plan = b''.join(pieces)

        def read(_, offset, to, size):
            c.memmove(to, plan[offset:offset + size], size)
            return 0
        loaded = P()
        ok(run.tenfold_engine_load_from(c.c_uint64(len(plan)), READ(read), None, None, c.byref(loaded)))
        np.testing.assert_array_equal(answer(loaded, x), answer(self.engine, x))
        run.tenfold_engine_free(loaded)
        failing = READ(lambda *_: 6)   # TENFOLD_IO
        self.assertEqual(run.tenfold_engine_load_from(c.c_uint64(len(plan)), failing, None, None, c.byref(loaded)), 6)
        with tempfile.NamedTemporaryFile(suffix='.plan') as file:
            ok(run.tenfold_engine_save(self.engine, file.name.encode()))
            with open(file.name, 'rb') as saved:
                self.assertEqual(saved.read(), plan)
            self.alone(file.name, x)

    def alone(self, plan, x):
        """A process that has the runtime library only."""
        code = ('import ctypes as c, sys\n'
                'run = c.CDLL(sys.argv[1]); e = c.c_void_p()\n'
                'assert run.tenfold_engine_load(sys.argv[2].encode(), c.byref(e)) == 0\n'
                'print(run.tenfold_engine_bindings(e), "builder" in open("/proc/self/maps").read())\n')
        out = subprocess.run([sys.executable, '-c', code, RUN, plan], capture_output=True, text=True, check=True).stdout
        self.assertEqual(out.split(), ['2', 'False'])

    def test_inspection(self):
        info = Binding()
        ok(run.tenfold_engine_binding(self.engine, 0, c.byref(info)))
        self.assertEqual((info.name, info.dtype, info.rank, info.is_input, info.shape[0], info.shape[1]), (b'x', b'f32', 2, 1, -1, 5))
        self.assertEqual(run.tenfold_engine_binding_symbol(self.engine, 0, 0), b'batch')
        inspection, said = P(), S()
        ok(run.tenfold_inspect(self.engine, c.byref(inspection)))
        ok(run.tenfold_inspection_text(inspection, 1, c.byref(said)))
        words = text(said.value)
        ok(run.tenfold_inspection_json(inspection, c.byref(said)))
        self.assertIn('"Layers"', text(said.value))
        program, names = Program(), []
        ok(run.tenfold_inspection_program(inspection, 0, c.byref(program)))
        self.assertGreater(program.steps, 0)
        for i in range(program.steps):
            step, operand = Step(), Operand()
            ok(run.tenfold_inspection_step(inspection, 0, i, c.byref(step)))
            self.assertIn(text(step.tactic), words)
            for o in range(step.inputs + step.outputs):
                ok(run.tenfold_inspection_operand(inspection, 0, i, o, c.byref(operand)))
                self.assertIn(text(operand.place), words)
                names.append(operand.name)
        self.assertIn(b'y', names)
        nodes, tensors = [], {}
        for i in range(program.nodes):
            node = ModelNode()
            ok(run.tenfold_inspection_node(inspection, 0, i, c.byref(node)))
            self.assertNotEqual(node.step_count > 0, node.removed_by != b'')   # in steps, or removed by somebody
            nodes.append((text(node.name), node.steps[0] if node.step_count else -1))
        for i in range(program.tensors):
            tensor = ModelTensor()
            ok(run.tenfold_inspection_tensor(inspection, 0, i, c.byref(tensor)))
            tensors[text(tensor.name)] = (tensor.step, text(tensor.where))
        self.assertEqual(len(nodes), len(onnx.load_from_string(model()).graph.node))
        self.assertRegex(tensors['y'][1], 'result 0 of step')
        ok(run.tenfold_inspection_step(inspection, 0, tensors['y'][0], c.byref(step)))
        self.assertGreater(step.node_count, 0)
        self.assertIn(tensors['y'][0], [step for _, step in nodes])
        self.assertEqual(run.tenfold_inspection_node(inspection, 0, program.nodes, c.byref(node)), 1)
        self.assertEqual(run.tenfold_inspection_step(inspection, 0, program.steps, c.byref(step)), 1)
        run.tenfold_inspection_free(inspection)

    def test_models_without_a_build(self):
        handle, info, data = P(), Binding(), model()
        ok(build.tenfold_model_open_bytes(data, N(len(data)), None, c.byref(handle)))
        self.assertEqual(build.tenfold_model_bindings(handle), 2)
        ok(build.tenfold_model_binding(handle, 1, c.byref(info)))
        self.assertEqual((info.name, info.dtype, info.shape[0], info.shape[1]), (b'y', b'f32', -1, 3))
        build.tenfold_model_free(handle)

    def test_problems_of_a_model(self):
        nodes = [helper.make_node('Nonsense', ['x'], ['t'], name='one'), helper.make_node('Softmax', ['x'], ['y'], name='two', axis=4)]
        x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in 'xy')
        data = helper.make_model(helper.make_graph(nodes, 'bad', [x], [y]), opset_imports=[helper.make_opsetid('', 17)]).SerializeToString()
        engine, problems, problem, reported = P(), P(), Problem(), []
        self.assertEqual(build.tenfold_build_bytes(data, N(len(data)), None, c.byref(engine)), 2)
        ok(build.tenfold_last_problems(c.byref(problems)))
        for i in range(build.tenfold_problems_count(problems)):
            ok(build.tenfold_problems_get(problems, i, c.byref(problem)))
            reported.append((problem.node, problem.op, problem.opset, problem.kind))
        build.tenfold_problems_free(problems)
        self.assertEqual(reported, [(b'one', b'Nonsense', 17, 3), (b'two', b'Softmax', 17, 2)])

    def test_errors(self):
        engine = P()
        self.assertEqual(build.tenfold_build_bytes(b'no model', N(8), None, c.byref(engine)), 2)
        self.assertNotEqual(run.tenfold_last_error(), b'')   # one text for both libraries
        self.assertEqual(run.tenfold_last_error(), build.tenfold_last_error())
        self.assertEqual(run.tenfold_engine_load(b'/no/such.plan', c.byref(engine)), 6)
        self.assertIn(b'/no/such.plan', run.tenfold_last_error())
        self.assertEqual(text(run.tenfold_status_name(6)), 'io')
        context = P()
        ok(run.tenfold_context_create(self.engine, c.byref(context)))
        self.assertEqual(text(run.tenfold_status_name(run.tenfold_context_run(context))), 'not_ready')
        run.tenfold_context_free(context)


if __name__ == '__main__':
    unittest.main()
