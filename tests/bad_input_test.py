#!/usr/bin/env python3
"""Bad input on the command line: bad_input_test.py TENFOLD. Each ends in one message, the documented exit code, and nothing left behind."""

import os
import pathlib
import random
import subprocess

import cli_case
from cli_case import FLOAT, ONCE, CliCase, TensorProto, helper, np, numpy_helper, save_model

RUN_FAILED, USAGE, MODEL, PLAN, MEMORY = 1, 2, 3, 4, 6
node = helper.make_node
X, Y = [('x', FLOAT, [2, 3])], [('y', FLOAT, None)]


def tensor(name, dims, data=b'', kind=FLOAT):
    return TensorProto(name=name, data_type=kind, dims=dims, raw_data=data)


def external(location, offset=None, length=None, dims=(3,)):
    t = TensorProto(name='w', data_type=FLOAT, dims=dims, data_location=TensorProto.EXTERNAL)
    for key, value in (('location', location), ('offset', offset), ('length', length)):
        if value is not None:
            t.external_data.add(key=key, value=str(value))
    return t


class BadModels(CliCase):
    def refuses(self, code, expected, nodes, inputs=X, outputs=Y, initializers=(), **options):
        model = save_model(self.path('bad.onnx'), nodes, inputs, outputs, initializers, **options)
        self.refused(code, expected, 'exec', f'--onnx={model}', f'--saveEngine={self.path("bad.plan")}', '--noBuilderCache', *ONCE)

    def test_no_model_at_all(self):
        os.mkdir(self.path('folder'))
        whole = pathlib.Path(self.model).read_bytes()
        for code, name, expected in (
            (RUN_FAILED, 'absent', 'No such file'),
            (RUN_FAILED, 'folder', 'directory'),
            (MODEL, 'empty', 'is empty'),
            (MODEL, 'text', 'is not an ONNX model'),
            (MODEL, 'noise', 'is not an ONNX model'),
        ):
            data = {'empty': b'', 'text': b'hello, this is no model\n', 'noise': random.Random(1).randbytes(5000)}.get(name)
            if data is not None:
                self.write(name, data)
            for verb in (['exec', f'--onnx={self.path(name)}'], ['inspect', self.path(name)], ['compare', self.path(name), '--reference']):
                self.assertIn(name, self.refused(code, '', *verb).stderr)
            self.refused(code, expected, 'exec', f'--onnx={self.path(name)}')
        for cut in range(0, len(whole), 7):
            self.refused(MODEL, 'cut', 'exec', f'--onnx={self.write("cut", whole[:cut])}', *ONCE)

    def test_unknown_operators_are_told_at_once(self):
        nodes = [
            node('Frobnicate', ['x'], ['t'], name='first'),
            node('Relu', ['t'], ['u']),
            node('Defrobnicate', ['u'], ['y'], name='last'),
        ]
        self.refuses(MODEL, '2 nodes are not supported', nodes)
        self.refuses(MODEL, "'first' (Frobnicate, opset 21)", nodes)
        self.refuses(MODEL, "'last' (Defrobnicate, opset 21)", nodes)
        self.refuses(
            MODEL,
            "imports no version of the domain 'com.example'",
            [node('Relu', ['x'], ['t']), node('Magic', ['t'], ['y'], domain='com.example')],
        )

    def test_attributes(self):
        self.refuses(MODEL, "attribute 'axis' is a string, an int was expected", [node('Softmax', ['x'], ['y'], axis='one')])
        self.refuses(MODEL, "no attribute 'slope'", [node('Relu', ['x'], ['y'], slope=1.0)])
        self.refuses(MODEL, 'axis 7 is out of range for 2 dimensions', [node('Softmax', ['x'], ['y'], axis=7)])
        self.refuses(MODEL, 'Cast', [node('Cast', ['x'], ['y'], to=12345)])

    def test_integers_that_cannot_be_divided(self):
        """-2^63 / -1 has no place in 64 bits, and processors trap on it."""

        def constants(*values):
            return [numpy_helper.from_array(np.int64(v), name) for v, name in zip(values, ('start', 'limit', 'delta'))]

        nodes, outputs = [node('Range', ['start', 'limit', 'delta'], ['y'])], [('y', TensorProto.INT64, None)]
        self.refuses(MODEL, 'further than can be counted', nodes, [], outputs, constants(0, -(2**63), -1))
        model = save_model(self.path('bad.onnx'), nodes, [], outputs, constants(0, -(2**63), -1))
        self.assertIn('further than can be counted', self.tenfold('check', model, code=MODEL).stdout)
        self.refuses(MODEL, 'delta is 0', nodes, [], outputs, constants(0, 5, 0))

    def test_graphs(self):
        self.refuses(
            MODEL, 'depends on its own result', [node('Relu', ['b'], ['a']), node('Relu', ['a'], ['b']), node('Add', ['a', 'x'], ['y'])]
        )
        self.refuses(MODEL, "'y' is defined twice", [node('Relu', ['x'], ['y']), node('Tanh', ['x'], ['y'])])
        self.refuses(MODEL, "two inputs are named 'x'", [node('Relu', ['x'], ['y'])], [('x', FLOAT, [2]), ('x', FLOAT, [3])])
        self.refuses(MODEL, "'w' is defined twice", [node('Add', ['x', 'w'], ['y'])], initializers=[tensor('w', [1], b'1234')] * 2)
        self.refuses(MODEL, "its input 'w' is not defined", [node('Add', ['x', 'w'], ['y'])])
        self.refuses(MODEL, "the output 'y' is not defined", [node('Relu', ['x'], ['t'])])
        self.refuses(MODEL, 'no outputs', [node('Relu', ['x'], ['t'])], outputs=[])
        self.refuses(MODEL, 'declared as i64, but computed as f32', [node('Relu', ['x'], ['y'])], outputs=[('y', TensorProto.INT64, None)])

    def test_branches(self):
        """A branch that contradicts the shapes may stand there until it is taken; one that no shapes would mend may not."""

        def choose(*then):
            bodies = [helper.make_graph(nodes, name, [], [helper.make_tensor_value_info('r', FLOAT, None)]) for name, nodes in
                      (('then', then), ('else', [node('Relu', ['x'], ['r'])]))]  # fmt: skip
            return dict(
                nodes=[node('If', ['c'], ['y'], name='choose', then_branch=bodies[0], else_branch=bodies[1])],
                inputs=[*X, ('c', TensorProto.BOOL, [])],
                initializers=[numpy_helper.from_array(np.array([7]), 'seven')],
            )

        misfit = node('Reshape', ['x', 'seven'], ['t'], name='misfit')
        for expected, last in (
            ("'choose/then_branch/odd' (Frobnicate, opset 21)", node('Frobnicate', ['t'], ['r'], name='odd')),
            ("attribute 'axis' is a string, an int was expected", node('Softmax', ['t'], ['r'], axis='one')),
            ("uses 'ghost', which nothing defines", node('Add', ['t', 'ghost'], ['r'])),
        ):
            self.refuses(MODEL, expected, **choose(misfit, last))
            self.refuses(MODEL, expected, **choose(node('Relu', ['x'], ['t']), last))
        self.refuses(MODEL, "operand 1 ('seven') of Add is i64, expected f32", **choose(node('Add', ['x', 'seven'], ['r'])))
        self.refuses(MODEL, 'Reshape takes 2 operands, 1 given', **choose(node('Reshape', ['x'], ['r'])))

        model = save_model(self.path('misfit.onnx'), outputs=Y, **choose(misfit, node('Relu', ['t'], ['r'])))
        for taken in (True, False):
            np.save(self.path(f'{taken}.npy'), np.array(taken))
        run = ['exec', f'--onnx={model}', '--noBuilderCache', *ONCE]
        self.assertRegex(self.tenfold(*run, f'--loadInputs=c:{self.path("False.npy")}').stderr, r"\[W\] .*'choose/then_branch/' cannot run")
        self.refused(RUN_FAILED, 'misfit', *run, f'--loadInputs=c:{self.path("True.npy")}')

    def test_shapes(self):
        self.refuses(
            MODEL, 'cannot multiply [2,3] by [5,4]', [node('MatMul', ['x', 'w'], ['y'])], initializers=[tensor('w', [5, 4], bytes(80))]
        )
        self.refuses(MODEL, 'extent -5', [node('Relu', ['x'], ['y'])], [('x', FLOAT, [-5, 3])])
        self.refuses(MODEL, '1099511627776', [node('Relu', ['x'], ['y'])], [('x', FLOAT, [2**40, 2**40])])
        big = lambda *dims: [numpy_helper.from_array(np.array(dims), 's')]
        self.refuses(MODEL, 'more elements than can be counted', [node('Expand', ['x', 's'], ['y'])], initializers=big(2**40, 2**30, 2, 3))
        warned = save_model(self.path('stale.onnx'), [node('Relu', ['x'], ['y'])], X, [('y', FLOAT, [7, 7])])
        self.assertIn(
            "'y' is declared with another shape than the [2,3]", self.tenfold('exec', f'--onnx={warned}', '--noBuilderCache', *ONCE).stderr
        )

    def test_names_that_would_steer_a_terminal(self):
        model = save_model(self.path('steer.onnx'), [node('Frobnicate', ['x'], ['y'], name='\x1b[2J')], X, Y)
        self.assertNotIn('\x1b', self.refused(MODEL, r"'\x1b[2J' (Frobnicate", 'exec', f'--onnx={model}', *ONCE).stderr)

    def test_shapes_larger_than_memory(self):
        shape = [numpy_helper.from_array(np.array([2**40]), 's')]
        nodes = [node('ConstantOfShape', ['s'], ['c']), node('ReduceMax', ['c'], ['m'], keepdims=0), node('Add', ['x', 'm'], ['y'])]
        model = save_model(self.path('big.onnx'), nodes, X, Y, shape)
        output = self.refused(MEMORY, 'bytes of host memory for a context', 'exec', f'--onnx={model}', '--noBuilderCache', *ONCE).stderr
        self.assertIn('smaller shapes (--maxShapes) or fewer threads take less', output)

    def test_initializers(self):
        add = [node('Add', ['x', 'w'], ['y'])]
        self.refuses(MODEL, 'holds 4 bytes of data, its shape [100] of f32 needs 400', add, initializers=[tensor('w', [100], b'1234')])
        self.refuses(MODEL, 'size overflow', add, initializers=[tensor('w', [2**62, 2], b'1234')])
        self.refuses(MODEL, 'extent -1', add, initializers=[tensor('w', [-1])])
        self.refuses(MODEL, "tensor 'w'", add, initializers=[tensor('w', [1], b'1234', kind=999)])

    def test_external_data(self):
        add, outside = [node('Add', ['x', 'w'], ['y'])], self.path('outside')
        os.mkdir(outside)
        self.folder = self.path('inside')  # the model's folder; refusals must leave it as it was
        os.mkdir(self.folder)
        secret = np.ones(30, np.float32).tobytes()
        pathlib.Path(outside, 'secret.bin').write_bytes(secret)
        self.write('data.bin', secret)
        os.symlink('../outside/secret.bin', self.path('link.bin'))
        os.symlink('../outside', self.path('linked'))
        os.link(os.path.join(outside, 'secret.bin'), self.path('hard.bin'))
        os.mkfifo(self.path('pipe.bin'))
        os.mkdir(self.path('folder'))
        self.write('bad.onnx', b'')  # so that it is no news afterwards
        for code, expected, *where in (
            (RUN_FAILED, "'absent.bin' was not read: No such file", 'absent.bin'),
            (MODEL, "contains '..'", '../outside/secret.bin'),
            (MODEL, 'absolute', os.path.join(outside, 'secret.bin')),
            (MODEL, '--externalDataDir', 'link.bin'),
            (MODEL, 'symbolic link', 'linked/secret.bin'),
            (MODEL, 'hard links', 'hard.bin'),
            (RUN_FAILED, 'directory', 'folder'),
            (RUN_FAILED, 'not a regular file', 'pipe.bin'),
            (MODEL, 'location is empty', ''),
            (MODEL, 'lie outside', 'data.bin', 4096, 12),
            (MODEL, 'needs 12', 'data.bin', 0, 4),
            (MODEL, 'not a count of bytes', 'data.bin', -4, 12),
            (MODEL, 'not a count of bytes', 'data.bin', 2**63, 12),
            (MODEL, 'lie outside', 'data.bin', 2**63 - 8, 12),
            (MODEL, 'lie outside', 'data.bin', None, None, [1000]),
        ):
            with self.subTest(where):
                self.refuses(code, expected, add, initializers=[external(*where)])
                second = external(*where)
                second.name = 'v'
                self.refuses(code, expected, [*add, node('Add', ['y', 'v'], ['z'])], initializers=[external(*where), second])


