#!/usr/bin/env python3
"""Builds and runs by the program `tenfold`, and the flags that say how: cli_test.py TENFOLD (what it tells: cli_outputs_test.py)"""

import json
import os
import pathlib
import re
import tempfile

import cli_case
from cli_case import BATCH, FLOAT, ONCE, CliCase, TensorProto, helper, np, numpy_helper, save_model


class CommandLine(CliCase):
    def test_usage_errors_say_what_to_do(self):
        self.refused(2, 'did you mean --saveEngine?', 'exec', f'--onnx={self.model}', '--saveEngin=x')
        self.refused(2, "did you mean 'tenfold inspect'?", 'inspct')
        self.refused(2, 'not supported by Tenfold', 'exec', f'--onnx={self.model}', '--useDLACore=0')
        self.refused(2, 'a whole number', 'exec', f'--onnx={self.model}', '--iterations', 'many')
        self.refused(
            2,
            'must not decrease',
            'exec',
            f'--onnx={self.model}',
            "--minShapes='x:0':3x6",
            "--optShapes='x:0':2x6",
            "--maxShapes='x:0':4x6",
        )
        self.refused(2, "the model's inputs are", 'exec', f'--onnx={self.model}', '--shapes=z:1x6')
        self.refused(2, 'in single quotes', 'exec', f'--onnx={self.model}', '--shapes=1y6')
        self.refused(2, "there is no type 'half'", 'exec', f'--onnx={self.model}', '--inputIOFormats=half:chw', '--skipInference')

    def test_shape_tensors_take_values(self):
        model, out = self.path('reshape.onnx'), self.path('reshape.npz')
        nodes = [helper.make_node('Reshape', ['x', 'target'], ['t']), helper.make_node('Relu', ['t'], ['y'])]
        save_model(model, nodes, [('x', FLOAT, [4, 6]), ('target', TensorProto.INT64, [2])], [('y', FLOAT, ['a', 'b'])], [])
        for shapes in (['--shapes=target:8x3'], ['--minShapes=target:1x1', '--optShapes=target:8x3', '--maxShapes=target:24x24']):
            self.tenfold('exec', f'--onnx={model}', *shapes, f'--exportOutput={out}', *ONCE)
            with np.load(out) as arrays:
                self.assertEqual(arrays['y'].shape, (8, 3))
        self.refused(2, 'must not decrease', 'exec', f'--onnx={model}', '--minShapes=target:9x1', '--optShapes=target:8x3')

    def test_build_save_load_run(self):
        x = np.random.default_rng(2).standard_normal((3, 6)).astype(np.float32)
        plan, out = self.path('m.plan'), self.path('out.npz')
        done = self.tenfold(
            'exec',
            '--onnx',
            self.model,
            "--minShapes='x:0':1x6",
            "--optShapes='x:0':2x6",
            "--maxShapes='x:0':4x6",
            '--saveEngine',
            plan,
            '--skipInference',
            '--json',
            '--builderOptimizationLevel=0',
        )
        self.assertIsNone(json.loads(done.stdout.splitlines()[-1])['median_ms'])
        np.save(self.path('x.npy'), x)
        np.savez(self.path('x.npz'), **{'x:0': x})
        x.tofile(self.path('x.bin'))
        with open(self.path('x.pb'), 'wb') as f:
            f.write(numpy_helper.from_array(x, 'x:0').SerializeToString())
        for source in ('x.npy', 'x.npz', 'x.bin', 'x.pb'):
            self.tenfold(
                'exec',
                f'--loadEngine={plan}',
                f"--loadInputs='x:0':{self.path(source)}",
                "--shapes='x:0':3x6",
                f'--exportOutput={out}',
                *ONCE,
            )
            with np.load(out) as arrays:
                self.assertEqual(list(arrays), ['y'])
                np.testing.assert_allclose(arrays['y'], np.tanh(x @ self.weights), rtol=1e-4, atol=2e-5)
        self.tenfold('compare', plan, out, f'--loadInputs={self.path("x.npz")}', '--tolerance=0')   # an .npz of all inputs
        self.refused(2, 'outside every profile', 'exec', f'--loadEngine={plan}', "--shapes='x:0':5x6", *ONCE)
        self.refused(1, '2x6', 'exec', f'--loadEngine={plan}', f"--loadInputs='x:0':{self.path('x.npy')}", "--shapes='x:0':2x6", *ONCE)
        stored = self.tenfold('compare', plan, out, f"--loadInputs='x:0':{self.path('x.npy')}", '--tolerance=0', '--json')
        self.assertEqual(json.loads(stored.stdout)['outputs'][0]['l0'], 0)
        np.savez(out, y=np.tanh(x @ self.weights) + np.float32(0.01))
        self.tenfold('compare', plan, out, f"--loadInputs='x:0':{self.path('x.npy')}", '--tolerance=1e-3', code=5)
        self.tenfold('compare', self.model, '--reference', "--shapes='x:0':2x6", '--tolerance=1e-5')
        # A plan's own graph, here one without a constant.
        bare = self.path('bare.plan')
        relu = [helper.make_node('Relu', ['x'], ['y'])]
        model = save_model(self.path('bare.onnx'), relu, [('x', FLOAT, [3])], [('y', FLOAT, [3])], [])
        self.tenfold('exec', f'--onnx={model}', f'--saveEngine={bare}', *ONCE)
        self.assertNotIn('rounded', self.tenfold('compare', bare, '--reference', '--tolerance=0').stderr)

    def test_sizes_of_inputs_that_are_left_out(self):
        add = [helper.make_node('Add', ['x', 'z'], ['y'])]
        named = [('x', FLOAT, BATCH), ('z', FLOAT, BATCH)]
        model, plan = save_model(self.path('sum.onnx'), add, named, [('y', FLOAT, BATCH)]), self.path('sum.plan')
        self.tenfold('exec', f'--onnx={model}', f'--saveEngine={plan}', '--minShapes=x:1x6,z:1x6', '--optShapes=x:2x6,z:2x6',
                     '--maxShapes=x:4x6,z:4x6', *ONCE)
        out = self.path('sum.npz')
        for rows, x in ((3, '--shapes=x:3x6'), (4, f'--loadInputs=x:{self.path("x.npy")}')):
            np.save(self.path('x.npy'), np.zeros((4, 6), np.float32))
            self.tenfold('exec', f'--loadEngine={plan}', x, f'--exportOutput={out}', *ONCE)
            with np.load(out) as arrays:
                self.assertEqual(arrays['y'].shape, (rows, 6))
        self.refused(2, 'disagrees', 'exec', f'--loadEngine={plan}', '--shapes=x:3x6,z:2x6', *ONCE)
        np.savez(self.path('more.npz'), x=np.zeros((4, 6), np.float32), mask=np.zeros(3))
        self.refused(2, "'mask'", 'exec', f'--loadEngine={plan}', f'--loadInputs={self.path("more.npz")}', *ONCE)
        raw = self.write('raw.bin', b'1234')
        self.refused(2, "'no_such'", 'exec', f'--loadEngine={plan}', f'--loadInputs=no_such:{raw}', *ONCE)

    def test_every_profile_answers(self):
        x = np.random.default_rng(3).standard_normal((9, 6)).astype(np.float32)
        plan, out = self.path('two.plan'), self.path('out.npz')
        self.tenfold(
            'exec',
            f'--onnx={self.model}',
            '--profile=0',
            "--minShapes='x:0':1x6",
            "--maxShapes='x:0':2x6",
            '--profile=1',
            "--minShapes='x:0':3x6",
            "--optShapes='x:0':4x6",
            "--maxShapes='x:0':9x6",
            f'--saveEngine={plan}',
            '--skipInference',
            '--builderOptimizationLevel=0',
        )
        for rows in (1, 2, 3, 9):
            np.save(self.path('x.npy'), x[:rows])
            self.tenfold(
                'exec', f'--loadEngine={plan}', f"--loadInputs='x:0':{self.path('x.npy')}", f'--exportOutput={out}', '--infStreams=2', *ONCE
            )
            with np.load(out) as arrays:
                np.testing.assert_allclose(arrays['y'], np.tanh(x[:rows] @ self.weights), rtol=1e-4, atol=2e-5)
        self.refused(2, '3x6 lies outside profile 0: 1..2x6', 'exec', f'--loadEngine={plan}', '--useProfile=0', "--shapes='x:0':3x6", *ONCE)

    def test_refit(self):
        plan, other, out = self.path('r.plan'), self.path('other.onnx'), self.path('out.npz')
        x = np.random.default_rng(4).standard_normal((2, 6)).astype(np.float32)
        np.save(self.path('x.npy'), x)
        nodes = [helper.make_node('MatMul', ['x:0', 'w'], ['t']), helper.make_node('Tanh', ['t'], ['y'])]
        shapes = [('x:0', FLOAT, BATCH)], [('y', FLOAT, ['batch', 4])]
        save_model(other, nodes, *shapes, [numpy_helper.from_array(-self.weights, 'w')])
        self.tenfold('exec', f'--onnx={self.model}', '--refit', "--shapes='x:0':2x6", f'--saveEngine={plan}', '--skipInference',
                     '--dumpRefit', '--builderOptimizationLevel=0')
        run = [f"--loadInputs='x:0':{self.path('x.npy')}", f'--exportOutput={out}', *ONCE]
        refitted = self.path('refitted.plan')
        for arguments, sign in (([f'--loadEngine={plan}'], 1),
                                ([f'--loadEngine={plan}', f'--refitFromOnnx={other}', f'--saveEngine={refitted}'], -1),
                                ([f'--loadEngine={plan}', f'--onnx={other}', '--refitFromOnnx'], -1), ([f'--loadEngine={refitted}'], -1)):
            done = self.tenfold('exec', *arguments, '--dumpRefit', *run)
            self.assertIn('w  f32[6x4]', done.stdout)
            with np.load(out) as arrays:
                np.testing.assert_allclose(arrays['y'], np.tanh(x @ (sign * self.weights)), rtol=1e-4, atol=2e-5)
        nodes[0].input[1] = 'w_'
        save_model(other, nodes, *shapes, [numpy_helper.from_array(self.weights, 'w_')])
        self.refused(2, "did you mean 'w'", 'exec', f'--loadEngine={plan}', f'--refitFromOnnx={other}', *ONCE)
        fixed = self.path('fixed.plan')
        self.tenfold('exec', f'--onnx={self.model}', f'--saveEngine={fixed}', '--skipInference', '--builderOptimizationLevel=0')
        self.refused(3, '--refit', 'exec', f'--loadEngine={fixed}', f'--refitFromOnnx={self.model}', *ONCE)
        self.refused(2, '--loadEngine', 'exec', f'--onnx={self.model}', '--refitFromOnnx', *ONCE)

    def test_hints(self):
        def settings(*flags):
            output = self.tenfold('exec', f'--onnx={self.model}', *flags, *ONCE).stdout
            return re.search(r'threads = (\d+), streams = (\d+)', output).groups()

        cores = len(os.sched_getaffinity(0))
        self.assertEqual(settings('--hint=latency')[1], '1')
        self.assertEqual(settings('--hint=latency'), settings())
        threads, streams = settings('--hint=throughput')
        self.assertEqual(threads, '1')
        self.assertTrue(1 <= int(streams) <= cores, streams)   # a cgroup's share may be less
        self.assertEqual(settings('--hint=throughput', '--infStreams=3'), ('1', '3'))
        self.assertEqual(settings('--hint=throughput', f'--threads={cores}')[1], '1')
        plan = self.path('hint.plan')
        self.tenfold('exec', f'--onnx={self.model}', f'--saveEngine={plan}', f'--threads={cores}', '--skipInference')
        loaded = self.tenfold('exec', f'--loadEngine={plan}', '--hint=throughput', *ONCE).stdout
        self.assertEqual(re.search(r'threads = (\d+), streams = (\d+)', loaded).groups(), (threads, streams))
        self.assertEqual(settings('--hint=throughput', '--infStreams=3', '--pinThreads'), ('1', '3'))
        pinned = self.tenfold('exec', f'--loadEngine={plan}', f'--threads={cores}', '--infStreams=2', '--pinThreads', *ONCE).stdout
        self.assertRegex(pinned, r'streams = 2')
        self.assertNotIn('share the workers', pinned)
        many = self.tenfold('exec', f'--loadEngine={plan}', f'--threads={cores + 1}', '--infStreams=2', *ONCE)
        self.assertIn(f'2 contexts of {cores + 1} threads share the workers of 1', many.stdout + many.stderr)
        self.refused(2, 'latency or throughput', 'exec', f'--onnx={self.model}', '--hint=cheapest', *ONCE)

    def test_first_device_that_works(self):
        with tempfile.TemporaryDirectory() as folder:
            plan = os.path.join(folder, 'm.plan')
            flags = ('--device=99,cpu', "--shapes='x:0':2x6", '--useSpinWait', *ONCE)
            text = self.tenfold('exec', f'--onnx={self.model}', f'--saveEngine={plan}', *flags)
            self.assertIn("'cuda:99' does not work: there is no device 'cuda:99'", text.stdout + text.stderr)
            self.assertIn("Answers come from 'cpu'", text.stdout + text.stderr)
            self.assertEqual(os.listdir(folder), ['m.cpu.plan'])
            text = self.tenfold('exec', f'--loadEngine={plan}', *flags)
            self.assertIn("Answers come from 'cpu'", text.stdout + text.stderr)
        self.refused(1, "there is no device 'cuda:98'", 'exec', f'--onnx={self.model}', '--device=cuda:99,cuda:98', *ONCE)

    def test_damaged_arrays(self):
        np.savez(self.path('good.npz'), **{'x:0': np.zeros((1, 6), np.float32)})
        good = pathlib.Path(self.path('good.npz')).read_bytes()
        np.savez_compressed(self.path('packed.npz'), **{'x:0': np.zeros((1, 6), np.float32)})
        plan = self.path('m.plan')
        self.tenfold('exec', f'--onnx={self.model}', f'--saveEngine={plan}', '--skipInference', '--builderOptimizationLevel=0')
        load = lambda name: ('exec', f'--loadEngine={plan}', f"--loadInputs='x:0':{self.path(name)}", *ONCE)
        self.tenfold(*load('good.npz'))
        self.tenfold(*load('packed.npz'))
        for cut in (0, 10, 40, 100, len(good) // 2, len(good) - 30, len(good) - 1):
            with open(self.path('cut.npz'), 'wb') as f:
                f.write(good[:cut])
            self.refused(1, 'cut.npz', *load('cut.npz'))
        flipped = bytearray(good)
        flipped[good.index(b'NUMPY') + 130] ^= 1
        with open(self.path('flip.npz'), 'wb') as f:
            f.write(flipped)
        self.refused(1, 'checksum', *load('flip.npz'))


if __name__ == '__main__':
    cli_case.main()
