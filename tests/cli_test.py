#!/usr/bin/env python3
"""Tries the command line as a user would: cli_test.py TENFOLD. NumPy and onnx are the truth; without them it is skipped (77)."""

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
        self.refused(2, 'in single quotes', 'exec', f'--onnx={self.model}', '--shapes=1x6')
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

    def test_compare_tells_of_rounded_weights(self):
        # Enough numbers that the build may round them, at a level that takes the first tactic there is.
        w = np.random.default_rng(3).standard_normal((300, 400)).astype(np.float32)
        product = [helper.make_node('MatMul', ['x', 'w'], ['y'])]
        weight = numpy_helper.from_array(w, 'w')
        model = save_model(self.path('w.onnx'), product, [('x', FLOAT, [2, 300])], [('y', FLOAT, [2, 400])], [weight])
        for flag in ((), ('--noTF32',)):
            self.tenfold('exec', f'--onnx={model}', f'--saveEngine={self.path("w.plan")}', *flag, *ONCE)
            steps = self.tenfold('inspect', self.path('w.plan')).stdout
            told = self.tenfold('compare', self.path('w.plan'), '--reference', '--tolerance=1e-4').stderr
            rounds = re.search('_f24|_s16|_s24|_split', steps) is not None
            self.assertEqual('rounded' in told, rounds, steps + told)
            self.assertFalse(rounds and flag)

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

    def test_compare_names_the_first_layer_that_differs(self):
        nodes = [helper.make_node('MatMul', ['x', 'w'], ['a']), helper.make_node('Softmax', ['a'], ['b']),
                 helper.make_node('MatMul', ['b', 'u'], ['c']), helper.make_node('Softmax', ['c'], ['y'])]
        u = np.random.default_rng(2).standard_normal((4, 4)).astype(np.float32)
        models = []
        for k in range(2):
            weights = [numpy_helper.from_array(self.weights, 'w'), numpy_helper.from_array(u * (1 + k), 'u')]
            models.append(save_model(self.path(f'layers{k}.onnx'), nodes, [('x', FLOAT, [3, 6])], [('y', FLOAT, [3, 4])], weights))
        other = json.loads(self.tenfold('compare', *models, '--json').stdout)
        self.assertEqual(other['firstDifference']['name'], 'c')
        self.assertEqual(other['comparedLayers'], 4)
        same = json.loads(self.tenfold('compare', models[0], '--reference', '--json').stdout)
        self.assertIsNone(same['firstDifference'])
        self.assertEqual(same['comparedLayers'], 4)
        self.assertIn('first layer that differs: ', self.tenfold('compare', *models).stdout)

    def test_passes_are_switched_off_and_dumped_by_name(self):
        def dumped(*flags):
            folder = self.path('dump' + str(len(flags)))
            self.tenfold('exec', f'--onnx={self.model}', "--shapes='x:0':2x6", '--skipInference', f'--dumpPasses={folder}', *flags, *ONCE)
            return {name[3:-4]: pathlib.Path(folder, name).read_text() for name in os.listdir(folder)}
        plain, without = dumped(), dumped('--disablePasses=fuse_epilogue')
        self.assertIn('Tanh', plain['import'])
        self.assertIn('tanh', plain['fuse_epilogue'])
        self.assertNotIn('fuse_epilogue', without)
        self.refused(2, 'fuse_attention', 'exec', f'--onnx={self.model}', '--disablePasses=fuse_everything', *ONCE)
        self.assertIn('--disablePasses', self.tenfold('exec', '--help=all').stdout)

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

    def test_types_that_numpy_lacks(self):
        kinds = {
            'f64': (TensorProto.DOUBLE, np.float64),
            'f16': (TensorProto.FLOAT16, np.float16),
            'bf16': (TensorProto.BFLOAT16, np.uint16),
            'i64': (TensorProto.INT64, np.int64),
            'u8': (TensorProto.UINT8, np.uint8),
            'b': (TensorProto.BOOL, np.bool_),
            'f8': (TensorProto.FLOAT8E4M3FN, np.uint8),
            'i4': (TensorProto.INT4, np.int8),
        }
        nodes = [helper.make_node('Cast', ['x'], [name], to=kind) for name, (kind, _) in kinds.items()]
        model = save_model(self.path('c.onnx'), nodes, [('x', FLOAT, [5])], [(name, kind, [5]) for name, (kind, _) in kinds.items()])
        x = np.array([0, 1, 2, 3, 6], np.float32)
        np.save(self.path('x.npy'), x)
        out = self.path('o.npz')
        self.tenfold('exec', f'--onnx={model}', f'--loadInputs=x:{self.path("x.npy")}', f'--exportOutput={out}', *ONCE)
        with np.load(out) as arrays:
            for name, (_, dtype) in kinds.items():
                self.assertEqual(arrays[name].dtype, dtype, name)
            for name in ('f64', 'f16', 'i64', 'u8', 'i4'):
                np.testing.assert_array_equal(arrays[name].astype(np.float32), x, name)
            np.testing.assert_array_equal(arrays['b'], x != 0)
            np.testing.assert_array_equal((arrays['bf16'].astype(np.uint32) << 16).view(np.float32), x)
            np.testing.assert_array_equal(arrays['f8'], [0x00, 0x38, 0x40, 0x44, 0x4C])
            stored = dict(arrays)
        back = save_model(
            self.path('b.onnx'),
            [helper.make_node('Cast', [name], ['y_' + name], to=FLOAT) for name in kinds],
            [(name, kind, [5]) for name, (kind, _) in kinds.items()],
            [('y_' + name, FLOAT, [5]) for name in kinds],
        )
        self.tenfold(
            'exec',
            f'--onnx={back}',
            '--loadInputs=' + ','.join(f'{name}:{out}' for name in kinds),
            '--exportOutput=' + self.path('r.npz'),
            *ONCE,
        )
        with np.load(self.path('r.npz')) as arrays:
            for name in stored:
                np.testing.assert_array_equal(arrays['y_' + name], (x != 0) if name == 'b' else x, name)

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
            said = self.tenfold('exec', f'--onnx={self.model}', *flags, *ONCE).stdout
            return re.search(r'threads = (\d+), streams = (\d+)', said).groups()

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

    def test_trtexec_form(self):
        link = self.path('trtexec')
        os.symlink(cli_case.TENFOLD, link)
        files = {flag: self.path(flag + '.json') for flag in ('exportTimes', 'exportProfile', 'exportLayerInfo', 'exportOutput')}
        done = self.tenfold(
            f'--onnx={self.model}',
            '--iterations=20',
            '--duration=0',
            '--warmUp=0',
            '--percentile=50,99',
            '--infStreams=2',
            '--dumpProfile',
            *(f'--{flag}={path}' for flag, path in files.items()),
            program=[link],
        )
        for text in (
            '=== Performance summary ===',
            'Throughput: ',
            'Latency: min = ',
            'percentile(50%) = ',
            'GPU Compute Time: min',
            'Total Host Walltime: ',
            '&&&& PASSED TensorRT.trtexec',
            '=== Profile (',
        ):
            self.assertIn(text, done.stdout)
        read = {flag: json.loads(pathlib.Path(path).read_text()) for flag, path in files.items()}
        self.assertEqual(len(read['exportTimes']), 40)
        self.assertTrue(all(t['endComputeMs'] >= t['startComputeMs'] for t in read['exportTimes']))
        self.assertEqual(read['exportProfile'][0], {'count': 20})
        self.assertGreater(len(read['exportLayerInfo']['Layers']), 0)
        self.assertEqual(read['exportOutput'][0]['dimensions'], '1x4')

    def test_ranges_for_a_profiler(self):
        listener, log = os.environ.get('TENFOLD_NVTX_LISTENER', ''), self.path('heard')
        if not os.path.exists(listener):
            self.skipTest('TENFOLD_NVTX_LISTENER names no library')
        env = dict(os.environ, NVTX_INJECTION64_PATH=listener, NVTX_LISTENER_LOG=log)
        run = ('exec', f'--onnx={self.model}', '--iterations=3', '--duration=0', '--warmUp=0', '--builderOptimizationLevel=0')
        self.tenfold(*run, env=env)
        self.assertFalse(os.path.exists(log), 'ranges that nobody asked for')
        self.tenfold(*run, '--profilingVerbosity=detailed', env=env)
        heard = pathlib.Path(log).read_text().splitlines()
        outer = [line for line in heard if not line.startswith(' ')]
        self.assertEqual(len(outer), 3)
        self.assertEqual(len(set(outer)), 1)
        self.assertGreaterEqual(len(heard), 2 * len(outer), 'every run has a step')

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
        self.refused(2, "there is no device 'cuda:98'", 'exec', f'--onnx={self.model}', '--device=cuda:99,cuda:98', *ONCE)

    def test_json_line(self):
        last = self.tenfold('exec', f'--onnx={self.model}', '--threads=1', '--json', *ONCE).stdout.splitlines()[-1]
        result = json.loads(last)
        self.assertEqual(
            list(result),
            [
                'model',
                'device',
                'threads',
                'first_run_ms',
                'median_ms',
                'p99_ms',
                'gpu_compute_ms',
                'throughput_qps',
                'build_s',
                'load_ms',
                'weight_bytes',
                'arena_bytes',
                'library_workspace_bytes',
                'peak_rss_bytes',
                'notes',
            ],
        )
        self.assertEqual(result['threads'], 1)
        self.assertGreater(result['median_ms'], 0)

    def test_damaged_arrays(self):
        np.savez(self.path('good.npz'), **{'x:0': np.zeros((1, 6), np.float32)})
        good = pathlib.Path(self.path('good.npz')).read_bytes()
        np.savez_compressed(self.path('packed.npz'), **{'x:0': np.zeros((1, 6), np.float32)})
        plan = self.path('m.plan')
        self.tenfold('exec', f'--onnx={self.model}', f'--saveEngine={plan}', '--skipInference', '--builderOptimizationLevel=0')
        load = lambda name: ('exec', f'--loadEngine={plan}', f"--loadInputs='x:0':{self.path(name)}", *ONCE)
        self.tenfold(*load('good.npz'))
        self.refused(1, 'savez_compressed', *load('packed.npz'))
        for cut in (0, 10, 40, 100, len(good) // 2, len(good) - 30, len(good) - 1):
            with open(self.path('cut.npz'), 'wb') as f:
                f.write(good[:cut])
            self.refused(1, 'cut.npz', *load('cut.npz'))
        flipped = bytearray(good)
        flipped[good.index(b'NUMPY') + 130] ^= 1
        with open(self.path('flip.npz'), 'wb') as f:
            f.write(flipped)
        self.refused(1, 'checksum', *load('flip.npz'))

    def test_names_of_the_model(self):
        """Which nodes a step computes, and where a tensor is: in words, in JSON, in a profile; told of a plan as of its model."""
        model = save_model(
            self.path('names.onnx'),
            [helper.make_node('MatMul', ['x', 'w'], ['p'], name='product'), helper.make_node('Identity', ['p'], ['i'], name='nothing'),
             helper.make_node('Tanh', ['i'], ['t']), helper.make_node('Softmax', ['t'], ['y'], name='end')],
            [('x', FLOAT, BATCH)], [('y', FLOAT, ['batch', 4])], [numpy_helper.from_array(self.weights, 'w')])
        plan = self.path('names.plan')
        self.tenfold('exec', '--onnx=' + model, '--saveEngine=' + plan, '--skipInference', *ONCE)
        for source in (model, plan):
            find = lambda name: self.tenfold('inspect', source, '--find=' + name).stdout
            self.assertRegex(find('product'), r"^node 'product' is computed by step \d+ '")
            self.assertEqual(find('nothing'), "node 'nothing' has no step of its own: remove_identity\n")
            self.assertRegex(find('Tanh -> t'), r"^node 'Tanh -> t' is computed by step \d")
            self.assertRegex(find('y'), r"^tensor 'y': result 0 of step \d+ '.*', binding 1\n")
            self.assertRegex(find('x'), r"^tensor 'x': operand 0 of step 0 '.*', binding 0\n")
            self.assertRegex(find('p') + find('i'), r"^tensor 'p': (inside|result 0 of) step \d")
            self.assertRegex(find('w'), r"^tensor 'w': operand 1 of step \d+ '.*', constant ")
            text = self.tenfold('inspect', source).stdout
            self.assertRegex(text, r'(?m)^ +computes product')
            self.assertRegex(text, r'(?m)^  no step of its own \(remove_identity\): nothing$')
            layers = json.loads(self.tenfold('inspect', source, '--json').stdout)
            told = [name for layer in layers['Layers'] for name in layer['Metadata'].split('\x1e')]
            self.assertEqual(sorted(told), ['[ONNX Layer: Tanh -> t]', '[ONNX Layer: end]', '[ONNX Layer: product]'])
            self.assertEqual(layers['Removed'], [{'Node': 'nothing', 'By': 'remove_identity', 'Profile': 0}])
            self.assertEqual(layers['Layers'][-1]['Outputs'][0]['Tensors'], ['y'])
        self.refused(2, "no node and no tensor named 'z'", 'inspect', plan, '--find=z')
        profile = self.path('profile.json')
        out = self.tenfold('exec', '--loadEngine=' + plan, '--dumpProfile', '--exportProfile=' + profile, *ONCE).stdout
        self.assertRegex(out, r'\(product')
        with open(profile) as f:
            self.assertIn('product', [name for layer in json.load(f)[1:] for name in layer['nodes']])

    def test_inspect_and_lists(self):
        why = self.tenfold('inspect', self.model, '--why').stdout
        self.assertRegex(why, r'\* \w+.*us')
        self.assertIn('MatMul', self.tenfold('inspect', self.model).stdout)
        self.assertIn('Layers', json.loads(self.tenfold('inspect', self.model, '--json').stdout))
        operators = json.loads(self.tenfold('ops', '--json').stdout)
        self.assertIn('MatMul', {o['name'] for o in operators if o['domain'] == 'ai.onnx'})
        self.assertEqual(json.loads(self.tenfold('devices', '--json').stdout)[0]['device'], 'cpu')
        for verb in ('exec', 'inspect', 'compare', 'ops', 'devices'):
            self.assertLess(len(self.tenfold(verb, '--help').stdout.splitlines()), 52, verb)


if __name__ == '__main__':
    cli_case.main()