class BadRuns(CliCase):
    def setUp(self):
        super().setUp()
        self.plan = self.make_plan('m.plan', None, "--minShapes='x:0':1x6", "--optShapes='x:0':2x6", "--maxShapes='x:0':4x6")

    def refuses(self, code, expected, *flags):
        self.refused(code, expected, 'exec', f'--loadEngine={self.plan}', *ONCE, *flags)

    def array(self, name, shape, kind=np.float32):
        np.save(self.path(name), np.ones(shape, kind))
        return f"--loadInputs='x:0':{self.path(name)}"

    def test_inputs(self):
        self.refuses(RUN_FAILED, 'has type <U1, but f32 is needed', self.array('words.npy', (2, 6), str))
        self.refuses(USAGE, 'not 2x5', self.array('narrow.npy', (2, 5)))
        self.refuses(USAGE, 'not 2x6x1', self.array('rank.npy', (2, 6, 1)))
        self.refuses(USAGE, '9x6 lies outside every profile: 1..4x6', self.array('many.npy', (9, 6)))
        self.refuses(USAGE, '0x6 lies outside every profile', self.array('none.npy', (0, 6)))
        self.refuses(USAGE, "the model has no input 'z'; its inputs are: 'x:0'", f'--loadInputs=z:{self.path("many.npy")}')
        self.refuses(RUN_FAILED, 'No such file', "--loadInputs='x:0':" + self.path('absent.npy'))
        self.refuses(RUN_FAILED, 'it is a folder', "--loadInputs='x:0':" + self.folder)
        self.refuses(USAGE, "gives 'x:0' two files", "--loadInputs='x:0':a.npy,'x:0':b.npy")

    def test_archives(self):
        np.savez(self.path('words.npz'), **{'x:0': np.ones((2, 6), str)})
        np.savez(self.path('other.npz'), z=np.ones((2, 6), np.float32))
        whole = pathlib.Path(self.path('words.npz')).read_bytes()
        self.write('cut.npz', whole[: len(whole) // 2])
        for code, expected, name in (
            (RUN_FAILED, "words.npz['x:0']: the array has type <U1, but f32 is needed", 'words.npz'),
            (USAGE, "'z'", 'other.npz'),
            (RUN_FAILED, 'this is no .npz archive, or it is cut off', 'cut.npz'),
        ):
            self.refuses(code, expected, f'--loadInputs={self.path(name)}')

    def test_an_array_that_cannot_be_counted(self):
        header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }".ljust(117) + b'\n'
        path = self.write('huge.npy', b'\x93NUMPY\x01\x00' + len(header).to_bytes(2, 'little') + header + bytes(24))
        expected = 'huge.npy: the array 4611686018427387904x4 needs more bytes than the file has'
        self.refuses(RUN_FAILED, expected, f"--loadInputs='x:0':{path}")
        self.refuses(
            RUN_FAILED, 'has 5 bytes; f32[2x6] needs 48', "--loadInputs='x:0':" + self.write('raw.bin', b'12345'), "--shapes='x:0':2x6"
        )

    def test_bytes_that_never_end(self):
        for expected, path in (
            ('x:0\' from /dev/zero: it has more than 48 bytes; f32[2x6] needs 48', '/dev/zero'),
            ('has 0 bytes; f32[2x6] needs 48', '/dev/null'),
            ('it is a folder', self.folder),
        ):
            self.refuses(RUN_FAILED, expected, f"--loadInputs='x:0':{path}", "--shapes='x:0':2x6")
        os.symlink('/dev/zero', self.path('zero.npy'))
        self.addCleanup(os.unlink, self.path('zero.npy'))
        self.refuses(RUN_FAILED, 'zero.npy\': it is no file, and gave more than', f"--loadInputs='x:0':{self.path('zero.npy')}")

    def test_bytes_from_a_pipe(self):
        given = np.arange(12, dtype=np.float32).tobytes()
        run = ['exec', f'--loadEngine={self.plan}', "--loadInputs='x:0':/dev/stdin", "--shapes='x:0':2x6", *ONCE]
        for size, code in ((48, 0), (47, RUN_FAILED), (49, RUN_FAILED)):
            done = subprocess.run([cli_case.TENFOLD, *run], input=(given + b'.')[:size], capture_output=True, timeout=120)
            self.assertEqual(done.returncode, code, done.stderr)

    def test_shapes(self):
        self.refuses(USAGE, '5x6 lies outside every profile: 1..4x6', "--shapes='x:0':5x6")
        self.refuses(USAGE, 'is no shape', "--shapes='x:0':-1x6")
        self.refuses(USAGE, 'is no shape', "--shapes='x:0':99999999999999999999x6")
        both = save_model(self.path('both.onnx'), [node('Add', ['x', 'z'], ['y'])], [('x', FLOAT, ['n']), ('z', FLOAT, ['n'])], Y)
        self.plan = self.make_plan('both.plan', both, '--minShapes=x:1,z:1', '--maxShapes=x:8,z:8')
        self.refuses(USAGE, '3 disagrees with the shapes of other inputs', '--shapes=x:2,z:3')

    def test_an_index_out_of_range(self):
        model = save_model(
            self.path('g.onnx'), [node('Gather', ['w', 'i'], ['y'])], [('i', TensorProto.INT64, [1])], Y, [tensor('w', [2, 2], bytes(16))]
        )
        self.plan = self.make_plan('g.plan', model)
        np.save(self.path('i.npy'), np.array([7]))
        self.refuses(RUN_FAILED, 'Gather', f'--loadInputs=i:{self.path("i.npy")}')

    def test_a_device_that_computes_nothing(self):
        self.refused(RUN_FAILED, "build for 'cpu' to run", 'exec', f'--onnx={self.model}', '--device=null', *ONCE)
        self.make_plan('null.plan', None, '--device=null')

    def test_an_unknown_cpu_feature_in_the_environment(self):
        odd = {'env': {**os.environ, 'TENFOLD_CPU_FEATURES': 'avx2,sse9'}}
        for verb in (['exec', f'--onnx={self.model}', *ONCE], ['exec', f'--loadEngine={self.plan}', *ONCE], ['devices']):
            done = self.refused(USAGE, "TENFOLD_CPU_FEATURES: unknown CPU feature 'sse9'", *verb, **odd)
            self.assertIn('avx512bf16', done.stderr)

    def test_outputs_that_cannot_be_written(self):
        self.refuses(RUN_FAILED, 'No such file', '--exportOutput=' + self.path('no/such/folder.npz'))
        self.refuses(RUN_FAILED, 'No space left', '--exportTimes=/dev/full')
        os.mkdir(self.path('o.npz'))
        self.refuses(RUN_FAILED, 'folder', '--exportOutput=' + self.path('o.npz'))
        with open('/dev/full', 'w') as full:
            self.refused(RUN_FAILED, 'No space left', 'ops', stdout=full)


class BadPlans(CliCase):
    def test_no_plan_at_all(self):
        for code, name in (
            (RUN_FAILED, self.path('absent')),
            (RUN_FAILED, self.folder),
            (RUN_FAILED, '/dev/null'),
            (PLAN, self.write('empty', b'')),
            (PLAN, self.write('text', b'hello, this is no plan\n')),
            (PLAN, self.write('trt.engine', b'ftrt' + bytes(4000))),
            (PLAN, self.model),
        ):
            self.refused(code, os.path.basename(name), 'exec', f'--loadEngine={name}')

    def test_damage(self):
        """A sample; src/execution/plan/read_test.cpp tries every byte and bit."""
        plan, dice = pathlib.Path(self.make_plan()).read_bytes(), random.Random(1)
        self.refused(PLAN, 'should have', 'exec', f'--loadEngine={self.write("long", plan + b"x")}')
        for cut in [1, 8, 31, 32, len(plan) - 1, *dice.sample(range(len(plan)), 15)]:
            self.refused(PLAN, 'cut', 'exec', f'--loadEngine={self.write("cut", plan[:cut])}')
        for bit in dice.sample(range(len(plan) * 8), 30):
            flipped = bytearray(plan)
            flipped[bit // 8] ^= 1 << bit % 8
            path = self.write('flipped', flipped)
            self.refused(PLAN, 'flipped', 'exec', f'--loadEngine={path}')
        self.refused(PLAN, 'flipped', 'inspect', path)
        self.refused(PLAN, 'flipped', 'compare', self.model, path)
        self.refused(PLAN, 'flipped', 'exec', f'--loadEngine={path}', '--retune')


if __name__ == '__main__':
    cli_case.main()
